//! Errors and lost connections: the client retries, counts a failure, or is aborted.

use pgdyno_wire::backend::ServerMessage;
use pgdyno_wire::{Capture, ErrorClass, SqlState, StmtId, TxStatus, libpq};
use pgdyno_workload::{Failure, FailureAction, Note, TooMuch};

use super::{Client, ClientState, Common, Failed};
use crate::lines::Line;
use crate::observer::{CommitClass, TxOutcome};
use crate::{GroupNumbers, Tick};

/// The ROLLBACK after an error, which is not a statement of the script.
const ROLLBACK: StmtId = StmtId(u32::MAX);
const NO_ROW: &str = "no row has this key";
const NO_COPY: &str = "COPY is not possible in a measured transaction";

/// Passes a notice of the server on to the user, unless too many are waiting.
#[cold]
pub(super) fn pass_on(raw: &[u8], common: &mut Common) {
    let Some(bytes) = common.backlog.admit(raw.len()) else {
        common.recorder.notice_dropped();
        return;
    };
    common.notice_bytes += bytes;
    common.notes.push(Note::Notice(Box::new(ServerMessage::parse(raw))));
}

impl Client {
    /// Handles a failed statement.
    #[cold]
    pub(super) fn on_error(&mut self, code: SqlState, raw: &[u8], line: &Line, common: &mut Common) {
        self.forget_rows();
        let stmt = Self::current(line);
        self.statement_failed(stmt, common);
        common.errors.note(code, || {
            let message = ServerMessage::parse(raw);
            (message.to_string(), self.script.location(common.numbers.within_scripts(stmt), message.position))
        });
        self.note_error(code, code.class(), stmt, ServerMessage::parse(raw));
    }

    /// Handles a reply that is larger than a script may keep: its statement failed.
    #[cold]
    pub(super) fn refuse_reply(&mut self, error: TooMuch, line: &Line, common: &mut Common) {
        if self.error.is_some() {
            return;
        }
        let stmt = Self::current(line);
        // The SQLSTATE of a result that is too large for the server, too: program_limit_exceeded.
        let code = SqlState::from_bytes(b"54000");
        common.errors.note(code, || (error.to_string(), self.location(stmt, &common.numbers)));
        self.statement_failed(stmt, common);
        let message = ServerMessage { message: error.to_string(), ..ServerMessage::default() };
        self.note_error(code, ErrorClass::Script, stmt, message);
        self.reply.clear();
    }

    /// Handles a statement that must find a row and found none: it failed.
    #[cold]
    pub(crate) fn found_nothing(&mut self, stmt: StmtId, common: &mut Common) {
        let code = SqlState::NO_DATA;
        common.errors.note(code, || (NO_ROW.to_owned(), self.location(Some(stmt), &common.numbers)));
        self.statement_failed(Some(stmt), common);
        let message = ServerMessage { code, message: NO_ROW.to_owned(), ..ServerMessage::default() };
        self.note_error(code, code.class(), Some(stmt), message);
    }

    /// Handles the start of a COPY, which no measured client runs.
    #[cold]
    pub(super) fn refuse_copy(&mut self, wanted: bool, line: &mut Line, common: &mut Common) {
        let stmt = Self::current(line);
        let code = SqlState::from_bytes(b"0A000");
        common.errors.note(code, || (NO_COPY.to_owned(), self.location(stmt, &common.numbers)));
        self.statement_failed(stmt, common);
        let message = ServerMessage { message: NO_COPY.to_owned(), ..ServerMessage::default() };
        self.note_error(code, ErrorClass::Script, stmt, message);
        if wanted {
            line.session.end_copy(&mut line.out);
        }
    }

    /// Begins the same transaction again.
    #[cold]
    pub(super) fn try_again(&mut self, now: Tick, common: &mut Common) {
        common.recorder.retried(self.txn, self.tries == 1);
        self.decided(now, true, common);
        self.tries += 1;
        self.script.restart();
        self.clear_reply();
        self.state = ClientState::StartCommand;
    }

    /// Notes an error. The first of several errors in a batch is the cause.
    pub(super) fn note_error(
        &mut self,
        code: SqlState,
        class: ErrorClass,
        stmt: Option<StmtId>,
        message: ServerMessage,
    ) {
        let results = self.results;
        let is_retryable = class.is_retryable();
        self.error.get_or_insert_with(|| Box::new(Failed { code, class, stmt, results, message, is_retryable }));
    }

    /// Returns true if this statement has failed in this batch already: a COPY that was refused ends separately.
    #[inline]
    pub(super) fn has_failed(&self, stmt: StmtId) -> bool {
        self.error.as_ref().is_some_and(|error| error.stmt == Some(stmt))
    }

    pub(super) fn statement_failed(&mut self, stmt: Option<StmtId>, common: &mut Common) {
        if let Some(stmt) = stmt.filter(|stmt| self.in_transaction() && !self.has_failed(*stmt))
            && self.state != ClientState::WaitRollbackResult
        {
            common.recorder.statement_failed(stmt.0 as usize);
        }
    }

    /// Handles the end of the reply to a batch.
    #[inline]
    pub(super) fn on_reply(&mut self, now: Tick, line: &mut Line, common: &mut Common) -> bool {
        match self.state {
            ClientState::WaitResult => {}
            ClientState::WaitRollbackResult => return self.on_rollback(now, common),
            // A pipeline is still open: its error counts when the script waits for the reply.
            _ => return false,
        }
        if self.error.is_none() {
            self.state = self.finish.map_or(ClientState::StartCommand, ClientState::EndTx);
            return true;
        }
        self.on_failure(now, line, common)
    }

    /// Handles the end of the reply to a batch with an error.
    #[cold]
    fn on_failure(&mut self, now: Tick, line: &mut Line, common: &mut Common) -> bool {
        match self.pass_error(now, common) {
            FailureAction::Count => {}
            FailureAction::Retry => {
                if let Some(error) = &mut self.error {
                    error.is_retryable = true;
                }
            }
            FailureAction::Abort => return true,
            FailureAction::Ignore => {
                self.error = None;
                self.state = self.finish.map_or(ClientState::StartCommand, ClientState::EndTx);
                return true;
            }
            FailureAction::Finish(verdict) => {
                if let Some(error) = self.error.take() {
                    common.errors.forget(error.code);
                }
                self.finish = Some(verdict);
                if self.tx_status == TxStatus::Idle {
                    self.state = ClientState::EndTx(verdict);
                    return true;
                }
            }
        }
        if self.tx_status == TxStatus::Idle {
            return self.retry_or_fail(now, common);
        }
        line.session.query(ROLLBACK, b"ROLLBACK", Capture::Nothing, &mut line.out);
        self.state = ClientState::WaitRollbackResult;
        self.extend_reply(now, common);
        false
    }

    /// Returns file and line of a statement where the user wrote it.
    fn location(&self, stmt: Option<StmtId>, numbers: &GroupNumbers) -> Option<String> {
        self.script.location(numbers.within_scripts(stmt), None)
    }

    /// Returns the script's statement that the server is working on, as far as its replies show.
    fn current(line: &Line) -> Option<StmtId> {
        line.session.current().filter(|stmt| *stmt != ROLLBACK)
    }

    /// Passes the error to the script, and aborts the client if the script wants that.
    fn pass_error(&mut self, now: Tick, common: &mut Common) -> FailureAction {
        let Some(error) = self.error.take() else { return FailureAction::Count };
        let stmt = common.numbers.within_scripts(error.stmt);
        let failure = Failure::Server { stmt, results: error.results, message: &error.message };
        let verdict = self.script.on_failure(&failure, &mut common.notes);
        if verdict == FailureAction::Abort {
            self.abort(now, error.class, common);
        } else {
            self.error = Some(error);
        }
        verdict
    }

    /// Handles the end of ROLLBACK.
    #[cold]
    fn on_rollback(&mut self, now: Tick, common: &mut Common) -> bool {
        if let (None, Some(verdict)) = (&self.error, self.finish) {
            self.state = ClientState::EndTx(verdict);
            return true;
        }
        self.retry_or_fail(now, common)
    }

    /// Decides after an error, outside of any transaction block.
    #[cold]
    fn retry_or_fail(&mut self, now: Tick, common: &mut Common) -> bool {
        let is_retryable = self.error.as_ref().is_some_and(|error| error.is_retryable);
        if is_retryable && self.may_retry(now, common) {
            if let Some(stmt) = self.error.take().and_then(|error| error.stmt) {
                common.recorder.statement_retried(stmt.0 as usize);
            }
            self.state = ClientState::Retry;
        } else {
            self.state = ClientState::Failure;
        }
        true
    }

    /// Decides as pgbench does: by number of tries, and within the latency limit and the run's time.
    fn may_retry(&self, now: Tick, common: &Common) -> bool {
        (common.rules.max_tries == 0 || self.tries < common.rules.max_tries)
            && common.rules.latency_limit_ns.is_none_or(|limit| now.since(self.intended) <= limit)
            && !common.stopping
    }

    /// Handles a lost connection; a transaction in progress failed.
    pub(crate) fn lose(&mut self, now: Tick, why: &str, line: &Line, common: &mut Common) {
        self.forget_rows();
        let was_under_way = self.in_transaction();
        self.interrupted = matches!(self.state, ClientState::Throttle(_)) && common.pacer.is_open();
        let is_unknown = common.proves_commits() && self.is_in_doubt();
        let error = self.error.take();
        // A standby may end a session whose snapshot is in the way of replay: 40001, as for a query.
        let is_conflict = error.as_deref().is_some_and(|error| error.class == ErrorClass::Serialization);
        let class = match (is_unknown, is_conflict) {
            (true, _) => ErrorClass::Unknown,
            (false, true) => ErrorClass::Serialization,
            (false, false) => ErrorClass::Connection,
        };
        // A refused COPY is the cause, and not the loss that may follow from it within a pipeline.
        let refused_copy = error.as_deref().filter(|e| e.class == ErrorClass::Script);
        let verdict = match refused_copy {
            _ if !was_under_way => FailureAction::Count,
            Some(Failed { stmt, results, message, .. }) => {
                let stmt = common.numbers.within_scripts(*stmt);
                let failure = Failure::Server { stmt, results: *results, message };
                self.script.on_failure(&failure, &mut common.notes)
            }
            None => {
                let said = error.as_ref().map(|e| libpq::error(&e.message, ""));
                let stmt = error.as_ref().and_then(|e| e.stmt).or(Self::current(line));
                let stmt = common.numbers.within_scripts(stmt);
                let failure = Failure::Lost { stmt, results: self.results, said: said.as_deref(), why };
                self.script.on_failure(&failure, &mut common.notes)
            }
        };
        common.recorder.lost();
        if verdict == FailureAction::Abort {
            self.abort(now, class, common);
            return;
        }
        self.finish = None;
        self.clear_reply();
        self.state = ClientState::Lost(now);
        if was_under_way {
            common.recorder.failed(self.txn, class);
            self.failure = Some(class);
            self.transactions += 1;
            self.observe(now, TxOutcome::Failed(class), common);
            if common.proves_commits() {
                let known = if is_unknown { CommitClass::Unknown } else { CommitClass::Failed };
                self.prove(now, known, error.map(|error| error.code), common);
            }
        }
    }
}
