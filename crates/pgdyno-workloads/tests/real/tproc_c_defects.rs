//! What other kits get wrong with TPC-C, each a case, each in every call form.

use crate::by_hand::{FORMS, Form, Who};
use crate::support::{Connection, Server, assert_conditions_hold, tproc_c};

type Case = fn(&Server, &Form, &mut Connection);

/// In this order on one database of two warehouses for each form.
const CASES: [(&str, Case); 11] = [
    ("customers by name: one, an odd number, an even number", by_name),
    ("an unused item leaves nothing", unused_item),
    ("stock that is not there is an error", missing_stock),
    ("two payments at once both count", lost_update),
    ("lines of the same item keep what is theirs", same_item),
    ("stock is taken where it lies", remote_stock),
    ("an amount is quantity × price", amounts),
    ("payments are counted", payment_counters),
    ("deliveries are counted", delivery_counters),
    ("an order has its customer's last number", last_order),
    ("stock below the threshold", stock_level),
];

#[test]
fn every_call_form_does_what_others_get_wrong() {
    let Some(server) = Server::with_warehouses("w2") else { return };
    let workload = tproc_c(&[("warehouses", "2")]);
    let mut loaded = server.connect("w2");
    initial_data(&mut loaded);
    drop(loaded);
    for name in FORMS {
        let form = Form::new(name);
        let mut sql = server.copy("w2", name);
        for (title, case) in CASES {
            println!("{name}: {title}");
            case(&server, &form, &mut sql);
        }
        assert_conditions_hold(&mut sql, &workload);
    }
}

/// Clause 4.3.3.1, where a well-known loader differs.
fn initial_data(sql: &mut Connection) {
    for (what, query, expected) in [
        (
            "o_c_id is a permutation in each district",
            "select count(*) from (select count(distinct o_c_id) as n, min(o_c_id), max(o_c_id) from orders
               group by o_w_id, o_d_id) as d where n = 3000 and min = 1 and max = 3000",
            "20",
        ),
        (
            "delivered lines cost nothing, the others something",
            "select count(*) from order_line where (ol_o_id < 2101) <> (ol_amount = 0)
                or ol_amount not between 0 and 9999.99 or (ol_o_id < 2101) <> (ol_delivery_d is not null)",
            "0",
        ),
        (
            "some undelivered line costs more than a hundred",
            "select (max(ol_amount) > 9000)::text from order_line where ol_o_id > 2100",
            "true",
        ),
        ("one customer in ten has bad credit", "select count(*) from customer where c_credit = 'BC'", "6000"),
        ("one item in ten is original", "select count(*) from item where i_data like '%ORIGINAL%'", "10000"),
        ("data keeps its length", "select count(*) from stock where length(s_data) not between 26 and 50", "0"),
        (
            "taxes and discounts in steps of a ten-thousandth",
            "select (count(distinct c_discount) > 4000 and max(c_discount) <= 0.5)::text from customer",
            "true",
        ),
        ("every order has its lines", "select count(distinct o_ol_cnt) from orders", "11"),
        ("every customer has a history", "select count(*) from history", "60000"),
    ] {
        assert_eq!(sql.value(query), expected, "{what}");
    }
}

/// Everything of the customers but what a payment to one of them may change.
fn others(sql: &mut Connection, c_id: i32) -> Vec<Vec<String>> {
    sql.rows(&format!(
        "select count(*), sum(c_balance), sum(c_ytd_payment), sum(c_payment_cnt) from customer
          where c_w_id = 2 and c_d_id = 3 and c_id <> {c_id}"
    ))
}

fn by_name(_: &Server, form: &Form, sql: &mut Connection) {
    for n in [1, 2, 3, 4, 5] {
        let name = sql.rows(&format!(
            "select c_last from customer where c_w_id = 2 and c_d_id = 3 group by 1 having count(*) = {n} limit 1"
        ));
        let name = &name[0][0];
        // The names of a district in order; the one in the middle, rounded up, is number (n + 1) / 2.
        let named = sql.rows(&format!(
            "select c_id, c_first, c_balance from customer where c_w_id = 2 and c_d_id = 3 and c_last = '{name}'
              order by c_first, c_id"
        ));
        let expected = &named[(n - 1) / 2];
        let c_id: i32 = expected[0].parse().unwrap();
        let status = form.order_status(sql, [2, 3], Who::Name(name));
        let found: Vec<_> = status.into_iter().map(Option::unwrap_or_default).collect();
        assert_eq!([&found[0], &found[2], &found[3]], [&expected[1], name, &expected[2]], "{n} of a name");
        let before = others(sql, c_id);
        assert_eq!(form.payment(sql, [1, 1], [2, 3], Who::Name(name), "7.00"), c_id, "{n} of a name");
        assert_eq!(others(sql, c_id), before, "{n} of a name: another customer was touched");
        let balance = format!(
            "select c_balance - ({}) from customer where c_w_id = 2 and c_d_id = 3 and c_id = {c_id}",
            expected[2]
        );
        assert_eq!(sql.value(&balance), "-7.00");
    }
}

/// Clause 2.4.2.3.
fn unused_item(_: &Server, form: &Form, sql: &mut Connection) {
    let state = "select (select sum(d_next_o_id) from district), (select count(*) from orders),
        (select count(*) from new_order), (select count(*) from order_line),
        (select sum(s_ytd) from stock), (select sum(s_quantity) from stock), (select sum(s_order_cnt) from stock)";
    let before = sql.rows(state);
    for level in ["read committed", "serializable"] {
        sql.run(&format!("set default_transaction_isolation = '{level}'"));
        let lines = [(1, 1, 1), (2, 1, 1), (3, 2, 1), (4, 1, 1), (100_001, 1, 1)];
        assert_eq!(form.new_order(sql, [1, 5, 42], &lines), None);
        assert_eq!(sql.rows(state), before, "{level}");
    }
    sql.run("reset default_transaction_isolation");
}

/// It must not become a line without its district information.
fn missing_stock(_: &Server, form: &Form, sql: &mut Connection) {
    let state = "select sum(d_next_o_id), (select count(*) from order_line) from district";
    let before = sql.rows(state);
    let error = form.try_new_order(sql, [1, 5, 42], &[(1, 1, 1), (2, 3, 1)]).unwrap_err();
    sql.run("rollback");
    let refused_as_a_number = "22P02";
    assert!([refused_as_a_number, "P0002"].contains(&error.code.as_str()), "{error}");
    assert_eq!(sql.rows(state), before);
}

/// The second payment waits for the first, and then pays on top of it (clause 3.4).
fn lost_update(server: &Server, form: &Form, sql: &mut Connection) {
    let balance = "select c_balance, c_ytd_payment, c_payment_cnt from customer
                    where c_w_id = 1 and c_d_id = 9 and c_id = 5";
    assert_eq!(sql.rows(balance), [["-10.00", "10.00", "1"]]);
    sql.run("begin");
    form.payment(sql, [1, 9], [1, 9], Who::Id(5), "100.00");
    let (mut other, mut watch) = (server.connect(form.name), server.connect(form.name));
    std::thread::scope(|scope| {
        let second = scope.spawn(|| {
            other.run("begin");
            form.payment(&mut other, [1, 9], [1, 9], Who::Id(5), "50.00");
            other.run("commit");
        });
        while !second.is_finished() && watch.value("select count(*) from pg_locks where not granted") == "0" {
            std::thread::yield_now();
        }
        sql.run("commit");
    });
    assert_eq!(sql.rows(balance), [["-160.00", "160.00", "3"]]);
}

fn same_item(_: &Server, form: &Form, sql: &mut Connection) {
    let lines = [(70, 1, 3), (71, 1, 1), (70, 1, 5), (70, 2, 7), (72, 1, 2), (70, 1, 3)];
    let stock = "select s_w_id, s_i_id, s_ytd, s_order_cnt, s_remote_cnt from stock
                  where s_i_id between 70 and 72 order by 1, 2";
    let o_id = form.new_order(sql, [1, 4, 7], &lines).unwrap();
    let stored = sql.rows(&format!(
        "select ol_i_id, ol_supply_w_id, ol_quantity, ol_amount = ol_quantity * i_price, ol_dist_info = s_dist_04
           from order_line join item on i_id = ol_i_id join stock on s_i_id = ol_i_id and s_w_id = ol_supply_w_id
          where ol_w_id = 1 and ol_d_id = 4 and ol_o_id = {o_id} order by ol_number"
    ));
    let expected: Vec<Vec<String>> = lines
        .iter()
        .map(|(i, w, q)| vec![i.to_string(), w.to_string(), q.to_string(), "t".to_owned(), "t".to_owned()])
        .collect();
    assert_eq!(stored, expected);
    assert_eq!(
        sql.rows(stock),
        [
            ["1", "70", "11", "3", "0"],
            ["1", "71", "1", "1", "0"],
            ["1", "72", "2", "1", "0"],
            ["2", "70", "7", "1", "1"],
            ["2", "71", "0", "0", "0"],
            ["2", "72", "0", "0", "0"]
        ]
    );
}

fn remote_stock(_: &Server, form: &Form, sql: &mut Connection) {
    for (item, quantity, ordered, left) in [(500, 20, 10, 10), (501, 19, 10, 100), (502, 10, 1, 100)] {
        sql.run(&format!("update stock set s_quantity = {quantity} where s_i_id = {item}"));
        let o_id = form.new_order(sql, [1, 6, 8], &[(item, 2, ordered), (400, 1, 1)]).unwrap();
        assert_eq!(
            sql.rows(&format!(
                "select s_w_id, s_quantity, s_ytd, s_order_cnt, s_remote_cnt from stock where s_i_id = {item} order by 1"
            )),
            [
                vec!["1".to_owned(), quantity.to_string(), "0".into(), "0".into(), "0".into()],
                vec!["2".to_owned(), left.to_string(), ordered.to_string(), "1".into(), "1".into()]
            ]
        );
        let all_local = format!("select o_all_local from orders where o_w_id = 1 and o_d_id = 6 and o_id = {o_id}");
        assert_eq!(sql.value(&all_local), "0");
    }
}

fn amounts(_: &Server, form: &Form, sql: &mut Connection) {
    let lines: Vec<(i32, i32, i32)> = (1..=15).map(|n| (n * 6_000, 2, n % 10 + 1)).collect();
    let o_id = form.new_order(sql, [2, 2, 2], &lines).unwrap();
    assert_eq!(
        sql.rows(&format!(
            "select count(*), count(*) filter (where ol_amount = ol_quantity * i_price), min(o_all_local), min(o_ol_cnt)
               from order_line join item on i_id = ol_i_id
               join orders on o_w_id = ol_w_id and o_d_id = ol_d_id and o_id = ol_o_id
              where ol_w_id = 2 and ol_d_id = 2 and ol_o_id = {o_id}"
        )),
        [["15", "15", "1", "15"]]
    );
}

fn payment_counters(_: &Server, form: &Form, sql: &mut Connection) {
    for credit in ["GC", "BC"] {
        let c_id = sql.value(&format!(
            "select c_id from customer where c_w_id = 2 and c_d_id = 7 and c_credit = '{credit}' order by 1 limit 1"
        ));
        let customer = format!("from customer where c_w_id = 2 and c_d_id = 7 and c_id = {c_id}");
        let data = sql.value(&format!("select c_data {customer}"));
        let totals =
            "select w_ytd + (select d_ytd from district where d_w_id = 1 and d_id = 8) from warehouse where w_id = 1";
        let before = sql.value(totals);
        form.payment(sql, [1, 8], [2, 7], Who::Id(c_id.parse().unwrap()), "1234.56");
        assert_eq!(
            sql.rows(&format!("select c_balance, c_ytd_payment, c_payment_cnt, c_data {customer}"))[0],
            ["-1244.56", "1244.56", "2", &{
                let whole = format!("{c_id} 7 2 8 1 1234.56|{data}");
                if credit == "BC" { whole[..whole.len().min(500)].to_owned() } else { data.clone() }
            }]
        );
        assert_eq!(sql.value(&format!("select ({totals}) - {before}")), "2469.12");
        let history = "select h_amount, h_data = w_name || '    ' || d_name from history, warehouse, district
                        where h_w_id = 1 and h_d_id = 8 and w_id = 1 and d_w_id = 1 and d_id = 8 and h_c_w_id = 2";
        assert_eq!(sql.rows(&format!("{history} and h_c_d_id = 7 and h_c_id = {c_id}")), [["1234.56", "t"]]);
    }
}

fn delivery_counters(_: &Server, form: &Form, sql: &mut Connection) {
    let oldest = "select no_d_id, min(no_o_id) from new_order where no_w_id = 2 group by 1 order by 1";
    let before = sql.rows(oldest);
    let customers = "select sum(c_delivery_cnt), sum(c_balance) from customer where c_w_id = 2";
    let (balances, due) = (
        sql.rows(customers),
        sql.value(&format!(
            "select sum(ol_amount) from order_line join ({oldest}) as n on ol_d_id = no_d_id and ol_o_id = min
              where ol_w_id = 2"
        )),
    );
    sql.run("begin");
    form.delivery(sql, 2, 7);
    sql.run("commit");
    let after = sql.rows(oldest);
    for (b, a) in before.iter().zip(&after) {
        assert_eq!(b[1].parse::<i32>().unwrap() + 1, a[1].parse::<i32>().unwrap());
    }
    assert_eq!(
        sql.rows(&format!("select n, b - {due} from ({customers}) as c (n, b)"))[0],
        [(balances[0][0].parse::<i32>().unwrap() + 10).to_string(), balances[0][1].clone()]
    );
    assert_eq!(
        sql.value(&format!(
            "select count(*) from orders where o_w_id = 2 and o_carrier_id = 7 and o_id = {} and not exists (
               select from order_line where ol_w_id = 2 and ol_d_id = o_d_id and ol_o_id = o_id
                  and ol_delivery_d is null)",
            before[0][1]
        )),
        "10"
    );
}

fn last_order(_: &Server, form: &Form, sql: &mut Connection) {
    let o_id = form.new_order(sql, [2, 10, 77], &[(9, 2, 1), (8, 2, 1)]).unwrap();
    let status = form.order_status(sql, [2, 10], Who::Id(77));
    assert_eq!(status[4].as_deref(), Some(o_id.to_string().as_str()));
}

fn stock_level(_: &Server, form: &Form, sql: &mut Connection) {
    for (d_id, threshold) in [(1, 10), (4, 15), (10, 20)] {
        let expected = sql.value(&format!(
            "select count(distinct s_i_id) from order_line, stock, district
              where d_w_id = 1 and d_id = {d_id} and ol_w_id = 1 and ol_d_id = {d_id}
                and ol_o_id between d_next_o_id - 20 and d_next_o_id - 1
                and s_w_id = 1 and s_i_id = ol_i_id and s_quantity < {threshold}"
        ));
        assert_eq!(form.stock_level(sql, [1, d_id, threshold]).to_string(), expected);
    }
}
