//! Plans of the workload's queries, explained after the measured time.

use std::sync::atomic::{AtomicBool, Ordering};

use pgdyno_net::{Admin, AdminError, ConnectError, ConnectOptions};
use pgdyno_results::QueryPlanRecord;
use pgdyno_workload::Explained;
use serde_json::{Value, json};

use crate::events::EventSink;

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
    stop: &AtomicBool,
    events: &dyn EventSink,
) -> Result<QueryPlans, String> {
    let mut admin = Admin::connect(options).map_err(|error: ConnectError| error.to_string())?;
    if let Some(setup) = &explained.setup {
        admin.execute(setup).map_err(|error| error.to_string())?;
    }
    let (mut shapes, mut whole) = (Vec::new(), Vec::new());
    for (nth, (query, sql)) in explained.queries.iter().enumerate() {
        if stop.load(Ordering::Acquire) {
            break;
        }
        events.note(&format!("explaining {query} ({} of {})", nth + 1, explained.queries.len()));
        let (shape, plan) = one(&mut admin, query, sql).map_err(|error| error.to_string())?;
        whole.push(json!({ "query": query, "sql": sql, "error": shape.error, "explain": plan }));
        shapes.push(shape);
    }
    Ok(QueryPlans { shapes, whole: Value::Array(whole) })
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
