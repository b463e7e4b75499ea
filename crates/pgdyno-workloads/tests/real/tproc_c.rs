//! `tproc-c` on a real server: every transaction in every query mode, the twelve conditions, and the same
//! conditions written once more in another way.

use std::collections::BTreeMap;

use crate::support::{Client, Server, assert_conditions_hold, tproc_c};
use pgdyno_wire::QueryMode;
use pgdyno_workload::{Capabilities, Rng, TxnId, Verdict};

/// The conditions of clause 3.3.2 from the side of a single row: correlated subqueries over the indexes
/// instead of joins of aggregates. Each counts the rows that break it. Conditions 2 and 3 without the
/// districts that have no new order; condition 11 with the deliveries since the load.
const PLAIN: [(&str, &str); 12] = [
    (
        "1",
        "select count(*) from warehouse w where w_ytd <>
           (select sum(d_ytd) from district where d_w_id = w.w_id)",
    ),
    (
        "2",
        "select count(*) from district d
          where d_next_o_id - 1 not in (select o_id from orders where o_w_id = d_w_id and o_d_id = d.d_id)
             or exists (select from orders where o_w_id = d_w_id and o_d_id = d.d_id and o_id >= d_next_o_id)
             or exists (select from new_order where no_w_id = d_w_id and no_d_id = d.d_id and no_o_id >= d_next_o_id)
             or not exists (select from new_order where no_w_id = d_w_id and no_d_id = d.d_id and no_o_id = d_next_o_id - 1)
            and exists (select from new_order where no_w_id = d_w_id and no_d_id = d.d_id)",
    ),
    (
        "3",
        "select count(*) from new_order n
          where not exists (select from new_order p where p.no_w_id = n.no_w_id
                               and p.no_d_id = n.no_d_id and p.no_o_id = n.no_o_id - 1)
            and exists (select from new_order p where p.no_w_id = n.no_w_id
                           and p.no_d_id = n.no_d_id and p.no_o_id < n.no_o_id)",
    ),
    (
        "4",
        "select count(*) from district d
          where (select sum(o_ol_cnt) from orders where o_w_id = d_w_id and o_d_id = d_id)
             <> (select count(*) from order_line where ol_w_id = d_w_id and ol_d_id = d_id)",
    ),
    (
        "5",
        "select count(*) from orders
          where (o_carrier_id is null) <> exists (select from new_order
                 where no_w_id = o_w_id and no_d_id = o_d_id and no_o_id = o_id)",
    ),
    (
        "6",
        "select count(*) from orders where o_ol_cnt <>
           (select count(*) from order_line where ol_w_id = o_w_id and ol_d_id = o_d_id and ol_o_id = o_id)",
    ),
    (
        "7",
        "select count(*) from order_line where (ol_delivery_d is null) <>
           (select o_carrier_id is null from orders
             where o_w_id = ol_w_id and o_d_id = ol_d_id and o_id = ol_o_id)",
    ),
    (
        "8",
        "select count(*) from warehouse where w_ytd <> (select sum(h_amount) from history where h_w_id = w_id)",
    ),
    (
        "9",
        "select count(*) from district where d_ytd <>
           (select sum(h_amount) from history where h_w_id = d_w_id and h_d_id = d_id)",
    ),
    // The history has no index, so the next two look at a sample of customers: those who paid most.
    (
        "10",
        "with paid as (select h_c_w_id, h_c_d_id, h_c_id, sum(h_amount) as amount from history
                        group by 1, 2, 3 order by count(*) desc limit 500)
         select count(*) from paid join customer on c_w_id = h_c_w_id and c_d_id = h_c_d_id and c_id = h_c_id
          where c_balance <> -amount + coalesce(
            (select sum(l.ol_amount) from orders o join order_line l
                 on ol_w_id = o_w_id and ol_d_id = o_d_id and ol_o_id = o_id and ol_delivery_d is not null
              where o_w_id = c_w_id and o_d_id = c_d_id and o_c_id = c_id), 0)",
    ),
    (
        "11",
        "select count(*) from district d
          where (select count(*) from orders where o_w_id = d_w_id and o_d_id = d_id)
              - (select count(*) from new_order where no_w_id = d_w_id and no_d_id = d_id)
              - (select sum(c_delivery_cnt) from customer where c_w_id = d_w_id and c_d_id = d_id) <> 2100",
    ),
    (
        "12",
        "select count(*) from customer where c_balance + c_ytd_payment <> coalesce(
            (select sum(l.ol_amount) from orders o join order_line l
                 on ol_w_id = o_w_id and ol_d_id = o_d_id and ol_o_id = o_id and ol_delivery_d is not null
              where o_w_id = c_w_id and o_d_id = c_d_id and o_c_id = c_id), 0)",
    ),
];

#[test]
fn every_transaction_in_every_query_mode() {
    let Some(server) = Server::start() else {
        return;
    };
    let workload = tproc_c(&[]);
    let mut sql = server.load("w1", workload.as_ref());
    assert_conditions_hold(&mut sql, workload.as_ref());
    let count_query = workload.new_order_count_query().unwrap();
    let orders_before: u64 = sql.value(count_query).parse().unwrap();
    let (mut committed, mut rolled_back) = (0, 0);
    for mode in [QueryMode::Prepared, QueryMode::Extended, QueryMode::Simple] {
        let mut client = Client::new(server.connect("w1"), workload.as_ref(), mode, 0, 1, Rng::new(1));
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
    assert_conditions_hold(&mut sql, workload.as_ref());
    for (condition, query) in PLAIN {
        assert_eq!(sql.value(query), "0", "condition {condition}");
    }
    let orders_after: u64 = sql.value(count_query).parse().unwrap();
    assert_eq!(orders_after - orders_before, committed);
    assert!(rolled_back > 0, "no order was rolled back in {committed}");
}

/// Each condition finds the damage that it is there to find.
#[test]
fn the_conditions_can_fail() {
    let Some(server) = Server::start() else {
        return;
    };
    let workload = tproc_c(&[]);
    let mut sql = server.load("w1", workload.as_ref());
    let damage: [(&str, &str, &str); 15] = [
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
        ("3.3.2.8", "update history set h_amount = 11 where h_c_id = 7 and h_d_id = 7", "1\t300000.00\t300001.00"),
        ("3.3.2.9", "update history set h_amount = 11 where h_c_id = 7 and h_d_id = 7", "1\t7\t30000.00\t30001.00"),
        ("3.3.2.10", "update customer set c_balance = 0 where c_id = 7 and c_d_id = 7", "1\t7\t7\t0.00\t-10.00"),
        ("3.3.2.10", "delete from history where h_c_id = 7 and h_d_id = 7", "1\t7\t7\t-10.00\t0"),
        ("3.3.2.11", "update customer set c_delivery_cnt = 1 where c_id = 7 and c_d_id = 7", "1\t7\t2100\t2101"),
        ("3.3.2.12", "update customer set c_ytd_payment = 0 where c_id = 7 and c_d_id = 7", "1\t7\t7\t-10.00\t0"),
    ];
    for (clause, statement, row) in damage {
        sql.run("begin");
        sql.run(statement);
        let check = workload.checks().into_iter().find(|c| c.name == clause).unwrap();
        let rows = sql.rows(&check.sql);
        assert!(rows.first().is_some_and(|r| r.join("\t").starts_with(row)), "{clause} after {statement}: {rows:?}");
        sql.run("rollback");
    }
    assert_conditions_hold(&mut sql, workload.as_ref());
}

/// Sizes against the estimate, at one warehouse, where the fixed part weighs most.
#[test]
fn the_size_is_about_what_was_promised() {
    let Some(server) = Server::start() else {
        return;
    };
    let workload = tproc_c(&[]);
    let mut sql = server.load("w1", workload.as_ref());
    for table in workload.tables(&Capabilities::default()) {
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
