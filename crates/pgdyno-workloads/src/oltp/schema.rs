//! The tables of `sysbench prepare`, and their rows.

use std::sync::LazyLock;

use pgdyno_workload::dist::sysbench::{RandType, Range, SysbenchOptions};
use pgdyno_workload::{CopyBuf, Distribution, Params, Partitions, Rng, RowCount, RowSource, Table};

/// Rows of a chunk: about 2 MB.
const CHUNK_ROWS: u64 = 10_000;
/// Groups of eleven digits in `c` and in `pad`.
const C_GROUPS: usize = 10;
const PAD_GROUPS: usize = 5;

/// Parameters that shape the tables.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// Rows of each table.
    pub(super) rows: u64,
    pub(super) tables: u32,
    create_secondary: bool,
    shards: u32,
}

/// Returns the name of a table, from 1.
pub(super) fn name(table: u32) -> &'static str {
    static NAMES: LazyLock<Vec<String>> =
        LazyLock::new(|| (1..=10_000).map(|table| format!("sbtest{table}")).collect());
    &NAMES[table as usize - 1]
}

impl Layout {
    pub(super) fn of(params: &Params) -> Self {
        Self {
            rows: params.integer("scale").unsigned_abs(),
            tables: params.integer("tables") as u32,
            create_secondary: params.flag("create_secondary"),
            shards: params.integer("shard-count") as u32,
        }
    }

    pub(super) fn tables(&self) -> Vec<Table> {
        (1..=self.tables).map(|table| self.table(table)).collect()
    }

    fn table(&self, number: u32) -> Table {
        let name = name(number);
        let primary = format!("alter table {name} add primary key (id)");
        let secondary = self.create_secondary.then(|| format!("create index k_{number} on {name} (k)"));
        Table {
            name,
            // The next new row comes after the loaded ones.
            ddl: format!(
                "create table {name} (id serial, k integer default 0 not null, c char(120) default '' not null, \
                 pad char(60) default '' not null); alter sequence {name}_id_seq restart with {}",
                self.rows + 1
            ),
            indexes: std::iter::once(primary).chain(secondary).collect(),
            foreign_keys: Vec::new(),
            rows: RowCount::Exact(self.rows),
            grows: true,
            bytes: self.bytes(),
            partitions: Partitions::None,
            distribution: Some(Distribution::Column { name: "id", shards: self.shards, is_scale: false }),
            binary: Vec::new(),
            source: Some(Box::new(Rows { table: number, rows: self.rows })),
        }
    }

    /// Returns the estimated bytes of a table with its indexes.
    pub(super) fn bytes(&self) -> u64 {
        const BLOCK: u64 = 8_192;
        const ROWS_PER_BLOCK: u64 = 36;
        const PRIMARY: u64 = 22;
        // Most rows have one of a few values, and an index holds equal values once.
        let secondary = if self.create_secondary { 9 } else { 0 };
        self.rows.div_ceil(ROWS_PER_BLOCK) * BLOCK + self.rows * (PRIMARY + secondary)
    }
}

struct Rows {
    table: u32,
    rows: u64,
}

impl RowSource for Rows {
    fn chunks(&self) -> u64 {
        self.rows.div_ceil(CHUNK_ROWS)
    }

    fn write(&self, chunk: u64, out: &mut CopyBuf) {
        let first = chunk * CHUNK_ROWS + 1;
        let values = Range::new(RandType::Special, SysbenchOptions::default(), 1, self.rows as i64);
        let mut rng = Rng::derive(0, "sbtest", &[u64::from(self.table), chunk]);
        for id in first..(first + CHUNK_ROWS).min(self.rows + 1) {
            out.int(id as i64).int(values.draw(&mut rng));
            out.plain_with(|out| push_c(&mut rng, out)).plain_with(|out| push_pad(&mut rng, out)).end_row();
        }
    }
}

/// Appends a value of column `c`: 119 characters.
pub(super) fn push_c(rng: &mut Rng, out: &mut Vec<u8>) {
    push_groups(C_GROUPS, rng, out);
}

/// Appends a value of column `pad`: 59 characters.
pub(super) fn push_pad(rng: &mut Rng, out: &mut Vec<u8>) {
    push_groups(PAD_GROUPS, rng, out);
}

/// Appends groups of eleven digits with a dash between two of them.
fn push_groups(groups: usize, rng: &mut Rng, out: &mut Vec<u8>) {
    for nth in 0..groups {
        if nth > 0 {
            out.push(b'-');
        }
        let mut rest = rng.up_to(99_999_999_999);
        let mut digits = [0; 11];
        for digit in digits.iter_mut().rev() {
            *digit = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        out.extend_from_slice(&digits);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_groups_of_eleven_digits() {
        let mut rng = Rng::new(1);
        let (mut c, mut pad) = (Vec::new(), Vec::new());
        push_c(&mut rng, &mut c);
        push_pad(&mut rng, &mut pad);
        assert_eq!((c.len(), pad.len()), (119, 59));
        for text in [c, pad] {
            let groups = text.split(|byte| *byte == b'-');
            assert!(groups.into_iter().all(|group| group.len() == 11 && group.iter().all(u8::is_ascii_digit)));
        }
    }
}
