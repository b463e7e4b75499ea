//! Knowledge of a client about its commits, in a run with a ledger, and the time limit of its replies.

use std::sync::PoisonError;

use pgdyno_wire::backend::{ServerMessage, is_local_commit};
use pgdyno_wire::{ErrorClass, SqlState, StmtId, TxStatus};
use pgdyno_workload::Verdict;

use super::{Client, ClientState, Common, Wait};
use crate::Tick;
use crate::observer::{CommitClass, TxOutcome};

/// The part of a client's state that only a run with a ledger needs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Proof {
    /// Whether the server did not wait for its standbys to the end of the commit.
    pub(super) is_local: bool,
    /// Whether its server is read-only: it needs another connection.
    pub(super) is_misplaced: bool,
    /// When the reply that it waits for is due.
    reply_by: Tick,
    /// Its only timer for replies, if it is set.
    timer: Option<Tick>,
}

/// What follows from a timer that has gone off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReplyTimer {
    /// Nothing.
    Stale,
    /// Another reply is due later.
    Again(Tick),
    /// The reply has not come in time.
    Expired,
}

impl Common {
    /// Returns true if the run has a ledger.
    #[inline]
    pub(crate) fn proves_commits(&self) -> bool {
        self.rules.commit_timeout_ns.is_some()
    }
}

impl Client {
    /// Sets when the reply is due. Sets a timer, unless one is set.
    #[inline(never)]
    pub(super) fn limit_reply(&mut self, by: Tick) -> Wait {
        self.proof.reply_by = by;
        if self.proof.timer.is_some() {
            return Wait::Readable;
        }
        self.proof.timer = Some(by);
        Wait::Until(by)
    }

    /// Sets when the reply to ROLLBACK is due, for which the timer of the batch before is set.
    pub(super) fn extend_reply(&mut self, now: Tick, common: &Common) {
        if let Some(ns) = common.rules.commit_timeout_ns {
            self.proof.reply_by = now.after(ns);
        }
    }

    /// Handles a timer that has gone off.
    pub(crate) fn on_reply_timer(&mut self, timer: Tick, now: Tick) -> ReplyTimer {
        if self.proof.timer != Some(timer) {
            return ReplyTimer::Stale;
        }
        self.proof.timer = None;
        if !matches!(self.state, ClientState::WaitResult | ClientState::WaitRollbackResult) {
            return ReplyTimer::Stale;
        }
        if self.proof.reply_by <= now {
            return ReplyTimer::Expired;
        }
        self.proof.timer = Some(self.proof.reply_by);
        ReplyTimer::Again(self.proof.reply_by)
    }

    /// Returns true, once, if its server is read-only.
    #[inline]
    pub(crate) fn take_misplaced(&mut self) -> bool {
        std::mem::take(&mut self.proof.is_misplaced)
    }

    /// Returns true if the transaction may have been committed, should the connection be lost now: a COMMIT is on its way, or a
    /// statement that commits by itself. An error is an answer, unless it ends the session.
    pub(super) fn is_in_doubt(&self) -> bool {
        let ends_session = |message: &ServerMessage| matches!(message.severity.as_str(), "FATAL" | "PANIC");
        self.state == ClientState::WaitResult
            && self.error.as_ref().is_none_or(|error| ends_session(&error.message))
            && (self.finish.is_some()
                || self.tx_status == TxStatus::Idle && self.script.may_commit_early()
                || self.script.is_committing())
    }

    /// Handles a notice: the server may not have waited for its standbys.
    #[cold]
    pub(super) fn on_notice(&mut self, raw: &[u8], common: &Common) {
        self.proof.is_local |= common.proves_commits() && is_local_commit(raw);
    }

    /// Handles ROLLBACK as the answer to COMMIT: the transaction had failed, and the server reports no error.
    #[cold]
    pub(crate) fn refuse_commit(&mut self, stmt: StmtId, common: &mut Common) {
        if self.finish != Some(Verdict::Committed) || self.error.is_some() {
            return;
        }
        let (code, text) = (SqlState::IN_FAILED_TRANSACTION, "the server answered COMMIT with ROLLBACK");
        common.errors.note(code, || (text.to_owned(), None));
        let message = ServerMessage { code, message: text.to_owned(), ..ServerMessage::default() };
        self.note_error(code, ErrorClass::Other, Some(stmt), message);
    }

    /// Reports the end of a transaction without an error. What was rolled back on purpose was not to commit.
    #[inline(never)]
    pub(super) fn prove_end(&self, now: Tick, verdict: Verdict, common: &Common) {
        let class = if self.proof.is_local { CommitClass::LocallyOnly } else { CommitClass::Acknowledged };
        if verdict == Verdict::Committed {
            self.prove(now, class, None, common);
        }
    }

    /// Reports what is known about the commit of the transaction that ends.
    #[inline(never)]
    pub(super) fn prove(&self, now: Tick, class: CommitClass, code: Option<SqlState>, common: &Common) {
        if let Some(observer) = common.observer.as_deref() {
            let mut observer = observer.lock().unwrap_or_else(PoisonError::into_inner);
            observer.commit(&self.tx_end(now, TxOutcome::Completed), class, code, self.script.marks());
        }
    }
}
