//! A stream: one client that runs the chosen queries again and again, in its own order.

use pgdyno_wire::{Capture, StmtId};
use pgdyno_workload::{Batch, Begin, ClientScript, Next, Reply, TxnId, Verdict};

use super::queries::{self, Form};
use crate::query_set::orderings::ordering;
use crate::query_set::selection::Selection;
use crate::query_set::{QUERIES, limit};

/// A stream.
pub(super) struct Stream {
    /// Numbers and texts of its queries, in its order.
    queries: Vec<(usize, String)>,
    /// Queries begun.
    begun: usize,
    /// Places of query 1 among transactions and statements.
    first: (usize, usize),
    /// SQL that limits the time of each query of the session, until it is sent.
    limit: Option<String>,
}

impl Stream {
    /// Returns a stream with the order of this number.
    pub(super) fn new(
        order: u32,
        selection: Selection,
        form: Form,
        first: (usize, usize),
        timeout_ms: Option<i64>,
    ) -> Self {
        let numbers = ordering(order).iter().map(|number| usize::from(*number));
        let chosen = numbers.filter(|number| selection.has(*number));
        let queries = chosen.map(|number| (number, queries::text(number, form))).collect();
        Self { queries, begun: 0, first, limit: timeout_ms.map(limit) }
    }

    /// Returns the number and the text of the query in progress.
    fn current(&self) -> &(usize, String) {
        &self.queries[self.begun.saturating_sub(1) % self.queries.len()]
    }
}

impl ClientScript for Stream {
    fn begin(&mut self) -> Option<Begin> {
        if self.queries.is_empty() {
            return None;
        }
        self.begun += 1;
        Some(Begin::now(TxnId((self.first.0 + self.current().0 - 1) as u8)))
    }

    fn step(&mut self, _: Reply<'_>, batch: &mut Batch<'_>) -> Next {
        if let Some(limit) = self.limit.take() {
            batch.query(StmtId((self.first.1 + QUERIES) as u32), limit.as_bytes(), Capture::Nothing);
            return Next::Await;
        }
        let (number, text) = self.current();
        batch.query(StmtId((self.first.1 + number - 1) as u32), text.as_bytes(), Capture::Nothing);
        Next::Finish(Verdict::Committed)
    }

    fn restart(&mut self) {}
}
