//! A fleet against scripted servers in virtual time: no sockets, no sleeps, the same result each time.
//!
//! Ten simulated minutes take as long as their events take to compute. The test gives latencies, stalls, errors, lost
//! connections, slow connections, shell commands and reads of one byte at a time, and checks the recorder.

mod server;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use pgdyno_wire::QueryMode;
use pgdyno_workload::ShellOutcome;

use crate::fleet::{Errand, Fleet, numbered};
use crate::{ClientRules, Tick};
use server::Server;

/// Time that a turn of a client takes that can go on at once.
const TURN_NS: u64 = 1_000;

/// A scripted server's answer to one statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SimAnswer {
    /// It succeeds after so many nanoseconds.
    Complete {
        /// Time that the server takes.
        service_ns: u64,
    },
    /// It succeeds after so many nanoseconds, and finds no row.
    Empty {
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
    /// It succeeds with a command tag of the test's.
    Tagged {
        /// Time that the server takes.
        service_ns: u64,
        /// The tag.
        tag: &'static str,
    },
    /// It succeeds, with a message of fields of the test's before.
    Warned {
        /// Time that the server takes.
        service_ns: u64,
        /// The fields, each with its letter.
        fields: &'static [&'static str],
    },
    /// It fails with this severity and SQLSTATE, and the connection breaks.
    Die {
        /// The severity.
        severity: &'static str,
        /// The SQLSTATE.
        code: &'static str,
    },
    /// It succeeds, with a notice `ready, ready`.
    Notice {
        /// Time that the server takes.
        service_ns: u64,
    },
    /// It sends COPY data.
    CopyOut {
        /// Time that the server takes.
        service_ns: u64,
    },
    /// It asks for COPY data.
    CopyIn {
        /// Time that the server takes until it asks.
        service_ns: u64,
    },
    /// The connection breaks.
    Disconnect,
}

/// A request to a scripted server.
#[derive(Debug)]
pub struct SimRequest<'a> {
    /// The client that asks.
    pub client: usize,
    /// The time at which the server starts on it.
    pub at: Tick,
    /// The text of the statement; empty if it was prepared earlier.
    pub sql: &'a str,
}

/// Runs a client's command. Returns how long it takes, and its result.
type Shell<'a> = dyn FnMut(usize, &[u8]) -> (u64, ShellOutcome) + 'a;

/// Something that reaches a client at some time.
enum Arrival {
    /// Bytes of the connection with this number.
    Bytes(u64, Vec<u8>),
    /// The end of the connection with this number.
    Loss(u64),
    /// A connection, which took this long to open.
    Connection(u64),
    /// A refused connection.
    Refusal,
    /// The end of a shell command.
    Shell(u64, ShellOutcome),
}

/// A simulated run.
pub struct Simulation<'a> {
    fleet: Fleet,
    /// Each client's connection, and its number.
    servers: Vec<(Server, u64)>,
    behave: Box<dyn FnMut(&SimRequest<'_>) -> SimAnswer + 'a>,
    connect: Box<dyn FnMut(usize) -> Option<u64> + 'a>,
    shell: Box<Shell<'a>>,
    reconnect_ns: Option<u64>,
    /// Arrivals at clients; those of the same time in the order in which they were sent.
    arriving: BinaryHeap<Reverse<(Tick, u64, usize)>>,
    arrivals: HashMap<u64, Arrival>,
    sent: u64,
    /// Limit of one read in bytes.
    read_bytes: usize,
    now: Tick,
    closed: u64,
    intervals: Option<Intervals<'a>>,
}

/// Takes what was counted up to the end of an interval.
type Close<'a> = dyn FnMut(&mut Fleet, Tick) + 'a;

/// Ends of intervals, and who takes what was counted.
struct Intervals<'a> {
    length_ns: u64,
    next: Tick,
    close: Box<Close<'a>>,
}

impl<'a> Simulation<'a> {
    /// Returns a simulation of `fleet` with servers that answer by `behave`. Connections open at once, commands
    /// succeed at once, and lost connections stay lost.
    #[must_use]
    pub fn new(fleet: Fleet, behave: impl FnMut(&SimRequest<'_>) -> SimAnswer + 'a) -> Self {
        let servers = (0..fleet.lines()).map(|_| (Server::default(), 0)).collect();
        Self {
            fleet,
            servers,
            behave: Box::new(behave),
            connect: Box::new(|_| Some(0)),
            shell: Box::new(|_, _| (0, ShellOutcome { success: true, output: Some(Vec::new()) })),
            reconnect_ns: None,
            arriving: BinaryHeap::new(),
            arrivals: HashMap::new(),
            sent: 0,
            read_bytes: usize::MAX,
            now: Tick(0),
            closed: 0,
            intervals: None,
        }
    }

    /// Calls `close` at the end of each interval of this length, as an event loop closes intervals.
    #[must_use]
    pub fn closing(mut self, length_ns: u64, close: impl FnMut(&mut Fleet, Tick) + 'a) -> Self {
        self.intervals = Some(Intervals { length_ns, next: Tick(length_ns), close: Box::new(close) });
        self
    }

    /// Limits each read to so many bytes.
    #[must_use]
    pub fn reads_of(mut self, bytes: usize) -> Self {
        self.read_bytes = bytes;
        self
    }

    /// Sets how long connections take for each client; `None` refuses one.
    #[must_use]
    pub fn connecting(mut self, connect: impl FnMut(usize) -> Option<u64> + 'a) -> Self {
        self.connect = Box::new(connect);
        self
    }

    /// Sets how long a client's commands take, and their results.
    #[must_use]
    pub fn running(mut self, shell: impl FnMut(usize, &[u8]) -> (u64, ShellOutcome) + 'a) -> Self {
        self.shell = Box::new(shell);
        self
    }

    /// Sets the time after which a lost connection is replaced.
    #[must_use]
    pub fn reconnecting(mut self, after_ns: u64) -> Self {
        self.reconnect_ns = Some(after_ns);
        self
    }

    /// Runs until `end`, then begins no more transactions, and runs until all clients are finished.
    pub fn run(&mut self, end: Tick) {
        for i in 0..self.fleet.len() {
            self.fleet.advance(i, self.now);
            self.serve_client(i);
        }
        let mut stopped = false;
        while self.fleet.active() > 0 || self.reconnect_ns.is_some() && !stopped {
            let next = [
                self.arriving.peek().map(|Reverse((at, ..))| *at),
                self.fleet.next_deadline(),
                (!stopped).then_some(end),
                self.intervals.as_ref().map(|intervals| intervals.next),
            ];
            let next = next.into_iter().flatten().min();
            if !self.fleet.has_runnable() {
                let Some(next) = next else { break };
                self.now = self.now.max(next);
            }
            self.close_intervals();
            if !stopped && self.now >= end {
                stopped = true;
                self.fleet.close_window(self.now);
                self.fleet.stop(self.now);
            }
            self.deliver();
            while let Some(i) = self.fleet.fire_one(self.now) {
                self.serve_client(i);
            }
            self.run_errands();
            if let Some(i) = self.fleet.run_one(self.now) {
                self.serve_client(i);
                // Scripts that wait for nothing take their computing time.
                self.now = self.now.after(TURN_NS);
            }
        }
        if !stopped {
            self.fleet.stop(self.now);
        }
    }

    fn close_intervals(&mut self) {
        while let Some(intervals) = self.intervals.as_mut().filter(|intervals| intervals.next <= self.now) {
            (intervals.close)(&mut self.fleet, intervals.next);
            intervals.next = intervals.next.after(intervals.length_ns);
        }
    }

    /// Returns the fleet, for its recorder.
    pub fn fleet(&mut self) -> &mut Fleet {
        &mut self.fleet
    }

    /// Returns the virtual time.
    #[must_use]
    pub fn now(&self) -> Tick {
        self.now
    }

    /// Returns the number of connections that clients closed.
    #[must_use]
    pub fn closed(&self) -> u64 {
        self.closed
    }

    fn send(&mut self, at: Tick, client: usize, arrival: Arrival) {
        self.arriving.push(Reverse((at, self.sent, client)));
        self.arrivals.insert(self.sent, arrival);
        self.sent += 1;
    }

    fn deliver(&mut self) {
        while let Some(Reverse((at, id, client))) = self.arriving.peek().copied() {
            if at > self.now {
                return;
            }
            self.arriving.pop();
            if let Some(arrival) = self.arrivals.remove(&id) {
                self.take(client, arrival);
                self.serve(client);
                while let Some(line) = self.fleet.take_handed() {
                    self.serve(line);
                }
            }
        }
    }

    fn take(&mut self, client: usize, arrival: Arrival) {
        let connection = self.servers[client].1;
        match arrival {
            // Bytes of an old connection are lost.
            Arrival::Bytes(of, _) | Arrival::Loss(of) if of != connection => {}
            Arrival::Bytes(_, bytes) => {
                for piece in bytes.chunks(self.read_bytes.max(1)) {
                    if self.fleet.receive(client, self.now, piece).is_err() {
                        self.lose(client, "garbage");
                        break;
                    }
                }
            }
            Arrival::Loss(_) => self.lose(client, "simulated loss"),
            Arrival::Connection(_) | Arrival::Refusal
                if !self.fleet.is_lost(client) && !self.fleet.is_connecting(client) => {}
            Arrival::Connection(took_ns) => self.fleet.attach(client, self.now, took_ns),
            Arrival::Refusal => self.fleet.cannot_connect(client, self.now),
            Arrival::Shell(number, outcome) => self.fleet.shell_done(client, self.now, number, outcome),
        }
    }

    fn lose(&mut self, client: usize, why: &str) {
        self.hang_up(client);
        self.fleet.lose(client, self.now, why);
        if let (Some(after), true) = (self.reconnect_ns, self.fleet.is_lost(client)) {
            self.send(self.now.after(after), client, Arrival::Connection(after));
        }
    }

    fn hang_up(&mut self, client: usize) {
        let (server, number) = &mut self.servers[client];
        *server = Server::default();
        *number += 1;
    }

    /// Serves the line of client `i`, and lines that were assigned meanwhile.
    fn serve_client(&mut self, i: usize) {
        if let Some(line) = self.fleet.line_of(i) {
            self.serve(line);
        }
        while let Some(line) = self.fleet.take_handed() {
            self.serve(line);
        }
    }

    /// Passes the output of a line to its server, and does the errands.
    fn serve(&mut self, i: usize) {
        let sent = std::mem::take(self.fleet.output(i));
        let (server, number) = &mut self.servers[i];
        let number = *number;
        for (at, bytes) in server.receive(i, self.now, &sent, &mut *self.behave) {
            self.send(at, i, bytes.map_or(Arrival::Loss(number), |bytes| Arrival::Bytes(number, bytes)));
        }
        self.run_errands();
    }

    fn run_errands(&mut self) {
        while let Some(errand) = self.fleet.take_errand() {
            match errand {
                Errand::Disconnect(i) => {
                    self.hang_up(i);
                    self.closed += 1;
                }
                Errand::Renew(i) => {
                    self.hang_up(i);
                    self.closed += 1;
                    if let Some(after) = self.reconnect_ns {
                        self.fleet.miss(i, self.now);
                        self.send(self.now.after(after), i, Arrival::Connection(after));
                    }
                }
                Errand::Connect(i) => {
                    let took_ns = (self.connect)(i);
                    let arrival = took_ns.map_or(Arrival::Refusal, Arrival::Connection);
                    self.send(self.now.after(took_ns.unwrap_or_default()), i, arrival);
                }
                Errand::GivenUp => {}
                Errand::Lose(line) => self.lose(line, "no answer in time"),
                Errand::Shell(i) => {
                    let command = self.fleet.shell(i);
                    let number = command.number;
                    let (took_ns, outcome) = (self.shell)(i, command.text);
                    self.send(self.now.after(took_ns), i, Arrival::Shell(number, outcome));
                }
            }
        }
    }
}

/// Returns a fleet of `scripts` for a simulation, all on one thread.
#[must_use]
pub fn fleet(
    scripts: Vec<Box<dyn pgdyno_workload::ClientScript>>,
    statements: Vec<pgdyno_wire::Statement>,
    mode: QueryMode,
    rules: ClientRules,
    pacer: crate::pacer::Pacer,
) -> Fleet {
    Fleet::new(0, scripts, mode, numbered(statements), 1, rules, pacer)
}
