//! The clients of one thread, with their timers and their recorder. Sans-IO: bytes come in by
//! [`Fleet::receive`], what is to be sent lies in [`Fleet::output`], time is an argument.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::sync::Arc;

use pgdyno_measure::Recorder;
use pgdyno_wire::{ProtocolError, QueryMode, Received, SqlState, Statement};
use pgdyno_workload::{ClientScript, Note, ShellOutcome};

use crate::client::{Client, Command, Context, State, Wait};
use crate::errors::{ErrorLog, ErrorSample};
use crate::observer::Observer;
use crate::pacer::Pacer;
use crate::{Rules, Tick};

/// What a client wants to be done by somebody who may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Errand {
    /// Its connection is of no more use.
    Disconnect(usize),
    /// A connection is to be opened; [`Fleet::attach`] or [`Fleet::cannot_connect`] follows.
    Connect(usize),
    /// [`Fleet::shell`] is to be run; [`Fleet::shell_done`] follows.
    Shell(usize),
}

/// A client and its buffers.
struct Seat {
    client: Client,
    /// Whether it has a connection, as far as errands tell.
    attached: bool,
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
    notes: Vec<Note>,
    observer: Option<Box<dyn Observer>>,
    errands: VecDeque<Errand>,
    timers: BinaryHeap<Reverse<(Tick, usize)>>,
    /// Clients that can go on at once.
    runnable: VecDeque<usize>,
    stopping: bool,
    /// Clients that are not done.
    active: usize,
}

impl Fleet {
    /// A fleet of one client for each script; `first` is the number within the run of the first of them.
    #[must_use]
    pub fn new(
        first: u32,
        scripts: Vec<Box<dyn ClientScript>>,
        mode: QueryMode,
        statements: Arc<[Statement]>,
        txns: usize,
        rules: Rules,
        pacer: Pacer,
    ) -> Self {
        let measured = if rules.statements { statements.len() } else { 0 };
        let recorder = Recorder::new(txns, measured, pacer.is_open());
        let seats: Vec<Seat> = scripts
            .into_iter()
            .zip(first..)
            .map(|(script, id)| Seat {
                client: Client::new(id, script, mode, statements.len(), !rules.connect_each),
                attached: !rules.connect_each,
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
            errors: ErrorLog::new(rules.give_up),
            notes: Vec::new(),
            observer: None,
            errands: VecDeque::new(),
            timers: BinaryHeap::new(),
            runnable: VecDeque::new(),
            stopping: false,
        }
    }

    /// Lets `observer` hear of every transaction.
    #[must_use]
    pub fn observed_by(mut self, observer: Option<Box<dyn Observer>>) -> Self {
        self.observer = observer;
        self
    }

    /// Tells the observer that no more transactions will end.
    pub fn finish(&mut self, now: Tick) {
        if let Some(observer) = &mut self.observer {
            observer.finish(now);
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

    /// What scripts and server want the user to read, since the last call.
    pub fn take_notes(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.notes)
    }

    /// The next errand to be done.
    #[inline]
    pub fn take_errand(&mut self) -> Option<Errand> {
        self.errands.pop_front()
    }

    /// The command that client `i` wants to be run.
    #[must_use]
    pub fn shell(&self, i: usize) -> Command<'_> {
        self.seats[i].client.shell()
    }

    /// The number of client `i` within the run.
    #[must_use]
    pub fn id(&self, i: usize) -> u32 {
        self.seats[i].client.id()
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
            notes: &mut self.notes,
            observer: self.observer.as_deref_mut(),
            stopping: self.stopping,
        };
        (&mut self.seats[i], cx)
    }

    /// Lets client `i` go on.
    #[inline]
    pub fn advance(&mut self, i: usize, now: Tick) {
        let (seat, mut cx) = self.seat(i);
        let wait = seat.client.advance(now, &mut cx, &mut seat.out);
        if seat.client.wants_no_connection() && seat.attached {
            seat.attached = false;
            self.errands.push_back(Errand::Disconnect(i));
        }
        match wait {
            Wait::Readable => {}
            Wait::Until(deadline) => self.timers.push(Reverse((deadline, i))),
            Wait::Connection => self.errands.push_back(Errand::Connect(i)),
            Wait::Shell => self.errands.push_back(Errand::Shell(i)),
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
        let (Seat { client, out, pending, .. }, mut cx) = self.seat(i);
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

    /// Client `i` has no connection any more, for this reason.
    pub fn lose(&mut self, i: usize, now: Tick, why: &str) {
        let (seat, mut cx) = self.seat(i);
        if matches!(seat.client.state(), State::Finished | State::Aborted | State::Lost(_)) || !seat.attached {
            return;
        }
        seat.client.lose(now, why, &mut cx);
        seat.attached = false;
        seat.out.clear();
        seat.pending.clear();
        self.runnable.retain(|&r| r != i);
        self.active -= 1;
    }

    /// Client `i` has a new connection, which took `took_ns` to open.
    pub fn attach(&mut self, i: usize, now: Tick, took_ns: u64) {
        let statements = self.statements.len();
        let (seat, mut cx) = self.seat(i);
        let was_lost = matches!(seat.client.state(), State::Lost(_));
        seat.client.attach(now, took_ns, statements, &mut cx);
        seat.attached = true;
        // What is left of the old connection is nothing to the new one.
        seat.out.clear();
        seat.pending.clear();
        self.active += usize::from(was_lost);
        self.advance(i, now);
    }

    /// The connection that client `i` asked for could not be opened: it is given up.
    pub fn cannot_connect(&mut self, i: usize) {
        let (seat, mut cx) = self.seat(i);
        seat.client.cannot_connect(&mut cx);
        self.active -= 1;
    }

    /// Command `number` of client `i` ended. One whose transaction was lost meanwhile is passed over.
    pub fn shell_done(&mut self, i: usize, now: Tick, number: u64, outcome: ShellOutcome) {
        let (seat, mut cx) = self.seat(i);
        if seat.client.awaits_shell(number) {
            seat.client.shell_done(now, outcome, &mut cx);
            self.advance(i, now);
        }
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
