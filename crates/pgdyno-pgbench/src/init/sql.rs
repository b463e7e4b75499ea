//! The statements of `pgbench -i`, exactly as pgbench sends them.

use pgdyno_net::quote;
use pgdyno_workloads::pgbench::partitions::{Partitioning, partition};
use pgdyno_workloads::pgbench::{ACCOUNTS, BIGINT_SCALE, TELLERS};

use crate::options::InitOptions;

pub(super) const DROP_TABLES: &str =
    "drop table if exists pgbench_accounts, pgbench_branches, pgbench_history, pgbench_tellers";
pub(super) const TRUNCATE: &str = "truncate table pgbench_accounts, pgbench_branches, pgbench_history, pgbench_tellers";
pub(super) const RELKIND: &str = "SELECT relkind FROM pg_catalog.pg_class WHERE oid=$1::pg_catalog.regclass";
pub(super) const VACUUM: [&str; 4] = [
    "vacuum analyze pgbench_branches",
    "vacuum analyze pgbench_tellers",
    "vacuum analyze pgbench_accounts",
    "vacuum analyze pgbench_history",
];
pub(super) const FOREIGN_KEYS: [&str; 5] = [
    "alter table pgbench_tellers add constraint pgbench_tellers_bid_fkey \
     foreign key (bid) references pgbench_branches",
    "alter table pgbench_accounts add constraint pgbench_accounts_bid_fkey \
     foreign key (bid) references pgbench_branches",
    "alter table pgbench_history add constraint pgbench_history_bid_fkey \
     foreign key (bid) references pgbench_branches",
    "alter table pgbench_history add constraint pgbench_history_tid_fkey \
     foreign key (tid) references pgbench_tellers",
    "alter table pgbench_history add constraint pgbench_history_aid_fkey \
     foreign key (aid) references pgbench_accounts",
];

/// Queries whether foreign keys reference the accounts: then a partition of them cannot be truncated alone.
pub(super) const ACCOUNTS_ARE_REFERENCED: &str = "select exists (select from pg_catalog.pg_constraint \
     where contype = 'f' and confrelid = 'pgbench_accounts'::pg_catalog.regclass)";

/// Returns the statements for the four tables. With partitions, only these are unlogged, in [`partitions`].
pub(super) fn tables(options: &InitOptions) -> Vec<String> {
    let aid = if u64::from(options.scale) >= BIGINT_SCALE { "bigint" } else { "   int" };
    let unlogged = if options.unlogged && options.partitioning.is_none() { " unlogged" } else { "" };
    let fillfactor = format!(" with (fillfactor={})", options.fillfactor);
    let by = options.partitioning.map(|partitioning| format!(" {}", partitioning.clause()));
    let tablespace = options.tablespace.as_ref();
    let tablespace = tablespace.map_or_else(String::new, |name| format!(" tablespace {}", quote::identifier(name)));
    [
        ("pgbench_history", format!("tid int,bid int,aid {aid},delta int,mtime timestamp,filler char(22)"), ""),
        ("pgbench_tellers", "tid int not null,bid int,tbalance int,filler char(84)".to_owned(), fillfactor.as_str()),
        (
            "pgbench_accounts",
            format!("aid {aid} not null,bid int,abalance int,filler char(84)"),
            by.as_deref().unwrap_or(&fillfactor),
        ),
        ("pgbench_branches", "bid int not null,bbalance int,filler char(88)".to_owned(), fillfactor.as_str()),
    ]
    .into_iter()
    .map(|(table, columns, rest)| format!("create{unlogged} table {table}({columns}){rest}{tablespace}"))
    .collect()
}

/// Returns the statements for the partitions of the accounts.
pub(super) fn partitions(options: &InitOptions, partitioning: Partitioning) -> Vec<String> {
    let unlogged = if options.unlogged { " unlogged" } else { "" };
    (1..=partitioning.partitions)
        .map(|number| {
            format!(
                "create{unlogged} table {}\n  partition of pgbench_accounts\n  for values {} \
                 with (fillfactor={})",
                partition(number),
                partitioning.values(u64::from(options.scale), number),
                options.fillfactor
            )
        })
        .collect()
}

/// Returns the COPY statement of a table.
pub(super) fn copy(table: &str, freeze: bool) -> String {
    format!("copy {table} from stdin{}", if freeze { " with (freeze on)" } else { "" })
}

/// Returns the statements with which the server generates all rows.
pub(super) fn generate(scale: u32) -> [String; 3] {
    let (tellers, accounts) = (TELLERS * u64::from(scale), ACCOUNTS * u64::from(scale));
    [
        format!("insert into pgbench_branches(bid,bbalance) select bid, 0 from generate_series(1, {scale}) as bid"),
        format!(
            "insert into pgbench_tellers(tid,bid,tbalance) select tid, (tid - 1) / {TELLERS} + 1, 0 \
             from generate_series(1, {tellers}) as tid"
        ),
        format!(
            "insert into pgbench_accounts(aid,bid,abalance,filler) select aid, (aid - 1) / {ACCOUNTS} + 1, 0, '' \
             from generate_series(1, {accounts}) as aid"
        ),
    ]
}

/// Returns the primary keys of the three tables.
pub(super) fn primary_keys(index_tablespace: Option<&str>) -> [String; 3] {
    [("pgbench_branches", "bid"), ("pgbench_tellers", "tid"), ("pgbench_accounts", "aid")]
        .map(|(table, key)| primary_key(table, key, index_tablespace))
}

/// Returns one primary key.
pub(super) fn primary_key(table: &str, key: &str, index_tablespace: Option<&str>) -> String {
    let using = index_tablespace
        .map_or_else(String::new, |name| format!(" using index tablespace {}", quote::identifier(name)));
    format!("alter table {table} add primary key ({key}){using}")
}
