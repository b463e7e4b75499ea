//! The ledger of a workload: markers by which it is known after a run which of its commits the server has kept.

/// Markers of a workload's commits, and how the server is asked for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ledger {
    /// Whether each run has one. If not, the user asks for it.
    pub is_always: bool,
    /// The names of the transactions that write a marker each.
    pub txns: Vec<&'static str>,
    /// Where markers are.
    pub markers: LedgerMarkers,
}

/// Where markers are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LedgerMarkers {
    /// Rows of these tables, with columns `run`, `client` and `sequence`, which the client chose.
    Rows(Vec<&'static str>),
    /// Rows of `orders` with their lines. The server numbers them: a client learns the number from the answer.
    Orders,
    /// Rows with these keys, which a client's script names: one for each of its transactions.
    Keys(Vec<MarkerKey>),
}

/// The key of the rows that a script inserts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkerKey {
    /// Line and file that name it.
    pub place: String,
    /// The table, after its schema if that is named.
    pub table: Vec<String>,
    /// The column.
    pub column: String,
}

/// Columns of [`Ledger::present`]: three numbers of the marker, whether it is whole, the timeline and the start of the server
/// that wrote it.
pub const MARKER_COLUMNS: usize = 6;

impl Ledger {
    /// Returns statements that remove markers of an earlier run with the same number.
    #[must_use]
    pub fn forget(&self, run: i64) -> Vec<String> {
        match &self.markers {
            LedgerMarkers::Rows(tables) => {
                tables.iter().map(|table| format!("delete from {table} where run = {run}")).collect()
            }
            LedgerMarkers::Orders | LedgerMarkers::Keys(_) => Vec::new(),
        }
    }

    /// Returns a query for the first marker that a run can write in each place, in three columns; `None` if all markers with its
    /// number are its own.
    #[must_use]
    pub fn first_markers(&self) -> Option<&'static str> {
        match self.markers {
            LedgerMarkers::Rows(_) | LedgerMarkers::Keys(_) => None,
            LedgerMarkers::Orders => Some("select d_w_id, d_id, d_next_o_id from district"),
        }
    }

    /// Returns a query for all markers of a run, at least for those from number `first` on; `None` if the rows of the run are found only
    /// by their keys.
    #[must_use]
    pub fn present(&self, run: i64, first: i64) -> Option<String> {
        match &self.markers {
            LedgerMarkers::Keys(_) => None,
            LedgerMarkers::Rows(tables) => {
                let of = |table: &&str| {
                    format!("select client, sequence, 0, true, timeline, server_started from {table} where run = {run}")
                };
                Some(tables.iter().map(of).collect::<Vec<_>>().join(" union all "))
            }
            LedgerMarkers::Orders => Some(format!(
                "select o_w_id, o_d_id, o_id, o_ol_cnt = (select count(*) from order_line where ol_w_id = o_w_id and ol_d_id = o_d_id \
                 and ol_o_id = o_id), null, null from orders where o_id >= {first}"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_all_tables_are_asked_for_by_the_number_of_the_run() {
        let markers = LedgerMarkers::Rows(vec!["a", "b"]);
        let ledger = Ledger { is_always: true, txns: vec!["commit"], markers };
        assert_eq!(ledger.forget(-7), ["delete from a where run = -7", "delete from b where run = -7"]);
        let query = ledger.present(-7, 0).unwrap();
        assert!(query.contains("from a where run = -7 union all select") && query.ends_with("from b where run = -7"));
    }
}
