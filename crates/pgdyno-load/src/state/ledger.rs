//! What a load writes down while it goes on, so that the next one can go on from there.
//!
//! The ledger is a small table of the data set's own. Each entry is written in the same transaction as what it tells of,
//! so it says exactly what is there, however the load ended. It bears the data set's mark, and goes when the load is
//! done. Where tables are filled unlogged it is unlogged too: a crash of the server empties all of them together.

use std::collections::BTreeMap;
use std::ops::Range;

use pgdyno_net::{Admin, AdminError, quote};
use pgdyno_workload::{Capabilities, DataSet};

use crate::fill::schedule;
use crate::state::inventory::Inventory;
use crate::state::relations;
use crate::state::stamp::Stamp;
use crate::{LoadError, identity};

/// How far an interrupted load is that the next one can go on with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// Rows that are there for good.
    pub rows: u64,
    /// Rows of all tables, about; `None` where the workload would load other rows, and so begin anew.
    pub rows_expected: Option<u64>,
}

/// What is there of one table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeptTable {
    pub(crate) rows: u64,
    /// Chunks and index statements.
    pub(crate) done: schedule::Kept,
    pub(crate) foreign_keys: Vec<usize>,
    /// Whether it is unlogged still.
    pub(crate) unlogged: bool,
}

/// What an interrupted load has left.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    /// By table. Tables without an entry hold nothing that counts.
    pub(crate) tables: BTreeMap<String, KeptTable>,
    /// How far that is; nothing is there that the workload could go on with where no rows are expected.
    pub(crate) far: Kept,
    /// Whether the ledger is unlogged, and so may be what it tells of.
    pub(crate) unlogged: bool,
}

/// What an unfinished load has left.
pub(crate) enum Left {
    /// Nothing that counts.
    Nothing,
    /// Rows that are there for good, but no load can go on with them, for these reasons.
    Damaged(Vec<String>),
    /// What the next load goes on with.
    Found(Found),
}

/// The table.
#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    /// Its name as SQL has it, with the schema.
    sql: String,
}

impl Ledger {
    /// That of a data set in `schema`, which is quoted where need be.
    pub(crate) fn new(schema: &str, dataset: &str) -> Self {
        Self { sql: format!("{schema}.{}", quote::identifier(&table(dataset))) }
    }

    /// SQL that creates it, empty; `mark` is a literal.
    pub(crate) fn create_sql(&self, mark: &str, unlogged: bool) -> String {
        let unlogged = if unlogged { "unlogged " } else { "" };
        let name = &self.sql;
        format!(
            "create {unlogged}table {name} (relation text, part text, first bigint, parts bigint not null, \
             rows bigint not null, primary key (relation, part, first)); comment on table {name} is {mark}"
        )
    }

    /// SQL for the begin of a transaction that will write an entry: the next load waits for its end.
    pub(crate) fn lock_sql(&self) -> String {
        format!("lock table {} in row exclusive mode", self.sql)
    }

    /// SQL that enters rows of a table.
    pub(crate) fn rows_sql(&self, table: &str, chunks: &Range<u64>, rows: u64) -> String {
        self.entry_sql(table, "rows", chunks.start, chunks.end - chunks.start, rows)
    }

    /// SQL that enters an index statement.
    pub(crate) fn index_sql(&self, table: &str, nth: usize) -> String {
        self.entry_sql(table, "index", nth as u64, 1, 0)
    }

    /// SQL that enters a foreign key.
    pub(crate) fn foreign_key_sql(&self, table: &str, nth: usize) -> String {
        self.entry_sql(table, "foreign key", nth as u64, 1, 0)
    }

    fn entry_sql(&self, table: &str, part: &str, first: u64, parts: u64, rows: u64) -> String {
        let (table, part) = (quote::literal(table), quote::literal(part));
        format!("insert into {} values ({table}, {part}, {first}, {parts}, {rows})", self.sql)
    }

    /// SQL that drops it.
    pub(crate) fn drop_sql(&self) -> String {
        format!("drop table if exists {}", self.sql)
    }

    fn read(&self, admin: &mut Admin) -> Result<BTreeMap<String, KeptTable>, AdminError> {
        let found = admin.query(&format!("select relation, part, first, parts, rows from {}", self.sql))?;
        let mut tables = BTreeMap::<String, KeptTable>::new();
        for row in found.rows {
            let number = |at: usize| row[at].as_deref().and_then(|n| n.parse::<u64>().ok()).unwrap_or_default();
            let (first, parts) = (number(2), number(3));
            let table = tables.entry(row[0].clone().unwrap_or_default()).or_default();
            match row[1].as_deref() {
                Some("index") => table.done.indexes.push(first as usize),
                Some("foreign key") => table.foreign_keys.push(first as usize),
                _ => {
                    table.done.chunks.push(first..first + parts);
                    table.rows += number(4);
                }
            }
        }
        Ok(tables)
    }
}

fn table(dataset: &str) -> String {
    format!("pgdyno_load_{}", dataset.replace('-', "_"))
}

/// What the load that `begun` tells of has left: nothing where it kept no ledger. With `wait`, within a transaction, it
/// first waits for what the server still does for that load.
pub(crate) fn find(
    admin: &mut Admin,
    data: &dyn DataSet,
    caps: &Capabilities,
    inventory: &Inventory,
    begun: &Stamp,
    wait: bool,
) -> Result<Left, LoadError> {
    let dataset = data.meta().dataset;
    if inventory.lacks(&table(dataset), &begun.identity).is_some() {
        return Ok(Left::Nothing);
    }
    let ledger = Ledger::new(&inventory.schema, dataset);
    if wait {
        admin.execute(&format!("lock table {} in access exclusive mode", ledger.sql)).map_err(LoadError::Catalog)?;
    }
    let mut tables = ledger.read(admin).map_err(LoadError::Catalog)?;
    if tables.is_empty() {
        return Ok(Left::Nothing);
    }
    let mut damage: Vec<_> = tables.keys().filter_map(|name| inventory.lacks(name, &begun.identity)).collect();
    // Another version of pgdyno may lay out the same rows in other tables.
    let this = env!("CARGO_PKG_VERSION");
    if begun.pgdyno != this {
        damage.push(format!(
            "the load was begun by pgdyno {}, and this is {this}, which cannot go on with it",
            begun.pgdyno
        ));
    }
    if !damage.is_empty() {
        return Ok(Left::Damaged(damage));
    }
    for (name, table) in &mut tables {
        table.unlogged = relations::is_unlogged(admin, &quote::identifier(name)).map_err(LoadError::Catalog)?;
    }
    let unlogged = relations::is_unlogged(admin, &ledger.sql).map_err(LoadError::Catalog)?;
    let rows = tables.values().map(|table| table.rows).sum();
    let expected = || data.tables(caps).iter().map(|table| table.rows.expected()).sum();
    let rows_expected = (begun.identity == identity(data)).then(expected);
    Ok(Left::Found(Found { tables, far: Kept { rows, rows_expected }, unlogged }))
}
