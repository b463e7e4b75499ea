//! The twelve consistency conditions of clause 3.3.2 and three more, each as a query for the rows that violate it.
//!
//! All are set-based: each large table is read at most twice and joined by hash or merge, so the cost is linear in the
//! data. Lines are summed by order before they are joined: ten of them become one row. Queries of large tables can run
//! for some warehouses at a time, by the primary keys. The history has no index and each part reads it whole, so its
//! parts are larger.
//!
//! Five conditions are on lines, which are most of the data. One query shows that all of them hold, and reads the lines once.

use pgdyno_workload::{Check, CheckCost, CheckParts, Expect, Screen};

/// Warehouses in a part of a check.
const PART: u64 = 50;
/// Warehouses in a part that reads all lines, and the whole history.
const PART_OF_LINES: u64 = 100;
/// Warehouses in a part that reads the whole history.
const PART_WITH_HISTORY: u64 = 250;

struct Condition {
    clause: &'static str,
    holds: &'static str,
    cost: CheckCost,
    sql: &'static str,
}

pub(super) fn checks(warehouses: u32) -> Vec<Check> {
    let check = |condition: &Condition| {
        let most = if condition.sql.contains("history") { PART_WITH_HISTORY } else { PART };
        let parts = CheckParts { sql: condition.sql.to_owned(), keys: 1..=u64::from(warehouses), most };
        let screen = OF_LINES.contains(&condition.clause).then(|| Screen {
            name: "3.3.2.4, 6, 7, 10 and 12",
            parts: CheckParts { sql: LINES.to_owned(), keys: parts.keys.clone(), most: PART_OF_LINES },
        });
        Check {
            name: condition.clause,
            condition: condition.holds,
            sql: parts.whole().into(),
            parts: condition.sql.contains("{range:").then_some(parts),
            screen,
            expect: Expect::NoRow,
            cost: condition.cost,
        }
    };
    CONDITIONS.iter().map(check).collect()
}

/// Joins what the delivered lines of each customer add up to. For an inner join of orders and lines the planner may expect a few rows, and
/// then join by warehouse and district alone, each order with all lines of its district; a full join has to match all three columns.
macro_rules! delivered {
    () => {
        "  FULL JOIN (SELECT o_w_id AS w_id, o_d_id AS d_id, o_c_id AS c_id, sum(lines.amount) AS amount
               FROM (SELECT o_w_id, o_d_id, o_id, o_c_id FROM orders WHERE {range:o_w_id}) AS o
               FULL JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, sum(ol_amount) AS amount
                            FROM order_line WHERE ol_delivery_d IS NOT NULL AND ol_amount <> 0 AND {range:ol_w_id}
                           GROUP BY ol_w_id, ol_d_id, ol_o_id) AS lines
                    ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
              GROUP BY o_w_id, o_d_id, o_c_id
             HAVING count(o_c_id) > 0 AND count(lines.amount) > 0) AS delivered USING (w_id, d_id, c_id)
"
    };
}

/// The conditions of which [`LINES`] shows whether they hold.
const OF_LINES: [&str; 5] = ["3.3.2.4", "3.3.2.6", "3.3.2.7", "3.3.2.10", "3.3.2.12"];

/// Returns the customers of whom condition 10 or 12 does not hold, or condition 6 or 7 of one of their orders; in one row without a
/// customer, lines without an order. If condition 6 holds for each order, so does condition 4 for each district.
const LINES: &str = "SELECT w_id, d_id, c_id
  FROM (SELECT c_w_id AS w_id, c_d_id AS d_id, c_id, c_balance, c_balance + c_ytd_payment AS balance_and_paid
          FROM customer WHERE {range:c_w_id}) AS c
  FULL JOIN (SELECT o_w_id AS w_id, o_d_id AS d_id, o_c_id AS c_id, sum(lines.amount) AS amount,
                    bool_or(o_ol_cnt IS DISTINCT FROM lines.rows
                            OR lines.delivered <> CASE WHEN o_carrier_id IS NULL THEN 0 ELSE lines.rows END) AS is_broken
               FROM (SELECT o_w_id, o_d_id, o_id, o_c_id, o_ol_cnt, o_carrier_id FROM orders WHERE {range:o_w_id}) AS o
               FULL JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, count(*) AS rows, count(ol_delivery_d) AS delivered,
                                 sum(ol_amount) FILTER (WHERE ol_delivery_d IS NOT NULL) AS amount
                            FROM order_line WHERE {range:ol_w_id} GROUP BY ol_w_id, ol_d_id, ol_o_id) AS lines
                    ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
              GROUP BY o_w_id, o_d_id, o_c_id) AS ordered USING (w_id, d_id, c_id)
  FULL JOIN (SELECT h_c_w_id AS w_id, h_c_d_id AS d_id, h_c_id AS c_id, sum(h_amount) AS amount
               FROM history WHERE {range:h_c_w_id} GROUP BY h_c_w_id, h_c_d_id, h_c_id) AS paid USING (w_id, d_id, c_id)
 WHERE is_broken
    OR c_balance IS DISTINCT FROM coalesce(ordered.amount, 0) - coalesce(paid.amount, 0)
    OR balance_and_paid IS DISTINCT FROM coalesce(ordered.amount, 0)";

/// Districts without undelivered orders have no row in new_order; conditions 2 and 3 do not apply to them.
const CONDITIONS: [Condition; 15] = [
    Condition {
        clause: "3.3.2.1",
        holds: "w_ytd = sum(d_ytd) of the warehouse's districts",
        cost: CheckCost::Cheap,
        sql: "SELECT w_id, w_ytd, d.ytd AS sum_d_ytd
  FROM warehouse
  FULL JOIN (SELECT d_w_id, sum(d_ytd) AS ytd FROM district GROUP BY d_w_id) AS d ON d_w_id = w_id
 WHERE w_ytd IS DISTINCT FROM d.ytd",
    },
    Condition {
        clause: "3.3.2.2",
        holds: "d_next_o_id - 1 = max(o_id) = max(no_o_id) of the district",
        cost: CheckCost::Cheap,
        sql: "SELECT d_w_id, d_id, d_next_o_id, o.last AS max_o_id, n.last AS max_no_o_id
  FROM district
 CROSS JOIN LATERAL (SELECT max(o_id) AS last FROM orders
                      WHERE o_w_id = d_w_id AND o_d_id = d_id) AS o
 CROSS JOIN LATERAL (SELECT max(no_o_id) AS last FROM new_order
                      WHERE no_w_id = d_w_id AND no_d_id = d_id) AS n
 WHERE d_next_o_id - 1 IS DISTINCT FROM o.last OR n.last <> o.last",
    },
    Condition {
        clause: "3.3.2.3",
        holds: "max(no_o_id) - min(no_o_id) + 1 = rows in new_order of the district",
        cost: CheckCost::Cheap,
        sql: "SELECT no_w_id, no_d_id, max(no_o_id) - min(no_o_id) + 1 AS span, count(*) AS rows
  FROM new_order
 GROUP BY no_w_id, no_d_id
HAVING max(no_o_id) - min(no_o_id) + 1 <> count(*)",
    },
    Condition {
        clause: "3.3.2.4",
        holds: "sum(o_ol_cnt) = rows in order_line of the district",
        cost: CheckCost::Expensive,
        sql: "SELECT w_id, d_id, o.lines AS sum_o_ol_cnt, l.lines AS order_line_rows
  FROM (SELECT o_w_id AS w_id, o_d_id AS d_id, sum(o_ol_cnt) AS lines
          FROM orders WHERE {range:o_w_id} GROUP BY o_w_id, o_d_id) AS o
  FULL JOIN (SELECT ol_w_id AS w_id, ol_d_id AS d_id, count(*) AS lines
               FROM order_line WHERE {range:ol_w_id} GROUP BY ol_w_id, ol_d_id) AS l USING (w_id, d_id)
 WHERE o.lines IS DISTINCT FROM l.lines",
    },
    Condition {
        clause: "3.3.2.5",
        holds: "o_carrier_id is null if and only if the order has a row in new_order",
        cost: CheckCost::Expensive,
        sql: "SELECT w_id, d_id, o_id, o_carrier_id, n.o_id IS NOT NULL AS in_new_order
  FROM (SELECT o_w_id AS w_id, o_d_id AS d_id, o_id, o_carrier_id, true AS in_orders FROM orders
         WHERE {range:o_w_id}) AS o
  FULL JOIN (SELECT no_w_id AS w_id, no_d_id AS d_id, no_o_id AS o_id FROM new_order
              WHERE {range:no_w_id}) AS n
       USING (w_id, d_id, o_id)
 WHERE in_orders IS NULL OR (o_carrier_id IS NULL) <> (n.o_id IS NOT NULL)",
    },
    Condition {
        clause: "3.3.2.6",
        holds: "o_ol_cnt = rows in order_line of the order",
        cost: CheckCost::Expensive,
        sql: "SELECT w_id, d_id, o_id, o_ol_cnt, coalesce(lines, 0) AS order_line_rows
  FROM (SELECT o_w_id AS w_id, o_d_id AS d_id, o_id, o_ol_cnt FROM orders
         WHERE {range:o_w_id}) AS o
  FULL JOIN (SELECT ol_w_id AS w_id, ol_d_id AS d_id, ol_o_id AS o_id, count(*) AS lines
               FROM order_line WHERE {range:ol_w_id} GROUP BY ol_w_id, ol_d_id, ol_o_id) AS l USING (w_id, d_id, o_id)
 WHERE o_ol_cnt IS DISTINCT FROM lines",
    },
    Condition {
        clause: "3.3.2.7",
        holds: "ol_delivery_d is null if and only if the order's o_carrier_id is null",
        cost: CheckCost::Expensive,
        sql: "SELECT ol_w_id, ol_d_id, ol_o_id, ol_number, ol_delivery_d, o_carrier_id
  FROM order_line
  LEFT JOIN orders ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id AND {range:o_w_id}
 WHERE {range:ol_w_id} AND (o_id IS NULL OR (ol_delivery_d IS NULL) <> (o_carrier_id IS NULL))",
    },
    Condition {
        clause: "3.3.2.8",
        holds: "w_ytd = sum(h_amount) of the warehouse",
        cost: CheckCost::Expensive,
        sql: "SELECT w_id, w_ytd, h.amount AS sum_h_amount
  FROM warehouse
  FULL JOIN (SELECT h_w_id, sum(h_amount) AS amount FROM history GROUP BY h_w_id) AS h
       ON h_w_id = w_id
 WHERE w_ytd IS DISTINCT FROM h.amount",
    },
    Condition {
        clause: "3.3.2.9",
        holds: "d_ytd = sum(h_amount) of the district",
        cost: CheckCost::Expensive,
        sql: "SELECT d_w_id, d_id, d_ytd, h.amount AS sum_h_amount
  FROM district
  FULL JOIN (SELECT h_w_id, h_d_id, sum(h_amount) AS amount FROM history GROUP BY h_w_id, h_d_id) AS h
       ON h_w_id = d_w_id AND h_d_id = d_id
 WHERE d_ytd IS DISTINCT FROM h.amount",
    },
    Condition {
        clause: "3.3.2.10",
        holds: "c_balance = sum(ol_amount) of the customer's delivered lines - sum(h_amount)",
        cost: CheckCost::Expensive,
        sql: concat!(
            "SELECT w_id, d_id, c_id, c_balance,
       coalesce(delivered.amount, 0) - coalesce(paid.amount, 0) AS delivered_minus_paid
  FROM (SELECT c_w_id AS w_id, c_d_id AS d_id, c_id, c_balance FROM customer
         WHERE {range:c_w_id}) AS c
",
            delivered!(),
            "  FULL JOIN (SELECT h_c_w_id AS w_id, h_c_d_id AS d_id, h_c_id AS c_id, sum(h_amount) AS amount
               FROM history WHERE {range:h_c_w_id}
              GROUP BY h_c_w_id, h_c_d_id, h_c_id) AS paid USING (w_id, d_id, c_id)
 WHERE c_balance IS DISTINCT FROM coalesce(delivered.amount, 0) - coalesce(paid.amount, 0)",
        ),
    },
    // The clause gives the number right after the load, 2100. Each delivery adds one, and one to the customer's
    // c_delivery_cnt, a smallint that wraps to 0 after 32767.
    Condition {
        clause: "3.3.2.11",
        holds: "rows in orders - rows in new_order of the district = 2100 + sum(c_delivery_cnt)",
        cost: CheckCost::Expensive,
        sql: "SELECT w_id, d_id, orders_rows - coalesce(new_order_rows, 0) AS delivered_orders,
       2100 + deliveries AS loaded_and_counted
  FROM (SELECT o_w_id AS w_id, o_d_id AS d_id, count(*) AS orders_rows
          FROM orders WHERE {range:o_w_id} GROUP BY o_w_id, o_d_id) AS o
  LEFT JOIN (SELECT no_w_id AS w_id, no_d_id AS d_id, count(*) AS new_order_rows
               FROM new_order WHERE {range:no_w_id} GROUP BY no_w_id, no_d_id) AS n USING (w_id, d_id)
  FULL JOIN (SELECT c_w_id AS w_id, c_d_id AS d_id, sum(c_delivery_cnt) AS deliveries
               FROM customer WHERE {range:c_w_id} GROUP BY c_w_id, c_d_id) AS c USING (w_id, d_id)
 WHERE ((orders_rows - coalesce(new_order_rows, 0) - 2100 - deliveries) % 32768) IS DISTINCT FROM 0",
    },
    Condition {
        clause: "3.3.2.12",
        holds: "c_balance + c_ytd_payment = sum(ol_amount) of the customer's delivered lines",
        cost: CheckCost::Expensive,
        sql: concat!(
            "SELECT w_id, d_id, c_id, balance_and_paid, coalesce(amount, 0) AS delivered
  FROM (SELECT c_w_id AS w_id, c_d_id AS d_id, c_id, c_balance + c_ytd_payment AS balance_and_paid
          FROM customer WHERE {range:c_w_id}) AS c
",
            delivered!(),
            " WHERE balance_and_paid IS DISTINCT FROM coalesce(amount, 0)",
        ),
    },
    // Beyond the clauses: follows from them and from the rows of clause 4.3.3.1.
    Condition {
        clause: "orders",
        holds: "rows in orders of the district = d_next_o_id - 1",
        cost: CheckCost::Expensive,
        sql: "SELECT d_w_id, d_id, d_next_o_id, coalesce(o.rows, 0) AS orders_rows
  FROM (SELECT d_w_id, d_id, d_next_o_id FROM district WHERE {range:d_w_id}) AS d
  FULL JOIN (SELECT o_w_id AS d_w_id, o_d_id AS d_id, count(*) AS rows
               FROM orders WHERE {range:o_w_id} GROUP BY o_w_id, o_d_id) AS o USING (d_w_id, d_id)
 WHERE d_next_o_id - 1 IS DISTINCT FROM o.rows",
    },
    // New-Order leaves 10 to 100 (clause 2.4.2.2); HammerDB's may leave less.
    Condition {
        clause: "stock-quantity",
        holds: "s_quantity is between 1 and 100",
        cost: CheckCost::Heavy,
        sql: "SELECT s_w_id, s_i_id, s_quantity FROM stock WHERE s_quantity NOT BETWEEN 1 AND 100",
    },
    // Loaded orders are not in the stock. s_order_cnt wraps to 0 after 32767.
    Condition {
        clause: "stock-sold",
        holds: "sum(s_ytd) and sum(s_order_cnt) of the warehouse are those of its lines in orders after 3000",
        cost: CheckCost::Heavy,
        sql: "SELECT w_id, ytd AS sum_s_ytd, quantity AS sum_ol_quantity, order_cnt AS sum_s_order_cnt, lines
  FROM (SELECT s_w_id AS w_id, sum(s_ytd) AS ytd, sum(s_order_cnt) AS order_cnt FROM stock GROUP BY s_w_id) AS s
  FULL JOIN (SELECT ol_supply_w_id AS w_id, sum(ol_quantity) AS quantity, count(*) AS lines
               FROM order_line WHERE ol_o_id > 3000 GROUP BY ol_supply_w_id) AS l USING (w_id)
 WHERE coalesce(ytd, 0) <> coalesce(quantity, 0)
    OR (coalesce(order_cnt, 0) - coalesce(lines, 0)) % 32768 <> 0",
    },
];
