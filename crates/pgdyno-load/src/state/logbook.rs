//! The logbook of a load: what it has done so far, so that the next load can resume it.
//!
//! The logbook is a small table of the data set. Each entry is written in the same transaction as the work that it
//! notes, so it is exact however the load ended. It has the data set's mark, and is dropped at the end of the load.
//! A load that several machines share has a queue in it: units of rows that are free. A loader that takes one deletes
//! its entry in the transaction that copies its rows and enters them; a machine that dies leaves it to the others.
//! If tables are filled unlogged it is unlogged too: a crash of the server empties all of them together.

use std::collections::BTreeMap;
use std::ops::Range;

use pgdyno_net::{Admin, AdminError, quote};
use pgdyno_workload::{Capabilities, DataSet};

use crate::load::schedule;
use crate::state::inventory::Inventory;
use crate::state::object::Object;
use crate::state::relations;
use crate::state::stamp::Stamp;
use crate::{LoadError, identity};

/// Progress of an interrupted load that can be resumed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResumableLoad {
    /// Rows that are stored.
    pub rows: u64,
    /// Approximate rows of all tables; `None` if the workload would load other rows, and so start again.
    pub rows_expected: Option<u64>,
}

/// Progress of one table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeptTable {
    pub(crate) rows: u64,
    /// Chunks and index statements that are done.
    pub(crate) done: schedule::Kept,
    pub(crate) foreign_keys: Vec<usize>,
    /// Whether it is still unlogged.
    pub(crate) unlogged: bool,
}

/// Progress of an interrupted load.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    /// By table. A table without an entry has no useful rows.
    pub(crate) tables: BTreeMap<String, KeptTable>,
    /// Progress in rows; empty if the workload loads no rows.
    pub(crate) far: ResumableLoad,
    /// Whether the logbook is unlogged, and so may be the tables.
    pub(crate) unlogged: bool,
}

/// The rest of an unfinished load.
pub(crate) enum Left {
    /// Nothing useful.
    Nothing,
    /// Rows that are stored but cannot be resumed, for these reasons.
    Damaged(Vec<String>),
    /// Progress from which the next load resumes.
    Found(Found),
}

/// The beginning of the names of logbooks.
const PREFIX: &str = "pgdyno_load_";

/// The table of the logbook.
#[derive(Clone, Debug)]
pub(crate) struct Logbook {
    /// Its name in SQL, with the schema.
    sql: String,
}

impl Logbook {
    /// Returns that of a data set in `schema`, which is quoted if necessary.
    pub(crate) fn new(schema: &str, dataset: &str) -> Self {
        Self { sql: format!("{schema}.{}", quote::identifier(&table(dataset))) }
    }

    /// Returns SQL that creates it, empty; `mark` is a literal.
    pub(crate) fn create_sql(&self, mark: &str, unlogged: bool) -> String {
        let unlogged = if unlogged { "unlogged " } else { "" };
        let name = &self.sql;
        format!(
            "create {unlogged}table {name} (relation text, part text, first bigint, parts bigint not null, \
             rows bigint not null, primary key (relation, part, first)); comment on table {name} is {mark}"
        )
    }

    /// Returns SQL for the start of a transaction that will write an entry: the next load waits for its end.
    pub(crate) fn lock_sql(&self) -> String {
        format!("lock table {} in row exclusive mode", self.sql)
    }

    /// Returns SQL that waits for the end of all transactions that write entries, and keeps others from beginning. What drops the
    /// tables begins with it: a loader locks the logbook before a table, and another order of locks would be a deadlock.
    pub(crate) fn close_sql(&self) -> String {
        format!("lock table {} in access exclusive mode", self.sql)
    }

    /// Returns the logbook that an object of the database is; `None` if it is another object.
    pub(crate) fn of(object: &Object) -> Option<Self> {
        let is_logbook = object.kind == "table" && object.name.starts_with(PREFIX);
        is_logbook.then(|| Self { sql: object.sql.clone() })
    }

    /// Returns SQL that enters rows of a table.
    pub(crate) fn rows_sql(&self, table: &str, chunks: &Range<u64>, rows: u64) -> String {
        self.entry_sql(table, "rows", chunks.start, chunks.end - chunks.start, rows)
    }

    /// Returns SQL that enters an index statement.
    pub(crate) fn index_sql(&self, table: &str, nth: usize) -> String {
        self.entry_sql(table, "index", nth as u64, 1, 0)
    }

    /// Returns SQL that enters a foreign key.
    pub(crate) fn foreign_key_sql(&self, table: &str, nth: usize) -> String {
        self.entry_sql(table, "foreign key", nth as u64, 1, 0)
    }

    fn entry_sql(&self, table: &str, part: &str, first: u64, parts: u64, rows: u64) -> String {
        let (table, part) = (quote::literal(table), quote::literal(part));
        format!("insert into {} values ({table}, {part}, {first}, {parts}, {rows})", self.sql)
    }

    /// Returns SQL that puts units of rows into the queue, from which all machines that share the load take them.
    /// `place` is the table's among all, and there is at least one unit.
    pub(crate) fn queue_sql(&self, place: usize, table: &str, units: &[Range<u64>]) -> String {
        let table = quote::literal(table);
        let unit =
            |unit: &Range<u64>| format!("({table}, 'queue', {}, {}, {place})", unit.start, unit.end - unit.start);
        format!("insert into {} values {}", self.sql, units.iter().map(unit).collect::<Vec<_>>().join(", "))
    }

    /// Takes a unit from the queue, for the transaction in progress: if that does not end well, the unit is there
    /// again. Returns its table and chunks; `None` if other transactions have left none.
    pub(crate) fn take(&self, admin: &mut Admin) -> Result<Option<(String, Range<u64>)>, AdminError> {
        let name = &self.sql;
        let taken = admin.query(&format!(
            "with taken as (select relation, first from {name} where part = 'queue' order by rows, first \
             for update skip locked limit 1) \
             delete from {name} l using taken t where l.part = 'queue' and l.relation = t.relation and l.first = t.first \
             returning l.relation, l.first, l.parts"
        ))?;
        let number = |row: &[Option<String>], at: usize| row[at].as_deref().and_then(|n| n.parse::<u64>().ok());
        Ok(taken.rows.first().and_then(|row| {
            let first = number(row, 1)?;
            Some((row[0].clone()?, first..first + number(row, 2)?))
        }))
    }

    /// Returns true if no unit is in the queue, or in the hands of a transaction in progress.
    pub(crate) fn is_queue_done(&self, admin: &mut Admin) -> Result<bool, AdminError> {
        admin.query_one(&format!("select count(*) = 0 from {} where part = 'queue'", self.sql)).map(|done| done == "t")
    }

    /// Returns the progress of all tables. `unlogged` says whether they are filled unlogged.
    pub(crate) fn progress(&self, admin: &mut Admin, unlogged: bool) -> Result<Found, AdminError> {
        let mut tables = self.read(admin)?;
        tables.values_mut().for_each(|table| table.unlogged = unlogged);
        let rows = tables.values().map(|table| table.rows).sum();
        Ok(Found { tables, far: ResumableLoad { rows, rows_expected: None }, unlogged })
    }

    /// Returns SQL that drops it.
    pub(crate) fn drop_sql(&self) -> String {
        format!("drop table if exists {}", self.sql)
    }

    fn read(&self, admin: &mut Admin) -> Result<BTreeMap<String, KeptTable>, AdminError> {
        let found = admin
            .query(&format!("select relation, part, first, parts, rows from {} where part <> 'queue'", self.sql))?;
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
    format!("{PREFIX}{}", dataset.replace('-', "_"))
}

/// Returns the rest of the load `begun`; nothing if it kept no logbook. With `wait`, within a transaction, it first
/// waits for work that the server is still doing for that load.
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
    let logbook = Logbook::new(&inventory.schema, dataset);
    if wait {
        // Machines that shared the load and have not noticed its end find nothing more to take.
        let sql = format!("{}; delete from {} where part = 'queue'", logbook.close_sql(), logbook.sql);
        admin.execute(&sql).map_err(LoadError::Catalog)?;
    }
    let mut tables = logbook.read(admin).map_err(LoadError::Catalog)?;
    if tables.is_empty() {
        return Ok(Left::Nothing);
    }
    let mut damage: Vec<_> = tables.keys().filter_map(|name| inventory.lacks(name, &begun.identity)).collect();
    // Another version of pgdyno may distribute the same rows over other tables.
    let this = env!("CARGO_PKG_VERSION");
    if begun.pgdyno != this {
        damage
            .push(format!("the load was begun by pgdyno {}, and this is {this}, which cannot resume it", begun.pgdyno));
    }
    if !damage.is_empty() {
        return Ok(Left::Damaged(damage));
    }
    for (name, table) in &mut tables {
        table.unlogged = relations::is_unlogged(admin, &quote::identifier(name)).map_err(LoadError::Catalog)?;
    }
    let unlogged = relations::is_unlogged(admin, &logbook.sql).map_err(LoadError::Catalog)?;
    let rows = tables.values().map(|table| table.rows).sum();
    let expected = || data.tables(caps).iter().map(|table| table.rows.expected()).sum();
    let rows_expected = (begun.identity == identity(data)).then(expected);
    Ok(Left::Found(Found { tables, far: ResumableLoad { rows, rows_expected }, unlogged }))
}
