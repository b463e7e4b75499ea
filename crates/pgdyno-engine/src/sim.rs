//! A fleet against scripted servers, in virtual time: no socket, no sleep, the same result each time.
//!
//! Ten simulated minutes take as long as their events take to compute. Latency, stalls, errors, lost
//! connections and reads of one byte at a time are given; what the recorder then says must be true.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use pgdyno_wire::{QueryMode, backend, frontend};

use crate::fleet::Fleet;
use crate::{Rules, Tick};

/// What a scripted server does with one statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It ends well after so many nanoseconds.
    Complete {
        /// Time that the server takes.
        service_ns: u64,
    },
    /// It fails after so many nanoseconds.
    Fail {
        /// Time that the server takes.
        service_ns: u64,
        /// The SQLSTATE.
        code: &'static str,
    },
    /// The connection breaks instead of an answer.
    Disconnect,
}

/// What a scripted server is asked.
#[derive(Debug)]
pub struct Request<'a> {
    /// The client that asks.
    pub client: usize,
    /// The time at which the server begins with it.
    pub at: Tick,
    /// The text of the statement; empty for one that was prepared earlier.
    pub sql: &'a str,
}

/// A simulated run.
pub struct Simulation<'a> {
    fleet: Fleet,
    servers: Vec<Server>,
    behave: Box<dyn FnMut(&Request<'_>) -> Answer + 'a>,
    /// Bytes on their way to a client; at the same time, in the order in which they were sent.
    arriving: BinaryHeap<Reverse<(Tick, u64, usize)>>,
    payloads: std::collections::HashMap<u64, Option<Vec<u8>>>,
    sent: u64,
    /// The most bytes that one read brings.
    read_bytes: usize,
    now: Tick,
}

impl<'a> Simulation<'a> {
    /// A simulation of `fleet`, whose servers answer as `behave` says.
    #[must_use]
    pub fn new(fleet: Fleet, behave: impl FnMut(&Request<'_>) -> Answer + 'a) -> Self {
        let servers = (0..fleet.len()).map(|_| Server::default()).collect();
        Self {
            fleet,
            servers,
            behave: Box::new(behave),
            arriving: BinaryHeap::new(),
            payloads: std::collections::HashMap::new(),
            sent: 0,
            read_bytes: usize::MAX,
            now: Tick(0),
        }
    }

    /// Lets each read bring at most so many bytes.
    #[must_use]
    pub fn reads_of(mut self, bytes: usize) -> Self {
        self.read_bytes = bytes;
        self
    }

    /// Runs until `end`, then lets no transaction begin any more, and runs until all clients are done.
    pub fn run(&mut self, end: Tick) {
        for i in 0..self.fleet.len() {
            self.fleet.advance(i, self.now);
            self.serve(i);
        }
        let mut stopped = false;
        while self.fleet.active() > 0 {
            let next = [
                self.arriving.peek().map(|Reverse((at, ..))| *at),
                self.fleet.next_deadline(),
                (!stopped).then_some(end),
            ];
            let next = next.into_iter().flatten().min();
            if !self.fleet.has_runnable() {
                let Some(next) = next else { return };
                self.now = self.now.max(next);
            }
            if !stopped && self.now >= end {
                stopped = true;
                self.fleet.stop(self.now);
            }
            self.deliver();
            while let Some(i) = self.fleet.fire_one(self.now) {
                self.serve(i);
            }
            if let Some(i) = self.fleet.run_one(self.now) {
                self.serve(i);
            }
        }
    }

    /// The fleet, for its recorder.
    pub fn fleet(&mut self) -> &mut Fleet {
        &mut self.fleet
    }

    /// The virtual time.
    #[must_use]
    pub fn now(&self) -> Tick {
        self.now
    }

    fn deliver(&mut self) {
        while let Some(Reverse((at, id, client))) = self.arriving.peek().copied() {
            if at > self.now {
                return;
            }
            self.arriving.pop();
            match self.payloads.remove(&id).flatten() {
                None => self.fleet.lose(client, self.now),
                Some(bytes) => {
                    for piece in bytes.chunks(self.read_bytes.max(1)) {
                        if self.fleet.receive(client, self.now, piece).is_err() {
                            self.fleet.lose(client, self.now);
                            break;
                        }
                    }
                }
            }
            self.serve(client);
        }
    }

    /// Hands what client `i` sent to its server.
    fn serve(&mut self, i: usize) {
        let sent = std::mem::take(self.fleet.output(i));
        for (at, bytes) in self.servers[i].receive(i, self.now, &sent, &mut *self.behave) {
            self.arriving.push(Reverse((at, self.sent, i)));
            self.payloads.insert(self.sent, bytes);
            self.sent += 1;
        }
    }
}

/// One connection of a scripted server: enough of the protocol, no data.
#[derive(Default)]
struct Server {
    /// When it is done with what it was given.
    free: Tick,
    reply: Vec<u8>,
    sql: String,
    in_block: bool,
    failed_block: bool,
    /// After an error it skips everything up to Sync.
    skipping: bool,
}

impl Server {
    fn receive(
        &mut self,
        client: usize,
        now: Tick,
        bytes: &[u8],
        behave: &mut dyn FnMut(&Request<'_>) -> Answer,
    ) -> Vec<(Tick, Option<Vec<u8>>)> {
        self.free = self.free.max(now);
        let (mut replies, mut rest) = (Vec::new(), bytes);
        while let Ok(Some(message)) = backend::next_message(rest) {
            rest = &rest[message.len..];
            let holds = match message.tag {
                b'P' if !self.skipping => {
                    self.sql = text(message.body.split(|&b| b == 0).nth(1));
                    frontend::message(&mut self.reply, b'1', |_| {});
                    true
                }
                b'B' if !self.skipping => {
                    frontend::message(&mut self.reply, b'2', |_| {});
                    true
                }
                b'E' if !self.skipping => self.execute(client, behave),
                b'Q' => {
                    self.sql = text(message.body.split(|&b| b == 0).next());
                    let holds = self.execute(client, behave);
                    if holds {
                        replies.push(self.ready());
                    }
                    holds
                }
                b'S' => {
                    replies.push(self.ready());
                    true
                }
                _ => true,
            };
            if !holds {
                replies.push((self.free, None));
                break;
            }
        }
        replies
    }

    /// Whether the connection holds.
    fn execute(&mut self, client: usize, behave: &mut dyn FnMut(&Request<'_>) -> Answer) -> bool {
        let sql = std::mem::take(&mut self.sql);
        match behave(&Request { client, at: self.free, sql: &sql }) {
            Answer::Complete { service_ns } => {
                self.free = self.free.after(service_ns);
                match sql.split([' ', ';']).next().unwrap_or_default() {
                    "BEGIN" => self.in_block = true,
                    "END" | "COMMIT" | "ROLLBACK" => (self.in_block, self.failed_block) = (false, false),
                    _ => {}
                }
                frontend::message(&mut self.reply, b'C', |out| frontend::cstr(out, "SELECT 1"));
            }
            Answer::Fail { service_ns, code } => {
                self.free = self.free.after(service_ns);
                self.failed_block = self.in_block;
                self.skipping = true;
                frontend::message(&mut self.reply, b'E', |out| {
                    for field in ["SERROR".to_owned(), format!("C{code}"), "Msimulated".to_owned(), String::new()] {
                        frontend::cstr(out, &field);
                    }
                });
            }
            Answer::Disconnect => return false,
        }
        true
    }

    fn ready(&mut self) -> (Tick, Option<Vec<u8>>) {
        self.skipping = false;
        let status = match (self.in_block, self.failed_block) {
            (false, _) => b'I',
            (true, false) => b'T',
            (true, true) => b'E',
        };
        frontend::message(&mut self.reply, b'Z', |out| out.push(status));
        (self.free, Some(std::mem::take(&mut self.reply)))
    }
}

fn text(bytes: Option<&[u8]>) -> String {
    String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned()
}

/// A fleet of `scripts` for a simulation, all on one thread.
#[must_use]
pub fn fleet(
    scripts: Vec<Box<dyn pgdyno_workload::ClientScript>>,
    statements: Vec<pgdyno_wire::Statement>,
    mode: QueryMode,
    rules: Rules,
    pacer: crate::pacer::Pacer,
) -> Fleet {
    Fleet::new(scripts, mode, statements.into(), 1, rules, pacer)
}
