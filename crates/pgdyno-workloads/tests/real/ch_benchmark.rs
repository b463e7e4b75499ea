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
    workload.drive.explained.queries.iter().map(|(_, text)| text.clone()).collect()
}

fn built(form: &str) -> Workload {
    registry::build("ch-benchmark", [("warehouses", "1"), ("query-form", form)]).unwrap()
}

/// The columns that each query is ordered by; none of a query with one row.
const ORDER: [&str; 22] = [
    "1",
    "3, 2, 4",
    "4 desc, 5",
    "1",
    "2 desc",
    "",
    "1, 2, 3",
    "1",
    "1, 2 desc",
    "3 desc",
    "2 desc",
    "1",
    "2 desc, 1 desc",
    "",
    "1",
    "4 desc",
    "",
    "6 desc, 4",
    "",
    "1",
    "2 desc, 1",
    "1",
];

/// The question in other words, for both forms. A line that ends with `--full` is not of form `citus`.
fn in_other_words(other: &str) -> [String; 2] {
    let without = |end: &str| other.lines().filter(|line| end.is_empty() || !line.ends_with(end)).collect::<Vec<_>>();
    [without(""), without(" --full")].map(|lines| lines.join("\n").trim_end().trim_end_matches(';').to_owned())
}

/// Returns the number of rows of each question in form `full`, after comparing each query of both forms with the same in other
/// words: all rows in form `full`; in form `citus` ten of the first rows and those that equal the last of them in the order.
fn compared(sql: &mut Connection, full: &[String], citus: &[String]) -> Vec<u64> {
    let mut parts = OTHER_FORMS.split("\n-- ");
    for statement in parts.next().unwrap().split(";\n").filter(|statement| !statement.trim().is_empty()) {
        sql.run(statement.trim_end_matches(';'));
    }
    let others: Vec<_> = parts.collect();
    assert_eq!(others.len(), full.len());
    let mut compare = |nth: usize| {
        let (number, other) = others[nth].split_once('\n').unwrap();
        assert_eq!(number, (nth + 1).to_string());
        let [other, other_of_citus] = in_other_words(other);
        let other_of_citus = if other == other_of_citus { "table b" } else { &other_of_citus };
        let first = match ORDER[nth] {
            "" => "table d".to_owned(),
            columns => format!("select * from d order by {columns} fetch first 10 rows with ties"),
        };
        let (full, citus) = (&full[nth], &citus[nth]);
        let rows = sql.rows(&format!(
            "with a as ({full}), b as ({other}), c as ({citus}), d as ({other_of_citus}), first as ({first}) \
             select (select count(*) from a), (select count(*) from b), (select count(*) from c), (select count(*) from d), \
             (select count(*) from ((table a except all table b) union all (table b except all table a)) as different), \
             (select count(*) from (table c except all table first) as wrong)"
        ));
        let counts: Vec<u64> = rows[0].iter().map(|count| count.parse().unwrap()).collect();
        assert_eq!((counts[0], counts[4]), (counts[1], 0), "query {number}: {counts:?}");
        assert_eq!((counts[2], counts[5]), (counts[3].min(10), 0), "query {number}, form citus: {counts:?}");
        counts[0]
    };
    let rows = (0..full.len()).map(&mut compare).collect();
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
    // Each answer is the same by any plan. Query 15 in form citus joins 10,000 suppliers with as many rows in a loop otherwise.
    sql.run("set enable_nestloop = off");
    // The other form has the same questions, but for dates that leave out lines without a delivery, and returns ten rows.
    let citus = texts("citus");
    let rows = compared(&mut sql, &full, &citus);
    assert!(rows.iter().all(|rows| *rows > 0), "none is empty now: {rows:?}");
    assert_ne!(sql.rows(&full[16]), [[""]]);

    for number in [1, 6, 14] {
        let [with, without] = [&full, &citus].map(|texts| sql.rows(&texts[number - 1]));
        assert_ne!(with, without, "query {number}: lines without a delivery count in one form");
    }
}
