//! Counts and digests of rows.

use pgdyno_measure::Rows;
use pgdyno_wire::StmtId;
use pgdyno_wire::backend::DataRow;
use pgdyno_workload::{Results, TooMuch};

use super::{Client, Common};
use crate::lines::Line;

impl Client {
    /// Counts a row of the statement in progress. Returns true if it may be kept.
    #[inline]
    pub(super) fn count_row(&mut self, row: DataRow<'_>, line: &Line, common: &mut Common) -> bool {
        match common.rules.results {
            Results::Discard => return true,
            Results::Count => self.rows.count += 1,
            Results::Digest => {
                self.rows.count += 1;
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
        self.rows = Rows::default();
    }
}
