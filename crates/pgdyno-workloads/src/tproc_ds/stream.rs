//! A stream: one client that asks each of its questions once.

use pgdyno_wire::{Capture, StmtId};
use pgdyno_workload::{Batch, Begin, ClientScript, Next, Reply, TxnId, Verdict};

use crate::query_set::limit;

/// A question of a stream.
pub(super) struct Task {
    pub(super) txn: TxnId,
    /// Its statements, one after the other.
    pub(super) statements: Vec<(StmtId, String)>,
}

/// A stream.
pub(super) struct Stream {
    tasks: Vec<Task>,
    /// The statement that limits the time of queries.
    limit_id: StmtId,
    /// SQL that limits the time of each query of the session, until it is sent.
    limit: Option<String>,
    /// Questions begun.
    begun: usize,
    /// Statements of the last one that were sent.
    sent: usize,
}

impl Stream {
    /// Returns a stream of these questions; each statement may take so many milliseconds, or any time.
    pub(super) fn new(tasks: Vec<Task>, limit_id: StmtId, timeout_ms: Option<i64>) -> Self {
        Self { tasks, limit_id, limit: timeout_ms.map(limit), begun: 0, sent: 0 }
    }
}

impl ClientScript for Stream {
    fn begin(&mut self) -> Option<Begin> {
        let task = self.tasks.get(self.begun)?;
        (self.begun, self.sent) = (self.begun + 1, 0);
        Some(Begin::now(task.txn))
    }

    fn step(&mut self, _: Reply<'_>, batch: &mut Batch<'_>) -> Next {
        if let Some(limit) = self.limit.take() {
            batch.query(self.limit_id, limit.as_bytes(), Capture::Nothing);
            return Next::Await;
        }
        let statements = &self.tasks[self.begun - 1].statements;
        let (id, text) = &statements[self.sent];
        batch.query(*id, text.as_bytes(), Capture::Nothing);
        self.sent += 1;
        if self.sent == statements.len() { Next::Finish(Verdict::Committed) } else { Next::Await }
    }

    fn restart(&mut self) {
        self.sent = 0;
    }
}
