//! The scale factor: a number of thousandths.

use pgdyno_workload::RowCount;
use tpcdsgen::config::{Session, SessionBuilder, Table};

/// Smallest scale factor, in thousandths: below, tables have no rows.
pub(super) const THOUSANDTHS_MIN: i64 = 10;
/// Largest scale factor, in thousandths: the largest of the standard.
pub(super) const THOUSANDTHS_MAX: i64 = 100_000_000;

/// A scale factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ScaleFactor {
    thousandths: u64,
}

impl ScaleFactor {
    /// Returns the scale factor of so many thousandths.
    pub(super) fn of_thousandths(thousandths: u64) -> Self {
        Self { thousandths }
    }

    /// Returns it as tpcdsgen takes it.
    pub(super) fn session(self) -> Session {
        // Every number from 0 on is possible.
        SessionBuilder::new().with_scale_factor(self.thousandths as f64 / 1000.0).build().unwrap_or_default()
    }

    /// Returns it, rounded up.
    pub(super) fn rounded_up(self) -> u64 {
        self.thousandths.div_ceil(1000)
    }

    /// Returns it in thousandths.
    pub(super) fn thousandths(self) -> u64 {
        self.thousandths
    }

    /// Returns the rows of a table: exactly, except for sales and returns, of which only the tickets and orders are known.
    pub(super) fn rows(self, table: Table) -> RowCount {
        let units = self.session().get_scaling().get_row_count(table);
        // A ticket or web order has 8 to 16 lines, a catalog order 4 to 14; one of ten is returned.
        let (rows, is_returned) = match table {
            Table::StoreSales | Table::WebSales => (12 * units, false),
            Table::CatalogSales => (9 * units, false),
            Table::StoreReturns | Table::WebReturns => (12 * units / 10, true),
            Table::CatalogReturns => (9 * units / 10, true),
            _ => return RowCount::Exact(units),
        };
        let margin = if is_returned { rows / 20 + 100 } else { rows / 50 + 100 };
        RowCount::Between(rows.saturating_sub(margin), rows + margin)
    }
}
