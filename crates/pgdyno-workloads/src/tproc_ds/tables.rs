//! The declarations of the 24 tables: columns and types of clause 2.3 and 2.4, primary keys, and columns of indexes.

use std::sync::OnceLock;

/// The tables in SQL.
const SQL: &str = include_str!("tables.sql");

/// A table as the file has it.
pub(super) struct Declared {
    pub(super) name: &'static str,
    /// Names and types.
    pub(super) columns: Vec<(&'static str, &'static str)>,
    /// Columns of the primary key.
    pub(super) primary: &'static str,
    /// Columns of indexes.
    pub(super) indexed: Vec<&'static str>,
}

/// Returns the tables of the file.
pub(super) fn declared() -> &'static [Declared] {
    static TABLES: OnceLock<Vec<Declared>> = OnceLock::new();
    TABLES.get_or_init(|| {
        let mut tables: Vec<Declared> = Vec::new();
        for statement in SQL.split(";\n") {
            if let Some((_, index)) = statement.split_once("create index on ") {
                let columns = index.split_once(" (").and_then(|(_, columns)| columns.strip_suffix(')'));
                tables.last_mut().into_iter().for_each(|table| table.indexed.extend(columns));
            } else if let Some((name, lines)) =
                statement.split_once("create table ").and_then(|(_, t)| t.split_once(" (\n"))
            {
                let lines = || lines.lines().map(|line| line.trim().trim_end_matches(','));
                let primary = lines().find_map(|line| line.strip_prefix("primary key (")?.strip_suffix(')'));
                let columns =
                    lines().filter(|line| !line.starts_with("primary key")).filter_map(|line| line.split_once(' '));
                tables.push(Declared {
                    name,
                    columns: columns.collect(),
                    primary: primary.unwrap_or_default(),
                    indexed: Vec::new(),
                });
            }
        }
        tables
    })
}

/// Returns name and type of each column of a table.
pub(super) fn columns(table: &str) -> impl Iterator<Item = (&'static str, &'static str)> + use<> {
    let declared = declared().iter().find(|declared| declared.name == table);
    declared.into_iter().flat_map(|declared| declared.columns.iter().copied())
}
