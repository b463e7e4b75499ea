//! YCSB's workloads on a real server, with both schemas.

use std::collections::HashSet;

use pgdyno_wire::QueryMode;
use pgdyno_workload::dist::ycsb::hash;
use pgdyno_workload::{Expect, Rng, Verdict, Workload};
use pgdyno_workloads::registry;

use crate::support::{Client, Connection, Server};

const SIZE: [(&str, &str); 2] = [("records", "300"), ("fields", "3")];

fn workload(id: &str, params: &[(&str, &str)]) -> Workload {
    registry::build(id, SIZE.iter().chain(params).copied()).unwrap()
}

fn transact(server: &Server, database: &str, workload: &Workload, mode: QueryMode, n: u32) {
    let mut client = Client::new(server.connect(database), workload, mode, 0, 1, Rng::new(3));
    for _ in 0..n {
        assert_eq!(client.transact().1.unwrap(), Verdict::Committed, "{} {mode:?}", workload.meta.id);
    }
}

/// The number of rows that a check of damage returns.
fn damaged(sql: &mut Connection, workload: &Workload) -> usize {
    let checks = workload.data[0].checks();
    let check = checks.iter().find(|check| check.expect == Expect::NoRow).unwrap();
    sql.rows(&check.sql.text(&|| false).unwrap()).len()
}

fn counted(sql: &mut Connection, workload: &Workload) -> u64 {
    sql.value(&workload.drive.server_counts()[0].query).parse().unwrap()
}

#[test]
fn every_operation_works_with_both_schemas_and_in_every_mode() {
    let Some(server) = Server::start() else { return };
    for schema in ["jdbc", "jsonb"] {
        let params = [("schema", schema)];
        let mut sql = server.load(schema, &workload("ycsb-a", &params));
        let keys: HashSet<_> = sql.rows("select ycsb_key from usertable").into_iter().flatten().collect();
        assert_eq!(keys, (0..300).map(|number| format!("user{}", hash(number))).collect());
        for id in ["ycsb-a", "ycsb-b", "ycsb-c", "ycsb-d", "ycsb-e", "ycsb-f"] {
            for mode in [QueryMode::Simple, QueryMode::Extended, QueryMode::Prepared] {
                let workload = workload(id, &params);
                transact(&server, schema, &workload, mode, 60);
                assert_eq!(damaged(&mut sql, &workload), 0, "{id}");
            }
        }
        // Each run went on where the one before it ended.
        let inserted: u64 = sql.value("select count(*) from usertable").parse().unwrap();
        assert!((301..400).contains(&inserted), "{inserted}");
        let keys: HashSet<_> = sql.rows("select ycsb_key from usertable").into_iter().flatten().collect();
        assert_eq!(keys, (0..inserted).map(|number| format!("user{}", hash(number))).collect());

        let damage = match schema {
            "jdbc" => {
                "update usertable set field1 = left(field1, 99) where ycsb_key = (select min(ycsb_key) from usertable)"
            }
            _ => {
                "update usertable set ycsb_value = ycsb_value || jsonb_build_object('field1', left(ycsb_value->>'field1', 99)) \
                 where ycsb_key = (select min(ycsb_key) from usertable)"
            }
        };
        sql.run(damage);
        assert_eq!(damaged(&mut sql, &workload("ycsb-a", &params)), 1, "a field that lost its end");
    }
}

#[test]
fn a_lost_update_is_counted_and_a_lock_prevents_it() {
    let Some(server) = Server::start() else { return };
    for (database, schema) in [("columns", "jdbc"), ("document", "jsonb")] {
        // One record with one field: two clients always meet.
        let params = |how| {
            [
                ("records", "1"),
                ("fields", "1"),
                ("schema", schema),
                ("lost-updates", "true"),
                ("read-modify-write", how),
            ]
        };
        let built = |how| registry::build("ycsb-f", params(how)).unwrap();
        let workload = built("transaction");
        let mut sql = server.load(database, &workload);
        let modified = |workload: &Workload, clients: u64| {
            let threads: Vec<_> = (0..clients)
                .map(|id| {
                    let connection = server.connect(database);
                    let mut client = Client::new(connection, workload, QueryMode::Prepared, 0, 1, Rng::new(id));
                    move || (0..100).filter(|_| client.transact().0.0 == 1).count() as u64
                })
                .collect();
            std::thread::scope(|scope| {
                let threads: Vec<_> = threads.into_iter().map(|work| scope.spawn(work)).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).sum::<u64>()
            })
        };
        let by_client = modified(&workload, 4);
        assert!(by_client > 100, "{by_client}");
        assert_eq!(counted(&mut sql, &workload), by_client, "{schema}");

        let before = counted(&mut sql, &workload);
        let by_client = modified(&built("autocommit"), 1);
        assert_eq!(counted(&mut sql, &workload) - before, by_client, "one client alone loses nothing");
    }
    let none = registry::build("ycsb-f", [("field-bytes", "23"), ("lost-updates", "true")]).unwrap();
    assert!(none.drive.server_counts().is_empty() && none.drive.advice(1).concat().contains("--field-bytes 24"));
}
