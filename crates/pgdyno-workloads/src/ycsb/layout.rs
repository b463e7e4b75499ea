//! The shape of the table of YCSB, and its sizes.

use pgdyno_workload::Params;

/// Characters of one mark.
pub(super) const MARK: usize = 8;
/// The least bytes of a value with marks.
pub(super) const MARKED_BYTES: usize = 3 * MARK;

/// Parameters that shape the table.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) records: u64,
    pub(super) fields: u32,
    pub(super) field_bytes: usize,
    /// Whether all fields are in one column of type jsonb.
    pub(super) is_jsonb: bool,
    /// `None`: that of the database.
    pub(super) collation: Option<String>,
    pub(super) shards: u32,
}

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
        self.field_bytes >= MARKED_BYTES
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
}
