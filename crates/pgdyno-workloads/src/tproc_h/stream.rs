//! A stream: one client that runs each query of an ordering once.

use pgdyno_wire::{Capture, StmtId};
use pgdyno_workload::{Batch, Begin, ClientScript, Next, Reply, TxnId, Verdict};

use super::LIMIT;

/// One query of a stream.
pub(super) struct Query {
    /// Its number, 1 to 22.
    pub(super) number: usize,
    pub(super) text: String,
}

/// A stream.
pub(super) struct Stream {
    queries: Vec<Query>,
    /// SQL that limits the time of each query of the session, until it is sent.
    limit: Option<String>,
    /// Queries begun.
    begun: usize,
}

impl Stream {
    /// Returns a stream of these queries, each of which may take so many milliseconds, or any time.
    pub(super) fn new(queries: Vec<Query>, timeout_ms: Option<i64>) -> Self {
        Self { queries, limit: timeout_ms.map(|ms| format!("set statement_timeout = {ms}")), begun: 0 }
    }
}

impl ClientScript for Stream {
    fn begin(&mut self) -> Option<Begin> {
        let query = self.queries.get(self.begun)?;
        self.begun += 1;
        Some(Begin::now(TxnId(query.number as u8 - 1)))
    }

    fn step(&mut self, _: Reply<'_>, batch: &mut Batch<'_>) -> Next {
        if let Some(limit) = self.limit.take() {
            batch.query(LIMIT, limit.as_bytes(), Capture::Nothing);
            return Next::Await;
        }
        let query = &self.queries[self.begun - 1];
        batch.query(StmtId(query.number as u32 - 1), query.text.as_bytes(), Capture::Nothing);
        Next::Finish(Verdict::Committed)
    }

    fn restart(&mut self) {}
}
