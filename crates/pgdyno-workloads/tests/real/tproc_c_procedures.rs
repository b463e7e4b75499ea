//! Each procedure of `tproc-c` against what the clauses say, called by hand.

use crate::postgres;
use crate::support::{Connection, Server, assert_conditions_hold, tproc_c};

/// Stock of an item: quantity, ytd, order_cnt, remote_cnt.
fn stock(sql: &mut Connection, w_id: i32, i_id: i32) -> [i64; 4] {
    let row = sql.rows(&format!(
        "select s_quantity, s_ytd, s_order_cnt, s_remote_cnt from stock where s_w_id = {w_id} and s_i_id = {i_id}"
    ));
    [0, 1, 2, 3].map(|i| row[0][i].parse().unwrap())
}

#[test]
fn procedures_do_what_the_clauses_say() {
    let Some(server) = Server::with_warehouses("w2") else { return };
    let workload = tproc_c(&[("warehouses", "2")]);
    let mut sql = server.connect("w2");
    new_order_keeps_every_line(&mut sql);
    new_order_applies_the_stock_rule_at_its_border(&mut sql);
    new_order_rolls_back_an_unused_item(&mut sql);
    new_order_refuses_what_is_not_there(&mut sql);
    customers_are_found_in_the_middle(&mut sql);
    payment_keeps_its_counters(&mut sql);
    order_status_shows_the_last_order(&mut sql);
    stock_level_counts_distinct_items(&mut sql);
    delivery_takes_the_oldest_of_each_district(&mut sql);
    deliveries_do_not_meet(&server, &mut sql);
    assert_conditions_hold(&mut sql, &workload);
}

/// Clause 2.4.2.2, with an item three times in one order, home and remote, entered unsorted.
fn new_order_keeps_every_line(sql: &mut Connection) {
    // Two items that are "original" both in item and in stock, so that the brand shows.
    let brands = sql.rows(
        "select i_id from item join stock on s_i_id = i_id and s_w_id = 1
          where i_data like '%ORIGINAL%' and s_data like '%ORIGINAL%' order by i_id limit 2",
    );
    let [b1, b2] = [0, 1].map(|n| brands[n][0].parse::<i32>().unwrap());
    // item, supplying warehouse, quantity
    let lines =
        [(77_777, 1, 10), (b2, 1, 1), (5, 2, 3), (77_777, 1, 9), (5, 1, 4), (b1, 1, 2), (77_777, 1, 8), (5, 2, 7)];
    let keys = [(77_777, 1), (b2, 1), (5, 2), (5, 1), (b1, 1)];
    let before = keys.map(|(i, w)| stock(sql, w, i));
    let list =
        |f: &dyn Fn(&(i32, i32, i32)) -> i32| lines.iter().map(|l| f(l).to_string()).collect::<Vec<_>>().join(",");
    let (items, supply, quantities) = (list(&|l| l.0), list(&|l| l.1), list(&|l| l.2));
    let reply =
        sql.rows(&format!("call pgdyno_new_order(1, 5, 42, '{{{items}}}', '{{{supply}}}', '{{{quantities}}}')"));
    let reply = &reply[0];
    assert_eq!(reply[0], "3001");
    let customer = sql.rows(
        "select c_last, c_credit, c_discount, w_tax, d_tax from customer, warehouse, district
          where c_w_id = 1 and c_d_id = 5 and c_id = 42 and w_id = 1 and d_w_id = 1 and d_id = 5",
    );
    assert_eq!(reply[2..7], customer[0][..]);

    // The rule, line by line and in the order of the lines.
    let mut after = before;
    let mut shown = Vec::new();
    for (i, w, q) in lines {
        let key = keys.iter().position(|k| *k == (i, w)).unwrap();
        let [quantity, ytd, orders, remote] = &mut after[key];
        let q = i64::from(q);
        *quantity -= q;
        if *quantity < 10 {
            *quantity += 91;
        }
        *ytd += q;
        *orders += 1;
        *remote += i64::from(w != 1);
        shown.push(key);
    }
    assert_eq!(keys.map(|(i, w)| stock(sql, w, i)), after);
    // Each line shows the stock as the whole order leaves it.
    let shown: Vec<String> = shown.iter().map(|key| after[*key][0].to_string()).collect();
    assert_eq!(reply[9], format!("{{{}}}", shown.join(",")));
    assert_eq!(reply[10], "GBGGGBGG");

    let stored = sql.rows(
        "select ol_i_id, ol_supply_w_id, ol_quantity, ol_amount = ol_quantity * i_price,
                ol_dist_info = s_dist_05, ol_delivery_d is null
           from order_line join item on i_id = ol_i_id
           join stock on s_i_id = ol_i_id and s_w_id = ol_supply_w_id
          where ol_w_id = 1 and ol_d_id = 5 and ol_o_id = 3001 order by ol_number",
    );
    let expected: Vec<Vec<String>> = lines
        .iter()
        .map(|(i, w, q)| {
            [&i.to_string(), &w.to_string(), &q.to_string(), "t", "t", "t"].map(|s: &str| s.to_owned()).to_vec()
        })
        .collect();
    assert_eq!(stored, expected);
    assert_eq!(
        sql.rows("select o_c_id, o_carrier_id, o_ol_cnt, o_all_local from orders where o_w_id = 1 and o_d_id = 5 and o_id = 3001"),
        [["42", "", "8", "0"]]
    );
    let total = sql.value(
        "select sum(ol_amount) * (1 - c_discount) * (1 + w_tax + d_tax)
           from order_line, customer, warehouse, district
          where ol_w_id = 1 and ol_d_id = 5 and ol_o_id = 3001 and c_w_id = 1 and c_d_id = 5
            and c_id = 42 and w_id = 1 and d_w_id = 1 and d_id = 5
          group by c_discount, w_tax, d_tax",
    );
    assert_eq!(reply[7].parse::<f64>().unwrap(), total.parse::<f64>().unwrap());

    // All local.
    sql.run("call pgdyno_new_order(2, 1, 1, '{1,2,3,4,5}', '{2,2,2,2,2}', '{1,1,1,1,1}')");
    assert_eq!(sql.value("select o_all_local from orders where o_w_id = 2 and o_d_id = 1 and o_id = 3001"), "1");
}

/// Ten or more must be left, else 91 is added (clause 2.4.2.2); smallint counters start again.
fn new_order_applies_the_stock_rule_at_its_border(sql: &mut Connection) {
    for (quantity, ordered, left) in
        [(20, 10, 10), (19, 10, 100), (10, 1, 100), (10, 10, 91), (11, 1, 10), (100, 10, 90)]
    {
        sql.run(&format!(
            "update stock set s_quantity = {quantity}, s_order_cnt = 32767, s_remote_cnt = 32767
              where s_w_id = 2 and s_i_id = 9"
        ));
        sql.run(&format!("call pgdyno_new_order(1, 1, 1, '{{9}}', '{{2}}', '{{{ordered}}}')"));
        let [found, _, orders, remote] = stock(sql, 2, 9);
        assert_eq!((found, orders, remote), (left, 0, 0), "{quantity} - {ordered}");
    }
    // The counter as it would be without the updates above.
    sql.run("update stock set s_order_cnt = 6 where s_w_id = 2 and s_i_id = 9");
}

/// Clause 2.4.2.3: nothing of the order is left, and the caller is informed.
fn new_order_rolls_back_an_unused_item(sql: &mut Connection) {
    let state = "select (select sum(d_next_o_id) from district), (select count(*) from orders),
        (select count(*) from new_order), (select count(*) from order_line),
        (select sum(s_ytd) from stock), (select sum(s_quantity) from stock)";
    let before = sql.rows(state);
    for is_serializable in [false, true] {
        if is_serializable {
            sql.run("set default_transaction_isolation = 'serializable'");
        }
        let reply = sql.rows("call pgdyno_new_order(1, 5, 42, '{1,2,3,4,100001}', '{1,1,2,1,1}', '{1,1,1,1,1}')");
        assert_eq!(reply[0][0], "", "no order number");
        assert_eq!(sql.rows(state), before);
    }
    sql.run("reset default_transaction_isolation");
    // The server's own count has them: one rollback each, beside the commit that ends the CALL.
    let rollbacks = "select pg_stat_get_db_xact_rollback(oid) from pg_database where datname = 'w2'";
    // Before PostgreSQL 15 statistics come by a process of their own, after half a second.
    sql.run(if postgres::major() >= 15 { "select pg_stat_force_next_flush()" } else { "select pg_sleep(2)" });
    assert_eq!(sql.value(rollbacks), "2");
}

/// What is not loaded is an error, never a silent success.
fn new_order_refuses_what_is_not_there(sql: &mut Connection) {
    for call in [
        "call pgdyno_new_order(3, 1, 1, '{1}', '{3}', '{1}')",
        "call pgdyno_new_order(1, 1, 3001, '{1}', '{1}', '{1}')",
        "call pgdyno_new_order(1, 1, 1, '{1,2}', '{1,3}', '{1,1}')",
        "call pgdyno_payment(3, 1, 1, 1, 1, null, 1.00)",
        "call pgdyno_payment(1, 1, 3, 1, 1, null, 1.00)",
        "call pgdyno_payment(1, 1, 1, 1, null, 'NOBODY', 1.00)",
        "call pgdyno_order_status(1, 1, 3001, null)",
        "call pgdyno_order_status(1, 1, null, 'NOBODY')",
    ] {
        let error = sql.try_query(call).unwrap_err();
        assert_eq!(error.code.as_str(), "P0002", "{call}: {error}");
    }
}

/// Clause 2.5.2.2: row n/2, rounded up, by first name. Every name of a district, the names that only one
/// customer has among them.
fn customers_are_found_in_the_middle(sql: &mut Connection) {
    let expected = sql.rows(
        "select c_last, c_id, n from (
           select c_last, c_id, row_number() over w as place, count(*) over (partition by c_last) as n
             from customer where c_w_id = 2 and c_d_id = 3
           window w as (partition by c_last order by c_first)) as named
          where place = ceil(n / 2.0) order by c_last",
    );
    assert_eq!(expected.len(), 1_000);
    assert!(expected.iter().any(|row| row[2] == "1"));
    assert!(expected.iter().any(|row| row[2] == "2"));
    for row in &expected {
        let found = sql.rows(&format!("call pgdyno_order_status(2, 3, null, '{}')", row[0]));
        assert_eq!([&found[0][0], &found[0][3]], [&row[1], &row[0]], "{row:?}");
    }
    sql.run("begin");
    for row in expected.iter().step_by(10) {
        let found = sql.rows(&format!("call pgdyno_payment(1, 1, 2, 3, null, '{}', 1.00)", row[0]));
        assert_eq!(found[0][0], row[1], "{row:?}");
    }
    sql.run("rollback");
}

fn payment_keeps_its_counters(sql: &mut Connection) {
    for (credit, c_id) in [("GC", 0), ("BC", 1)] {
        let c_id = sql.value(&format!(
            "select c_id from customer where c_w_id = 2 and c_d_id = 3 and c_credit = '{credit}'
              order by c_id offset {c_id} limit 1"
        ));
        let customer = format!(
            "select c_balance, c_ytd_payment, c_payment_cnt, c_data, length(c_data) from customer
              where c_w_id = 2 and c_d_id = 3 and c_id = {c_id}"
        );
        let totals = "select w_ytd, (select sum(d_ytd) from district where d_w_id = 1 and d_id = 7)
                        from warehouse where w_id = 1";
        let (before, totals_before) = (sql.rows(&customer), sql.rows(totals));
        let reply = sql.rows(&format!("call pgdyno_payment(1, 7, 2, 3, {c_id}, null, 1234.56)"));
        let (after, totals_after) = (sql.rows(&customer), sql.rows(totals));
        assert_eq!(before[0][..3], ["-10.00", "10.00", "1"]);
        assert_eq!(after[0][..3], ["-1244.56", "1244.56", "2"]);
        for (b, a) in totals_before[0].iter().zip(&totals_after[0]) {
            let [b, a] = [b, a].map(|v| v.parse::<f64>().unwrap());
            assert!((a - b - 1234.56).abs() < 0.001);
        }
        // Clause 2.5.2.2: the data of bad customers grows on the left and is cut at 500 characters.
        if credit == "BC" {
            let whole = format!("{c_id} 3 2 7 1 1234.56|{}", before[0][3]);
            assert_eq!(after[0][3], whole[..whole.len().min(500)]);
            assert_eq!(reply[0].last().unwrap(), &after[0][3][..200]);
        } else {
            assert_eq!(after[0][3], before[0][3]);
            assert_eq!(reply[0].last().unwrap(), "");
        }
        assert_eq!(
            sql.rows(&format!(
                "select h_w_id, h_d_id, h_c_w_id, h_c_d_id, h_amount,
                        h_data = (select w_name from warehouse where w_id = 1) || '    '
                              || (select d_name from district where d_w_id = 1 and d_id = 7)
                   from history where h_c_w_id = 2 and h_c_d_id = 3 and h_c_id = {c_id} and h_w_id = 1"
            )),
            [["1", "7", "2", "3", "1234.56", "t"]]
        );
    }
}

fn order_status_shows_the_last_order(sql: &mut Connection) {
    for c_id in [42, 1, 2999] {
        let reply = sql.rows(&format!("call pgdyno_order_status(1, 5, {c_id}, null)"));
        let expected = sql.rows(&format!(
            "select c_id, c_first, c_middle, c_last, c_balance, o_id, o_entry_d, o_carrier_id,
                    (select array_agg(ol_i_id order by ol_number) from order_line
                      where ol_w_id = 1 and ol_d_id = 5 and ol_o_id = o_id)
               from customer join orders on o_w_id = c_w_id and o_d_id = c_d_id and o_c_id = c_id
              where c_w_id = 1 and c_d_id = 5 and c_id = {c_id} order by o_id desc limit 1"
        ));
        assert_eq!(reply[0][..9], expected[0][..], "customer {c_id}");
    }
}

fn stock_level_counts_distinct_items(sql: &mut Connection) {
    for d_id in 1..=10 {
        for threshold in [10, 15, 20] {
            let reply = sql.value(&format!("call pgdyno_stock_level(1, {d_id}, {threshold})"));
            let expected = sql.value(&format!(
                "select count(distinct s_i_id) from order_line, stock, district
                  where d_w_id = 1 and d_id = {d_id} and ol_w_id = 1 and ol_d_id = {d_id}
                    and ol_o_id between d_next_o_id - 20 and d_next_o_id - 1
                    and s_w_id = 1 and s_i_id = ol_i_id and s_quantity < {threshold}"
            ));
            assert_eq!(reply, expected, "district {d_id}, threshold {threshold}");
        }
    }
}

fn delivery_takes_the_oldest_of_each_district(sql: &mut Connection) {
    let due = "select c_id, c_balance, c_delivery_cnt from customer
                join orders on o_w_id = c_w_id and o_d_id = c_d_id and o_c_id = c_id
               where c_w_id = 1 and c_d_id = 6 and o_id = 2101";
    let before = sql.rows(due);
    let amount =
        sql.value("select sum(ol_amount) from order_line where ol_w_id = 1 and ol_d_id = 6 and ol_o_id = 2101");
    // A district without new orders is skipped; here within a transaction, to be undone.
    sql.run("begin");
    sql.run("delete from new_order where no_w_id = 1 and no_d_id = 4");
    assert_eq!(
        sql.rows("call pgdyno_delivery(1, 7)"),
        [["{1,2,3,5,6,7,8,9,10}", "{2101,2101,2101,2101,2101,2101,2101,2101,2101}"]]
    );
    sql.run("delete from new_order where no_w_id = 1");
    assert_eq!(sql.rows("call pgdyno_delivery(1, 7)"), [["", ""]]);
    sql.run("rollback");

    let reply = sql.rows("call pgdyno_delivery(1, 7)");
    assert_eq!(reply[0][1], format!("{{{}}}", ["2101"; 10].join(",")));
    let after = sql.rows(due);
    let balance = |rows: &[Vec<String>]| rows[0][1].parse::<f64>().unwrap();
    let earned = balance(&after) - balance(&before);
    assert!((earned - amount.parse::<f64>().unwrap()).abs() < 0.001);
    assert_eq!([&before[0][2], &after[0][2]], ["0", "1"]);
    assert_eq!(
        sql.rows(
            "select o_carrier_id, (select count(*) from new_order where no_w_id = 1 and no_o_id = 2101),
                    (select count(*) from order_line where ol_w_id = 1 and ol_d_id = 6
                       and ol_o_id = 2101 and ol_delivery_d is null)
               from orders where o_w_id = 1 and o_d_id = 6 and o_id = 2101"
        ),
        [["7", "0", "0"]]
    );
}

/// A second Delivery waits for the first, and takes the next orders when that one commits, the same ones
/// when it does not.
fn deliveries_do_not_meet(server: &Server, sql: &mut Connection) {
    for (end, expected) in [("rollback", "2102"), ("commit", "2103")] {
        sql.run("begin");
        let first = sql.rows("call pgdyno_delivery(1, 1)");
        assert_eq!(first[0][1], format!("{{{}}}", ["2102"; 10].join(",")));
        let mut other = server.connect("w2");
        let second = std::thread::scope(|scope| {
            let second = scope.spawn(|| {
                other.run("begin");
                let reply = other.rows("call pgdyno_delivery(1, 2)");
                // The rollback of the first leaves its orders to the next round of this test.
                other.run(end);
                reply
            });
            let mut watch = server.connect("w2");
            let waiting = "select count(*) from pg_locks where not granted";
            while !second.is_finished() && watch.value(waiting) == "0" {
                std::thread::yield_now();
            }
            sql.run(end);
            second.join().unwrap()
        });
        assert_eq!(second[0][1], format!("{{{}}}", [expected; 10].join(",")), "{end}");
    }
}
