//! What to do about the errors of transactions.

use pgdyno_net::remedy;
use pgdyno_results::{ErrorRecord, Warning};
use pgdyno_wire::SqlState;
use pgdyno_wire::backend::ServerMessage;

/// Returns the remedy for each error that has one.
pub(crate) fn remedies(errors: &[ErrorRecord]) -> Vec<Warning> {
    errors.iter().filter_map(of_one).collect()
}

fn of_one(error: &ErrorRecord) -> Option<Warning> {
    let code = SqlState::from_bytes(error.sqlstate.as_bytes());
    let text = error.text();
    let text = text.split_once(": ").map_or(text.as_str(), |(_, message)| message);
    let advice = remedy(&ServerMessage { code, message: text.to_owned(), ..ServerMessage::default() })?;
    Some(Warning::TransactionError { sqlstate: code.to_string(), advice })
}
