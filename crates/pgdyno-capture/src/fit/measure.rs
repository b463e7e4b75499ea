//! What a statement does with some values: rows and blocks of a call.

use std::collections::BTreeMap;
use std::time::Instant;

use pgdyno_net::quote;
use serde_json::Value;

use super::copy::{Copy, FitError};
use super::values::Values;
use crate::refusal::Refusal;

/// The name of the statement that is measured.
pub(super) const NAME: &str = "pgdyno_fit";

/// Rows and blocks of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct PerCall {
    /// Rows returned or changed.
    pub(super) rows: f64,
    /// Blocks found in shared buffers or read.
    pub(super) blocks: f64,
}

impl PerCall {
    /// Returns how far apart two are: the sum of the logarithms of both ratios, and the greater one again, so that two that are near are nearer
    /// than one that is equal while the other is far off. Less than a row or a block counts as nothing.
    pub(super) fn distance(self, other: Self) -> f64 {
        let apart = |a: f64, b: f64, least: f64| ((a + least) / (b + least)).ln().abs();
        let (rows, blocks) = (apart(self.rows, other.rows, 0.1), apart(self.blocks, other.blocks, 1.0));
        rows + blocks + rows.max(blocks)
    }

    /// Returns true if rows and blocks are within a factor of 2.
    pub(super) fn represents(self, other: Self) -> bool {
        let within =
            |a: f64, b: f64, least: f64| ((a + least) / (b + least)).ln().abs() <= std::f64::consts::LN_2 + 1e-9;
        within(self.rows, other.rows, 0.1) && within(self.blocks, other.blocks, 1.0)
    }

    /// Returns the mean of both, the first with this weight.
    pub(super) fn mixed(self, weight: f64, other: Self) -> Self {
        let mixed = |a: f64, b: f64| a * weight + b * (1.0 - weight);
        Self { rows: mixed(self.rows, other.rows), blocks: mixed(self.blocks, other.blocks) }
    }
}

/// Returns true if rows and blocks of a call are within a factor of 2 of those of another one.
#[must_use]
pub fn is_near([rows, blocks]: [f64; 2], [other_rows, other_blocks]: [f64; 2]) -> bool {
    PerCall { rows, blocks }.represents(PerCall { rows: other_rows, blocks: other_blocks })
}

/// How a statement is measured.
#[derive(Clone, Debug)]
pub(super) enum Way {
    /// By `EXPLAIN (ANALYZE, BUFFERS)`, in a transaction that only reads unless it writes or locks rows.
    Explain {
        /// Whether it does.
        writes: bool,
    },
    /// It writes: by what the server counts, which has the blocks of triggers and foreign keys. It is rolled back.
    Count {
        /// The view of the counters.
        view: String,
        /// The statement there; `None` if the server does not say it, as PostgreSQL 13.
        queryid: Option<String>,
    },
}

/// How a statement is measured, and for how long an execution may take.
#[derive(Clone, Debug)]
pub(super) struct Method {
    pub(super) way: Way,
    pub(super) patience_ms: f64,
}

/// Returns the means over these executions, or why the server refuses one.
pub(super) fn measure(copy: &mut Copy, method: &Method, all: &[Values]) -> Result<Result<PerCall, Refusal>, FitError> {
    let Method { way, patience_ms } = method;
    let about = "measure a statement";
    let begin = if matches!(way, Way::Explain { writes: false }) { "BEGIN READ ONLY" } else { "BEGIN" };
    copy.execute(about, &format!("{begin}; SET LOCAL statement_timeout = {patience_ms:.0}"))?;
    let measured = match way {
        Way::Explain { .. } => explained(copy, all)?,
        Way::Count { view, queryid } => counted(copy, all, view, queryid.as_deref())?,
    };
    copy.execute(about, "ROLLBACK")?;
    Ok(measured)
}

/// Returns what the statement does in each of these executions, until one is refused or this time has come.
pub(super) fn measure_each(
    copy: &mut Copy,
    method: &Method,
    all: &[Values],
    until: Instant,
) -> Result<Vec<PerCall>, FitError> {
    let about = "measure a statement";
    copy.execute(about, &format!("BEGIN READ ONLY; SET LOCAL statement_timeout = {:.0}", method.patience_ms))?;
    let mut measured = Vec::new();
    for values in all {
        let Ok(per_call) = explained_once(copy, values)? else { break };
        measured.push(per_call);
        if Instant::now() > until {
            break;
        }
    }
    copy.execute(about, "ROLLBACK")?;
    Ok(measured)
}

/// Returns the SQL of an execution with these values.
pub(super) fn execution(values: &[Option<String>]) -> String {
    if values.is_empty() {
        return format!("EXECUTE {NAME}");
    }
    format!("EXECUTE {NAME}({})", literals(values))
}

/// Returns values as SQL.
pub(super) fn literals(values: &[Option<String>]) -> String {
    let literal = |value: &Option<String>| value.as_deref().map_or_else(|| "NULL".to_owned(), quote::literal);
    values.iter().map(literal).collect::<Vec<_>>().join(", ")
}

fn explained(copy: &mut Copy, all: &[Values]) -> Result<Result<PerCall, Refusal>, FitError> {
    let mut sum = PerCall::default();
    for values in all {
        let one = match explained_once(copy, values)? {
            Ok(one) => one,
            Err(why) => return Ok(Err(why)),
        };
        sum = PerCall { rows: sum.rows + one.rows, blocks: sum.blocks + one.blocks };
    }
    let calls = all.len().max(1) as f64;
    Ok(Ok(PerCall { rows: sum.rows / calls, blocks: sum.blocks / calls }))
}

fn explained_once(copy: &mut Copy, values: &Values) -> Result<Result<PerCall, Refusal>, FitError> {
    let options = "ANALYZE, BUFFERS, TIMING OFF, COSTS OFF, SUMMARY OFF";
    let plan = copy.explain("measure a statement", options, &execution(values))?;
    Ok(plan.map(|plan| of_plan(&plan["Plan"])))
}

/// Returns what a plan did: the rows of its first node, or those that it wrote.
fn of_plan(node: &Value) -> PerCall {
    let number = |node: &Value, key: &str| node[key].as_f64().unwrap_or_default();
    let rows = |node: &Value| number(node, "Actual Rows") * number(node, "Actual Loops");
    let written = match node["Node Type"].as_str() {
        Some("ModifyTable") if rows(node) == 0.0 => node["Plans"].as_array().into_iter().flatten().map(rows).sum(),
        _ => rows(node),
    };
    PerCall { rows: written, blocks: number(node, "Shared Hit Blocks") + number(node, "Shared Read Blocks") }
}

/// Counters of statements by their identifiers: executions, rows and blocks.
type Counters = BTreeMap<String, [f64; 3]>;

fn counted(
    copy: &mut Copy,
    all: &[Values],
    view: &str,
    queryid: Option<&str>,
) -> Result<Result<PerCall, Refusal>, FitError> {
    let which = queryid.map_or_else(
        || {
            "userid = (SELECT oid FROM pg_roles WHERE rolname = current_user) \
             AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database())"
                .to_owned()
        },
        |queryid| format!("queryid = {queryid}"),
    );
    let sql = format!(
        "SELECT queryid, sum(calls), sum(rows), sum(shared_blks_hit + shared_blks_read) \
         FROM {view}(false) WHERE {which} GROUP BY queryid"
    );
    let before = counters(copy, &sql)?;
    for values in all {
        if let Err(why) = copy.try_to("measure a statement", &execution(values))? {
            return Ok(Err(why));
        }
    }
    let after = counters(copy, &sql)?;
    match per_call(&before, &after, queryid.is_none().then_some(all.len())) {
        Some(per_call) => Ok(Ok(per_call)),
        None => explained(copy, all),
    }
}

fn counters(copy: &mut Copy, sql: &str) -> Result<Counters, FitError> {
    let number = |cell: Option<&Option<String>>| cell.and_then(|cell| cell.as_ref()?.parse().ok()).unwrap_or_default();
    let rows = copy.ask("read pg_stat_statements", sql)?;
    let of = |row: Vec<Option<String>>| {
        let counted = [1, 2, 3].map(|at| number(row.get(at)));
        Some((row.into_iter().next()??, counted))
    };
    Ok(rows.into_iter().filter_map(of).collect())
}

/// Returns the means of the only statement that was executed meanwhile; so many times, if a number is given.
fn per_call(before: &Counters, after: &Counters, executions: Option<usize>) -> Option<PerCall> {
    let grown = |(queryid, now): (&String, &[f64; 3])| {
        let then = before.get(queryid).copied().unwrap_or_default();
        [0, 1, 2].map(|at: usize| now[at] - then[at])
    };
    let is_it =
        |[calls, ..]: &[f64; 3]| executions.map_or(*calls > 0.0, |executions| (calls - executions as f64).abs() < 0.5);
    let mut all = after.iter().map(grown).filter(is_it);
    let [calls, rows, blocks] = all.next()?;
    all.next().is_none().then_some(PerCall { rows: rows / calls, blocks: blocks / calls })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_plan_that_writes_has_the_rows_that_it_wrote() {
        let node = json!({ "Node Type": "ModifyTable", "Actual Rows": 0, "Actual Loops": 1, "Shared Hit Blocks": 9,
            "Shared Read Blocks": 1, "Plans": [{ "Node Type": "Index Scan", "Actual Rows": 3, "Actual Loops": 1 }] });
        assert_eq!(of_plan(&node), PerCall { rows: 3.0, blocks: 10.0 });
    }

    #[test]
    fn a_statement_without_an_identifier_is_the_only_one_that_was_executed_so_often() {
        let counters = |all: &[(&str, f64)]| -> Counters {
            all.iter().map(|(id, calls)| ((*id).to_owned(), [*calls, calls * 3.0, calls * 5.0])).collect()
        };
        let before = counters(&[("1", 7.0), ("2", 4.0)]);
        let after = counters(&[("1", 8.0), ("2", 10.0)]);
        let found = PerCall { rows: 3.0, blocks: 5.0 };
        assert_eq!(per_call(&before, &after, Some(6)), Some(found));
        assert_eq!(per_call(&before, &after, Some(5)), None);
        assert_eq!(per_call(&before, &counters(&[("1", 7.0), ("2", 10.0), ("3", 6.0)]), Some(6)), None, "two were");
        assert_eq!(per_call(&counters(&[]), &counters(&[("2", 6.0)]), None), Some(found));
        assert_eq!(per_call(&before, &before, None), None);
    }

    #[test]
    fn within_a_factor_of_two_it_is_represented() {
        let of = |rows, blocks| PerCall { rows, blocks };
        assert!(of(1.0, 10_848.0).represents(of(1.0, 6000.0)) && !of(1.0, 10_848.0).represents(of(1.0, 4.0)));
        assert!(of(0.0, 3.0).represents(of(0.05, 3.0)) && !of(0.0, 3.0).represents(of(1.0, 3.0)));
        assert!(of(10.0, 5.0).distance(of(10.0, 5.0)).abs() < 1e-9);
        let (balanced, equal_rows) = (of(7.0, 700.0), of(10.0, 1000.0));
        assert!(balanced.distance(of(10.0, 500.0)) < equal_rows.distance(of(10.0, 500.0)) - 0.2);
        assert_eq!(of(10.0, 4.0).mixed(0.25, of(2.0, 0.0)), of(4.0, 1.0));
    }
}
