//! One virtual client: a state machine with pgbench's states.
//!
//! ```text
//! ChooseScript ─► Throttle ─► StartCommand ─► WaitResult ─► EndTx ─► ChooseScript
//!                                 ▲   │           │
//!                                 │   └► Sleep ─► │ error
//!                                 │               ▼
//!                               Retry ◄── WaitRollbackResult ─► Failure ─► ChooseScript
//! ```

use pgdyno_measure::Recorder;
use pgdyno_wire::backend::ServerMessage;
use pgdyno_wire::{ErrorClass, Event, QueryMode, Session, SqlState, Statement, StmtId, TxStatus};
use pgdyno_workload::{Batch, ClientScript, Next, Reply, Verdict};

use crate::errors::ErrorLog;
use crate::pacer::Pacer;
use crate::{Rules, Tick};

/// A client that fails so often in a row, without a single success and not by serialization or deadlock,
/// is given up: its script cannot work on this database, and going on would only fill the server's log.
const HOPELESS_FAILURES: u32 = 10;

/// Where a client is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// About to draw a transaction.
    ChooseScript,
    /// The intended start lies ahead.
    Throttle(Tick),
    /// About to send the next step.
    StartCommand,
    /// The reply to a step is awaited.
    WaitResult,
    /// The script waits within its transaction.
    Sleep(Tick),
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
    /// Nothing: it can go on at once. It stops here so that others of its thread come to their turn.
    Nothing,
    /// It is done, or out of the game.
    Finished,
}

/// What a client is given at each call.
pub(crate) struct Context<'a> {
    pub(crate) statements: &'a [Statement],
    pub(crate) rules: &'a Rules,
    pub(crate) pacer: &'a mut Pacer,
    pub(crate) recorder: &'a mut Recorder,
    pub(crate) errors: &'a mut ErrorLog,
    /// No transaction begins any more.
    pub(crate) stopping: bool,
}

/// One virtual client.
pub struct Client {
    script: Box<dyn ClientScript>,
    session: Session,
    state: State,
    txn: usize,
    /// Intended start of the transaction.
    intended: Tick,
    /// When its first byte was sent.
    begun: Tick,
    /// When the statement in progress was sent, or the one before it ended.
    mark: Tick,
    /// Whether the transaction sent anything yet.
    talked: bool,
    tries: u32,
    /// Rows that the next step reads.
    rows: Vec<u8>,
    row_count: u32,
    /// The verdict, when the batch in flight is the last of its transaction.
    finish: Option<Verdict>,
    error: Option<ErrorClass>,
    tx_status: TxStatus,
    transactions: u64,
    failures_in_a_row: u32,
}

impl Client {
    /// A client at its beginning.
    #[must_use]
    pub fn new(script: Box<dyn ClientScript>, mode: QueryMode, statements: usize) -> Self {
        Self {
            script,
            session: Session::new(mode, statements),
            state: State::ChooseScript,
            txn: 0,
            intended: Tick(0),
            begun: Tick(0),
            mark: Tick(0),
            talked: false,
            tries: 0,
            rows: Vec::new(),
            row_count: 0,
            finish: None,
            error: None,
            tx_status: TxStatus::Idle,
            transactions: 0,
            failures_in_a_row: 0,
        }
    }

    /// Where it is.
    #[must_use]
    pub fn state(&self) -> State {
        self.state
    }

    /// The time that it waits for, if it waits for one.
    #[must_use]
    pub fn deadline(&self) -> Option<Tick> {
        match self.state {
            State::Throttle(until) | State::Sleep(until) => Some(until),
            _ => None,
        }
    }

    /// Whether a transaction of it is under way.
    #[must_use]
    pub fn in_transaction(&self) -> bool {
        !matches!(
            self.state,
            State::ChooseScript | State::Throttle(_) | State::Lost(_) | State::Aborted | State::Finished
        )
    }

    /// The connection's half of the protocol.
    pub(crate) fn session(&mut self) -> &mut Session {
        &mut self.session
    }

    /// Goes on until it must wait. Appends to `out` what is to be sent.
    #[inline]
    pub(crate) fn advance(&mut self, now: Tick, cx: &mut Context<'_>, out: &mut Vec<u8>) -> Wait {
        loop {
            match self.state {
                State::ChooseScript => {
                    if cx.stopping || cx.rules.transactions.is_some_and(|limit| self.transactions >= limit) {
                        self.state = State::Finished;
                        return Wait::Finished;
                    }
                    self.choose(now, cx);
                }
                State::Throttle(until) => {
                    if cx.stopping {
                        self.state = State::Finished;
                        return Wait::Finished;
                    }
                    if now < until {
                        return Wait::Until(until);
                    }
                    cx.recorder.started(self.txn);
                    self.begun = now;
                    self.tries = 1;
                    self.state = State::StartCommand;
                }
                State::StartCommand => {
                    if let Some(wait) = self.step(now, cx, out) {
                        return wait;
                    }
                }
                State::WaitResult | State::WaitRollbackResult => return Wait::Readable,
                State::Sleep(until) => {
                    if now < until {
                        return Wait::Until(until);
                    }
                    self.state = State::StartCommand;
                }
                State::EndTx(verdict) => {
                    self.end(now, verdict, cx);
                    if !self.talked {
                        // It would never wait for a server: let the others have their turn.
                        return Wait::Nothing;
                    }
                }
                State::Retry => {
                    cx.recorder.retried(self.txn, self.tries == 1);
                    self.tries += 1;
                    self.script.restart();
                    self.clear_reply();
                    self.state = State::StartCommand;
                }
                State::Failure => {
                    self.fail(cx);
                    // A script that fails without the server's help must not keep the thread.
                    return if self.state == State::Aborted { Wait::Finished } else { Wait::Nothing };
                }
                State::Lost(_) | State::Aborted | State::Finished => return Wait::Finished,
            }
        }
    }

    /// Draws a transaction and its intended start; passes over arrivals that are later than the limit.
    #[inline]
    fn choose(&mut self, now: Tick, cx: &mut Context<'_>) {
        let begin = self.script.begin();
        self.txn = usize::from(begin.txn.0);
        self.intended = cx.pacer.intended(now.after(begin.wait_ns));
        if let (Some(limit), true) = (cx.rules.latency_limit_ns, cx.pacer.is_open()) {
            while self.intended.after(limit) < now {
                cx.recorder.skipped(self.txn);
                self.transactions += 1;
                self.intended = cx.pacer.intended(now);
            }
        }
        let earliest = now.after(begin.wait_ns);
        self.state = State::Throttle(self.intended.max(earliest));
        self.talked = false;
        self.clear_reply();
    }

    /// Sends the next step. `Some` when the client must wait.
    #[inline]
    fn step(&mut self, now: Tick, cx: &mut Context<'_>, out: &mut Vec<u8>) -> Option<Wait> {
        let mut batch = Batch::new(&mut self.session, cx.statements, out);
        let next = self.script.step(Reply::new(&self.rows, self.row_count), &mut batch);
        batch.close();
        self.clear_reply();
        if self.session.is_busy() {
            self.mark = now;
            self.talked = true;
            self.finish = match next {
                Next::Finish(verdict) => Some(verdict),
                Next::Await | Next::Sleep(_) => None,
            };
            self.state = State::WaitResult;
            return Some(Wait::Readable);
        }
        match next {
            Next::Finish(verdict) => self.state = State::EndTx(verdict),
            Next::Sleep(ns) => self.state = State::Sleep(now.after(ns)),
            Next::Await => {}
        }
        None
    }

    fn clear_reply(&mut self) {
        self.rows.clear();
        self.row_count = 0;
    }

    #[inline]
    fn end(&mut self, now: Tick, verdict: Verdict, cx: &mut Context<'_>) {
        let response_ns = now.since(self.intended);
        let late = cx.rules.latency_limit_ns.is_some_and(|limit| response_ns > limit);
        cx.recorder.completed(self.txn, verdict == Verdict::Committed, now.since(self.begun), response_ns, late);
        self.transactions += 1;
        self.failures_in_a_row = 0;
        self.finish = None;
        self.state = State::ChooseScript;
    }

    fn fail(&mut self, cx: &mut Context<'_>) {
        let class = self.error.take().unwrap_or(ErrorClass::Other);
        cx.recorder.failed(self.txn, class);
        self.transactions += 1;
        self.finish = None;
        self.state = State::ChooseScript;
        if !class.is_retryable() {
            self.failures_in_a_row += 1;
            if self.failures_in_a_row >= HOPELESS_FAILURES {
                self.state = State::Aborted;
            }
        }
    }

    /// Takes what the server says. Afterwards, when this returns true, [`Client::advance`] is to be called.
    #[inline]
    pub(crate) fn on_event(&mut self, now: Tick, event: Event<'_>, cx: &mut Context<'_>, out: &mut Vec<u8>) -> bool {
        match event {
            Event::Complete(stmt) => {
                if self.state == State::WaitResult {
                    cx.recorder.statement(usize::from(stmt.0), now.since(self.mark));
                    self.mark = now;
                }
                false
            }
            Event::Row(row) => {
                Reply::keep(&mut self.rows, row);
                self.row_count += 1;
                false
            }
            Event::Ready { status, all_done } => {
                self.tx_status = status;
                all_done && self.on_reply(now, cx, out)
            }
            Event::Error { code, raw } => {
                if let (State::WaitResult, Some(stmt)) = (self.state, self.session.current()) {
                    cx.recorder.statement_failed(usize::from(stmt.0));
                }
                // Of several errors in one batch the first is the cause.
                self.error.get_or_insert(code.class());
                cx.errors.note(code, || ServerMessage::parse(raw).to_string());
                false
            }
            Event::Copy => {
                self.error.get_or_insert(ErrorClass::Other);
                cx.errors.note(SqlState::from_bytes(b"0A000"), || {
                    "COPY is not possible in a measured transaction".to_owned()
                });
                false
            }
        }
    }

    /// The whole batch was answered.
    #[inline]
    fn on_reply(&mut self, now: Tick, cx: &mut Context<'_>, out: &mut Vec<u8>) -> bool {
        if let Some(class) = self.error {
            if self.tx_status != TxStatus::Idle && self.state == State::WaitResult {
                self.session.query(StmtId(0), "ROLLBACK", out);
                self.state = State::WaitRollbackResult;
                return false;
            }
            self.state = if self.may_retry(now, class, cx) { State::Retry } else { State::Failure };
            if self.state == State::Retry {
                self.error = None;
            }
            return true;
        }
        self.state = self.finish.map_or(State::StartCommand, State::EndTx);
        true
    }

    /// As pgbench decides: by class, by number of tries, and not beyond the latency limit or the end.
    fn may_retry(&self, now: Tick, class: ErrorClass, cx: &Context<'_>) -> bool {
        class.is_retryable()
            && (cx.rules.max_tries == 0 || self.tries < cx.rules.max_tries)
            && cx.rules.latency_limit_ns.is_none_or(|limit| now.since(self.intended) <= limit)
            && !cx.stopping
    }

    /// The connection is gone; a transaction under way has failed.
    pub(crate) fn lose(&mut self, now: Tick, recorder: &mut Recorder) {
        if self.in_transaction() {
            recorder.failed(self.txn, ErrorClass::Connection);
            self.transactions += 1;
        }
        recorder.lost();
        self.error = None;
        self.finish = None;
        self.clear_reply();
        self.state = State::Lost(now);
    }

    /// A new connection is there: nothing is prepared on it, and the next transaction may begin.
    pub(crate) fn reconnect(&mut self, now: Tick, statements: usize, recorder: &mut Recorder) {
        if let State::Lost(since) = self.state {
            recorder.reconnected(now.since(since));
        }
        self.session = Session::new(self.session.mode(), statements);
        self.tx_status = TxStatus::Idle;
        self.state = State::ChooseScript;
    }
}
