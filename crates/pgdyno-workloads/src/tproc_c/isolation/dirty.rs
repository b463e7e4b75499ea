//! Tests 1 and 2: Order-Status does not see an uncommitted order.

use pgdyno_workload::{Scenario, ScenarioStep};

use super::{NEW_ORDER, ORDER_STATUS, draw};

pub(super) fn scenarios() -> [Scenario; 2] {
    let scenario =
        |clause, title, end| Scenario { clause, title, remark: None, steps: steps(end), restore: Vec::new() };
    [
        scenario(
            "3.4.2.1",
            "Order-Status sees a New-Order only once it has committed",
            [
                ScenarioStep::Commit("T1"),
                ScenarioStep::fetch("T3", ORDER_STATUS, "t3"),
                ScenarioStep::holds(
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
                ScenarioStep::Rollback("T1"),
                ScenarioStep::fetch("T3", ORDER_STATUS, "t3"),
                ScenarioStep::holds(
                    "after the rollback, Order-Status finds the order from before T1",
                    "SELECT :t3.out_o_id::int IS NOT DISTINCT FROM :t0.out_o_id::int,
       :t3.out_o_id AS found, :t0.out_o_id AS before",
                ),
            ],
        ),
    ]
}

fn steps(end: [ScenarioStep; 3]) -> Vec<ScenarioStep> {
    let begin = [
        draw(),
        ScenarioStep::fetch("T0", ORDER_STATUS, "t0"),
        ScenarioStep::Begin("T1"),
        ScenarioStep::fetch("T1", NEW_ORDER, "t1"),
        // It is not blocked, which the clause allows.
        ScenarioStep::fetch("T2", ORDER_STATUS, "t2"),
        ScenarioStep::holds(
            "before the end of T1, Order-Status finds the order from before T1",
            "SELECT :t2.out_o_id::int IS NOT DISTINCT FROM :t0.out_o_id::int
       AND :t2.out_i_ids::int[] IS NOT DISTINCT FROM :t0.out_i_ids::int[],
       :t2.out_o_id AS found, :t0.out_o_id AS before, :t1.out_o_id AS entered",
        ),
    ];
    begin.into_iter().chain(end).collect()
}
