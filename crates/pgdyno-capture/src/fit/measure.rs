//! What a statement does with some values: rows and blocks of a call.

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
        /// The statement there.
        queryid: String,
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
        Way::Count { view, queryid } => counted(copy, all, view, queryid)?,
    };
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
        let options = "ANALYZE, BUFFERS, TIMING OFF, COSTS OFF, SUMMARY OFF";
        let plan = match copy.explain("measure a statement", options, &execution(values))? {
            Ok(plan) => plan,
            Err(why) => return Ok(Err(why)),
        };
        let one = of_plan(&plan["Plan"]);
        sum = PerCall { rows: sum.rows + one.rows, blocks: sum.blocks + one.blocks };
    }
    let calls = all.len().max(1) as f64;
    Ok(Ok(PerCall { rows: sum.rows / calls, blocks: sum.blocks / calls }))
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

fn counted(copy: &mut Copy, all: &[Values], view: &str, queryid: &str) -> Result<Result<PerCall, Refusal>, FitError> {
    let sql = format!(
        "SELECT coalesce(sum(calls), 0), coalesce(sum(rows), 0), coalesce(sum(shared_blks_hit + shared_blks_read), 0) \
         FROM {view}(false) WHERE queryid = {queryid}"
    );
    let read = |copy: &mut Copy| -> Result<[f64; 3], FitError> {
        let row = copy.ask("read pg_stat_statements", &sql)?.into_iter().next().unwrap_or_default();
        let mut cells = row.into_iter().map(|cell| cell.and_then(|cell| cell.parse().ok()).unwrap_or_default());
        Ok([0; 3].map(|_: i32| cells.next().unwrap_or_default()))
    };
    let before = read(copy)?;
    for values in all {
        if let Err(why) = copy.try_to("measure a statement", &execution(values))? {
            return Ok(Err(why));
        }
    }
    let after = read(copy)?;
    let calls = after[0] - before[0];
    if calls <= 0.0 {
        return explained(copy, all);
    }
    Ok(Ok(PerCall { rows: (after[1] - before[1]) / calls, blocks: (after[2] - before[2]) / calls }))
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
