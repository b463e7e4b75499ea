//! One client: a state machine with pgbench's states.
//!
//! ```text
//! ChooseScript ─► Throttle ─► (Connecting) ─► StartCommand ─► WaitResult ─► EndTx ─► ChooseScript
//!                                               ▲   │           │
//!                                               │   └► Sleep ─► │ error
//!                                               │      Shell    ▼
//!                                             Retry ◄── WaitRollbackResult ─► Failure ─► ChooseScript
//! ```

mod commits;
mod failure;
mod rows;

use std::sync::{Arc, Mutex, PoisonError};

use pgdyno_measure::{ClientWork, InFlight, Recorder, StatementRows};
use pgdyno_wire::backend::ServerMessage;
use pgdyno_wire::{Capture, ErrorClass, Event, Session, SqlState, Statement, StmtId, TxStatus};
use pgdyno_workload::{
    Batch, ClientScript, Failure, FailureAction, Marks, Next, Note, ReplyBuffer, ShellOutcome, Since, Verdict,
};

use crate::backlog::Backlog;
use crate::errors::ErrorLog;
use crate::lines::Line;
use crate::observer::{CommitClass, Observer, TxEnd, TxOutcome};
use crate::pacer::Pacer;
use crate::{ClientRules, GroupNumbers, Tick};
pub(crate) use commits::ReplyTimer;
use failure::pass_on;

/// Failures in a row, without a success and not by serialization or deadlock, after which a client is aborted: its
/// script cannot work on this database, and would only fill the server's log.
const HOPELESS_FAILURES: u32 = 10;

/// Arrivals that a client skips one by one before it looks at the clock again.
const SKIPS_AT_ONCE: u32 = 1_000;

/// State of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientState {
    /// About to draw a transaction.
    ChooseScript,
    /// Waits for the intended start.
    Throttle(Tick),
    /// Waits for the connection of this transaction.
    Connecting,
    /// About to send the next step.
    StartCommand,
    /// Waits for the reply to a step.
    WaitResult,
    /// Sleeps within its transaction, as its script says.
    Sleep(Tick),
    /// Waits for a command on the driver's machine.
    Shell,
    /// The transaction is over.
    EndTx(Verdict),
    /// Waits for the reply to ROLLBACK, after an error.
    WaitRollbackResult,
    /// About to try the same transaction again.
    Retry,
    /// About to give the transaction up.
    Failure,
    /// Lost its connection.
    Lost(Tick),
    /// Aborted: none of its transactions can succeed.
    Aborted,
    /// Finished.
    Finished,
}

/// Event that a client waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Bytes from the server.
    Readable,
    /// A time.
    Until(Tick),
    /// A connection.
    Connection,
    /// The end of a command on the driver's machine.
    Shell,
    /// None: it can go on at once, after other clients of its thread.
    Nothing,
    /// None: it is finished, lost or aborted.
    Finished,
}

/// State that the clients of a group share on one thread.
pub(crate) struct Common {
    /// Clients that are not finished.
    pub(crate) active: usize,
    /// Its transactions, statements and tallies among those of the run.
    pub(crate) numbers: GroupNumbers,
    /// Whether clients share connections, and return them after each transaction.
    pub(crate) shared: bool,
    pub(crate) rules: ClientRules,
    /// How rows that a script does not ask for are received.
    pub(crate) unread: Capture,
    pub(crate) pacer: Pacer,
    pub(crate) recorder: Recorder,
    pub(crate) errors: ErrorLog,
    pub(crate) notes: Vec<Note>,
    /// Room in `backlog` that the notices among `notes` take.
    pub(crate) notice_bytes: usize,
    pub(crate) backlog: Arc<Backlog>,
    /// Observer of the transactions of all groups of the thread.
    pub(crate) observer: Option<Arc<Mutex<Box<dyn Observer>>>>,
    /// Set when no transaction may begin any more.
    pub(crate) stopping: bool,
}

impl Common {
    /// Returns the state without clients. The scripts have all transactions and statements of the run.
    pub(crate) fn new(statements: &Arc<[Statement]>, txns: usize, rules: ClientRules, pacer: Pacer) -> Self {
        let measured = if rules.statements { statements.len() } else { 0 };
        Self {
            active: 0,
            numbers: GroupNumbers {
                statements: Arc::clone(statements),
                first_txn: 0,
                first_statement: 0,
                tallies: 0..0,
            },
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
    /// Number of results of the batch before it.
    results: u32,
    message: ServerMessage,
    /// Whether another try may succeed.
    is_retryable: bool,
}

/// One client.
pub struct Client {
    id: u32,
    group: u32,
    script: Box<dyn ClientScript>,
    state: ClientState,
    txn: usize,
    /// Intended start of the transaction.
    intended: Tick,
    /// When its first byte was sent.
    begun: Tick,
    /// When the statement in progress was sent, or the one before it ended, whichever is later.
    mark: Tick,
    /// Whether the transaction has waited for anything yet: the server, a time, a command.
    waited: bool,
    tries: u32,
    /// Reply that the next step reads.
    reply: ReplyBuffer,
    /// Statements of the batch that succeeded.
    results: u32,
    /// Rows of the statement in progress, if they are counted.
    rows: StatementRows,
    /// The verdict, if the batch in flight is the last of its transaction.
    finish: Option<Verdict>,
    error: Option<Box<Failed>>,
    tx_status: TxStatus,
    transactions: u64,
    /// What it did since the start of the measured window.
    work: ClientWork,
    failures_in_a_row: u32,
    /// How its last transaction failed, for those who count by endpoint.
    failure: Option<ErrorClass>,
    /// Whether it has a connection of its own.
    connected: bool,
    /// Whether it lost its connection after an arrival was drawn, and before that transaction began.
    interrupted: bool,
    capture_shell: bool,
    /// Shell commands so far, so that the result of an older one is ignored.
    shells: u64,
    /// What only a run with a ledger needs.
    proof: commits::Proof,
}

/// A command for the driver's machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShellCommand<'a> {
    /// Its number within its client's commands.
    pub number: u64,
    /// Text for a shell.
    pub text: &'a [u8],
    /// Whether the script reads its output.
    pub capture: bool,
}

impl Client {
    /// Returns client `id` of the stage in its first state; `connected` if it has a connection that it keeps.
    #[must_use]
    pub fn new(id: u32, group: u32, script: Box<dyn ClientScript>, connected: bool) -> Self {
        Self {
            id,
            group,
            script,
            state: ClientState::ChooseScript,
            txn: 0,
            intended: Tick(0),
            begun: Tick(0),
            mark: Tick(0),
            waited: false,
            tries: 0,
            reply: ReplyBuffer::new(),
            results: 0,
            rows: StatementRows::default(),
            finish: None,
            error: None,
            tx_status: TxStatus::Idle,
            transactions: 0,
            work: ClientWork::default(),
            failures_in_a_row: 0,
            failure: None,
            connected,
            interrupted: false,
            capture_shell: false,
            shells: 0,
            proof: commits::Proof::default(),
        }
    }

    /// Returns its state.
    #[must_use]
    pub fn state(&self) -> ClientState {
        self.state
    }

    /// Returns its number within the stage.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Returns the number of its group within the stage.
    #[inline]
    pub(crate) fn group(&self) -> usize {
        self.group as usize
    }

    /// Returns the number within the run of its transaction.
    pub(crate) fn txn(&self) -> usize {
        self.txn
    }

    /// Returns how its last transaction failed, if it did, and forgets it.
    pub(crate) fn take_failure(&mut self) -> Option<ErrorClass> {
        self.failure.take()
    }

    /// Returns the time since its transaction began.
    pub(crate) fn service_ns(&self, now: Tick) -> u64 {
        now.since(self.begun)
    }

    /// Returns the time that it waits for, if any.
    #[must_use]
    pub fn deadline(&self) -> Option<Tick> {
        match self.state {
            ClientState::Throttle(until) | ClientState::Sleep(until) => Some(until),
            _ => None,
        }
    }

    /// Returns the earliest time at which the reply it waits for can have arrived: when the request was sent, or the
    /// statement before ended.
    #[inline]
    pub(crate) fn asked_at(&self) -> Tick {
        self.mark
    }

    /// Returns true if it has a transaction in progress.
    #[must_use]
    pub fn in_transaction(&self) -> bool {
        !matches!(
            self.state,
            ClientState::ChooseScript
                | ClientState::Throttle(_)
                | ClientState::Connecting
                | ClientState::Lost(_)
                | ClientState::Aborted
                | ClientState::Finished
        )
    }

    /// Returns true if it no longer needs its connection: it was aborted, or is between two transactions with a
    /// connection each.
    #[inline]
    pub(crate) fn wants_no_connection(&self) -> bool {
        !self.connected || self.state == ClientState::Aborted
    }

    /// Returns true if nothing is in progress on its connection, and no transaction block is open.
    pub(crate) fn is_at_rest(&self, session: &Session) -> bool {
        self.tx_status == TxStatus::Idle && !session.is_busy()
    }

    /// Returns the command that it wants to run on the driver's machine.
    pub(crate) fn shell(&self) -> ShellCommand<'_> {
        ShellCommand { number: self.shells, text: self.script.shell(), capture: self.capture_shell }
    }

    /// Returns true if it waits for the end of this command.
    pub(crate) fn awaits_shell(&self, number: u64) -> bool {
        self.state == ClientState::Shell && self.shells == number
    }

    /// Runs until it must wait. Appends bytes to send to the output of its line.
    #[inline]
    pub(crate) fn advance(&mut self, now: Tick, line: &mut Line, common: &mut Common) -> Wait {
        loop {
            match self.state {
                ClientState::ChooseScript => {
                    if common.stopping || self.has_done_all(&common.rules) {
                        self.state = ClientState::Finished;
                        return Wait::Finished;
                    }
                    let Some(due) = self.draw(now, common) else {
                        // It skipped arrivals up to the limit, or time has gone on: check both before the next draw.
                        return if self.state == ClientState::Finished { Wait::Finished } else { Wait::Nothing };
                    };
                    if let Some(wait) = self.start_when_due(due, now, common) {
                        return wait;
                    }
                }
                ClientState::Throttle(due) => {
                    if common.stopping {
                        self.state = ClientState::Finished;
                        return Wait::Finished;
                    }
                    if let Some(wait) = self.start_when_due(due, now, common) {
                        return wait;
                    }
                }
                ClientState::Connecting => return Wait::Connection,
                ClientState::StartCommand => {
                    if let Some(wait) = self.step(now, line, common) {
                        return wait;
                    }
                }
                ClientState::WaitResult | ClientState::WaitRollbackResult => return Wait::Readable,
                ClientState::Sleep(until) => {
                    if now < until {
                        self.waited = true;
                        return Wait::Until(until);
                    }
                    self.go_on(now, common);
                }
                ClientState::Shell => return Wait::Shell,
                ClientState::EndTx(verdict) => {
                    self.end(now, verdict, common);
                    if self.state == ClientState::Aborted {
                        return Wait::Finished;
                    }
                    if !self.waited {
                        // A script may never wait: let other clients have their turn.
                        return Wait::Nothing;
                    }
                }
                ClientState::Retry => self.try_again(now, common),
                ClientState::Failure => {
                    self.fail(now, common);
                    // A script that fails without the server must not keep the thread busy.
                    return if self.state == ClientState::Aborted { Wait::Finished } else { Wait::Nothing };
                }
                ClientState::Lost(_) | ClientState::Aborted | ClientState::Finished => return Wait::Finished,
            }
        }
    }

    fn has_done_all(&self, rules: &ClientRules) -> bool {
        rules.transactions.is_some_and(|limit| self.transactions >= limit)
    }

    /// Draws a transaction, and returns its start. Skips arrivals that are later than the limit. Returns `None` if no
    /// transaction is left, if more arrivals are to be skipped in the next turn, or if the script is finished.
    #[inline]
    fn draw(&mut self, now: Tick, common: &mut Common) -> Option<Tick> {
        let Some(begin) = self.script.begin() else {
            self.state = ClientState::Finished;
            return None;
        };
        self.txn = common.numbers.first_txn + usize::from(begin.txn.0);
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

    /// Returns true if its arrival, or a later one after skipping, can begin in time.
    #[inline]
    fn is_in_time(&mut self, now: Tick, common: &mut Common) -> bool {
        match common.rules.latency_limit_ns {
            Some(limit) if common.pacer.is_open() => self.pass_over(now, limit, common),
            _ => true,
        }
    }

    /// Skips arrivals that are later than the limit. Returns true if it reached one that is not.
    fn pass_over(&mut self, now: Tick, limit: u64, common: &mut Common) -> bool {
        let mut passed = 0;
        while self.intended.after(limit) < now {
            self.skip(1, now, common);
            passed += 1;
            if passed == SKIPS_AT_ONCE {
                if common.observer.is_some() {
                    return false;
                }
                // Arrivals come faster than they can be drawn one by one, and no observer needs each of them.
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

    /// Counts arrivals later than the limit: each alone if an observer is to be informed.
    fn skip(&mut self, count: u64, now: Tick, common: &mut Common) {
        common.recorder.skipped(self.txn, count);
        self.transactions = self.transactions.saturating_add(count);
        self.observe(now, TxOutcome::Skipped, common);
    }

    /// Begins the transaction if it is due and there is a connection. Returns `Some` if the client must wait.
    #[inline]
    fn start_when_due(&mut self, due: Tick, now: Tick, common: &mut Common) -> Option<Wait> {
        if now < due {
            self.state = ClientState::Throttle(due);
            return Some(Wait::Until(due));
        }
        if !self.connected {
            self.state = ClientState::Connecting;
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
        self.proof.is_local = false;
        self.tries = 1;
        self.state = ClientState::StartCommand;
    }

    /// Sends the next step. Returns `Some` if the client must wait.
    #[inline]
    fn step(&mut self, now: Tick, line: &mut Line, common: &mut Common) -> Option<Wait> {
        let numbers = &common.numbers;
        let batch = Batch::new(&mut line.session, &numbers.statements, &mut line.out, &mut common.notes);
        let mut batch = batch.numbered_from(numbers.first_statement).with_unread(common.unread);
        let next = self.script.step(self.reply.reply(), &mut batch);
        batch.close();
        self.clear_reply();
        match next {
            Next::Sleep(ns) => {
                self.mark = now;
                self.state = ClientState::Sleep(now.after(ns));
            }
            Next::Shell { capture } => {
                self.mark = now;
                self.state = ClientState::Shell;
                self.capture_shell = capture;
                self.shells += 1;
            }
            Next::Abort => {
                self.abort(now, ErrorClass::Script, common);
                return Some(Wait::Finished);
            }
            Next::Await | Next::Finish(_) if line.session.is_busy() => {
                self.mark = now;
                self.waited = true;
                self.finish = match next {
                    Next::Finish(verdict) => Some(verdict),
                    _ => None,
                };
                self.state = ClientState::WaitResult;
                return Some(match common.rules.commit_timeout_ns {
                    None => Wait::Readable,
                    Some(ns) => self.limit_reply(now.after(ns)),
                });
            }
            Next::Finish(verdict) if self.error.is_none() => self.state = ClientState::EndTx(verdict),
            Next::Await if self.error.is_none() => {}
            // All replies came while the script did something else, and one of them was an error.
            Next::Await | Next::Finish(_) => {
                self.finish = match next {
                    Next::Finish(verdict) => Some(verdict),
                    _ => None,
                };
                self.state = ClientState::WaitResult;
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

    /// Continues after a sleep or a shell command.
    #[inline(never)]
    fn go_on(&mut self, now: Tick, common: &mut Common) {
        if let Some(stmt) = self.script.waiting() {
            common.recorder.statement(common.numbers.within_run(stmt), now.since(self.mark));
        }
        self.state = ClientState::StartCommand;
    }

    /// Takes the result of the shell command.
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
        self.work.completed(verdict == Verdict::Committed, response_ns);
        self.transactions += 1;
        self.failures_in_a_row = 0;
        self.finish = None;
        self.state = ClientState::ChooseScript;
        if !common.numbers.tallies.is_empty() {
            self.script.tally(verdict, &mut common.recorder.tallies()[common.numbers.tallies.clone()]);
        }
        self.connected = self.keeps_connection(common);
        self.observe(now, TxOutcome::Completed, common);
        if common.proves_commits() {
            self.prove_end(now, verdict, common);
        }
        // It counts, as in pgbench: its work was done. But the next transaction would begin within its block.
        if self.tx_status != TxStatus::Idle
            && self.script.on_failure(&Failure::LeftOpen, &mut common.notes) == FailureAction::Abort
        {
            self.state = ClientState::Aborted;
        }
    }

    /// Returns true if it keeps the connection after a transaction: a shared one only while a transaction block is
    /// open.
    #[inline]
    fn keeps_connection(&self, common: &Common) -> bool {
        !common.rules.connect_each && (!common.shared || self.tx_status != TxStatus::Idle)
    }

    #[cold]
    fn fail(&mut self, now: Tick, common: &mut Common) {
        self.decided(now, false, common);
        let error = self.error.take();
        let code = error.as_ref().map(|error| error.code);
        let is_misplaced = common.proves_commits() && code == Some(SqlState::READ_ONLY);
        let class = match error {
            // It is connected to a standby, or to a primary of before: that is part of an outage.
            Some(_) if is_misplaced => ErrorClass::Connection,
            Some(error) => error.class,
            None => ErrorClass::Other,
        };
        common.recorder.failed(self.txn, class);
        self.failure = Some(class);
        self.transactions += 1;
        self.finish = None;
        self.state = ClientState::ChooseScript;
        self.connected = self.keeps_connection(common);
        self.observe(now, TxOutcome::Failed(class), common);
        if common.proves_commits() {
            self.prove(now, CommitClass::Failed, code, common);
            self.proof.is_misplaced = is_misplaced;
        }
        if common.rules.give_up && !common.rules.tries_all && !class.is_retryable() && !is_misplaced {
            self.failures_in_a_row += 1;
            if self.failures_in_a_row >= HOPELESS_FAILURES {
                self.state = ClientState::Aborted;
            }
        }
    }

    /// Aborts the client in the middle of a transaction.
    #[cold]
    fn abort(&mut self, now: Tick, class: ErrorClass, common: &mut Common) {
        if common.proves_commits() {
            let known = if class == ErrorClass::Unknown { CommitClass::Unknown } else { CommitClass::Failed };
            self.prove(now, known, None, common);
        }
        common.recorder.failed(self.txn, class);
        self.failure = Some(class);
        self.error = None;
        self.finish = None;
        self.state = ClientState::Aborted;
    }

    #[inline]
    fn observe(&self, now: Tick, outcome: TxOutcome, common: &mut Common) {
        if let Some(observer) = common.observer.as_deref() {
            self.report(observer, now, outcome);
        }
    }

    #[inline(never)]
    fn report(&self, observer: &Mutex<Box<dyn Observer>>, now: Tick, outcome: TxOutcome) {
        let mut observer = observer.lock().unwrap_or_else(PoisonError::into_inner);
        let end = self.tx_end(now, outcome);
        observer.transaction(&end);
        let marks = if outcome == TxOutcome::Completed { self.script.marks() } else { Marks::None };
        if marks != Marks::None {
            observer.marks(&end, marks);
        }
    }

    fn tx_end(&self, now: Tick, outcome: TxOutcome) -> TxEnd {
        TxEnd {
            client: self.id,
            number: self.transactions,
            txn: self.txn,
            intended: self.intended,
            begun: self.begun,
            end: now,
            outcome,
            tries: self.tries,
        }
    }

    /// Forgets what it did before the measured window.
    pub(crate) fn open_window(&mut self) {
        self.work = ClientWork::default();
    }

    /// Returns what it did since the start of the measured window.
    pub(crate) fn work(&self) -> ClientWork {
        self.work
    }

    /// Returns the ages of the transaction in progress, if there is one.
    pub(crate) fn in_flight(&self, now: Tick) -> Option<InFlight> {
        self.in_transaction().then(|| InFlight {
            txn: self.txn,
            service_ns: now.since(self.begun),
            response_ns: now.since(self.intended),
        })
    }

    /// Reports a transaction to the observer that is still in progress at the end.
    pub(crate) fn report_unfinished(&self, now: Tick, proves: bool, observer: &mut dyn Observer) {
        if self.in_transaction() {
            let end = self.tx_end(now, TxOutcome::Completed);
            observer.unfinished(&end);
            if proves {
                let class = if self.is_in_doubt() { CommitClass::Unknown } else { CommitClass::Failed };
                observer.commit(&end, class, None, self.script.marks());
            }
        }
    }

    /// Asks the script whether its failed transaction is tried again.
    fn decided(&mut self, now: Tick, again: bool, common: &mut Common) {
        let failure = Failure::Decided { again, tries: self.tries, elapsed_ns: now.since(self.intended) };
        self.script.on_failure(&failure, &mut common.notes);
    }

    /// Handles the whole reply to a single statement, as [`Client::on_event`] handles its events.
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
        // Nobody reads the reply to the last batch of a transaction.
        if self.finish.is_none() {
            self.reply.end();
        }
        self.statement_done(stmt, now, common);
        self.tx_status = status;
        self.on_reply(now, line, common)
    }

    /// Handles an event of the server. If it returns true, call [`Client::advance`] next.
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
                if self.count_row(row, now, line, common)
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
                self.on_notice(raw, common);
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
        if self.state == ClientState::WaitResult && !self.has_failed(stmt) {
            common.recorder.statement(stmt.0 as usize, now.since(self.mark));
            self.mark = now;
        }
        if common.unread != Capture::Nothing {
            self.rows_done(stmt, common);
        }
    }

    /// Takes a new connection, on which nothing is prepared. The next transaction may begin, or the one that waited
    /// for the connection, which took `took_ns`.
    pub(crate) fn attach(&mut self, now: Tick, took_ns: u64, common: &mut Common) {
        self.tx_status = TxStatus::Idle;
        self.connected = true;
        match self.state {
            ClientState::Lost(since) => {
                common.recorder.reconnected(now.since(since));
                // An arrival is not lost with a connection.
                let resumes = std::mem::take(&mut self.interrupted) && self.is_in_time(now, common);
                self.state = if resumes { ClientState::Throttle(self.intended) } else { ClientState::ChooseScript };
            }
            ClientState::Connecting => {
                common.recorder.connected(took_ns);
                if !common.pacer.is_open() {
                    self.intended = now;
                }
                self.start(now, common);
            }
            _ => {}
        }
    }

    /// Makes it share connections: from now on it has one only for a transaction.
    pub(crate) fn share(&mut self) {
        self.connected = false;
    }

    /// Offers it a connection for its transaction. Returns false if it does not need one now: it is too late, and the next arrival
    /// is in the future or there is none.
    pub(crate) fn take_turn(&mut self, now: Tick, common: &mut Common) -> bool {
        if !self.is_in_time(now, common) {
            self.state = ClientState::ChooseScript;
            return false;
        }
        if now < self.intended {
            self.state = ClientState::Throttle(self.intended);
            return false;
        }
        self.tx_status = TxStatus::Idle;
        self.connected = true;
        self.start(now, common);
        true
    }

    /// Makes it go on after it waited for its lost line to be opened again. In a closed loop it begins now.
    pub(crate) fn resume(&mut self, now: Tick, common: &Common) {
        if !common.pacer.is_open() {
            self.intended = now;
        }
    }

    /// Returns the intended start of a transaction that has not begun.
    pub(crate) fn awaited_start(&self) -> Option<Tick> {
        match self.state {
            ClientState::Throttle(_) | ClientState::Connecting => Some(self.intended),
            ClientState::Lost(_) if self.interrupted => Some(self.intended),
            _ => None,
        }
    }

    /// Stops its wait for a connection: no transaction begins any more.
    pub(crate) fn dismiss(&mut self) {
        self.state = ClientState::Finished;
    }

    /// Notes that its shared connection was lost; it can go on with another one.
    pub(crate) fn recover(&mut self) {
        if let ClientState::Lost(_) = self.state {
            self.connected = false;
            self.state = ClientState::ChooseScript;
        }
    }

    /// Aborts it: its connection could not be opened.
    pub(crate) fn cannot_connect(&mut self, now: Tick, common: &mut Common) {
        self.script.on_failure(&Failure::NotConnected, &mut common.notes);
        if common.pacer.is_open() && self.state == ClientState::Connecting {
            common.recorder.still_waiting(1, now.since(self.intended));
        }
        self.state = ClientState::Aborted;
    }
}
