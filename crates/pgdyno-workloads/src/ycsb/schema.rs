//! The table of YCSB, and the statements on it.

use pgdyno_wire::{ParamType, Statement, StmtId};
use pgdyno_workload::{ColumnType, Distribution, Partitions, RowCount, Table};

use super::layout::Layout;
use super::rows::Rows;

/// The statements, by their ids.
pub(super) const READ: StmtId = StmtId(0);
pub(super) const SCAN: StmtId = StmtId(1);
pub(super) const INSERT: StmtId = StmtId(2);
pub(super) const BEGIN: StmtId = StmtId(3);
pub(super) const LOCK: StmtId = StmtId(4);
pub(super) const COMMIT: StmtId = StmtId(5);
pub(super) const EXISTS: StmtId = StmtId(6);
/// The first update: of field 0, or of any field with JSONB.
const UPDATE: u32 = 7;

impl Layout {
    /// Returns the columns after the key.
    fn columns(&self) -> Vec<String> {
        match self.is_jsonb {
            true => vec!["ycsb_value".to_owned()],
            false => (0..self.fields).map(|field| format!("field{field}")).collect(),
        }
    }

    pub(super) fn table(&self) -> Table {
        let collation = self.collation.as_ref().map(|name| format!(" collate \"{}\"", name.replace('"', "\"\"")));
        let column = |name: &String| match self.is_jsonb {
            true => format!("{name} jsonb not null"),
            false => format!("{name} text"),
        };
        let columns: Vec<_> = self.columns().iter().map(column).collect();
        Table {
            name: "usertable",
            ddl: format!(
                "create table usertable (ycsb_key varchar(255){} not null, {})",
                collation.unwrap_or_default(),
                columns.join(", ")
            ),
            indexes: vec!["alter table usertable add primary key (ycsb_key)".to_owned()],
            foreign_keys: Vec::new(),
            rows: RowCount::Exact(self.records),
            grows: true,
            bytes: self.bytes(),
            partitions: Partitions::None,
            distribution: Some(Distribution::Column { name: "ycsb_key", shards: self.shards, is_scale: false }),
            // Text costs the server the same in both formats.
            binary: Vec::<ColumnType>::new(),
            source: Some(Box::new(Rows { layout: self.clone() })),
        }
    }

    pub(super) fn statements(&self) -> Vec<Statement> {
        use ParamType::{Int4, Text, Unknown};
        let value = if self.is_jsonb { Unknown } else { Text };
        let columns = self.columns();
        let numbers: Vec<_> = (2..columns.len() + 2).map(|number| format!("${number}")).collect();
        let insert_types: Vec<_> = std::iter::once(Text).chain(columns.iter().map(|_| value)).collect();
        let all = match self.is_jsonb {
            true => "ycsb_key, (jsonb_each_text(ycsb_value)).*",
            false => "*",
        };
        let read = format!("SELECT {all} FROM usertable WHERE ycsb_key = $1");
        let lock = match self.is_jsonb {
            // The server locks no rows of a set that a function returns.
            true => "SELECT r.ycsb_key, f.* FROM (SELECT * FROM usertable WHERE ycsb_key = $1 FOR UPDATE) r, \
                     jsonb_each_text(r.ycsb_value) f"
                .to_owned(),
            false => format!("{read} FOR UPDATE"),
        };
        let mut statements = vec![
            Statement::new(read, &[Text]),
            Statement::new("SELECT * FROM usertable WHERE ycsb_key >= $1 ORDER BY ycsb_key LIMIT $2", &[Text, Int4]),
            Statement::new(
                format!("INSERT INTO usertable (ycsb_key, {}) VALUES ($1, {})", columns.join(", "), numbers.join(", ")),
                &insert_types,
            ),
            Statement::new("BEGIN", &[]),
            Statement::new(lock, &[Text]),
            Statement::new("COMMIT", &[]),
            Statement::new("SELECT 1 FROM usertable WHERE ycsb_key = $1", &[Text]),
        ];
        let update =
            |set: String| Statement::new(format!("UPDATE usertable SET {set} WHERE ycsb_key = $2"), &[value, Text]);
        let updates: Vec<_> = match self.is_jsonb {
            true => vec!["ycsb_value = ycsb_value || $1".to_owned()],
            false => columns.iter().map(|column| format!("{column} = $1")).collect(),
        };
        statements.extend(updates.into_iter().map(update));
        statements
    }

    /// Returns the update of a field.
    pub(super) fn update(&self, field: u32) -> StmtId {
        StmtId(if self.is_jsonb { UPDATE } else { UPDATE + field })
    }

    /// Returns true if the statement is an update.
    pub(super) fn is_update(statement: usize) -> bool {
        statement >= UPDATE as usize
    }

    /// Returns SQL for all fields of all records: a row with key and value `v` for each.
    pub(super) fn all_fields(&self) -> String {
        match self.is_jsonb {
            true => "usertable u, jsonb_each_text(ycsb_value) f (field, v)".to_owned(),
            false => {
                let pairs: Vec<_> = self.columns().iter().map(|name| format!("('{name}', {name})")).collect();
                format!("usertable u, lateral (values {}) f (field, v)", pairs.join(", "))
            }
        }
    }
}
