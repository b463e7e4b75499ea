//! Tests 1 and 2: Order-Status does not see an uncommitted order.

use pgdyno_workload::{Scenario, Step};

use super::{NEW_ORDER, ORDER_STATUS, draw};

pub(super) fn scenarios() -> [Scenario; 2] {
    let scenario =
        |clause, title, end| Scenario { clause, title, remark: None, steps: steps(end), restore: Vec::new() };
    [
        scenario(
            "3.4.2.1",
            "Order-Status sees a New-Order only once it has committed",
            [
                Step::Commit("T1"),
                Step::fetch("T3", ORDER_STATUS, "t3"),
                Step::holds(
                    "after the commit, Order-Status finds the order of T1 with its five lines",
                    "SELECT :t3.out_o_id = :t1.out_o_id AND cardinality(:t3.out_i_ids::int[]) = 5,
       :t3.out_o_id AS found, :t1.out_o_id AS entered, :t3.out_i_ids AS items",
                ),
            ],
        ),
        scenario(
            "3.4.2.2",
            "Order-Status never sees a New-Order that rolls back",
            [
                Step::Rollback("T1"),
                Step::fetch("T3", ORDER_STATUS, "t3"),
                Step::holds(
                    "after the rollback, Order-Status finds the order from before T1",
                    "SELECT :t3.out_o_id::int IS NOT DISTINCT FROM :t0.out_o_id::int,
       :t3.out_o_id AS found, :t0.out_o_id AS before",
                ),
            ],
        ),
    ]
}

fn steps(end: [Step; 3]) -> Vec<Step> {
    let begin = [
        draw(),
        Step::fetch("T0", ORDER_STATUS, "t0"),
        Step::Begin("T1"),
        Step::fetch("T1", NEW_ORDER, "t1"),
        // It is not blocked, which the clause allows.
        Step::fetch("T2", ORDER_STATUS, "t2"),
        Step::holds(
            "before the end of T1, Order-Status finds the order from before T1",
            "SELECT :t2.out_o_id::int IS NOT DISTINCT FROM :t0.out_o_id::int
       AND :t2.out_i_ids::int[] IS NOT DISTINCT FROM :t0.out_i_ids::int[],
       :t2.out_o_id AS found, :t0.out_o_id AS before, :t1.out_o_id AS entered",
        ),
    ];
    begin.into_iter().chain(end).collect()
}
