//! The scale factor: a number of thousandths, so that every table has whole rows.

use pgdyno_workload::RowCount;
use tpchgen::generators::{CustomerGenerator, OrderGenerator, PartGenerator, SupplierGenerator};

/// Largest scale factor, in thousandths: part keys fit an integer up to 10,737.
pub(super) const THOUSANDTHS_MAX: i64 = 10_000_000;

/// Rows of `lineitem` by scale factor in thousandths, where counting them takes more than a moment.
const LINES: [(u64, u64); 6] = [
    (1_000, 6_001_215),
    (10_000, 59_986_052),
    (30_000, 179_998_372),
    (100_000, 600_037_902),
    (300_000, 1_799_989_091),
    (1_000_000, 5_999_989_709),
];

/// Largest scale factor, in thousandths, at which the rows of `lineitem` are counted: 50 ms.
const COUNTED_MAX: u64 = 3_000;

/// A scale factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ScaleFactor {
    thousandths: u64,
}

impl ScaleFactor {
    /// Scale factor 1.
    #[cfg(test)]
    pub(super) const ONE: Self = Self { thousandths: 1000 };

    /// Returns the scale factor of so many thousandths, at least 1.
    pub(super) fn of_thousandths(thousandths: u64) -> Self {
        Self { thousandths: thousandths.max(1) }
    }

    /// Returns it as tpchgen takes it. tpchgen multiplies it by the rows of a table and cuts the product: where that
    /// loses a row, the next larger number is returned.
    pub(super) fn factor(self) -> f64 {
        let factor = self.thousandths as f64 / 1000.0;
        let is_whole = |factor: f64| {
            let counts = [
                (PartGenerator::calculate_row_count(factor, 1, 1) as u64, self.parts()),
                (SupplierGenerator::calculate_row_count(factor, 1, 1) as u64, self.suppliers()),
                (CustomerGenerator::calculate_row_count(factor, 1, 1) as u64, self.customers()),
                (OrderGenerator::calculate_row_count(factor, 1, 1) as u64, self.orders()),
            ];
            counts.iter().all(|(cut, whole)| cut == whole)
        };
        if is_whole(factor) { factor } else { factor.next_up() }
    }

    /// Returns the scale factor, rounded up.
    pub(super) fn rounded_up(self) -> u64 {
        self.thousandths.div_ceil(1000)
    }

    /// Returns it in thousandths.
    pub(super) fn thousandths(self) -> u64 {
        self.thousandths
    }

    /// Returns the rows of `supplier`.
    pub(super) fn suppliers(self) -> u64 {
        10 * self.thousandths
    }

    /// Returns the rows of `part`.
    pub(super) fn parts(self) -> u64 {
        200 * self.thousandths
    }

    /// Returns the rows of `partsupp`.
    pub(super) fn part_suppliers(self) -> u64 {
        4 * self.parts()
    }

    /// Returns false if dbgen gives a part the same supplier twice, because it has so few of them: then `partsupp` has no
    /// primary key. That is so at twelve scale factors up to 0.021.
    pub(super) fn has_distinct_suppliers(self) -> bool {
        // The suppliers of a part are a step apart, which depends on its key (clause 4.2.3).
        let suppliers = self.suppliers();
        let mut steps = (0..self.parts() / suppliers).map(|nth| suppliers / 4 + nth);
        steps.all(|step| (1..4).all(|times| !(times * step).is_multiple_of(suppliers)))
    }

    /// Returns the rows of `customer`.
    pub(super) fn customers(self) -> u64 {
        150 * self.thousandths
    }

    /// Returns the rows of `orders`.
    pub(super) fn orders(self) -> u64 {
        1_500 * self.thousandths
    }

    /// Returns the orders that a refresh function inserts or deletes: a thousandth of them. `None` if that is no whole
    /// number.
    pub(super) fn refreshed_orders(self) -> Option<u64> {
        self.orders().is_multiple_of(1000).then_some(self.orders() / 1000)
    }

    /// Returns the rows of `lineitem`: exactly where they are known or counted in a moment, else a range that holds them.
    pub(super) fn lines(self) -> RowCount {
        let known = LINES.iter().find(|(thousandths, _)| *thousandths == self.thousandths).map(|(_, lines)| *lines);
        match known {
            Some(lines) => RowCount::Exact(lines),
            None if self.thousandths <= COUNTED_MAX => RowCount::Exact(self.counted_lines()),
            // An order has 4 lines on average, 1 to 7: the sum of so many varies by less than a thousandth.
            None => RowCount::Between(self.orders() * 4 / 1000 * 999, self.orders() * 4 / 1000 * 1001),
        }
    }

    /// Counts the rows of `lineitem`.
    fn counted_lines(self) -> u64 {
        let mut lines = OrderGenerator::create_line_count_random();
        let of_order = |_| {
            let count = lines.next_value();
            lines.row_finished();
            count as u64
        };
        (0..self.orders()).map(of_order).sum()
    }
}

#[cfg(test)]
mod tests {
    use tpchgen::generators::PartSuppGenerator;

    use super::*;

    #[test]
    fn lines_are_as_many_as_dbgen_s() {
        let counted = |thousandths| ScaleFactor::of_thousandths(thousandths).counted_lines();
        assert_eq!([counted(10), counted(100), counted(1000)], [60_175, 600_572, 6_001_215]);
        assert_eq!(ScaleFactor::of_thousandths(10).lines(), RowCount::Exact(60_175));
        let between = ScaleFactor::of_thousandths(9_000).lines();
        assert!(between.admits(ScaleFactor::of_thousandths(9_000).counted_lines()), "{between}");
        for (thousandths, lines) in LINES {
            let orders = ScaleFactor::of_thousandths(thousandths).orders();
            assert!(lines.abs_diff(4 * orders) < orders / 250, "{thousandths}");
        }
    }

    #[test]
    fn parts_have_four_suppliers_or_are_known_not_to() {
        for thousandths in 1..=25 {
            let scale = ScaleFactor::of_thousandths(thousandths);
            let mut seen = std::collections::HashSet::new();
            let mut rows = PartSuppGenerator::new(scale.factor(), 1, 1).iter();
            let is_distinct = rows.all(|row| seen.insert((row.ps_partkey, row.ps_suppkey)));
            assert_eq!(scale.has_distinct_suppliers(), is_distinct, "{thousandths}");
        }
        assert!([10, 100, 1000].iter().all(|n| ScaleFactor::of_thousandths(*n).has_distinct_suppliers()));
    }

    #[test]
    fn no_table_loses_a_row_to_a_fraction() {
        for thousandths in (1..20_000).chain((20_000..THOUSANDTHS_MAX as u64).step_by(997)) {
            let scale = ScaleFactor::of_thousandths(thousandths);
            let factor = scale.factor();
            assert_eq!(OrderGenerator::calculate_row_count(factor, 1, 1) as u64, scale.orders(), "{thousandths}");
            assert_eq!(SupplierGenerator::calculate_row_count(factor, 1, 1) as u64, scale.suppliers(), "{thousandths}");
            assert_eq!(CustomerGenerator::calculate_row_count(factor, 1, 1) as u64, scale.customers(), "{thousandths}");
            assert_eq!(PartGenerator::calculate_row_count(factor, 1, 1) as u64, scale.parts(), "{thousandths}");
        }
    }
}
