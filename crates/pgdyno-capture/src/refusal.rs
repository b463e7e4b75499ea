//! Errors of a server: a query that failed, and why a statement is refused.

use pgdyno_net::AdminError;
use pgdyno_wire::SqlState;

/// A query that the server refused, or whose connection was lost.
#[derive(Debug, thiserror::Error)]
#[error("failed to {about}: {source}")]
pub struct QueryError {
    /// What the query was for.
    pub about: &'static str,
    /// The error.
    pub source: Box<AdminError>,
}

impl QueryError {
    pub(crate) fn new(about: &'static str, source: AdminError) -> Self {
        Self { about, source: Box::new(source) }
    }
}

/// Why a statement of a capture is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The server's code; `None` if pgdyno itself refuses it.
    pub code: Option<SqlState>,
    /// The reason, without values of the user.
    pub words: String,
    /// The place in the query of which the server complains, in characters from 0.
    pub(crate) position: Option<usize>,
    /// The number of the parameter of which it complains.
    pub(crate) parameter: Option<u32>,
}

impl Refusal {
    /// Returns the refusal of the server. Its message is left out where it may quote a value: it is kept for errors in the statement and
    /// in its surroundings only.
    pub(crate) fn of(error: &AdminError) -> Self {
        let code = error.code();
        let has_values = code.is_some_and(|code| {
            !matches!(code.as_str().get(..2), Some("0A" | "25" | "42" | "53" | "54" | "55" | "57"))
        });
        let words = match code {
            Some(code) if has_values => format!("the server refuses the values that were found (SQLSTATE {code})"),
            _ => error.reason(),
        };
        let (position, parameter) = match error {
            AdminError::Server { message, .. } => {
                (message.position.and_then(|position| (position as usize).checked_sub(1)), parameter(&message.message))
            }
            _ => (None, None),
        };
        Self { code, words, position, parameter }
    }

    /// Returns true if a table or a function is not there, or in a schema that the search path does not have.
    pub(crate) fn is_not_found(&self) -> bool {
        self.is("42P01") || self.is("42883")
    }

    /// Returns true if the server's code is this one.
    pub(crate) fn is(&self, code: &str) -> bool {
        self.code.is_some_and(|this| this.as_str() == code)
    }
}

impl From<String> for Refusal {
    fn from(words: String) -> Self {
        Self { code: None, words, position: None, parameter: None }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.words)
    }
}

/// Returns the number of the first parameter that a message names, in any language.
fn parameter(message: &str) -> Option<u32> {
    let mut after = message.split('$').skip(1);
    after.find_map(|text| {
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        text[..digits].parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_a_parameter() {
        assert_eq!(parameter("could not determine data type of parameter $12"), Some(12));
        assert_eq!(parameter("konnte Datentyp von Parameter »$3« nicht ermitteln"), Some(3));
        assert_eq!(parameter("function unnest(unknown) is not unique"), None);
    }
}
