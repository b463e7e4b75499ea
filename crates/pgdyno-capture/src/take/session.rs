//! The connection of a capture, and what it costs.

use std::time::{Duration, Instant};

use pgdyno_net::{Admin, AdminError, ConnectOptions};

use super::TakeError;
use crate::form::CaptureCost;
use crate::refusal::QueryError;

/// Marks the capture's own statements, which are no part of it. It follows their first word: PostgreSQL may cut off a comment before it.
pub(super) const MARK: &str = "/* pgdyno capture */";

/// Its `application_name`.
const NAME: &str = "pgdyno capture";

/// How long an answer may take: the texts of 5,000 statements are read from a file.
const ANSWER: Duration = Duration::from_secs(60);

/// Returns true if the text is of the capture itself.
pub(super) fn is_own(text: &str) -> bool {
    text.contains(MARK)
}

/// Rows of an answer.
pub(super) type Rows = Vec<Vec<Option<String>>>;

/// The connection. It sets nothing: behind a pooler a setting would stay for the application.
pub(super) struct Session {
    options: ConnectOptions,
    admin: Admin,
    queries: u64,
    waited: Duration,
    waited_max: Duration,
}

impl Session {
    pub(super) fn open(options: &ConnectOptions) -> Result<Self, TakeError> {
        let options = options.with_application_name(NAME).with_answer_timeout(ANSWER);
        let admin = Admin::connect(&options)?;
        Ok(Self { options, admin, queries: 0, waited: Duration::ZERO, waited_max: Duration::ZERO })
    }

    /// Executes a query.
    pub(super) fn ask(&mut self, about: &'static str, sql: &str) -> Result<Rows, TakeError> {
        self.answer(sql).map_err(|source| QueryError::new(about, source).into())
    }

    /// Executes a query that the server may refuse. `None` if it does.
    pub(super) fn ask_or_none(&mut self, about: &'static str, sql: &str) -> Result<Option<Rows>, TakeError> {
        match self.answer(sql) {
            Ok(rows) => Ok(Some(rows)),
            Err(source) if source.is_lost() && !is_slow(&source) => Err(QueryError::new(about, source).into()),
            Err(_) => Ok(None),
        }
    }

    /// Asks once more over a new connection if this one was lost, as at a failover: the window may have taken hours. What took too long,
    /// or was too large, would be so again.
    fn answer(&mut self, sql: &str) -> Result<Rows, AdminError> {
        match self.answer_once(sql) {
            Err(error) if error.is_lost() => match Admin::connect(&self.options) {
                Ok(admin) => {
                    self.admin = admin;
                    if is_slow(&error) { Err(error) } else { self.answer_once(sql) }
                }
                Err(_) => Err(error),
            },
            answer => answer,
        }
    }

    fn answer_once(&mut self, sql: &str) -> Result<Rows, AdminError> {
        let began = Instant::now();
        let rows = self.admin.query(sql);
        let waited = began.elapsed();
        self.queries += 1;
        self.waited += waited;
        self.waited_max = self.waited_max.max(waited);
        rows.map(|rows| rows.rows)
    }

    pub(super) fn cost(&self) -> CaptureCost {
        CaptureCost {
            queries: self.queries,
            waited_s: self.waited.as_secs_f64(),
            waited_max_s: self.waited_max.as_secs_f64(),
        }
    }
}

/// Returns true if the answer took longer, or was larger, than any that is waited for.
fn is_slow(error: &AdminError) -> bool {
    matches!(error, AdminError::Silent { .. } | AdminError::TooLarge { .. })
}

/// Returns a cell as a number, 0 where there is none.
pub(super) fn number(cell: Option<&Option<String>>) -> f64 {
    cell.and_then(|cell| cell.as_ref()?.parse().ok()).unwrap_or_default()
}

/// Returns a cell as text, empty where there is none.
pub(super) fn text(cell: Option<&Option<String>>) -> String {
    cell.cloned().flatten().unwrap_or_default()
}

/// Returns true if the cell is true.
pub(super) fn is_true(cell: Option<&Option<String>>) -> bool {
    cell.is_some_and(|cell| cell.as_deref() == Some("t"))
}
