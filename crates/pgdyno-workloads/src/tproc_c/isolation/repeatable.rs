//! Tests 7 to 9: rows that a transaction has read do not change until its end, and no new rows appear.
//!
//! In the clauses the transaction reads a second time. These transactions read each row once, in one statement, with
//! one snapshot at every level. So at read committed the tests stop it inside or after that statement; from
//! repeatable read on, where the transaction has one snapshot, it reads a second time as in the clauses.

use pgdyno_workload::{IsolationLevel, Scenario, ScenarioStep};

use super::{DELIVERY, NEW_ORDER, NEW_ORDER_ELSEWHERE, ORDER_STATUS, draw};

pub(super) fn scenarios(level: IsolationLevel) -> [Scenario; 3] {
    let one_moment = level >= IsolationLevel::RepeatableRead;
    [prices(), delivery(one_moment), order_status(one_moment)]
}

/// T3 holds the stock that T2 needs, after T2 has read its prices. T2 continues from the stock that T3 leaves; from
/// repeatable read on it fails and is sent again, with the new prices.
fn prices() -> Scenario {
    let price =
        "SELECT x.i_price AS x, y.i_price AS y FROM item AS x, item AS y WHERE x.i_id = :at.x AND y.i_id = :at.y";
    Scenario {
        clause: "3.4.2.7",
        title: "the prices of a New-Order are those of one moment while others change them",
        remark: Some(
            "New-Order reads all prices in one statement; T2 is stopped inside it, while T4 commits other prices (case D, \
             or B after a serialization failure)",
        ),
        steps: vec![
            draw(),
            ScenarioStep::look("before", price),
            ScenarioStep::Begin("T3"),
            ScenarioStep::run("T3", NEW_ORDER_ELSEWHERE),
            ScenarioStep::waits("T2", "T3", NEW_ORDER, "t2"),
            ScenarioStep::run("T4", "UPDATE item SET i_price = round(i_price * 1.1, 2) WHERE i_id IN (:at.x, :at.y)"),
            ScenarioStep::look("after", price),
            ScenarioStep::Commit("T3"),
            ScenarioStep::Ends("T2"),
            ScenarioStep::holds(
                "T4 has changed both prices",
                "SELECT :after.x::numeric > :before.x::numeric AND :after.y::numeric > :before.y::numeric,
       :before.x AS x_before, :after.x AS x_after, :before.y AS y_before, :after.y AS y_after",
            ),
            ScenarioStep::holds(
                "all lines of T2 have the prices from before T4, or those after it where T2 was sent again",
                "SELECT (:t2.out_i_prices::numeric[])[1:3] = seen AND count(ol_number) = 3
       AND bool_and(ol_amount = seen[ol_number] * ol_quantity),
       :t2.out_i_prices AS prices, seen AS expected, array_agg(ol_amount ORDER BY ol_number) AS amounts, :t2.tries AS tries
  FROM order_line,
       (SELECT CASE WHEN :t2.tries::int = 1 THEN ARRAY[:before.x, :before.y, :before.x]::numeric[]
                    ELSE ARRAY[:after.x, :after.y, :after.x]::numeric[] END AS seen) AS expected
 WHERE ol_w_id = :at.w AND ol_d_id = :at.d AND ol_o_id = :t2.out_o_id AND ol_number <= 3
 GROUP BY seen",
            ),
        ],
        restore: vec![
            "UPDATE item SET i_price = :before.x WHERE i_id = :at.x".to_owned(),
            "UPDATE item SET i_price = :before.y WHERE i_id = :at.y".to_owned(),
        ],
    }
}

/// T3 holds the customer of the other district's order, after the Delivery has read the new orders.
fn delivery(one_moment: bool) -> Scenario {
    let count = "SELECT count(*) AS rows FROM new_order WHERE no_w_id = :at.w AND no_d_id = :at.d";
    let mut steps = vec![
        draw(),
        // So there is one to deliver.
        ScenarioStep::run("T0", NEW_ORDER_ELSEWHERE),
        ScenarioStep::look(
            "next",
            "SELECT o_c_id AS c FROM orders
 WHERE o_w_id = :at.w AND o_d_id = :at.other_d
   AND o_id = (SELECT min(no_o_id) FROM new_order WHERE no_w_id = :at.w AND no_d_id = :at.other_d)",
        ),
        ScenarioStep::Begin("T3"),
        ScenarioStep::run("T3", "CALL pgdyno_payment(:at.w, :at.other_d, :at.w, :at.other_d, :next.c, NULL, 17.50)"),
        ScenarioStep::Begin("T1"),
        ScenarioStep::run("T1", "DELETE FROM new_order WHERE no_w_id = :at.w AND no_d_id = :at.d"),
        ScenarioStep::waits("T1", "T3", DELIVERY, "t1"),
        ScenarioStep::fetch("T2", NEW_ORDER, "t2"),
        ScenarioStep::Rollback("T3"),
        ScenarioStep::Ends("T1"),
        ScenarioStep::holds(
            "the Delivery takes no order of the district, and one of the other",
            "SELECT :at.d <> ALL (:t1.out_d_ids::int[]) AND :at.other_d = ANY (:t1.out_d_ids::int[]),
       :at.d AS district, :t1.out_d_ids AS delivered",
        ),
    ];
    if one_moment {
        steps.push(ScenarioStep::fetch("T1", count, "again"));
        steps.push(ScenarioStep::holds(
            "a second read of T1 finds no order of the district either",
            "SELECT :again.rows = '0', :again.rows AS rows",
        ));
    }
    steps.extend([
        ScenarioStep::Rollback("T1"),
        ScenarioStep::holds(
            "the order of T2 is there, new and not delivered",
            "SELECT count(*) = 1, :t2.out_o_id AS entered FROM orders JOIN new_order
    ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id
 WHERE o_w_id = :at.w AND o_d_id = :at.d AND o_id = :t2.out_o_id AND o_carrier_id IS NULL",
        ),
    ]);
    Scenario {
        clause: "3.4.2.8",
        title: "a Delivery that found no new order in a district takes none that is entered meanwhile",
        remark: Some(if one_moment {
            "T1 takes the district's new orders away itself, and rolls back at the end, so that the data stay right"
        } else {
            "T1 takes the district's new orders away itself, and rolls back at the end, so that the data stay right; a \
             Delivery looks for new orders once: a second look of T1, as the clause has it, could find T2's at this level"
        }),
        steps,
        restore: Vec::new(),
    }
}

fn order_status(one_moment: bool) -> Scenario {
    let (title, remark, steps) = match one_moment {
        true => (
            "an Order-Status that is asked twice in one transaction finds the same order",
            None,
            vec![
                draw(),
                ScenarioStep::Begin("T1"),
                ScenarioStep::fetch("T1", ORDER_STATUS, "first"),
                ScenarioStep::fetch("T2", NEW_ORDER, "t2"),
                ScenarioStep::fetch("T1", ORDER_STATUS, "second"),
                ScenarioStep::Commit("T1"),
            ],
        ),
        false => (
            "Order-Status finds the order of one moment while the customer enters another",
            Some(
                "Order-Status is one statement; T1 is one such that reads the last order, is stopped, and reads it again; a \
                 second statement of T1, as the clause has it, could find T2's order at this level",
            ),
            vec![
                draw(),
                ScenarioStep::Begin("T3"),
                ScenarioStep::run("T3", format!("SELECT pg_advisory_xact_lock({STOP})")),
                ScenarioStep::waits("T1", "T3", STOPPED_ORDER_STATUS.replace("$stop", STOP), "first"),
                ScenarioStep::fetch("T2", NEW_ORDER, "t2"),
                ScenarioStep::Rollback("T3"),
                ScenarioStep::Ends("T1"),
                ScenarioStep::look("second", "SELECT :first.again AS out_o_id"),
            ],
        ),
    };
    let same = ScenarioStep::holds(
        "both reads of T1 find the same order, from before T2",
        "SELECT :second.out_o_id::int = :first.out_o_id::int AND :first.out_o_id::int < :t2.out_o_id::int,
       :first.out_o_id AS first, :second.out_o_id AS second, :t2.out_o_id AS entered",
    );
    Scenario { clause: "3.4.2.9", title, remark, steps: steps.into_iter().chain([same]).collect(), restore: Vec::new() }
}

/// The two numbers of the advisory lock at which an Order-Status stops.
const STOP: &str = "3426, 9";

/// The second read depends on the lock, which depends on the first.
const STOPPED_ORDER_STATUS: &str = "WITH first AS MATERIALIZED (
    SELECT max(o_id) AS o_id FROM orders WHERE o_w_id = :at.w AND o_d_id = :at.d AND o_c_id = :at.c
), stopped AS MATERIALIZED (
    SELECT o_id, pg_advisory_xact_lock_shared($stop) FROM first
)
SELECT stopped.o_id AS out_o_id,
       (SELECT max(o_id) FROM orders
         WHERE o_w_id = :at.w AND o_d_id = :at.d AND o_c_id = :at.c AND orders.o_id >= stopped.o_id) AS again
  FROM stopped";
