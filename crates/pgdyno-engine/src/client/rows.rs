//! Counts and digests of rows.

use pgdyno_measure::StatementRows;
use pgdyno_wire::StmtId;
use pgdyno_wire::backend::DataRow;
use pgdyno_workload::{Results, TooMuch};

use super::{Client, Common};
use crate::Tick;
use crate::lines::Line;

impl Client {
    /// Counts a row of the statement in progress. Returns true if it may be kept.
    #[inline]
    pub(super) fn count_row(&mut self, row: DataRow<'_>, now: Tick, line: &Line, common: &mut Common) -> bool {
        match common.rules.results {
            Results::Discard => return true,
            Results::Count => self.one_more(now),
            Results::Digest => {
                self.one_more(now);
                self.rows.digest.get_or_insert_default().row(row.body());
            }
            Results::Rows { cap } => {
                self.rows.count += 1;
                if self.rows.count > u64::from(cap) {
                    self.refuse_reply(TooMuch::Rows { cap }, line, common);
                    return false;
                }
            }
        }
        line.session.keeps_rows()
    }

    /// Counts a row that nobody keeps.
    #[inline]
    fn one_more(&mut self, now: Tick) {
        if self.rows.count == 0 {
            (self.rows.answered, self.rows.first_row_ns) = (1, now.since(self.mark));
        }
        self.rows.count += 1;
    }

    /// Records the rows of the statement in progress, which ended.
    #[inline(never)]
    pub(super) fn rows_done(&mut self, stmt: StmtId, common: &mut Common) {
        let mut rows = std::mem::take(&mut self.rows);
        if self.has_failed(stmt) {
            return;
        }
        // A result without rows has a digest, too.
        if common.rules.results == Results::Digest {
            rows.digest.get_or_insert_default();
        }
        common.recorder.rows(stmt.0 as usize, &rows);
    }

    /// Drops the rows of the statement in progress, which failed.
    pub(super) fn forget_rows(&mut self) {
        self.rows = StatementRows::default();
    }
}
