//! The 24 tables as they are loaded: their keys and indexes by set, and their sizes.

use pgdyno_workload::{Distribution, Partitions, RowCount, Table};

use super::rows::{Rows, TABLES};
use super::scale::ScaleFactor;
use super::tables::{Declared, declared};

/// Bytes of heap, primary key and other indexes for each row, measured at scale factor 1 on PostgreSQL 15. Tables that are not here
/// have few rows, or as many at each scale factor.
const ROW_BYTES: [(&str, [u64; 3]); 9] = [
    ("catalog_returns", [164, 23, 90]),
    ("catalog_sales", [213, 23, 75]),
    ("customer", [227, 23, 48]),
    ("inventory", [44, 32, 7]),
    ("store_returns", [137, 23, 60]),
    ("store_sales", [147, 23, 60]),
    ("web_returns", [152, 23, 110]),
    ("web_sales", [214, 23, 80]),
    ("customer_demographics", [93, 23, 0]),
];
/// Bytes of each row of the other tables.
const OTHER_ROW_BYTES: [u64; 3] = [200, 25, 0];
/// Bytes of an empty table, of its primary key, and of no other index.
const FIXED: [u64; 3] = [32 << 10, 16 << 10, 0];

/// Indexes of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IndexSet {
    /// No keys and no indexes.
    None,
    /// Primary keys.
    Keys,
    /// Primary keys, and indexes on columns of foreign keys by which questions join.
    ForeignKeys,
}

impl IndexSet {
    /// Names of the sets; the first is the default.
    pub(super) const NAMES: &[&str] = &["fks", "keys", "none"];

    /// Returns the set of this name.
    pub(super) fn of(name: &str) -> Self {
        match name {
            "none" => Self::None,
            "keys" => Self::Keys,
            _ => Self::ForeignKeys,
        }
    }
}

/// Returns the tables.
pub(super) fn tables(scale: ScaleFactor, set: IndexSet) -> Vec<Table> {
    let of = |(name, source): (&'static str, _)| {
        let declared = declared().iter().find(|declared| declared.name == name)?;
        let rows = scale.rows(source);
        // Sorted strings come in the same order in any locale.
        let collation = |kind: &str| {
            if kind.contains("char(") { kind.replacen(')', ") COLLATE \"C\"", 1) } else { kind.to_owned() }
        };
        let ddl = declared.columns.iter().map(|(column, kind)| format!("{column} {}", collation(kind)));
        let ddl = ddl.collect::<Vec<_>>().join(", ");
        Some(Table {
            name,
            ddl: format!("CREATE TABLE {name} ({ddl})"),
            indexes: indexes(declared, set),
            foreign_keys: Vec::new(),
            rows,
            grows: false,
            bytes: bytes(name, rows, set),
            partitions: Partitions::None,
            distribution: Some(Distribution::Everywhere),
            binary: Vec::new(),
            source: Some(Box::new(Rows::of(source, name, scale))),
        })
    };
    TABLES.into_iter().filter_map(of).collect()
}

fn indexes(declared: &Declared, set: IndexSet) -> Vec<String> {
    let Declared { name, primary, indexed, .. } = declared;
    let primary = format!("ALTER TABLE {name} ADD CONSTRAINT {name}_pkey PRIMARY KEY ({primary})");
    let others = indexed.iter().map(|column| format!("CREATE INDEX {column}_idx ON {name} ({column})"));
    match set {
        IndexSet::None => Vec::new(),
        IndexSet::Keys => vec![primary],
        IndexSet::ForeignKeys => std::iter::once(primary).chain(others).collect(),
    }
}

fn bytes(name: &str, rows: RowCount, set: IndexSet) -> u64 {
    let of_row = ROW_BYTES.iter().find(|(known, _)| *known == name).map_or(OTHER_ROW_BYTES, |(_, bytes)| *bytes);
    let parts = match set {
        IndexSet::None => 1,
        IndexSet::Keys => 2,
        IndexSet::ForeignKeys => 3,
    };
    of_row.iter().zip(FIXED).take(parts).map(|(of_row, fixed)| fixed + rows.expected() * of_row).sum()
}

/// Returns the bytes of tables and indexes right after the load.
pub(super) fn data_bytes(scale: ScaleFactor, set: IndexSet) -> u64 {
    TABLES.into_iter().map(|(name, table)| bytes(name, scale.rows(table), set)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_has_every_table_with_columns_and_a_primary_key() {
        let tables = tables(ScaleFactor::of_thousandths(10), IndexSet::ForeignKeys);
        assert_eq!(tables.len(), 24);
        assert_eq!(declared().len(), 24);
        assert_eq!(declared().iter().map(|table| table.columns.len()).sum::<usize>(), 425);
        for table in &tables {
            assert!(table.indexes[0].contains("PRIMARY KEY (") && !table.indexes[0].ends_with("()"), "{}", table.name);
        }
        let sales = tables.iter().find(|table| table.name == "store_sales").unwrap();
        assert!(sales.ddl.contains("ss_item_sk integer not null, ss_customer_sk integer, "), "{}", sales.ddl);
        assert!(
            sales.indexes.contains(&"CREATE INDEX ss_sold_date_sk_idx ON store_sales (ss_sold_date_sk)".to_owned())
        );
        let item = tables.iter().find(|table| table.name == "item").unwrap();
        assert!(item.ddl.contains("i_item_id char(16) COLLATE \"C\" not null"), "{}", item.ddl);
    }

    #[test]
    fn a_set_has_all_primary_keys_or_none() {
        let count =
            |set| tables(ScaleFactor::of_thousandths(10), set).iter().map(|table| table.indexes.len()).sum::<usize>();
        assert_eq!([count(IndexSet::None), count(IndexSet::Keys)], [0, 24]);
        assert!(count(IndexSet::ForeignKeys) > 60);
        let bytes = |set| data_bytes(ScaleFactor::of_thousandths(1_000), set) >> 20;
        assert!(bytes(IndexSet::None) < bytes(IndexSet::Keys) && bytes(IndexSet::Keys) < bytes(IndexSet::ForeignKeys));
    }
}
