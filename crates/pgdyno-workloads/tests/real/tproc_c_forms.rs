//! Procedure, function and client's SQL are one workload: with the same draws they leave the same database.

use std::collections::BTreeMap;

use crate::by_hand::FORMS;
use crate::support::{Client, Connection, Server, assert_conditions_hold, assert_plain_conditions_hold, tproc_c};
use pgdyno_wire::{QueryMode, Wire};
use pgdyno_workload::{Capabilities, Rng, Verdict, Workload};

/// Of each table the number of rows, and of those written after transaction `loaded` a checksum of all columns but those that hold a
/// time; of these whether they are NULL. The order of the rows does not matter.
fn content(sql: &mut Connection, workload: &Workload, loaded: &str) -> BTreeMap<&'static str, Vec<String>> {
    let mut content = BTreeMap::new();
    for table in workload.data[0].tables(&Capabilities::default()) {
        let columns = sql.value(&format!(
            "select string_agg(case when data_type like 'timestamp%' then '(' || column_name || ' is null)'
                                    else column_name end, ', ' order by ordinal_position)
               from information_schema.columns where table_name = '{}'",
            table.name
        ));
        let sums = sql.rows(&format!(
            "select count(*), sum(hashtextextended(row({columns})::text, 0)::numeric) filter (where xmin::text::bigint > {loaded}) \
             from {}",
            table.name
        ));
        content.insert(table.name, sums.concat());
    }
    content
}

/// What one client does with `count` transactions: committed and rolled back, by kind.
fn drive(
    server: &Server,
    database: &str,
    workload: &Workload,
    (mode, wire): (QueryMode, Wire),
    count: u32,
) -> Vec<(u32, u32)> {
    let mut client = Client::new(server.connect(database), workload, mode, 0, 1, Rng::new(7)).speaking(wire);
    let mut done = vec![(0, 0); 5];
    for _ in 0..count {
        let (txn, verdict) = client.transact();
        let (committed, rolled_back) = &mut done[usize::from(txn.0)];
        match verdict.unwrap_or_else(|e| panic!("{database} {txn:?}: {e} {:?}", e.context)) {
            Verdict::Committed => *committed += 1,
            Verdict::RolledBack => *rolled_back += 1,
        }
    }
    done
}

#[test]
fn procedure_function_and_client_leave_the_same_database() {
    let Some(server) = Server::with_warehouses("w2") else { return };
    let size = ("warehouses", "2");
    let mut loaded = server.connect("w2");
    let last = loaded.value("select txid_current()");
    let untouched = content(&mut loaded, &tproc_c(&[size]), &last);
    drop(loaded);
    let all = [
        ("procedure", QueryMode::Prepared, Wire::Native),
        ("function", QueryMode::Prepared, Wire::Native),
        ("client", QueryMode::Prepared, Wire::Native),
        ("procedure", QueryMode::Prepared, Wire::Libpq),
        ("function", QueryMode::Prepared, Wire::Libpq),
        ("client", QueryMode::Prepared, Wire::Libpq),
        ("function", QueryMode::Simple, Wire::Native),
        ("client", QueryMode::Simple, Wire::Native),
        ("client", QueryMode::Extended, Wire::Native),
        ("client", QueryMode::Extended, Wire::Libpq),
    ];
    for (profile, forms) in [("spec", &all[..]), ("hammerdb", &all[..3])] {
        let params = [size, ("all-warehouses", "true"), ("think", "off"), ("profile", profile)];
        let mut first = None;
        for &(form, mode, wire) in forms {
            let workload = tproc_c(&[&params[..], &[("call", form)]].concat());
            let database = format!("{profile}_{form}_{}_{}", mode.name(), wire.name());
            let mut sql = server.copy("w2", &database);
            let done = drive(&server, &database, &workload, (mode, wire), 400);
            let content = content(&mut sql, &workload, &last);
            let Some((done_first, content_first)) = &first else {
                assert!(done[0].1 > 0, "no order was rolled back: {done:?}");
                for table in ["warehouse", "district", "customer", "history", "orders", "order_line", "stock"] {
                    assert_ne!(content[table], untouched[table], "{table} is as it was");
                }
                assert_eq!(content["item"], untouched["item"]);
                assert_conditions_hold(&mut sql, &workload);
                assert_plain_conditions_hold(&mut sql);
                first = Some((done, content));
                continue;
            };
            // What has the same content meets the same conditions.
            assert_eq!((&done, &content), (done_first, content_first), "{database}");
        }
    }
}

/// Eight clients in all call forms on one warehouse: the forms lock in the same order.
#[test]
fn call_forms_do_not_deadlock_with_each_other() {
    let Some(server) = Server::with_warehouses("w1") else { return };
    let mut sql = server.connect("w1");
    std::thread::scope(|scope| {
        for id in 0..8 {
            let server = &server;
            scope.spawn(move || {
                let workload = tproc_c(&[("call", FORMS[id as usize % 3])]);
                let mode = if id < 4 { QueryMode::Prepared } else { QueryMode::Simple };
                let rng = Rng::derive(1, "client", &[u64::from(id)]);
                let mut client = Client::new(server.connect("w1"), &workload, mode, id, 8, rng);
                for _ in 0..300 {
                    assert_eq!(client.transact_with_retries().2, 0, "a deadlock at READ COMMITTED");
                }
            });
        }
    });
    let workload = tproc_c(&[]);
    assert_conditions_hold(&mut sql, &workload);

    // Under the stricter levels only 40001 may come out, in the middle of a transaction of the client, too.
    for level in ["repeatable read", "serializable"] {
        sql.run(&format!("alter database w1 set default_transaction_isolation = '{level}'"));
        let retries: u32 = std::thread::scope(|scope| {
            let clients: Vec<_> = (0..6)
                .map(|id| {
                    let server = &server;
                    scope.spawn(move || {
                        let workload = tproc_c(&[("call", if id < 3 { "client" } else { "function" })]);
                        let rng = Rng::derive(2, "client", &[u64::from(id)]);
                        let mode = QueryMode::Prepared;
                        let mut client = Client::new(server.connect("w1"), &workload, mode, id, 6, rng);
                        (0..100).map(|_| client.transact_with_retries().2).sum::<u32>()
                    })
                })
                .collect();
            clients.into_iter().map(|c| c.join().unwrap()).sum()
        });
        assert!(retries > 0, "{level}: no conflict");
        assert_conditions_hold(&mut sql, &workload);
    }
    assert_eq!(sql.value("select deadlocks from pg_stat_database where datname = 'w1'"), "0");
}

/// HammerDB's profile makes one round trip for each transaction.
#[test]
fn a_routine_is_one_round_trip_and_the_client_two_at_most() {
    let Some(server) = Server::with_warehouses("w2") else { return };
    for (form, most) in [("procedure", [1; 5]), ("function", [1; 5]), ("client", [2, 2, 2, 2, 1])] {
        let workload = tproc_c(&[("warehouses", "2"), ("call", form)]);
        let connection = server.connect("w2");
        let mut client = Client::new(connection, &workload, QueryMode::Prepared, 0, 1, Rng::new(3));
        let mut found = [0; 5];
        for _ in 0..300 {
            let before = client.round_trips();
            let (txn, result) = client.transact();
            result.unwrap();
            let most = &mut found[usize::from(txn.0)];
            *most = (client.round_trips() - before).max(*most);
        }
        assert_eq!(found, most, "{form}");
    }
}
