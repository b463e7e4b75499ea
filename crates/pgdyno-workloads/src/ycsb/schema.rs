//! The table of YCSB, and the statements on it.

use pgdyno_wire::{ParamType, Statement, StmtId};
use pgdyno_workload::{ColumnType, Distribution, Params, Partitions, RowCount, Table};

use super::rows::{self, Rows};

/// Parameters that shape the table.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) records: u64,
    pub(super) fields: u32,
    pub(super) field_bytes: usize,
    /// Whether all fields are in one column of type jsonb.
    pub(super) is_jsonb: bool,
    /// `None`: that of the database.
    collation: Option<String>,
    shards: u32,
}

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
    pub(super) fn of(params: &Params) -> Self {
        Self {
            records: params.integer("records").unsigned_abs(),
            fields: params.integer("fields") as u32,
            field_bytes: params.integer("field-bytes") as usize,
            is_jsonb: params.text("schema") == "jsonb",
            collation: Some(params.text("collation").to_owned()).filter(|name| name != "default"),
            shards: params.integer("shard-count") as u32,
        }
    }

    /// Returns true if a field has room for the marks by which checks recognise it.
    pub(super) fn has_marks(&self) -> bool {
        self.field_bytes >= rows::MARKED_BYTES
    }

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

    /// Returns the estimated bytes of the table with its index.
    pub(super) fn bytes(&self) -> u64 {
        const BLOCK: u64 = 8_192;
        const BLOCK_ROOM: u64 = BLOCK - 24;
        const INDEX_ROW: u64 = 56;
        let row = self.row_bytes();
        let heap = match BLOCK_ROOM / row {
            // Such rows are moved out of line, and fill their blocks.
            0 => self.records * row,
            rows => self.records.div_ceil(rows) * BLOCK,
        };
        heap + self.records * INDEX_ROW
    }

    /// Returns the estimated bytes of a row.
    pub(super) fn row_bytes(&self) -> u64 {
        const HEADER: u64 = 28;
        const KEY: u64 = 24;
        let name = if self.is_jsonb { 8 } else { 0 };
        let length = if self.field_bytes > 126 || self.is_jsonb { 4 } else { 1 };
        HEADER + KEY + u64::from(self.fields) * (self.field_bytes as u64 + length + name)
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
