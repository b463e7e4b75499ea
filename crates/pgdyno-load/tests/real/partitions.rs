//! Partitions of pgbench's accounts, each filled by itself where its rows are known.

use std::sync::Arc;

use crate::server::{self, Server};
use crate::{CAPS, connect, how, load_with, thawed};
use pgdyno_load::{DataState, LoadError, LoadOptions, LoadProgress, Moment, check, drop_data, load, state};
use pgdyno_net::{Admin, Stop};
use pgdyno_workload::DataSet;

fn two_units(more: &[(&'static str, &'static str)]) -> Arc<dyn DataSet> {
    crate::data_of("tpcb-like", [("scale", "2")].into_iter().chain(more.iter().copied()))
}

/// A checksum of the accounts.
fn accounts(admin: &mut Admin) -> String {
    admin.query_one("select count(*) || ' ' || sum(hashtext(a::text)) from pgbench_accounts a").unwrap()
}

/// Bounds, options, persistence and primary key of each partition.
fn partitions(admin: &mut Admin) -> Vec<String> {
    let sql = "select concat_ws(' ', c.relname, pg_get_expr(c.relpartbound, c.oid), c.reloptions, c.relpersistence, \
               pg_get_indexdef(i.indexrelid), p.inhparent::regclass) from pg_inherits h \
               join pg_class c on c.oid = h.inhrelid join pg_index i on i.indrelid = c.oid \
               left join pg_inherits p on p.inhrelid = i.indexrelid \
               where h.inhparent = 'pgbench_accounts'::regclass order by 1";
    admin.query(sql).unwrap().rows.into_iter().map(|mut row| row.remove(0).unwrap()).collect()
}

#[test]
fn rows_and_partitions_are_pgbenchs_by_every_method() {
    if !server::available("rows_and_partitions_are_pgbenchs_by_every_method") {
        return;
    }
    let server = Server::start("max_wal_size = 4GB");
    let whole = server.database("whole");
    load_with(&whole, &*two_units(&[]), &how(2)).unwrap();
    let rows = accounts(&mut connect(&whole));
    let plain = |loaders| how(loaders);
    let unlogged = |loaders| LoadOptions { unlogged: true, ..how(loaders) };
    let resumable = |loaders| LoadOptions { resumable: true, ..how(loaders) };
    for (nth, (count, method, how)) in [
        ("3", "range", plain(1)),
        ("3", "range", plain(2)),
        ("7", "range", plain(8)),
        ("3", "range", unlogged(2)),
        ("3", "range", resumable(2)),
        ("3", "hash", plain(2)),
    ]
    .into_iter()
    .enumerate()
    {
        let reported = format!("{count} by {method}, {how:?}");
        let (ours, theirs) = (server.database(&format!("ours{nth}")), format!("theirs{nth}"));
        server.database(&theirs);
        let data = two_units(&[("partitions", count), ("partition-method", method)]);
        let report = load_with(&ours, &*data, &how).unwrap();
        assert_eq!(report.notes, [""; 0], "{reported}");
        let mut admin = connect(&ours);
        assert_eq!(accounts(&mut admin), rows, "{reported}");
        // Its bounds and keys do not depend on rows.
        server.pgbench_init_with(
            &theirs,
            &["-s2", "-Idtp", &format!("--partitions={count}"), &format!("--partition-method={method}")],
        );
        let mut pgbench = connect(&server.options().with_database(&theirs));
        let found = partitions(&mut admin);
        assert_eq!(found.len().to_string(), count, "{reported}");
        assert_eq!(found, partitions(&mut pgbench), "{reported}");
        let asked = check(&ours, 2, &*data, &CAPS, Moment::AfterLoad, &|_| {}, &Stop::new()).unwrap();
        assert!(asked.holds(), "{reported}: {asked:?}");
        assert_eq!(state(&mut admin, &*data).unwrap(), DataState::Complete(report.stamp), "{reported}");
        assert!(matches!(state(&mut admin, &*two_units(&[])).unwrap(), DataState::Other(_)), "{reported}");
        assert_eq!(thawed(&mut admin, "pgbench_accounts"), "0", "{reported}");
        drop_data(&mut admin, &*data, false).unwrap();
        let left = "select string_agg(relname, ' ') from pg_class where relname ~ 'pgbench|pgdyno'";
        assert_eq!(admin.query_opt(left).unwrap(), None, "{reported}");
    }
}

#[test]
fn partitions_cost_no_wal_under_wal_level_minimal() {
    if !server::available("partitions_cost_no_wal_under_wal_level_minimal") {
        return;
    }
    let server = Server::start("wal_level = minimal\nmax_wal_senders = 0\nwal_skip_threshold = 0");
    let mut admin = connect(&server.options());
    let before = admin.query_one("select pg_current_wal_lsn()").unwrap();
    let report = load_with(&server.options(), &*two_units(&[("partitions", "2")]), &how(2)).unwrap();
    assert_eq!(report.tables.iter().find(|table| table.name == "pgbench_accounts").unwrap().loaders, 2);
    let wal = admin.query_one(&format!("select pg_current_wal_lsn() - '{before}'")).unwrap();
    assert!(
        wal.parse::<u64>().unwrap() < report.data_bytes.unwrap() / 4,
        "{wal} bytes of WAL for {}",
        report.data_bytes.unwrap()
    );
}

/// A load by partitions that was stopped leaves nothing that is taken for data.
#[test]
fn what_was_stopped_begins_anew() {
    if !server::available("what_was_stopped_begins_anew") {
        return;
    }
    let server = Server::start("");
    let target = server.options();
    let data = two_units(&[("partitions", "4")]);
    let stop = Stop::new();
    let progress = |progress: &LoadProgress<'_>| {
        if matches!(progress, LoadProgress::Table { name: "pgbench_accounts", .. }) {
            stop.cleanly();
        }
    };
    let error = load(&target, &*data, &CAPS, &how(2), &progress, &stop, None).unwrap_err();
    assert!(matches!(error, LoadError::Stopped(_)), "{error}");
    let mut admin = connect(&target);
    crate::await_alone(&mut admin);
    assert!(matches!(state(&mut admin, &*data).unwrap(), DataState::Partial { kept: None, .. }));
    load_with(&target, &*data, &how(2)).unwrap();
    assert_eq!(admin.query_one("select count(*) from pgbench_accounts").unwrap(), "200000");
}
