//! The balance identity: a run adds the same to all sums.
//!
//! The sums themselves may differ before the run: `simple-update`, or pgbench's `-N`, leaves branches and tellers
//! alone, and a run begins by emptying the history. So each check is a difference of sums, computed after
//! [`before_run`](pgdyno_workload::DataSet::before_run) and again after the run, and must not have changed. Right
//! after the load all sums are zero, so the identity itself holds.

use pgdyno_workload::{Check, CheckCost, Expect};

use super::script::Builtin;

pub(super) fn checks(builtin: Builtin) -> Vec<Check> {
    let check = |name, condition, cost, expect, sql: &str| Check {
        name,
        condition,
        sql: sql.to_owned().into(),
        parts: None,
        screen: None,
        expect,
        cost,
    };
    let branches_and_tellers = match builtin {
        Builtin::TpcbLike => check(
            "branches-tellers-history",
            "sum(bbalance), sum(tbalance) and sum(history.delta) grow alike",
            CheckCost::Cheap,
            Expect::UnchangedByRun,
            "select b.sum - h.sum as branches_minus_history, t.sum - h.sum as tellers_minus_history \
             from (select coalesce(sum(bbalance), 0) as sum from pgbench_branches) b, \
             (select coalesce(sum(tbalance), 0) as sum from pgbench_tellers) t, \
             (select coalesce(sum(delta), 0) as sum from pgbench_history) h",
        ),
        Builtin::SimpleUpdate | Builtin::SelectOnly => check(
            "branches-tellers",
            "sum(bbalance) and sum(tbalance) stay as they are",
            CheckCost::Cheap,
            Expect::UnchangedByRun,
            "select b.sum as branches, t.sum as tellers \
             from (select coalesce(sum(bbalance), 0) as sum from pgbench_branches) b, \
             (select coalesce(sum(tbalance), 0) as sum from pgbench_tellers) t",
        ),
    };
    vec![
        branches_and_tellers,
        check(
            "tellers-branches",
            "sum(tbalance) = sum(bbalance)",
            CheckCost::Cheap,
            Expect::ZeroSinceLoad { unless_emptied: None },
            "select (select coalesce(sum(tbalance), 0) from pgbench_tellers) \
             - (select coalesce(sum(bbalance), 0) from pgbench_branches) as tellers_minus_branches",
        ),
        check(
            "accounts-history",
            "sum(abalance) grows by sum(history.delta)",
            CheckCost::Expensive,
            // A run begins by emptying it.
            Expect::ZeroSinceLoad { unless_emptied: Some("pgbench_history") },
            "select a.sum - h.sum as accounts_minus_history \
             from (select coalesce(sum(abalance), 0) as sum from pgbench_accounts) a, \
             (select coalesce(sum(delta), 0) as sum from pgbench_history) h",
        ),
    ]
}
