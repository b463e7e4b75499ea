//! The pgbench workloads beside the real pgbench: the same tables, rows and draws, and each can drive what
//! the other made.

use crate::support::{Client, Connection, Server};
use pgdyno_wire::QueryMode;
use pgdyno_workload::{Capabilities, Rng, Verdict, Workload};
use pgdyno_workloads::registry;

const TABLES: [&str; 4] = ["pgbench_accounts", "pgbench_branches", "pgbench_history", "pgbench_tellers"];

fn workload(id: &str, params: &[(&str, &str)]) -> Workload {
    registry::build(id, params.iter().copied()).unwrap()
}

/// Columns, options and indexes of the four tables.
fn schema(sql: &mut Connection) -> Vec<Vec<String>> {
    let mut found = sql.rows(
        "select table_name, ordinal_position, column_name, data_type, character_maximum_length,
                is_nullable, column_default
           from information_schema.columns where table_schema = 'public' order by 1, ordinal_position",
    );
    found.extend(sql.rows(
        "select relname, relkind, relpersistence, reloptions from pg_class
          where relnamespace = 'public'::regnamespace order by 1",
    ));
    found.extend(sql.rows("select indexdef from pg_indexes where schemaname = 'public' order by 1"));
    found.extend(sql.rows(
        "select conname, pg_get_constraintdef(oid) from pg_constraint
          where connamespace = 'public'::regnamespace order by 1",
    ));
    found
}

fn transact(server: &Server, database: &str, workload: &Workload, mode: QueryMode, n: u32) {
    let mut client = Client::new(server.connect(database), workload, mode, 0, 1, Rng::new(3));
    for _ in 0..n {
        assert_eq!(client.transact().1.unwrap(), Verdict::Committed, "{mode:?}");
    }
}

/// What the checks say now.
fn sums(sql: &mut Connection, workload: &Workload) -> Vec<Vec<Vec<String>>> {
    workload.data[0]
        .checks()
        .into_iter()
        .map(|check| {
            assert!(check.expect.is_unchanged_by_run());
            sql.rows(&check.sql.text(&|| false).unwrap())
        })
        .collect()
}

#[test]
fn tables_rows_and_draws_are_pgbenchs() {
    let Some(server) = Server::start() else {
        return;
    };
    let tpcb = workload("tpcb-like", &[("scale", "2")]);
    let mut ours = server.load("ours", &tpcb);
    let mut admin = server.connect("postgres");
    admin.run("create database theirs");
    server.pgbench("theirs", &["-i", "-q", "-s", "2"]);
    let mut theirs = server.connect("theirs");

    assert_eq!(schema(&mut ours), schema(&mut theirs));
    for table in TABLES {
        let rows = format!("select count(*), md5(string_agg(t::text, ';' order by t)) from {table} t");
        assert_eq!(ours.rows(&rows), theirs.rows(&rows), "{table}");
    }

    let bytes = "select sum(pg_total_relation_size(oid)) from pg_class
        where relkind = 'r' and relnamespace = 'public'::regnamespace";
    let (found, promised) = (theirs.value(bytes).parse::<u64>().unwrap(), tpcb.data_bytes());
    assert!(found.abs_diff(promised) < promised / 50 + 100_000, "{found} bytes, promised {promised}");

    // From scale 20000 on aid is a bigint, in the history too.
    for scale in ["19999", "20000"] {
        let big = workload("select-only", &[("scale", scale)]);
        for (database, make) in [("big_ours", true), ("big_theirs", false)] {
            admin.run(&format!("drop database if exists {database}"));
            admin.run(&format!("create database {database}"));
            let mut sql = server.connect(database);
            if make {
                for table in big.data[0].tables(&Capabilities::default()) {
                    sql.run(&table.ddl);
                    table.indexes.iter().for_each(|index| sql.run(index));
                }
            } else {
                server.pgbench(database, &["-i", "-I", "tp", "-s", scale]);
            }
        }
        assert_eq!(schema(&mut server.connect("big_ours")), schema(&mut server.connect("big_theirs")), "scale {scale}");
    }

    // pgbench seeds its first client with the first number of the base generator.
    let history = "select tid, bid, aid, delta from pgbench_history order by mtime";
    server.pgbench("theirs", &["-n", "--random-seed=5432", "-t", "100"]);
    let mut client =
        Client::new(server.connect("ours"), &tpcb, QueryMode::Prepared, 0, 1, Rng::new(Rng::new(5432).next_u64()));
    for _ in 0..100 {
        client.transact().1.unwrap();
    }
    assert_eq!(ours.rows(history).len(), 100);
    assert_eq!(ours.rows(history), theirs.rows(history));

    each_drives_what_the_other_made(&server, &mut ours, &mut theirs);
}

fn each_drives_what_the_other_made(server: &Server, ours: &mut Connection, theirs: &mut Connection) {
    for script in ["tpcb-like", "simple-update", "select-only"] {
        for mode in ["simple", "extended", "prepared"] {
            let printed = server.pgbench("ours", &["-b", script, "-M", mode, "-t", "20", "-c", "4"]);
            assert!(printed.contains("scaling factor: 2"), "{printed}");
            assert!(printed.contains("80/80"), "{printed}");
        }
    }
    for id in ["tpcb-like", "simple-update", "select-only"] {
        let workload = workload(id, &[("scale", "2")]);
        for (database, sql) in [("ours", &mut *ours), ("theirs", &mut *theirs)] {
            // By now simple-update has brought the sums of both databases apart.
            workload.data[0].before_run().iter().for_each(|s| sql.run(s));
            assert_eq!(sql.value("select count(*) from pgbench_history"), "0");
            let before = sums(sql, &workload);
            for mode in [QueryMode::Prepared, QueryMode::Extended, QueryMode::Simple] {
                transact(server, database, &workload, mode, 50);
            }
            assert_eq!(sums(sql, &workload), before, "{id} on {database}");
            let rows = if id == "select-only" { "0" } else { "150" };
            assert_eq!(sql.value("select count(*) from pgbench_history"), rows);
        }
    }
    assert_eq!(ours.value(workload("tpcb-like", &[]).meta.scale_query.unwrap()), "2");
    for (id, count) in [("tpcb-like", "30"), ("simple-update", "30")] {
        let pipelined = workload(id, &[("scale", "2"), ("pipeline", "true")]);
        pipelined.data[0].before_run().iter().for_each(|s| ours.run(s));
        let before = sums(ours, &pipelined);
        for mode in [QueryMode::Prepared, QueryMode::Extended, QueryMode::Simple] {
            transact(server, "ours", &pipelined, mode, 10);
        }
        assert_eq!(sums(ours, &pipelined), before, "{id} as a pipeline");
        assert_eq!(ours.value("select count(*) from pgbench_history"), count);
    }

    // The checks can fail.
    for (id, damage) in [
        ("tpcb-like", "update pgbench_tellers set tbalance = tbalance + 1 where tid = 1"),
        ("tpcb-like", "update pgbench_branches set bbalance = bbalance - 1 where bid = 1"),
        ("tpcb-like", "update pgbench_accounts set abalance = abalance + 1 where aid = 7"),
        ("simple-update", "update pgbench_tellers set tbalance = tbalance + 1 where tid = 1"),
        ("simple-update", "insert into pgbench_history (delta) values (1)"),
        ("select-only", "update pgbench_accounts set abalance = abalance + 1 where aid = 7"),
    ] {
        let workload = workload(id, &[("scale", "2")]);
        let before = sums(ours, &workload);
        ours.run(damage);
        assert_ne!(sums(ours, &workload), before, "{id}: {damage}");
    }
}
