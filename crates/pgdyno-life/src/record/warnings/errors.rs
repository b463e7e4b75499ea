//! What to do about the errors of transactions.

use pgdyno_net::remedy;
use pgdyno_plan::Plan;
use pgdyno_results::{ErrorRecord, Warning};
use pgdyno_wire::SqlState;
use pgdyno_wire::backend::ServerMessage;

/// The value of `timeout`, in seconds, with which sessions set no limit.
const UNLIMITED_S: f64 = 86_400.0;

/// Returns the remedy for each error that has one.
pub(crate) fn remedies(errors: &[ErrorRecord], plan: &Plan) -> Vec<Warning> {
    errors.iter().filter_map(|error| of_one(error, plan)).collect()
}

fn of_one(error: &ErrorRecord, plan: &Plan) -> Option<Warning> {
    let code = SqlState::from_bytes(error.sqlstate.as_bytes());
    let text = error.text();
    let text = text.split_once(": ").map_or(text.as_str(), |(_, message)| message);
    let advice = match code {
        SqlState::UNDEFINED_TABLE if has_own_scripts(plan) && plan.target.kind().is_private() => {
            "private servers start empty: use --target, or a directory with schema.sql".to_owned()
        }
        SqlState::QUERY_CANCELED if text.contains("statement timeout") && has_time_limit(plan) => {
            "the statement took longer than --timeout: give a larger one, or leave the query out of --queries".to_owned()
        }
        SqlState::READ_ONLY if !plan.drive.readers.is_empty() => {
            "a script that writes went to a reader: remove its mark (`read_only = true`, or the line `-- pgdyno: read_only`), or write \
             `read_only = false` below its [[script]]"
                .to_owned()
        }
        _ if !plan.drive.readers.is_empty() && text.contains("conflict with recovery") => {
            "set hot_standby_feedback = on at the reader, or raise max_standby_streaming_delay there, which lets it fall behind"
                .to_owned()
        }
        _ => remedy(&ServerMessage { code, message: text.to_owned(), ..ServerMessage::default() })?,
    };
    Some(Warning::TransactionError { sqlstate: code.to_string(), advice })
}

/// Returns true if the user's scripts run on data that they do not bring.
fn has_own_scripts(plan: &Plan) -> bool {
    !plan.scripts.is_empty() && plan.directory.is_none()
}

/// Returns true if the workload's own parameter limits the time of all statements.
fn has_time_limit(plan: &Plan) -> bool {
    let is_query_set = matches!(plan.workload.as_str(), "tproc-h" | "tproc-ds");
    is_query_set
        && plan
            .params
            .get("timeout")
            .and_then(|seconds| seconds.parse().ok())
            .is_some_and(|seconds: f64| seconds < UNLIMITED_S)
}
