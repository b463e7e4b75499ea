//! The 22 queries of `ch-benchmark` on a real server: each asked once more in other words, on data as loaded and on data
//! that has changed so that none of them is empty.

use crate::support::{Connection, Server};
use pgdyno_workload::Workload;
use pgdyno_workloads::registry;

const OTHER_FORMS: &str = include_str!("ch_benchmark/other_forms.sql");

/// What a run does to the data, by hand and in one stroke: orders with amounts and other quantities, deliveries after the
/// entry, orders of some items; and customers without orders, items that queries look for.
const CHANGES: [&str; 6] = [
    "update order_line set ol_amount = ol_i_id % 1000 / 7.0, ol_quantity = 1 + ol_o_id % 9 where ol_d_id <= 3",
    "update order_line set ol_delivery_d = ol_delivery_d + interval '1 day' where ol_o_id % 10 = 0",
    "update stock set s_order_cnt = case when s_i_id % 97 = 0 then 100 else 1 end",
    "update item set i_data = 'co' || substr(i_data, 3) where i_id % 50 = 0",
    "update customer set c_balance = c_id where c_id % 250 = 0",
    "delete from orders where o_c_id % 500 = 0",
];

/// Returns the texts of the queries in one form.
fn texts(form: &str) -> Vec<String> {
    let workload = built(form);
    workload.drive.explained().queries.into_iter().map(|(_, text)| text).collect()
}

fn built(form: &str) -> Workload {
    registry::build("ch-benchmark", [("warehouses", "1"), ("query-form", form)]).unwrap()
}

/// Returns the number of rows of each query, after comparing it with the other form of the same question.
fn compared(sql: &mut Connection, queries: &[String]) -> Vec<u64> {
    let mut parts = OTHER_FORMS.split("\n-- ");
    for statement in parts.next().unwrap().split(";\n").filter(|statement| !statement.trim().is_empty()) {
        sql.run(statement.trim_end_matches(';'));
    }
    let others: Vec<_> = parts.collect();
    assert_eq!(others.len(), queries.len());
    let compare = |(nth, (query, other)): (usize, (&String, &&str))| {
        let (number, other) = other.split_once('\n').unwrap();
        assert_eq!(number, (nth + 1).to_string());
        let other = other.trim_end().trim_end_matches(';');
        let rows = sql.rows(&format!(
            "with a as ({query}), b as ({other}) select (select count(*) from a), (select count(*) from b), (select count(*) \
             from ((table a except all table b) union all (table b except all table a)) as different)"
        ));
        let counts: Vec<u64> = rows[0].iter().map(|count| count.parse().unwrap()).collect();
        assert_eq!((counts[0], counts[2]), (counts[1], 0), "query {number}: {counts:?}");
        counts[0]
    };
    let rows = queries.iter().zip(&others).enumerate().map(compare).collect();
    sql.run("discard temp");
    rows
}

#[test]
fn every_query_answers_the_same_as_in_other_words() {
    let Some(server) = Server::start() else {
        return;
    };
    let mut sql = server.load("ch", &built("full"));
    let states = "select count(distinct left(c_state, 1)) from customer";
    assert_eq!(sql.value(states), "62", "each nation has customers");
    let used = "select min(n) > 0 and count(*) = 10000 from (select count(*) as n from stock group by \
                mod(s_w_id::bigint * s_i_id, 10000)) as by_supplier";
    assert_eq!(sql.value(used), "t", "each supplier has stock");

    let full = texts("full");
    let mut of =
        |query: usize| sql.value(&format!("select count(*) from ({}) as q", full[query - 1])).parse::<u64>().unwrap();
    assert_eq!([of(1), of(4), of(12), of(10)], [15, 11, 11, 21_000]);
    assert_eq!([of(11), of(21), of(22)], [0, 0, 0], "as the papers' data has it");
    assert!((8_800..9_001).contains(&of(18)) && (99_000..100_000).contains(&of(16)));
    assert_eq!(sql.rows(&full[16]), [[""]], "all quantities are 5");

    // As the other session's rows, of which there are none.
    CHANGES.iter().for_each(|change| sql.run(change));
    let rows = compared(&mut sql, &full);
    assert!(rows.iter().all(|rows| *rows > 0), "none is empty now: {rows:?}");
    assert_ne!(sql.rows(&full[16]), [[""]]);

    // The other form has the same questions, but for the dates of eight queries.
    for (nth, (query, rows)) in texts("citus").iter().zip(rows).enumerate() {
        let found = sql.rows(query).len() as u64;
        let has_dates = [1, 3, 6, 10, 12, 14, 15, 20].contains(&(nth + 1));
        assert!(has_dates && found <= 10 || found == rows.min(10), "query {}: {found} {rows}", nth + 1);
    }
}
