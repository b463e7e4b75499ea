//! A stream: one client that runs the chosen queries again and again, in its own order.

use pgdyno_wire::{Capture, StmtId};
use pgdyno_workload::{Batch, Begin, ClientScript, Marks, Next, Reply, Verdict};

use super::markers;
use super::queries::{self, Form};
use crate::query_set::orderings::ordering;
use crate::query_set::selection::Selection;
use crate::query_set::{self, limit};

/// The statements that are no queries.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ids {
    /// Limits the time of queries.
    pub(super) limit: StmtId,
    /// Begins the transaction of a query, and reads the markers.
    pub(super) begin: StmtId,
    /// Ends it.
    pub(super) end: StmtId,
}

/// A stream.
pub(super) struct Stream {
    /// Numbers and texts of its queries, in its order.
    queries: Vec<(usize, String)>,
    /// Queries begun.
    begun: usize,
    ids: Ids,
    /// SQL that limits the time of each query of the session, until it is sent.
    limit: Option<String>,
    /// The markers that the query in progress has read, if it reads them.
    markers: Option<Markers>,
}

/// What a query reads before itself.
#[derive(Default)]
struct Markers {
    /// Whether the transaction was sent, so that its reply comes next.
    is_sent: bool,
    /// By client, the number of its last transaction that the snapshot has.
    seen: Vec<u64>,
}

impl Stream {
    /// Returns a stream with the order of this number.
    pub(super) fn new(order: u32, selection: Selection, form: Form, ids: Ids, timeout_ms: Option<i64>) -> Self {
        let numbers = ordering(order).iter().map(|number| usize::from(*number));
        let chosen = numbers.filter(|number| selection.has(*number));
        let queries = chosen.map(|number| (number, queries::text(number, form))).collect();
        Self { queries, begun: 0, ids, limit: timeout_ms.map(limit), markers: None }
    }

    /// Returns the same stream, whose queries read the markers of the transactions with their snapshot.
    pub(super) fn reading_markers(self) -> Self {
        Self { markers: Some(Markers::default()), ..self }
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
        self.restart();
        Some(Begin::now(query_set::txn(self.current().0)))
    }

    fn step(&mut self, reply: Reply<'_>, batch: &mut Batch<'_>) -> Next {
        if let Some(limit) = self.limit.take() {
            batch.query(self.ids.limit, limit.as_bytes(), Capture::Nothing);
            return Next::Await;
        }
        if let Some(markers) = self.markers.as_mut().filter(|markers| markers.is_sent) {
            markers::read(reply, &mut markers.seen);
            return Next::Finish(Verdict::Committed);
        }
        let (number, text) = self.current();
        let query = query_set::statement(*number);
        if self.markers.is_none() {
            batch.query(query, text.as_bytes(), Capture::Nothing);
            return Next::Finish(Verdict::Committed);
        }
        // All at once: a standby ends sessions that are idle in a transaction when their snapshot is in its way.
        batch.query(self.ids.begin, markers::BEGIN.as_bytes(), Capture::Rows);
        batch.query(query, text.as_bytes(), Capture::Nothing);
        batch.query(self.ids.end, markers::END.as_bytes(), Capture::Nothing);
        self.markers.iter_mut().for_each(|markers| markers.is_sent = true);
        Next::Await
    }

    fn restart(&mut self) {
        self.markers.iter_mut().for_each(|markers| markers.is_sent = false);
    }

    fn marks(&self) -> Marks<'_> {
        self.markers.as_ref().map_or(Marks::None, |markers| Marks::Saw(&markers.seen))
    }
}
