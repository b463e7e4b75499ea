//! What to do about the errors of transactions.

use pgdyno_net::remedy;
use pgdyno_results::ErrorRecord;
use pgdyno_wire::SqlState;
use pgdyno_wire::backend::ServerMessage;

/// Returns the remedy for each error that has one.
pub(crate) fn remedies(errors: &[ErrorRecord]) -> Vec<String> {
    errors.iter().filter_map(of_one).collect()
}

fn of_one(error: &ErrorRecord) -> Option<String> {
    let code = SqlState::from_bytes(error.sqlstate.as_bytes());
    let text = error.text();
    let text = text.split_once(": ").map_or(text.as_str(), |(_, message)| message);
    let remedy = remedy(&ServerMessage { code, message: text.to_owned(), ..ServerMessage::default() })?;
    Some(format!("hint for error {code}: {remedy}"))
}
