//! What is seen of a server, and what its role is not shown.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use pgdyno_net::{Admin, ConnectOptions};
use pgdyno_server::stat::{Sampler, SamplerOptions};

use crate::postgres;
use crate::server::TestServer;
use crate::{PATIENCE, cell, frame, number, server, until, why};

/// What every PostgreSQL has; `io` came with 16.
const USUAL: [&str; 12] = [
    "bgwriter",
    "blockers",
    "checkpointer",
    "database",
    "horizon",
    "locks",
    "replication",
    "slru",
    "tables",
    "vacuum",
    "waits",
    "wal",
];

/// All sources that have rows while there is something to see of each.
fn look_at_everything(options: &ConnectOptions, expected: &[&str]) {
    let mut admin = Admin::connect(options).unwrap();
    admin.execute("CREATE TABLE t (id int PRIMARY KEY, filler text) WITH (autovacuum_enabled = off)").unwrap();
    admin.execute("INSERT INTO t SELECT n, repeat('x', 200) FROM generate_series(1, 20000) n").unwrap();
    admin.execute("DELETE FROM t WHERE id % 3 = 0; UPDATE t SET filler = 'y' WHERE id < 1000").unwrap();
    admin.execute("CHECKPOINT").unwrap();
    admin.execute("BEGIN; LOCK TABLE t IN SHARE MODE").unwrap();
    std::thread::scope(|scope| {
        let waiting =
            scope.spawn(|| Admin::connect(options).unwrap().execute("UPDATE t SET filler = 'z' WHERE id = 1"));
        let mut sampler = Sampler::begin(options, SamplerOptions::default());
        let mut seen = BTreeSet::new();
        until(&mut sampler, "the lock is seen, and all that has no part in it", |frames| {
            seen.extend(frames.iter().filter(|frame| !frame.rows.is_empty()).map(|frame| frame.source));
            let locks = frame(frames, "locks")?;
            let row = locks.rows.first()?;
            assert_eq!(cell(locks, row, "relation"), Some("t"));
            assert_eq!((cell(locks, row, "mode"), cell(locks, row, "waiting")), (Some("RowExclusiveLock"), Some("1")));
            // PostgreSQL 14 has the start of a wait.
            let longest = cell(locks, row, "longest_wait_s").map(|seconds| seconds.parse::<f64>().unwrap());
            assert_eq!(longest.is_some_and(|seconds| seconds >= 0.0), postgres::major() >= 14);
            // Who is in the way, with his last statement.
            let blockers = frame(frames, "blockers")?;
            let row = blockers.rows.first()?;
            assert_eq!(cell(blockers, row, "state"), Some("idle in transaction"));
            assert_eq!(cell(blockers, row, "query"), Some("BEGIN; LOCK TABLE t IN SHARE MODE"));
            assert!(cell(blockers, row, "state_s").is_some_and(|seconds| seconds.parse::<f64>().unwrap() >= 0.0));
            let waits = frame(frames, "waits")?;
            let row = waits.rows.iter().find(|row| cell(waits, row, "wait_event_type") == Some("Lock"))?;
            assert_eq!(cell(waits, row, "wait_event"), Some("relation"));
            assert_eq!(cell(waits, row, "backend_type"), Some("client backend"));
            // One source may have been asked before the lock was waited for, another one after.
            expected.iter().all(|source| *source == "vacuum" || seen.contains(source)).then_some(())
        });
        admin.execute("COMMIT").unwrap();
        waiting.join().unwrap().unwrap();

        // A vacuum that takes its time.
        let vacuum = scope.spawn(|| {
            let mut admin = Admin::connect(options).unwrap();
            admin.execute("SET vacuum_cost_limit = 1; SET vacuum_cost_delay = 20").unwrap();
            // It is cancelled when it has been seen.
            admin.execute("VACUUM t").is_err()
        });
        until(&mut sampler, "the vacuum is seen", |frames| {
            let vacuum = frame(frames, "vacuum")?;
            let row = vacuum.rows.first()?;
            seen.insert("vacuum");
            assert_eq!((cell(vacuum, row, "schema"), cell(vacuum, row, "table")), (Some("public"), Some("t")));
            assert_eq!(cell(vacuum, row, "autovacuum"), Some("false"));
            assert!(cell(vacuum, row, "phase").is_some());
            Some(())
        });
        admin.execute("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query = 'VACUUM t'").unwrap();
        assert!(vacuum.join().unwrap());
        let sampled = sampler.end();
        let expected: BTreeSet<_> = expected.iter().copied().collect();
        assert_eq!(seen, expected, "{:?}", sampled.left_out);
        assert_eq!(sampled.notices, []);
    });
}

#[test]
fn every_view_of_a_server_is_seen() {
    let Some(primary) = server("views of a server", "wal_level = replica\nmax_wal_senders = 4\ntrack_io_timing = on\n")
    else {
        return;
    };
    let standby = TestServer::standby_of(&primary);
    // Its WAL receiver is there once it is replaying.
    let mut admin = primary.admin();
    let deadline = Instant::now() + PATIENCE;
    while admin.query_one("SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'").unwrap() != "1" {
        assert!(Instant::now() < deadline, "no standby streams");
        std::thread::sleep(Duration::from_millis(20));
    }
    let io = (postgres::major() >= 16).then_some("io");
    look_at_everything(&primary.options(), &USUAL.into_iter().chain(io).collect::<Vec<_>>());

    // A standby has views, too, and no position of its own to write at.
    let mut sampler = Sampler::begin(&standby.options(), SamplerOptions::default());
    let wal = until(&mut sampler, "the standby is seen", |frames| frame(frames, "wal").cloned());
    assert!(number(&wal, "lsn_bytes") > 0.0);
    assert_eq!(why(&sampler.end(), "wal"), None);
}

#[test]
fn holders_of_old_transactions_are_named_without_what_their_statements_have_of_data() {
    let Some(server) = server("old transactions", "max_prepared_transactions = 2\n") else { return };
    let mut admin = server.admin();
    admin.execute("CREATE TABLE t (n int); SELECT pg_create_physical_replication_slot('idle_slot', true)").unwrap();
    admin.execute("BEGIN").unwrap();
    admin.execute("INSERT INTO t VALUES (1)").unwrap();
    admin.execute("PREPARE TRANSACTION 'forgotten'").unwrap();
    let mut other = server.admin();
    other.execute("SET application_name = 'a report'").unwrap();
    other.execute("BEGIN ISOLATION LEVEL REPEATABLE READ").unwrap();
    other.query("SELECT count(*) FROM t WHERE n = 4711").unwrap();
    let mut sampler = Sampler::begin(&server.options(), SamplerOptions::default());
    let horizon = until(&mut sampler, "both are seen", |frames| {
        frame(frames, "horizon").filter(|horizon| horizon.rows.len() == 2).cloned()
    });
    let of = |holder: &str| horizon.rows.iter().find(|row| cell(&horizon, row, "holder") == Some(holder)).unwrap();
    let prepared = of("prepared transaction");
    assert_eq!((cell(&horizon, prepared, "name"), cell(&horizon, prepared, "pid")), (Some("forgotten"), None));
    let session = of("other session");
    assert_eq!(cell(&horizon, session, "name"), Some("a report"));
    assert_eq!(cell(&horizon, session, "state"), Some("idle in transaction"));
    assert_eq!(cell(&horizon, session, "query"), Some("SELECT count(*) FROM t WHERE n = ?"));
    assert!(cell(&horizon, session, "xmin").is_some() && cell(&horizon, session, "held_s").is_some());
    assert_eq!(why(&sampler.end(), "horizon"), None);
}

#[test]
fn rows_that_sessions_wait_for_are_named_where_the_table_is_the_workloads() {
    let Some(server) = server("hot rows", "") else { return };
    let mut admin = server.admin();
    admin.execute("CREATE TABLE own (a int, \"B c\" text, n int, PRIMARY KEY (a, \"B c\"))").unwrap();
    admin.execute("INSERT INTO own VALUES (7, 'x', 0)").unwrap();
    admin.execute("CREATE TABLE theirs (id int PRIMARY KEY, n int); INSERT INTO theirs VALUES (1, 0)").unwrap();
    admin.execute("BEGIN; UPDATE own SET n = 1; UPDATE theirs SET n = 1").unwrap();
    let mut sampler = Sampler::begin(
        &server.options(),
        SamplerOptions { tables: ["own", "absent"].map(str::to_owned).to_vec(), ..SamplerOptions::default() },
    );
    std::thread::scope(|scope| {
        let statements = ["UPDATE own SET n = 2", "UPDATE own SET n = 3", "UPDATE theirs SET n = 2"];
        let waiting = statements.map(|sql| {
            let options = server.options();
            scope.spawn(move || Admin::connect(&options).unwrap().execute(sql))
        });
        let rows = until(&mut sampler, "three sessions wait", |frames| {
            let frame = frame(frames, "row_locks")?;
            let waiting: f64 =
                frame.rows.iter().map(|row| cell(frame, row, "waiting").unwrap().parse::<f64>().unwrap()).sum();
            (waiting == 3.0).then(|| {
                let columns = ["relation", "row_key", "waiting", "waiting_for_any"];
                let mut rows: Vec<_> = frame
                    .rows
                    .iter()
                    .map(|row| columns.map(|column| cell(frame, row, column).unwrap_or("none").to_owned()))
                    .collect();
                rows.sort_unstable();
                rows
            })
        });
        admin.execute("COMMIT").unwrap();
        waiting.into_iter().for_each(|session| assert_eq!(session.join().unwrap().unwrap(), 1));
        assert_eq!(rows, [["own", "a = 7, B c = x", "2", "3"], ["theirs", "none", "1", "3"]]);
    });
    assert_eq!(why(&sampler.end(), "row_locks"), None);
}

#[test]
fn counters_grow_by_what_was_done_and_looks_are_counted() {
    let Some(server) = server("counters", "") else { return };
    let mut admin = server.admin();
    admin.execute("CREATE TABLE t (n int)").unwrap();
    let mut sampler = Sampler::begin(&server.options(), SamplerOptions::default());
    let first = frame(&sampler.look(), "database").cloned().unwrap();
    for n in 0..50 {
        admin.execute(&format!("INSERT INTO t VALUES ({n})")).unwrap();
    }
    drop(admin);
    let later = until(&mut sampler, "what a session did is reported", |frames| {
        let database = frame(frames, "database")?.clone();
        (number(&database, "tup_inserted") - number(&first, "tup_inserted") >= 50.0).then_some(database)
    });
    assert!(number(&later, "xact_commit") - number(&first, "xact_commit") >= 50.0);
    for _ in 0..5 {
        sampler.look_at_waits();
    }
    let frames = sampler.look();
    let waits = frame(&frames, "waits").unwrap();
    assert_eq!(cell(waits, &waits.rows[0], "looks"), Some("6"), "{waits:?}");
    // Nobody is at work, and the sampler does not see itself.
    assert!(
        waits.rows.iter().all(|row| cell(waits, row, "backend_type") != Some("client backend")
            || cell(waits, row, "samples") == Some("0")),
        "{waits:?}"
    );
    let sampled = sampler.end();
    assert!(sampled.queries > 10 && sampled.transactions == sampled.queries + 1);
    assert!(sampled.cpu.is_none_or(|cpu| !cpu.is_zero()) && !sampled.waited.is_zero());
    assert!(why(&sampled, "statements").unwrap().contains("shared_preload_libraries = 'pg_stat_statements'"));
    assert!(why(&sampled, "track_io_timing").unwrap().contains("--set track_io_timing=on"));
}

#[test]
fn a_role_without_pg_monitor_sees_its_own_sessions_and_is_reported() {
    let Some(server) = server("a role without pg_monitor", "") else { return };
    let mut admin = server.admin();
    admin.execute("CREATE ROLE bench LOGIN").unwrap();
    let options = ConnectOptions::for_socket(server.dir(), server.port, "bench", "postgres");
    let mut others = server.admin();
    std::thread::scope(|scope| {
        let canceller = others.cancel_handle();
        let other = scope.spawn(move || others.execute("SELECT pg_sleep(60)"));
        let own = Admin::connect(&options).unwrap();
        let own_canceller = own.cancel_handle();
        let sleeping = scope.spawn(move || { own }.execute("SELECT pg_sleep(60)"));
        let mut sampler = Sampler::begin(&options, SamplerOptions::default());
        let slept = until(&mut sampler, "its own session is seen asleep", |frames| {
            let waits = frame(frames, "waits")?;
            let row = waits.rows.iter().find(|row| cell(waits, row, "wait_event") == Some("PgSleep"))?;
            (cell(waits, row, "looks") == Some("2")).then(|| cell(waits, row, "samples").unwrap().to_owned())
        });
        // One session in two looks, and not the superuser's.
        assert_eq!(slept, "2");
        let sampled = sampler.end();
        let why = why(&sampled, "waits").unwrap();
        assert!(why.contains("GRANT pg_monitor TO bench"), "{why}");
        canceller.cancel().unwrap();
        own_canceller.cancel().unwrap();
        assert!(other.join().unwrap().is_err() && sleeping.join().unwrap().is_err());
    });
    // With it, all is seen.
    admin.execute("GRANT pg_monitor TO bench").unwrap();
    let mut sampler = Sampler::begin(&options, SamplerOptions::default());
    assert!(frame(&sampler.look(), "checkpointer").is_some());
    assert_eq!(why(&sampler.end(), "waits"), None);
}

#[test]
fn a_view_that_is_forbidden_is_left_out_with_a_word_and_the_rest_is_seen() {
    let Some(server) = server("a forbidden view", "") else { return };
    let mut admin = server.admin();
    // pg_stat_wal came with PostgreSQL 14.
    let has_wal = postgres::major() >= 14;
    let revoke = if has_wal { "REVOKE SELECT ON pg_stat_wal FROM PUBLIC" } else { "" };
    admin.execute(&format!("CREATE ROLE bench LOGIN; {revoke}")).unwrap();
    let options = ConnectOptions::for_socket(server.dir(), server.port, "bench", "postgres");
    let mut sampler = Sampler::begin(&options, SamplerOptions::default());
    let frames = sampler.look();
    assert!(frame(&frames, "wal").is_none() == has_wal && frame(&frames, "database").is_some());
    // One that is taken away later, too.
    admin.execute("REVOKE SELECT ON pg_stat_bgwriter FROM PUBLIC").unwrap();
    let frames = sampler.look();
    assert!(frame(&frames, "bgwriter").is_none() && frame(&frames, "database").is_some());
    let queries = sampler.look().len();
    assert!(queries > 0);
    let sampled = sampler.end();
    let denied = "permission denied for view pg_stat_wal";
    assert_eq!(why(&sampled, "wal").is_some_and(|why| why.contains(denied)), has_wal);
    assert!(why(&sampled, "bgwriter").unwrap().contains("permission denied"));
}

#[test]
fn where_no_session_can_be_had_that_is_said() {
    let Some(server) = server("no session", "") else { return };
    let options = server.options().with_database("no such database");
    let mut sampler = Sampler::begin(&options, SamplerOptions::default());
    assert_eq!(sampler.look(), []);
    let sampled = sampler.end();
    assert!(why(&sampled, "all statistics").unwrap().contains("no such database"), "{sampled:?}");
}
