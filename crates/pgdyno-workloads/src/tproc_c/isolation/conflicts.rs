//! Tests 3 to 6: of two transactions that write the same rows, the second waits for the first and continues from its
//! result.

use pgdyno_workload::{Scenario, ScenarioStep};

use super::{DELIVERY, NEW_ORDER, NEW_ORDER_ELSEWHERE, NEW_ORDER_UNUSED_ITEM, draw};

pub(super) fn scenarios() -> [Scenario; 4] {
    [two_orders(), order_after_rollback(), payment_after_delivery(true), payment_after_delivery(false)]
}

/// The number of the district's next order, committed.
fn next_number() -> ScenarioStep {
    ScenarioStep::look("before", "SELECT d_next_o_id AS next FROM district WHERE d_w_id = :at.w AND d_id = :at.d")
}

fn two_orders() -> Scenario {
    Scenario {
        clause: "3.4.2.3",
        title: "of two New-Orders in a district the second waits, and takes the next number",
        remark: None,
        steps: vec![
            draw(),
            next_number(),
            ScenarioStep::Begin("T1"),
            ScenarioStep::fetch("T1", NEW_ORDER, "t1"),
            ScenarioStep::waits("T2", "T1", NEW_ORDER, "t2"),
            ScenarioStep::Commit("T1"),
            ScenarioStep::Ends("T2"),
            ScenarioStep::holds(
                "the order of T2 has the number after that of T1, and d_next_o_id the one after both",
                "SELECT :t1.out_o_id = :before.next AND :t2.out_o_id::int = :t1.out_o_id::int + 1
       AND d_next_o_id = :t2.out_o_id::int + 1,
       :t1.out_o_id AS t1, :t2.out_o_id AS t2, :before.next AS next_before, d_next_o_id AS next_now
  FROM district WHERE d_w_id = :at.w AND d_id = :at.d",
            ),
        ],
        restore: Vec::new(),
    }
}

/// T3 holds the stock that T1 needs: T1 has its number, and does not know yet that an item is unused.
fn order_after_rollback() -> Scenario {
    Scenario {
        clause: "3.4.2.4",
        title: "a New-Order that waited for one with an unused item takes the number that it gave back",
        remark: None,
        steps: vec![
            draw(),
            next_number(),
            ScenarioStep::Begin("T3"),
            ScenarioStep::fetch("T3", NEW_ORDER_ELSEWHERE, "t3"),
            ScenarioStep::waits("T1", "T3", NEW_ORDER_UNUSED_ITEM, "t1"),
            ScenarioStep::waits("T2", "T1", NEW_ORDER, "t2"),
            ScenarioStep::Rollback("T3"),
            ScenarioStep::Ends("T1"),
            ScenarioStep::Ends("T2"),
            ScenarioStep::holds(
                "T1 has entered no order, T2 has its number, and d_next_o_id counts T2 alone",
                "SELECT :t1.out_o_id IS NULL AND :t2.out_o_id = :before.next AND d_next_o_id = :t2.out_o_id::int + 1,
       :t1.out_o_id AS t1, :t2.out_o_id AS t2, :before.next AS next_before, d_next_o_id AS next_now
  FROM district WHERE d_w_id = :at.w AND d_id = :at.d",
            ),
        ],
        restore: Vec::new(),
    }
}

/// The district's oldest undelivered order, its customer and its sum.
const NEXT_DELIVERY: &str = "SELECT o_id, o_c_id AS c, c_balance AS balance,
       (SELECT sum(ol_amount) FROM order_line WHERE ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id) AS amount
  FROM orders JOIN customer ON c_w_id = o_w_id AND c_d_id = o_d_id AND c_id = o_c_id
 WHERE o_w_id = :at.w AND o_d_id = :at.d
   AND o_id = (SELECT min(no_o_id) FROM new_order WHERE no_w_id = :at.w AND no_d_id = :at.d)";

const PAYMENT: &str = "CALL pgdyno_payment(:at.w, :at.d, :at.w, :at.d, :next.c, NULL, 17.50)";

fn payment_after_delivery(commits: bool) -> Scenario {
    let (clause, title, end, what) = match commits {
        true => (
            "3.4.2.5",
            "a Payment waits for a Delivery to its customer; the balance has both",
            ScenarioStep::Commit("T1"),
            "the balance is what it was, and the delivered amount, less the payment",
        ),
        false => (
            "3.4.2.6",
            "a Payment waits for a Delivery that rolls back; the balance has the payment alone",
            ScenarioStep::Rollback("T1"),
            "the balance is what it was less the payment, and the order is not delivered",
        ),
    };
    Scenario {
        clause,
        title,
        remark: None,
        steps: vec![
            draw(),
            // So there is one to deliver.
            ScenarioStep::run("T0", NEW_ORDER),
            ScenarioStep::look("next", NEXT_DELIVERY),
            ScenarioStep::Begin("T1"),
            ScenarioStep::run("T1", DELIVERY),
            ScenarioStep::waits("T2", "T1", PAYMENT, "t2"),
            end,
            ScenarioStep::Ends("T2"),
            ScenarioStep::holds(what, balance(commits)),
        ],
        restore: Vec::new(),
    }
}

/// Returns a query that checks the balance.
fn balance(delivered: bool) -> String {
    let due = if delivered { ":next.amount::numeric" } else { "0" };
    let carried = if delivered { "o_carrier_id = 7" } else { "o_carrier_id IS NULL" };
    format!(
        "SELECT c_balance = :next.balance::numeric + {due} - 17.50 AND c_balance = :t2.out_c_balance::numeric AND {carried},
       :next.balance AS before, {due} AS delivered, 17.50 AS paid, c_balance AS now, :t2.out_c_balance AS returned,
       o_carrier_id AS carrier
  FROM customer, orders
 WHERE c_w_id = :at.w AND c_d_id = :at.d AND c_id = :next.c AND o_w_id = :at.w AND o_d_id = :at.d AND o_id = :next.o_id"
    )
}
