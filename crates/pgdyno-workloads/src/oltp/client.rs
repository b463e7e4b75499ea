//! One client: sends the statements of its transaction, one for each round trip or all together.

use std::sync::Arc;

use pgdyno_wire::{ParamValue, SqlState};
use pgdyno_workload::dist::sysbench::Range;
use pgdyno_workload::{Batch, Begin, ClientScript, Failure, FailureAction, Next, Note, Reply, Rng, TxnId, Verdict};

use super::schema::{push_c, push_pad};
use super::steps::{Sql, Step, Steps};

/// What all clients have in common.
#[derive(Debug)]
pub(super) struct Setup {
    pub(super) steps: Steps,
    pub(super) tables: u32,
    pub(super) range_size: i32,
    pub(super) delta: i32,
    pub(super) is_pipeline: bool,
}

/// One client.
pub(super) struct Client {
    setup: Arc<Setup>,
    rows: Range,
    rng: Rng,
    /// The stream at the begin of the transaction: a second try draws the same.
    at_begin: Rng,
    /// The next step.
    next: usize,
    /// The table of the statements in progress, from 1.
    table: u32,
    /// Key and k of the row that was deleted and is inserted again.
    deleted: (i32, i32),
    c: Vec<u8>,
    pad: Vec<u8>,
    /// Parameters of a statement with many of them.
    values: Vec<ParamValue<'static>>,
}

impl Client {
    pub(super) fn new(setup: Arc<Setup>, rows: Range, rng: Rng) -> Self {
        let (c, pad, values) = (Vec::new(), Vec::new(), Vec::new());
        Self { setup, rows, at_begin: rng.clone(), rng, next: 0, table: 1, deleted: (1, 1), c, pad, values }
    }

    /// Draws a key, or a value of k.
    #[inline]
    fn row(&mut self) -> i32 {
        // A table has at most as many rows as there are positive integers.
        self.rows.draw(&mut self.rng) as i32
    }

    fn draw_c(&mut self) {
        self.c.clear();
        push_c(&mut self.rng, &mut self.c);
    }

    fn draw_pad(&mut self) {
        self.pad.clear();
        push_pad(&mut self.rng, &mut self.pad);
    }

    fn send(&mut self, step: Step, batch: &mut Batch<'_>) {
        if step.draws_table && self.setup.tables > 1 {
            self.table = self.rng.up_to(u64::from(self.setup.tables) - 1) as u32 + 1;
        }
        let id = self.setup.steps.id(step, self.table);
        match step.sql {
            Sql::Begin | Sql::Commit => batch.execute(id, &[]),
            Sql::PointSelect | Sql::IndexUpdate | Sql::Delete { insert: false } => {
                batch.execute(id, &[ParamValue::Int4(self.row())]);
            }
            Sql::SimpleRange | Sql::SumRange | Sql::OrderRange | Sql::DistinctRange => {
                let first = self.row();
                let last = first.saturating_add(self.setup.range_size - 1);
                batch.execute(id, &[ParamValue::Int4(first), ParamValue::Int4(last)]);
            }
            Sql::NonIndexUpdate => {
                self.draw_c();
                let row = self.row();
                batch.execute(id, &[ParamValue::Text(text(&self.c)), ParamValue::Int4(row)]);
            }
            Sql::Delete { insert: true } => {
                self.deleted = (self.row(), self.row());
                batch.execute(id, &[ParamValue::Int4(self.deleted.0)]);
            }
            Sql::Insert => {
                self.draw_c();
                self.draw_pad();
                let (row, k) = self.deleted;
                let (c, pad) = (ParamValue::Text(text(&self.c)), ParamValue::Text(text(&self.pad)));
                batch.execute(id, &[ParamValue::Int4(row), ParamValue::Int4(k), c, pad]);
            }
            Sql::NewRow => {
                let k = self.row();
                self.draw_c();
                self.draw_pad();
                batch.execute(
                    id,
                    &[ParamValue::Int4(k), ParamValue::Text(text(&self.c)), ParamValue::Text(text(&self.pad))],
                );
            }
            Sql::RandomPoints(points) => {
                self.values.clear();
                for _ in 0..points {
                    let k = self.row();
                    self.values.push(ParamValue::Int4(k));
                }
                batch.execute(id, &self.values);
            }
            Sql::RandomRanges(ranges) => {
                self.values.clear();
                for _ in 0..ranges {
                    let k = self.row();
                    self.values.extend([ParamValue::Int4(k), ParamValue::Int4(k.saturating_add(self.setup.delta))]);
                }
                batch.execute(id, &self.values);
            }
        }
    }
}

/// Strings have only ASCII characters.
fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

impl ClientScript for Client {
    #[inline]
    fn begin(&mut self) -> Option<Begin> {
        self.at_begin = self.rng.clone();
        // Only statements that draw a table change it: those of the random selects have the first one.
        (self.next, self.table) = (0, 1);
        Some(Begin::now(TxnId(0)))
    }

    #[inline]
    fn step(&mut self, _: Reply<'_>, batch: &mut Batch<'_>) -> Next {
        loop {
            let Some(step) = self.setup.steps.list().get(self.next).copied() else {
                return Next::Finish(Verdict::Committed);
            };
            self.next += 1;
            self.send(step, batch);
            if !self.setup.is_pipeline {
                let is_last = self.next == self.setup.steps.list().len();
                return if is_last { Next::Finish(Verdict::Committed) } else { Next::Await };
            }
        }
    }

    fn restart(&mut self) {
        self.rng = self.at_begin.clone();
        (self.next, self.table) = (0, 1);
    }

    fn on_failure(&mut self, failure: &Failure<'_>, _: &mut Vec<Note>) -> FailureAction {
        match failure {
            // Another client deleted the same row and inserted it first: sysbench begins anew.
            Failure::Server { message, .. } if message.code == SqlState::UNIQUE_VIOLATION => FailureAction::Retry,
            _ => FailureAction::Count,
        }
    }
}
