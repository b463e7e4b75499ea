//! `tproc-c` on a real server: every transaction in every query mode, the twelve conditions, and the same
//! conditions written once more in another way.

use std::collections::BTreeMap;

use crate::support::{Client, Server, assert_conditions_hold, assert_plain_conditions_hold, tproc_c};
use pgdyno_wire::QueryMode;
use pgdyno_workload::{Capabilities, Rng, TxnId, Verdict};

#[test]
fn every_transaction_in_every_query_mode() {
    let Some(server) = Server::with_warehouses("w1") else { return };
    let workload = tproc_c(&[("profile", "spec")]);
    let mut sql = server.connect("w1");
    assert_conditions_hold(&mut sql, &workload);
    assert_plain_conditions_hold(&mut sql);
    let count_query = workload.drive.metrics[0].server_count.unwrap();
    let orders_before: u64 = sql.value(count_query).parse().unwrap();
    let (mut committed, mut rolled_back) = (0, 0);
    for mode in [QueryMode::Prepared, QueryMode::Extended, QueryMode::Simple] {
        let mut client = Client::new(server.connect("w1"), &workload, mode, 0, 1, Rng::new(1));
        let mut counts: BTreeMap<TxnId, u32> = BTreeMap::new();
        for _ in 0..400 {
            let (txn, result) = client.transact();
            let verdict = result.unwrap_or_else(|e| panic!("{mode:?} {txn:?}: {e}\n{:?}", e.context));
            *counts.entry(txn).or_default() += 1;
            if txn == TxnId(0) {
                committed += u64::from(verdict == Verdict::Committed);
                rolled_back += u64::from(verdict == Verdict::RolledBack);
            }
        }
        assert_eq!(counts.into_values().collect::<Vec<_>>(), [180, 172, 16, 16, 16], "{mode:?}");
    }
    assert_conditions_hold(&mut sql, &workload);
    assert_plain_conditions_hold(&mut sql);
    let orders_after: u64 = sql.value(count_query).parse().unwrap();
    assert_eq!(orders_after - orders_before, committed);
    assert!(rolled_back > 0, "no order was rolled back in {committed}");
}

/// Each condition finds the damage that it is there to find.
#[test]
fn the_conditions_can_fail() {
    let Some(server) = Server::with_warehouses("w1") else { return };
    let workload = tproc_c(&[]);
    let mut sql = server.connect("w1");
    let damage: [(&str, &str, &str); 18] = [
        ("3.3.2.1", "update warehouse set w_ytd = w_ytd + 1", "1\t300001.00\t300000.00"),
        ("3.3.2.2", "update district set d_next_o_id = 3002 where d_id = 4", "1\t4\t3002\t3000\t3000"),
        ("3.3.2.2", "delete from new_order where no_d_id = 3 and no_o_id = 3000", "1\t3\t3001\t3000\t2999"),
        ("3.3.2.3", "delete from new_order where no_d_id = 3 and no_o_id = 2500", "1\t3\t900\t899"),
        ("3.3.2.4", "delete from order_line where ol_d_id = 2", "1\t2\t"),
        ("3.3.2.5", "update orders set o_carrier_id = 1 where o_id = 3000 and o_d_id = 1", "1\t1\t3000\t1\tt"),
        ("3.3.2.5", "delete from new_order where no_d_id = 3 and no_o_id = 2101", "1\t3\t2101\t\tf"),
        ("3.3.2.6", "delete from order_line where ol_d_id = 2 and ol_o_id = 9", "1\t2\t9\t"),
        (
            "3.3.2.7",
            "update order_line set ol_delivery_d = now() where ol_d_id = 2 and ol_o_id = 2999 and ol_number = 1",
            "1\t2\t2999\t1\t",
        ),
        ("3.3.2.7", "update order_line set ol_delivery_d = null where ol_d_id = 3 and ol_o_id = 7", "1\t3\t7\t1\t\t"),
        ("3.3.2.6", "delete from orders where o_d_id = 2 and o_id = 9", "1\t2\t9\t\t"),
        ("3.3.2.12", "update order_line set ol_amount = 1 where ol_d_id = 2 and ol_o_id = 9", "1\t2\t"),
        ("3.3.2.8", "update history set h_amount = 11 where h_c_id = 7 and h_d_id = 7", "1\t300000.00\t300001.00"),
        ("3.3.2.9", "update history set h_amount = 11 where h_c_id = 7 and h_d_id = 7", "1\t7\t30000.00\t30001.00"),
        ("3.3.2.10", "update customer set c_balance = 0 where c_id = 7 and c_d_id = 7", "1\t7\t7\t0.00\t-10.00"),
        ("3.3.2.10", "delete from history where h_c_id = 7 and h_d_id = 7", "1\t7\t7\t-10.00\t0"),
        ("3.3.2.11", "update customer set c_delivery_cnt = 1 where c_id = 7 and c_d_id = 7", "1\t7\t2100\t2101"),
        ("3.3.2.12", "update customer set c_ytd_payment = 0 where c_id = 7 and c_d_id = 7", "1\t7\t7\t-10.00\t0"),
    ];
    let mut screened = 0;
    for (clause, statement, row) in damage {
        sql.run("begin");
        sql.run(statement);
        let check = workload.data[0].checks().into_iter().find(|c| c.name == clause).unwrap();
        let rows = sql.rows(&check.sql.text(&|| false).unwrap());
        assert!(rows.first().is_some_and(|r| r.join("\t").starts_with(row)), "{clause} after {statement}: {rows:?}");
        // What shows that several conditions hold shows that this one does not.
        if let Some(screen) = &check.screen {
            assert_ne!(sql.rows(&screen.parts.whole()), [[""; 0]; 0], "{clause} after {statement}");
            screened += 1;
        }
        sql.run("rollback");
    }
    assert_eq!(screened, 9);
    assert_conditions_hold(&mut sql, &workload);
}

/// Sizes against the estimate, at one warehouse, where the fixed part weighs most.
#[test]
fn the_size_is_about_what_was_promised() {
    let Some(server) = Server::with_warehouses("w1") else { return };
    let workload = tproc_c(&[]);
    let mut sql = server.connect("w1");
    for table in workload.data[0].tables(&Capabilities::default()) {
        let bytes: u64 = sql.value(&format!("select pg_total_relation_size('{}')", table.name)).parse().unwrap();
        // Small tables are whole blocks, whatever they hold.
        assert!(
            bytes.abs_diff(table.bytes) < table.bytes / 20 + 100_000,
            "{}: {bytes} bytes, promised {}",
            table.name,
            table.bytes
        );
    }
}
