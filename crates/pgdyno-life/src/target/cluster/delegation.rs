//! Finds out whether calls are sent to the node of their rows, by means of a call that only reads.

use pgdyno_net::{Admin, AdminError, ConnectOptions};
use pgdyno_plan::Plan;
use pgdyno_wire::{QueryMode, Statement};
use pgdyno_workload::{Capabilities, ReadOnlyCall, Workload};

use super::{anchor, is_call, table_literal};
use crate::exit_code::Code;
use crate::failure::{CommandError, Result};

/// Number of executions of a prepared call: PostgreSQL may switch to a generic plan after five.
const TRIES: usize = 8;

/// Returns whether calls are sent to the node of their rows, as a read-only call shows, and the explanation.
pub(super) fn find(
    admin: &mut Admin,
    options: &ConnectOptions,
    caps: &Capabilities,
    workload: &Workload,
    plan: &Plan,
) -> Result<(Option<bool>, String)> {
    let unknown = |why: &str| Ok((None, why.to_owned()));
    let table = match anchor(workload, caps) {
        Some((table, true)) => table,
        Some((_, false)) => return unknown("the workload calls no procedures or functions"),
        None => return unknown("the workload distributes no table"),
    };
    let key = match admin.query_opt(&elsewhere_sql(table, workload.scale)) {
        Ok(key) => key.and_then(|key| key.parse().ok()),
        Err(error) if error.is_lost() => return Err(CommandError::new(Code::Start, error)),
        Err(_) => return Ok((Some(false), format!("table {table} is on one node alone: it was not distributed"))),
    };
    let Some(key) = key else {
        return unknown("all rows are on the node that the clients are connected to");
    };
    let mut routines = workload.data.iter().flat_map(|data| data.routines(caps).list);
    let Some(ReadOnlyCall { statement, parameters }) = routines.find_map(|routine| routine.read_only_call) else {
        if workload.drive.txns().iter().all(|txn| txn.queries <= 1) {
            return unknown("each transaction is one statement, and there is no call to delegate");
        }
        let why = "the statements of a transaction are the client's, and all of them go through the node that it is \
                   connected to";
        return Ok((Some(false), why.to_owned()));
    };
    let values: Vec<i64> = std::iter::once(key).chain(parameters).collect();
    let what = if is_call(statement.sql()) { "CALL" } else { "a function call" };
    let how = match plan.drive.mode {
        QueryMode::Simple => "with literals",
        QueryMode::Extended => "with bound parameters",
        QueryMode::Prepared => "prepared, with bound parameters",
    };
    let (sent, tries) = match probe(options, &statement, &values, plan.drive.mode) {
        Ok(counted) => counted,
        Err(ProbeError::Connect(error)) => return Err(CommandError::new(Code::Start, error)),
        Err(ProbeError::Asked(error)) => return Ok((None, format!("the probe failed: {error}"))),
    };
    Ok((Some(sent == tries), format!("{what} {how}: {sent} of {tries} were sent to the node of their rows")))
}

enum ProbeError {
    Connect(pgdyno_net::ConnectError),
    Asked(AdminError),
}

/// Executes calls on a separate connection; returns how many of them the server says it has sent to another node.
fn probe(
    options: &ConnectOptions,
    statement: &Statement,
    values: &[i64],
    mode: QueryMode,
) -> std::result::Result<(usize, usize), ProbeError> {
    let mut admin = Admin::connect(options).map_err(ProbeError::Connect)?;
    admin.keep_notices();
    let texts: Vec<String> = values.iter().map(ToString::to_string).collect();
    let parameters: Vec<&str> = texts.iter().map(String::as_str).collect();
    let mut ask = |sql: &str| admin.query(sql).map(drop).map_err(ProbeError::Asked);
    ask("set client_min_messages = debug1")?;
    let tries = match mode {
        QueryMode::Simple => {
            ask(&with_literals(statement.sql(), &texts))?;
            1
        }
        QueryMode::Extended => {
            admin.query_with(statement.sql(), &parameters).map_err(ProbeError::Asked)?;
            1
        }
        QueryMode::Prepared => {
            let types = vec!["int"; texts.len()].join(", ");
            ask(&format!("prepare pgdyno_probe ({types}) as {}", statement.sql()))?;
            for _ in 0..TRIES {
                ask(&format!("execute pgdyno_probe ({})", texts.join(", ")))?;
            }
            TRIES
        }
    };
    let sent = admin.take_notices().iter().filter(|notice| is_sent_on(&notice.message)).count();
    Ok((sent, tries))
}

/// What Citus reports when it delegates a call.
fn is_sent_on(notice: &str) -> bool {
    notice.starts_with("pushing down the procedure") || notice.starts_with("pushing down the function call")
}

/// Returns the statement with integers in place of `$1`, `$2`, …
fn with_literals(sql: &str, values: &[String]) -> String {
    // Starts with the last one, so that $1 is not found in $10.
    (1..=values.len()).rev().fold(sql.to_owned(), |sql, nth| sql.replace(&format!("${nth}"), &values[nth - 1]))
}

/// Returns the first unit of the scale that is on another node.
fn elsewhere_sql(table: &str, scale: u64) -> String {
    format!(
        "select unit from generate_series(1, {scale}) as unit \
         join pg_dist_placement on shardid = get_shard_id_for_distribution_column({}, unit) \
         where groupid <> (select groupid from pg_dist_local_group) order by 1 limit 1",
        table_literal(table)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_elsewhere_is_asked_for_in_these_words() {
        assert_eq!(
            elsewhere_sql("warehouse", 100),
            "select unit from generate_series(1, 100) as unit \
             join pg_dist_placement on shardid = get_shard_id_for_distribution_column('\"warehouse\"', unit) \
             where groupid <> (select groupid from pg_dist_local_group) order by 1 limit 1"
        );
    }

    #[test]
    fn a_call_is_written_out_and_its_delegation_received() {
        let values = ["7", "1", "15"].map(str::to_owned);
        assert_eq!(with_literals("CALL pgdyno_stock_level($1, $2, $3)", &values), "CALL pgdyno_stock_level(7, 1, 15)");
        assert!(is_call("CALL f(1)") && is_call("call f()") && !is_call("SELECT 1") && !is_call("cal"));
        assert!(is_sent_on("pushing down the procedure") && is_sent_on("pushing down the function call"));
        assert!(!is_sent_on("cannot push down CALL in multi-statement transaction"));
    }
}
