//! The four tables of `pgbench -i` of version 15, and indexes on the history, which it lacks.

use pgdyno_workload::{Partition, Partitions, RowCount, RowSource, Table};

use super::partitions::{PartitionMethod, Partitioning, partition};
use super::{ACCOUNTS, BIGINT_SCALE, BRANCHES, TELLERS, rows};

/// Rows in a block of 8 KiB at fillfactor 100, and bytes of index for a row, measured on PostgreSQL 15.
const ACCOUNTS_PER_BLOCK: u64 = 61;
const INDEX_BYTES_PER_ACCOUNT: u64 = 22;
const BLOCK_BYTES: u64 = 8192;

/// Columns of the history that may have an index.
const HISTORY_INDEXED: [&str; 5] = ["tid", "bid", "aid", "delta", "mtime"];

/// Parameters that shape the tables.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) scale: u64,
    pub(super) history_indexes: bool,
    /// `None`: one ordinary table of accounts.
    pub(super) partitioning: Option<Partitioning>,
}

pub(super) fn tables(layout: Layout) -> Vec<Table> {
    let Layout { scale, history_indexes, .. } = layout;
    let aid = if scale >= BIGINT_SCALE { "bigint" } else { "int" };
    let history = table(
        "pgbench_history",
        format!(
            "create table pgbench_history(tid int, bid int, aid {aid}, delta int, \
             mtime timestamp, filler char(22))"
        ),
        0,
        None,
    );
    let indexed = if history_indexes { &HISTORY_INDEXED[..] } else { &[] };
    let index = |column: &&str| format!("create index pgbench_history_{column}_idx on pgbench_history ({column})");
    vec![
        Table {
            indexes: indexed.iter().map(index).collect(),
            bytes: history_bytes(history_indexes),
            grows: true,
            ..history
        },
        table(
            "pgbench_tellers",
            "create table pgbench_tellers(tid int not null, bid int, tbalance int, \
             filler char(84)) with (fillfactor=100)"
                .to_owned(),
            TELLERS * scale,
            Some(("tid", Box::new(rows::Tellers { scale }))),
        ),
        accounts(layout, aid),
        table(
            "pgbench_branches",
            "create table pgbench_branches(bid int not null, bbalance int, \
             filler char(88)) with (fillfactor=100)"
                .to_owned(),
            BRANCHES * scale,
            Some(("bid", Box::new(rows::Branches { scale }))),
        ),
    ]
}

fn accounts(layout: Layout, aid: &str) -> Table {
    let scale = layout.scale;
    let columns = format!("aid {aid} not null, bid int, abalance int, filler char(84)");
    let name = "pgbench_accounts";
    let made = |rest: &str, source| {
        let ddl = format!("create table {name}({columns}) {rest}");
        table(name, ddl, ACCOUNTS * scale, Some(("aid", Box::new(source))))
    };
    let Some(partitioning) = layout.partitioning else {
        return made("with (fillfactor=100)", rows::Accounts::whole(scale));
    };
    let source = match partitioning.method {
        PartitionMethod::Range => rows::Accounts { scale, rows_each: partitioning.rows_each(scale) },
        PartitionMethod::Hash => rows::Accounts::whole(scale),
    };
    let numbers = 1..=partitioning.partitions;
    let one = |number| Partition {
        name: partition(number),
        chunks: vec![source.chunks_of(number)],
        indexes: vec![primary_key(&partition(number), "aid")],
    };
    let partitions = match partitioning.method {
        PartitionMethod::Range => Partitions::Known(numbers.clone().map(one).collect()),
        PartitionMethod::Hash => Partitions::Routed,
    };
    let mut accounts = made(partitioning.clause(), source);
    for number in numbers {
        accounts.ddl += &format!(
            "; create table {} partition of {name} for values {} with (fillfactor=100)",
            partition(number),
            partitioning.values(scale, number)
        );
    }
    Table { partitions, ..accounts }
}

fn primary_key(table: &str, key: &str) -> String {
    format!("alter table {table} add primary key ({key})")
}

fn table(name: &'static str, ddl: String, rows: u64, keyed: Option<(&'static str, Box<dyn RowSource>)>) -> Table {
    let (indexes, source) = match keyed {
        Some((key, source)) => (vec![primary_key(name, key)], Some(source)),
        None => (Vec::new(), None),
    };
    Table {
        name,
        ddl,
        indexes,
        foreign_keys: Vec::new(),
        rows: RowCount::Exact(rows),
        grows: false,
        bytes: bytes(rows),
        partitions: Partitions::None,
        distribution: None,
        // Whole numbers cost the server the same in both formats.
        binary: Vec::new(),
        source,
    }
}

/// Bytes of heap and primary key. Rows of the two small tables are shorter (their filler is NULL), which is
/// negligible beside the accounts.
fn bytes(rows: u64) -> u64 {
    rows.div_ceil(ACCOUNTS_PER_BLOCK) * BLOCK_BYTES + rows * INDEX_BYTES_PER_ACCOUNT
}

/// The history starts empty, with one block for each index.
fn history_bytes(indexes: bool) -> u64 {
    if indexes { HISTORY_INDEXED.len() as u64 * BLOCK_BYTES } else { 0 }
}

/// The few blocks that each partition adds are not counted.
pub(super) fn data_bytes(layout: Layout) -> u64 {
    let Layout { scale, history_indexes, .. } = layout;
    bytes(ACCOUNTS * scale) + bytes(TELLERS * scale) + bytes(BRANCHES * scale) + history_bytes(history_indexes)
}
