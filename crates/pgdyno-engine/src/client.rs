//! One virtual client: a state machine with pgbench's states.
//!
//! ```text
//! ChooseScript ─► Throttle ─► (Connecting) ─► StartCommand ─► WaitResult ─► EndTx ─► ChooseScript
//!                                               ▲   │           │
//!                                               │   └► Sleep ─► │ error
//!                                               │      Shell    ▼
//!                                             Retry ◄── WaitRollbackResult ─► Failure ─► ChooseScript
//! ```

mod rows;
mod trouble;

use std::sync::{Arc, Mutex, PoisonError};

use pgdyno_measure::{Recorder, Rows};
use pgdyno_wire::backend::ServerMessage;
use pgdyno_wire::{Capture, ErrorClass, Event, Session, SqlState, Statement, StmtId, TxStatus};
use pgdyno_workload::{Batch, ClientScript, Next, Note, OnTrouble, ReplyBuffer, ShellOutcome, Since, Trouble, Verdict};

use crate::backlog::Backlog;
use crate::errors::ErrorLog;
use crate::lines::Line;
use crate::observer::{Observer, TxEnd, TxOutcome};
use crate::pacer::Pacer;
use crate::{Rules, Tick};
use trouble::pass_on;

/// A client that fails so often in a row, without a single success and not by serialization or deadlock,
/// is given up: its script cannot work on this database, and going on would only fill the server's log.
const HOPELESS_FAILURES: u32 = 10;

/// Arrivals that a client passes over one by one before it looks whether time has gone on.
const SKIPS_AT_ONCE: u32 = 1_000;

/// Where a client is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// About to draw a transaction.
    ChooseScript,
    /// The intended start lies ahead.
    Throttle(Tick),
    /// A connection for this transaction is being opened.
    Connecting,
    /// About to send the next step.
    StartCommand,
    /// The reply to a step is awaited.
    WaitResult,
    /// The script waits within its transaction.
    Sleep(Tick),
    /// A command on the driver's machine is running.
    Shell,
    /// The transaction is over.
    EndTx(Verdict),
    /// The reply to ROLLBACK is awaited, after an error.
    WaitRollbackResult,
    /// The same transaction is about to be tried again.
    Retry,
    /// The transaction is about to be given up.
    Failure,
    /// The connection is gone.
    Lost(Tick),
    /// Given up: no transaction of it can succeed.
    Aborted,
    /// Nothing more to do.
    Finished,
}

/// What a client waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Bytes of the server.
    Readable,
    /// A time.
    Until(Tick),
    /// A connection.
    Connection,
    /// The end of a command on the driver's machine.
    Shell,
    /// Nothing: it can go on at once. It stops here so that others of its thread come to their turn.
    Nothing,
    /// It is done, or out of the game.
    Finished,
}

/// What the clients of a group have in common, on one thread.
pub(crate) struct Common {
    /// Clients that are not done.
    pub(crate) active: usize,
    pub(crate) statements: Arc<[Statement]>,
    /// Whether clients share connections, and give them back after each transaction.
    pub(crate) shared: bool,
    pub(crate) rules: Rules,
    /// What becomes of rows that a script does not ask for.
    pub(crate) unread: Capture,
    pub(crate) pacer: Pacer,
    pub(crate) recorder: Recorder,
    pub(crate) errors: ErrorLog,
    pub(crate) notes: Vec<Note>,
    /// What the notices among these take of `backlog`.
    pub(crate) notice_bytes: usize,
    pub(crate) backlog: Arc<Backlog>,
    /// Hears of the transactions of all groups of the thread.
    pub(crate) observer: Option<Arc<Mutex<Box<dyn Observer>>>>,
    /// No transaction begins any more.
    pub(crate) stopping: bool,
}

impl Common {
    /// Without clients. Transactions and statements are numbered over all groups.
    pub(crate) fn new(statements: &Arc<[Statement]>, txns: usize, rules: Rules, pacer: Pacer) -> Self {
        let measured = if rules.statements { statements.len() } else { 0 };
        Self {
            active: 0,
            statements: Arc::clone(statements),
            shared: false,
            rules,
            unread: rules.results.unread(),
            recorder: Recorder::new(txns, measured, pacer.is_open()),
            pacer,
            errors: ErrorLog::new(rules.give_up),
            notes: Vec::new(),
            notice_bytes: 0,
            backlog: Arc::default(),
            observer: None,
            stopping: false,
        }
    }
}

/// The first error of a batch.
struct Failed {
    code: SqlState,
    class: ErrorClass,
    stmt: Option<StmtId>,
    /// Results of the batch that came before it.
    results: u32,
    message: ServerMessage,
}

/// One virtual client.
pub struct Client {
    id: u32,
    group: u32,
    script: Box<dyn ClientScript>,
    state: State,
    txn: usize,
    /// Intended start of the transaction.
    intended: Tick,
    /// When its first byte was sent.
    begun: Tick,
    /// When the statement in progress was sent, or the one before it ended.
    mark: Tick,
    /// Whether the transaction has waited for anything yet: the server, a time, a command.
    waited: bool,
    tries: u32,
    /// What the next step reads.
    reply: ReplyBuffer,
    /// Statements of the batch that ended well.
    results: u32,
    /// Rows of the statement in progress, where they are counted.
    rows: Rows,
    /// The verdict, when the batch in flight is the last of its transaction.
    finish: Option<Verdict>,
    error: Option<Box<Failed>>,
    tx_status: TxStatus,
    transactions: u64,
    failures_in_a_row: u32,
    /// Whether it has a connection of its own.
    connected: bool,
    /// Whether it lost that one before the transaction began that an arrival was drawn for.
    interrupted: bool,
    capture_shell: bool,
    /// Shell commands so far: what comes of one is nothing to a later one.
    shells: u64,
}

/// A command that is to be run on the driver's machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command<'a> {
    /// Its number within its client's commands.
    pub number: u64,
    /// For a shell.
    pub text: &'a [u8],
    /// Whether its output comes back to the script.
    pub capture: bool,
}

impl Client {
    /// Client number `id` of the stage, of this group, at its beginning; `connected` where it has a connection that it keeps.
    #[must_use]
    pub fn new(id: u32, group: u32, script: Box<dyn ClientScript>, connected: bool) -> Self {
        Self {
            id,
            group,
            script,
            state: State::ChooseScript,
            txn: 0,
            intended: Tick(0),
            begun: Tick(0),
            mark: Tick(0),
            waited: false,
            tries: 0,
            reply: ReplyBuffer::new(),
            results: 0,
            rows: Rows::default(),
            finish: None,
            error: None,
            tx_status: TxStatus::Idle,
            transactions: 0,
            failures_in_a_row: 0,
            connected,
            interrupted: false,
            capture_shell: false,
            shells: 0,
        }
    }

    /// Where it is.
    #[must_use]
    pub fn state(&self) -> State {
        self.state
    }

    /// Its number within the stage.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.id
    }

    /// The number of its group within the stage.
    #[inline]
    pub(crate) fn group(&self) -> usize {
        self.group as usize
    }

    /// The time that it waits for, if it waits for one.
    #[must_use]
    pub fn deadline(&self) -> Option<Tick> {
        match self.state {
            State::Throttle(until) | State::Sleep(until) => Some(until),
            _ => None,
        }
    }

    /// When it sent what it awaits the answer to, or the statement before that ended: the answer was not there earlier.
    #[inline]
    pub(crate) fn asked_at(&self) -> Tick {
        self.mark
    }

    /// Whether a transaction of it is under way.
    #[must_use]
    pub fn in_transaction(&self) -> bool {
        !matches!(
            self.state,
            State::ChooseScript
                | State::Throttle(_)
                | State::Connecting
                | State::Lost(_)
                | State::Aborted
                | State::Finished
        )
    }

    /// Whether its connection is no longer wanted: it is given up, or between two transactions with one each.
    pub(crate) fn wants_no_connection(&self) -> bool {
        !self.connected || self.state == State::Aborted
    }

    /// Whether nothing is under way on its connection, and no transaction block open.
    pub(crate) fn is_at_rest(&self, session: &Session) -> bool {
        self.tx_status == TxStatus::Idle && !session.is_busy()
    }

    /// The command that it wants to be run on the driver's machine.
    pub(crate) fn shell(&self) -> Command<'_> {
        Command { number: self.shells, text: self.script.shell(), capture: self.capture_shell }
    }

    /// Whether it waits for the end of this command.
    pub(crate) fn awaits_shell(&self, number: u64) -> bool {
        self.state == State::Shell && self.shells == number
    }

    /// Goes on until it must wait. What is to be sent is appended to what goes out on its line.
    #[inline]
    pub(crate) fn advance(&mut self, now: Tick, line: &mut Line, common: &mut Common) -> Wait {
        loop {
            match self.state {
                State::ChooseScript => {
                    if common.stopping || self.has_done_all(&common.rules) {
                        self.state = State::Finished;
                        return Wait::Finished;
                    }
                    let Some(due) = self.choose(now, common) else {
                        // All is done, or time has gone on meanwhile: that is looked at first.
                        return if self.state == State::Finished { Wait::Finished } else { Wait::Nothing };
                    };
                    if let Some(wait) = self.start_when_due(due, now, common) {
                        return wait;
                    }
                }
                State::Throttle(due) => {
                    if common.stopping {
                        self.state = State::Finished;
                        return Wait::Finished;
                    }
                    if let Some(wait) = self.start_when_due(due, now, common) {
                        return wait;
                    }
                }
                State::Connecting => return Wait::Connection,
                State::StartCommand => {
                    if let Some(wait) = self.step(now, line, common) {
                        return wait;
                    }
                }
                State::WaitResult | State::WaitRollbackResult => return Wait::Readable,
                State::Sleep(until) => {
                    if now < until {
                        self.waited = true;
                        return Wait::Until(until);
                    }
                    self.go_on(now, common);
                }
                State::Shell => return Wait::Shell,
                State::EndTx(verdict) => {
                    self.end(now, verdict, common);
                    if self.state == State::Aborted {
                        return Wait::Finished;
                    }
                    if !self.waited {
                        // It may never wait for anything: let the others have their turn.
                        return Wait::Nothing;
                    }
                }
                State::Retry => self.try_again(now, common),
                State::Failure => {
                    self.fail(now, common);
                    // A script that fails without the server's help must not keep the thread.
                    return if self.state == State::Aborted { Wait::Finished } else { Wait::Nothing };
                }
                State::Lost(_) | State::Aborted | State::Finished => return Wait::Finished,
            }
        }
    }

    fn has_done_all(&self, rules: &Rules) -> bool {
        rules.transactions.is_some_and(|limit| self.transactions >= limit)
    }

    /// Draws a transaction; when it is to begin. Passes over arrivals that are later than the limit; `None` where that
    /// leaves the client with nothing to do, or with more to pass over in its next turn, and where its script is done.
    #[inline]
    fn choose(&mut self, now: Tick, common: &mut Common) -> Option<Tick> {
        let Some(begin) = self.script.begin() else {
            self.state = State::Finished;
            return None;
        };
        self.txn = usize::from(begin.txn.0);
        let ready = match begin.since {
            Since::End => now.after(begin.wait_ns),
            Since::Start => self.intended.after(begin.wait_ns),
        };
        self.intended = common.pacer.intended(ready);
        if !self.is_in_time(now, common) {
            return None;
        }
        self.waited = false;
        self.clear_reply();
        Some(self.intended.max(ready))
    }

    /// Whether its arrival, or one that it comes to by passing over those that are later than the limit, can begin in time.
    #[inline]
    fn is_in_time(&mut self, now: Tick, common: &mut Common) -> bool {
        match common.rules.latency_limit_ns {
            Some(limit) if common.pacer.is_open() => self.pass_over(now, limit, common),
            _ => true,
        }
    }

    /// Passes over arrivals that are later than the limit; whether it has come to one that is not.
    fn pass_over(&mut self, now: Tick, limit: u64, common: &mut Common) -> bool {
        let mut passed = 0;
        while self.intended.after(limit) < now {
            self.skip(1, now, common);
            passed += 1;
            if passed == SKIPS_AT_ONCE {
                if common.observer.is_some() {
                    return false;
                }
                // They come faster than they can be drawn one by one, and nobody hears of each of them.
                let left = common.rules.transactions.map_or(u64::MAX, |all| all - self.transactions);
                let skipped = common.pacer.skip_to(Tick(now.0.saturating_sub(limit)), left);
                self.skip(skipped, now, common);
            }
            if self.has_done_all(&common.rules) {
                return false;
            }
            self.intended = common.pacer.intended(now);
        }
        true
    }

    /// Counts arrivals that were later than the limit: one, where an observer hears of it.
    fn skip(&mut self, count: u64, now: Tick, common: &mut Common) {
        common.recorder.skipped(self.txn, count);
        self.transactions = self.transactions.saturating_add(count);
        self.observe(now, TxOutcome::Skipped, common);
    }

    /// Begins the transaction, if it is due and there is a connection. `Some` when the client must wait.
    #[inline]
    fn start_when_due(&mut self, due: Tick, now: Tick, common: &mut Common) -> Option<Wait> {
        if now < due {
            self.state = State::Throttle(due);
            return Some(Wait::Until(due));
        }
        if !self.connected {
            self.state = State::Connecting;
            return Some(Wait::Connection);
        }
        self.start(now, common);
        None
    }

    /// Begins the transaction.
    #[inline]
    fn start(&mut self, now: Tick, common: &mut Common) {
        common.recorder.started(self.txn);
        self.begun = now;
        self.tries = 1;
        self.state = State::StartCommand;
    }

    /// Sends the next step. `Some` when the client must wait.
    #[inline]
    fn step(&mut self, now: Tick, line: &mut Line, common: &mut Common) -> Option<Wait> {
        let batch = Batch::new(&mut line.session, &common.statements, &mut line.out, &mut common.notes);
        let mut batch = batch.with_unread(common.unread);
        let next = self.script.step(self.reply.reply(), &mut batch);
        batch.close();
        self.clear_reply();
        match next {
            Next::Sleep(ns) => {
                self.mark = now;
                self.state = State::Sleep(now.after(ns));
            }
            Next::Shell { capture } => {
                self.mark = now;
                self.state = State::Shell;
                self.capture_shell = capture;
                self.shells += 1;
            }
            Next::Abort => {
                self.abort(ErrorClass::Script, common);
                return Some(Wait::Finished);
            }
            Next::Await | Next::Finish(_) if line.session.is_busy() => {
                self.mark = now;
                self.waited = true;
                self.finish = match next {
                    Next::Finish(verdict) => Some(verdict),
                    _ => None,
                };
                self.state = State::WaitResult;
                return Some(Wait::Readable);
            }
            Next::Finish(verdict) if self.error.is_none() => self.state = State::EndTx(verdict),
            Next::Await if self.error.is_none() => {}
            // All was answered while the script did something else, and not all of it well.
            Next::Await | Next::Finish(_) => {
                self.finish = match next {
                    Next::Finish(verdict) => Some(verdict),
                    _ => None,
                };
                self.state = State::WaitResult;
                if !self.on_reply(now, line, common) {
                    return Some(Wait::Readable);
                }
            }
        }
        None
    }

    #[inline]
    fn clear_reply(&mut self) {
        self.reply.clear();
        self.results = 0;
    }

    /// A sleep or a shell command is over.
    #[inline(never)]
    fn go_on(&mut self, now: Tick, common: &mut Common) {
        if let Some(stmt) = self.script.waiting() {
            common.recorder.statement(stmt.0 as usize, now.since(self.mark));
        }
        self.state = State::StartCommand;
    }

    /// The shell command ended.
    pub(crate) fn shell_done(&mut self, now: Tick, outcome: ShellOutcome, common: &mut Common) {
        self.script.shell_done(outcome);
        self.waited = true;
        self.go_on(now, common);
    }

    #[inline]
    fn end(&mut self, now: Tick, verdict: Verdict, common: &mut Common) {
        let response_ns = now.since(self.intended);
        let late = common.rules.latency_limit_ns.is_some_and(|limit| response_ns > limit);
        common.recorder.completed(self.txn, verdict == Verdict::Committed, now.since(self.begun), response_ns, late);
        self.transactions += 1;
        self.failures_in_a_row = 0;
        self.finish = None;
        self.state = State::ChooseScript;
        if !common.recorder.tallies().is_empty() {
            self.script.tally(verdict, common.recorder.tallies());
        }
        self.connected = self.keeps_connection(common);
        self.observe(now, TxOutcome::Completed, common);
        // It counts, as in pgbench: what it sent was done. But the next one would begin within it.
        if self.tx_status != TxStatus::Idle
            && self.script.on_trouble(&Trouble::LeftOpen, &mut common.notes) == OnTrouble::Abort
        {
            self.state = State::Aborted;
        }
    }

    /// Whether the connection is still its own once a transaction is over: a shared one is, while a transaction block is
    /// open on it.
    #[inline]
    fn keeps_connection(&self, common: &Common) -> bool {
        !common.rules.connect_each && (!common.shared || self.tx_status != TxStatus::Idle)
    }

    #[cold]
    fn fail(&mut self, now: Tick, common: &mut Common) {
        self.decided(now, false, common);
        let class = self.error.take().map_or(ErrorClass::Other, |error| error.class);
        common.recorder.failed(self.txn, class);
        self.transactions += 1;
        self.finish = None;
        self.state = State::ChooseScript;
        self.connected = self.keeps_connection(common);
        self.observe(now, TxOutcome::Failed(class), common);
        if common.rules.give_up && !class.is_retryable() {
            self.failures_in_a_row += 1;
            if self.failures_in_a_row >= HOPELESS_FAILURES {
                self.state = State::Aborted;
            }
        }
    }

    /// Gives the client up in the middle of a transaction.
    #[cold]
    fn abort(&mut self, class: ErrorClass, common: &mut Common) {
        common.recorder.failed(self.txn, class);
        self.error = None;
        self.finish = None;
        self.state = State::Aborted;
    }

    #[inline]
    fn observe(&self, now: Tick, outcome: TxOutcome, common: &mut Common) {
        if let Some(observer) = common.observer.as_deref() {
            self.tell(observer, now, outcome);
        }
    }

    #[inline(never)]
    fn tell(&self, observer: &Mutex<Box<dyn Observer>>, now: Tick, outcome: TxOutcome) {
        observer.lock().unwrap_or_else(PoisonError::into_inner).transaction(&TxEnd {
            client: self.id,
            number: self.transactions,
            txn: self.txn,
            intended: self.intended,
            begun: self.begun,
            end: now,
            outcome,
            tries: self.tries,
        });
    }

    /// Tells the script whether its failed transaction is tried again.
    fn decided(&mut self, now: Tick, again: bool, common: &mut Common) {
        let trouble = Trouble::Decided { again, tries: self.tries, elapsed_ns: now.since(self.intended) };
        self.script.on_trouble(&trouble, &mut common.notes);
    }

    /// Takes the whole answer to a single statement, as [`Client::on_event`] takes its events.
    #[inline]
    pub(crate) fn on_answer(
        &mut self,
        now: Tick,
        stmt: StmtId,
        status: TxStatus,
        line: &mut Line,
        common: &mut Common,
    ) -> bool {
        self.results += 1;
        // Nobody reads what the last batch of a transaction brought.
        if self.finish.is_none() {
            self.reply.end();
        }
        self.statement_done(stmt, now, common);
        self.tx_status = status;
        self.on_reply(now, line, common)
    }

    /// Takes what the server says. Afterwards, when this returns true, [`Client::advance`] is to be called.
    #[inline]
    pub(crate) fn on_event(&mut self, now: Tick, event: Event<'_>, line: &mut Line, common: &mut Common) -> bool {
        match event {
            Event::Complete(stmt) => {
                self.results += 1;
                self.reply.end();
                self.statement_done(stmt, now, common);
                false
            }
            Event::Part(_) => {
                self.results += 1;
                self.reply.end();
                false
            }
            Event::Columns(body) => {
                if let Err(error) = self.reply.columns(body) {
                    self.refuse_reply(error, line, common);
                }
                false
            }
            Event::Row(row) => {
                if self.count_row(row, line, common)
                    && let Err(error) = self.reply.row(row)
                {
                    self.refuse_reply(error, line, common);
                }
                false
            }
            Event::Ready { status, all_done, text } => {
                self.tx_status = status;
                if let Some(stmt) = text {
                    self.statement_done(stmt, now, common);
                }
                all_done && self.on_reply(now, line, common)
            }
            Event::Error { code, raw } => {
                self.on_error(code, raw, line, common);
                false
            }
            Event::Notice(raw) => {
                pass_on(raw, common);
                false
            }
            Event::Copy { wanted } => {
                self.refuse_copy(wanted, line, common);
                false
            }
        }
    }

    #[inline]
    fn statement_done(&mut self, stmt: StmtId, now: Tick, common: &mut Common) {
        if self.state == State::WaitResult && !self.has_failed(stmt) {
            common.recorder.statement(stmt.0 as usize, now.since(self.mark));
            self.mark = now;
        }
        if common.unread != Capture::Nothing {
            self.rows_done(stmt, common);
        }
    }

    /// A new connection is there: nothing is prepared on it. The next transaction may begin, or the one that waited
    /// for it, which took `took_ns`.
    pub(crate) fn attach(&mut self, now: Tick, took_ns: u64, common: &mut Common) {
        self.tx_status = TxStatus::Idle;
        self.connected = true;
        match self.state {
            State::Lost(since) => {
                common.recorder.reconnected(now.since(since));
                // An arrival does not go away with a connection.
                let resumes = std::mem::take(&mut self.interrupted) && self.is_in_time(now, common);
                self.state = if resumes { State::Throttle(self.intended) } else { State::ChooseScript };
            }
            State::Connecting => {
                common.recorder.connected(took_ns);
                if !common.pacer.is_open() {
                    self.intended = now;
                }
                self.start(now, common);
            }
            _ => {}
        }
    }

    /// From now on it has a connection only when it is its turn.
    pub(crate) fn share(&mut self) {
        self.connected = false;
    }

    /// It is its turn to have a shared connection; whether it wants it now. It does not where it has come too late, and the
    /// next arrival lies ahead or there is none.
    pub(crate) fn take_turn(&mut self, now: Tick, common: &mut Common) -> bool {
        if !self.is_in_time(now, common) {
            self.state = State::ChooseScript;
            return false;
        }
        if now < self.intended {
            self.state = State::Throttle(self.intended);
            return false;
        }
        self.tx_status = TxStatus::Idle;
        self.connected = true;
        self.start(now, common);
        true
    }

    /// The intended start of a transaction that has not begun.
    pub(crate) fn awaited_start(&self) -> Option<Tick> {
        match self.state {
            State::Throttle(_) | State::Connecting => Some(self.intended),
            State::Lost(_) if self.interrupted => Some(self.intended),
            _ => None,
        }
    }

    /// It need not wait for a connection any more, for no transaction begins.
    pub(crate) fn dismiss(&mut self) {
        self.state = State::Finished;
    }

    /// Its shared connection was lost; with another one it can go on.
    pub(crate) fn recover(&mut self) {
        if let State::Lost(_) = self.state {
            self.connected = false;
            self.state = State::ChooseScript;
        }
    }

    /// The connection that it waits for could not be opened.
    pub(crate) fn cannot_connect(&mut self, now: Tick, common: &mut Common) {
        self.script.on_trouble(&Trouble::NotConnected, &mut common.notes);
        if common.pacer.is_open() && self.state == State::Connecting {
            common.recorder.still_waiting(1, now.since(self.intended));
        }
        self.state = State::Aborted;
    }
}
