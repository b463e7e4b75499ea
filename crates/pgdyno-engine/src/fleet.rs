//! The clients of one thread, with their timers and their recorder. Sans-IO: bytes come in by
//! [`Fleet::receive`], what is to be sent lies in [`Fleet::output`], time is an argument.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::sync::Arc;

use pgdyno_measure::Recorder;
use pgdyno_wire::{ProtocolError, QueryMode, Received, SqlState, Statement};
use pgdyno_workload::ClientScript;

use crate::client::{Client, Context, State, Wait};
use crate::errors::{ErrorLog, ErrorSample};
use crate::pacer::Pacer;
use crate::{Rules, Tick};

/// A client and its buffers.
struct Seat {
    client: Client,
    /// What is to be sent.
    out: Vec<u8>,
    /// The beginning of a message that has not come as a whole.
    pending: Vec<u8>,
}

/// The clients of one thread.
pub struct Fleet {
    seats: Vec<Seat>,
    statements: Arc<[Statement]>,
    rules: Rules,
    pacer: Pacer,
    recorder: Recorder,
    errors: ErrorLog,
    timers: BinaryHeap<Reverse<(Tick, usize)>>,
    /// Clients that can go on at once.
    runnable: VecDeque<usize>,
    stopping: bool,
    /// Clients that are not done.
    active: usize,
}

impl Fleet {
    /// A fleet of one client for each script.
    #[must_use]
    pub fn new(
        scripts: Vec<Box<dyn ClientScript>>,
        mode: QueryMode,
        statements: Arc<[Statement]>,
        txns: usize,
        rules: Rules,
        pacer: Pacer,
    ) -> Self {
        let recorder = Recorder::new(txns, statements.len(), pacer.is_open());
        let seats: Vec<Seat> = scripts
            .into_iter()
            .map(|script| Seat {
                client: Client::new(script, mode, statements.len()),
                out: Vec::new(),
                pending: Vec::new(),
            })
            .collect();
        Self {
            active: seats.len(),
            seats,
            statements,
            rules,
            pacer,
            recorder,
            errors: ErrorLog::default(),
            timers: BinaryHeap::new(),
            runnable: VecDeque::new(),
            stopping: false,
        }
    }

    /// How many clients there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.seats.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.seats.is_empty()
    }

    /// Clients that are neither finished nor lost nor given up.
    #[must_use]
    pub fn active(&self) -> usize {
        self.active
    }

    /// Where client `i` is.
    #[must_use]
    pub fn state(&self, i: usize) -> State {
        self.seats[i].client.state()
    }

    /// Clients whose transaction is under way.
    pub fn busy(&self) -> impl Iterator<Item = usize> {
        self.seats.iter().enumerate().filter(|(_, seat)| seat.client.in_transaction()).map(|(i, _)| i)
    }

    /// What client `i` wants to send. The caller drains it.
    #[inline]
    pub fn output(&mut self, i: usize) -> &mut Vec<u8> {
        &mut self.seats[i].out
    }

    /// The recorder.
    pub fn recorder(&mut self) -> &mut Recorder {
        &mut self.recorder
    }

    /// Errors that were met, by SQLSTATE.
    pub fn errors(&mut self) -> BTreeMap<SqlState, ErrorSample> {
        self.errors.take()
    }

    /// The error that ends the run, once.
    pub fn take_fatal(&mut self) -> Option<String> {
        self.errors.take_fatal()
    }

    /// Client `i` and all that it is given.
    #[inline]
    fn seat(&mut self, i: usize) -> (&mut Seat, Context<'_>) {
        let cx = Context {
            statements: &self.statements,
            rules: &self.rules,
            pacer: &mut self.pacer,
            recorder: &mut self.recorder,
            errors: &mut self.errors,
            stopping: self.stopping,
        };
        (&mut self.seats[i], cx)
    }

    /// Lets client `i` go on.
    #[inline]
    pub fn advance(&mut self, i: usize, now: Tick) {
        let (seat, mut cx) = self.seat(i);
        match seat.client.advance(now, &mut cx, &mut seat.out) {
            Wait::Readable => {}
            Wait::Until(deadline) => self.timers.push(Reverse((deadline, i))),
            Wait::Nothing => self.runnable.push_back(i),
            Wait::Finished => self.active -= 1,
        }
    }

    /// Takes what the server sent to client `i`, and lets it go on.
    ///
    /// # Errors
    /// When the bytes make no sense; the caller closes the connection and calls [`Fleet::lose`].
    #[inline]
    pub fn receive(&mut self, i: usize, now: Tick, bytes: &[u8]) -> Result<(), ProtocolError> {
        let (Seat { client, out, pending }, mut cx) = self.seat(i);
        let mut ready = false;
        if pending.is_empty() {
            let used = digest(client, now, bytes, &mut cx, out, &mut ready)?;
            pending.extend_from_slice(&bytes[used..]);
        } else {
            pending.extend_from_slice(bytes);
            let used = digest(client, now, pending, &mut cx, out, &mut ready)?;
            pending.drain(..used);
        }
        if ready {
            self.advance(i, now);
        }
        Ok(())
    }

    /// The next time at which something is to be done without the server.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Tick> {
        self.timers.peek().map(|Reverse((deadline, _))| *deadline)
    }

    /// Whether a client can go on at once.
    #[must_use]
    pub fn has_runnable(&self) -> bool {
        !self.runnable.is_empty()
    }

    /// Lets one client go on that can; which one it was.
    #[inline]
    pub fn run_one(&mut self, now: Tick) -> Option<usize> {
        let i = self.runnable.pop_front()?;
        self.advance(i, now);
        Some(i)
    }

    /// Lets one client go on whose time has come; which one it was.
    pub fn fire_one(&mut self, now: Tick) -> Option<usize> {
        while let Some(Reverse((deadline, i))) = self.timers.peek().copied() {
            if deadline > now {
                return None;
            }
            self.timers.pop();
            // A timer outlives its client's wait when the run stops or the connection is lost.
            if self.seats[i].client.deadline() == Some(deadline) {
                self.advance(i, now);
                return Some(i);
            }
        }
        None
    }

    /// No transaction begins any more; clients between two transactions are done.
    pub fn stop(&mut self, now: Tick) {
        self.stopping = true;
        for i in 0..self.seats.len() {
            if let State::Throttle(_) = self.state(i) {
                self.advance(i, now);
            }
        }
    }

    /// Client `i` has no connection any more.
    pub fn lose(&mut self, i: usize, now: Tick) {
        let seat = &mut self.seats[i];
        if matches!(seat.client.state(), State::Finished | State::Aborted | State::Lost(_)) {
            return;
        }
        self.runnable.retain(|&r| r != i);
        seat.client.lose(now, &mut self.recorder);
        seat.out.clear();
        seat.pending.clear();
        self.active -= 1;
    }

    /// Client `i` has a new connection.
    pub fn reconnect(&mut self, i: usize, now: Tick) {
        self.seats[i].client.reconnect(now, self.statements.len(), &mut self.recorder);
        self.active += 1;
        self.advance(i, now);
    }
}

/// Feeds `bytes` to the client, event by event; how many of them are done with.
#[inline]
fn digest(
    client: &mut Client,
    now: Tick,
    bytes: &[u8],
    cx: &mut Context<'_>,
    out: &mut Vec<u8>,
    ready: &mut bool,
) -> Result<usize, ProtocolError> {
    let mut done = 0;
    loop {
        match client.session().receive(&bytes[done..])? {
            Received::NeedMore { used } => return Ok(done + used),
            Received::Event { event, used } => {
                *ready |= client.on_event(now, event, cx, out);
                done += used;
            }
        }
    }
}
