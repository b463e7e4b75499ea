//! Partitions of `orders` and `lineitem` by month.

use pgdyno_workload::{Partitions, Table};

/// Values of the parameter `partitions`.
pub(super) const NAMES: &[&str] = &["none", "month"];

/// The first and the last year of any date in the two tables.
const YEARS: std::ops::RangeInclusive<u32> = 1992..=1998;

/// The partitioned tables, and the columns that decide: clause 1.5.4 allows a column of type date.
const COLUMNS: [(&str, &str); 2] = [("orders", "o_orderdate"), ("lineitem", "l_shipdate")];

/// Partitions a table, if it is one of the two. A primary key of a partitioned table holds the column by which it is
/// partitioned; a foreign key to `orders` would have to hold its date too, and clause 1.4.2.3 demands all foreign keys or
/// none: there are none then.
pub(super) fn partition(table: &mut Table) {
    table.foreign_keys.clear();
    let Some((name, column)) = COLUMNS.iter().find(|(name, _)| *name == table.name) else { return };
    table.ddl += &format!(" PARTITION BY RANGE ({column})");
    for (year, month) in YEARS.flat_map(|year| (1..=12).map(move |month| (year, month))) {
        let (next_year, next_month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
        table.ddl += &format!(
            "; CREATE TABLE {name}_{year}_{month:02} PARTITION OF {name} FOR VALUES FROM ('{year}-{month:02}-01') TO \
             ('{next_year}-{next_month:02}-01')"
        );
    }
    for index in table.indexes.iter_mut().filter(|sql| sql.contains(" PRIMARY KEY (")) {
        *index = index.replace(')', &format!(", {column})"));
    }
    table.partitions = Partitions::Routed;
}
