//! Rows that somebody counts.

use pgdyno_measure::Rows;
use pgdyno_wire::StmtId;
use pgdyno_wire::backend::DataRow;
use pgdyno_workload::{Results, TooMuch};

use super::{Client, Common};
use crate::lines::Line;

impl Client {
    /// A row came of the statement in progress. Returns whether it may be kept.
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

    /// The statement in progress ended, well as far as the server is concerned.
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

    /// The statement in progress failed.
    pub(super) fn forget_rows(&mut self) {
        self.rows = Rows::default();
    }
}
