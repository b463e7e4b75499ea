//! Plans of the workload's queries, explained after the measured time.

use pgdyno_net::{Admin, AdminError, ConnectError, ConnectOptions, Stop};
use pgdyno_results::QueryPlanRecord;
use pgdyno_workload::Explained;
use serde_json::{Value, json};

use crate::events::EventSink;
use crate::exit_code::Code;
use crate::failure::CommandError;

/// What EXPLAIN said of each query.
pub(crate) struct QueryPlans {
    /// Shapes and times, for the record.
    pub(crate) shapes: Vec<QueryPlanRecord>,
    /// Each query with its text and its whole plan, as JSON.
    pub(crate) whole: Value,
}

/// Explains each query once in a session of its own, until `stop` is set. A query that fails, such as one that takes too
/// long, is planned but not executed.
///
/// # Errors
/// When the server cannot be reached, or the connection is lost.
pub(crate) fn explain(
    options: &ConnectOptions,
    explained: &Explained,
    stop: &Stop,
    events: &dyn EventSink,
) -> Result<QueryPlans, String> {
    let mut admin = Admin::connect(options).map_err(|error: ConnectError| error.to_string())?;
    // Each query runs once, to its end.
    admin.wait_without_limit();
    if let Some(setup) = &explained.setup {
        admin.execute(setup).map_err(|error| error.to_string())?;
    }
    let (mut shapes, mut whole) = (Vec::new(), Vec::new());
    for (nth, (query, sql)) in explained.queries.iter().enumerate() {
        if stop.is_requested() {
            break;
        }
        events.note(&format!("explaining {query} ({} of {})", nth + 1, explained.queries.len()));
        let (shape, plan) = one(&mut admin, query, sql).map_err(|error| error.to_string())?;
        whole.push(json!({ "query": query, "sql": sql, "error": shape.error, "explain": plan }));
        shapes.push(shape);
    }
    Ok(QueryPlans { shapes, whole: Value::Array(whole) })
}

/// The part of a Citus plan that moves rows between nodes for a join.
const REPARTITION: &str = "MapMergeJob";

/// Refuses a run whose queries a server with distributed tables cannot plan. All of them are named. Returns the queries that
/// move rows between the nodes.
///
/// # Errors
/// When there is such a query, or the connection is lost.
pub(crate) fn admit(admin: &mut Admin, explained: &Explained) -> Result<Vec<String>, CommandError> {
    let (mut refused, mut repartitioned) = (Vec::new(), Vec::new());
    for (query, sql) in &explained.queries {
        match admin.query(&format!("EXPLAIN {sql}")) {
            Ok(plan) => {
                let mut lines = plan.rows.iter().flatten().flatten();
                if lines.any(|line| line.contains(REPARTITION)) {
                    repartitioned.push((*query).to_owned());
                }
            }
            Err(error) if error.is_lost() => return Err(CommandError::new(Code::Run, error)),
            Err(error) => refused.push((*query, error.reason())),
        }
    }
    let names: Vec<_> = explained.queries.iter().map(|(query, _)| *query).collect();
    refusal(&names, &refused).map_or(Ok(repartitioned), Err)
}

/// Returns the error for the refused queries, a line for each with the server's words, and the others as the remedy.
fn refusal(all: &[&str], refused: &[(&str, String)]) -> Option<CommandError> {
    let words: Vec<_> = refused.iter().map(|(query, why)| format!("\n  {query}: {why}")).collect();
    let number = |query: &&str| query.trim_start_matches('q').to_owned();
    let others: Vec<_> =
        all.iter().filter(|query| refused.iter().all(|(other, _)| other != *query)).map(number).collect();
    if words.is_empty() {
        return None;
    }
    let error = format!(
        "the server cannot run {} of {} queries on these distributed tables:{}",
        words.len(),
        all.len(),
        words.concat()
    );
    let failure = CommandError::new(Code::Start, error);
    Some(match others.is_empty() {
        true => failure,
        false => failure.hint(format!("run the others with --queries {}", others.join(","))),
    })
}

/// Explains a query. An error means that the connection is lost.
fn one(admin: &mut Admin, query: &str, sql: &str) -> Result<(QueryPlanRecord, Value), AdminError> {
    let mut why = None;
    for options in ["ANALYZE, BUFFERS, FORMAT JSON", "FORMAT JSON"] {
        match admin.query_one(&format!("EXPLAIN ({options}) {sql}")) {
            Ok(text) => {
                // What is no JSON has no shape, and is kept as text.
                let plan = serde_json::from_str(&text).unwrap_or(Value::String(text));
                let shape = QueryPlanRecord { error: why, ..QueryPlanRecord::of_explain(query, &plan) };
                return Ok((shape, plan));
            }
            Err(error) if error.is_lost() => return Err(error),
            Err(error) => why = why.or_else(|| Some(error.to_string())),
        }
    }
    Ok((QueryPlanRecord { query: query.to_owned(), error: why, ..QueryPlanRecord::default() }, Value::Null))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_that_cannot_run_are_named_and_the_others_are_the_remedy() {
        assert!(refusal(&["q1", "q2"], &[]).is_none());
        let why = |query| (query, "complex joins are not supported".to_owned());
        let failure = refusal(&["q1", "q13", "q6", "q17"], &[why("q13"), why("q17")]).unwrap();
        assert_eq!(
            failure.text(),
            "the server cannot run 2 of 4 queries on these distributed tables:\n  q13: complex joins are not supported\n  \
             q17: complex joins are not supported"
        );
        assert_eq!(failure.remedy().as_deref(), Some("run the others with --queries 1,6"));
    }
}
