//! A cell of a table, its type, and its text in CSV.

use jiff::Timestamp;

/// Type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    /// Text.
    Text,
    /// A time, UTC.
    Time,
    /// A whole number.
    Count,
    /// A number; in CSV with this many decimals.
    Number(usize),
    /// A boolean.
    Flag,
    /// An object, as JSON.
    Json,
}

/// A value of a row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    /// Not measured, or unknown.
    Missing,
    Text(String),
    Time(Timestamp),
    Count(u64),
    Number(f64),
    Flag(bool),
    Json(serde_json::Value),
}

impl From<&str> for Cell {
    /// An empty text is no value.
    fn from(text: &str) -> Self {
        if text.is_empty() { Self::Missing } else { Self::Text(text.to_owned()) }
    }
}

impl From<u64> for Cell {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<f64> for Cell {
    /// A value that is no number was not measured.
    fn from(number: f64) -> Self {
        if number.is_finite() { Self::Number(number) } else { Self::Missing }
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Missing, Into::into)
    }
}

impl Cell {
    /// Returns its text in CSV, without quotes; a text is one line.
    pub(crate) fn text(&self, kind: CellKind) -> String {
        match (self, kind) {
            (Self::Missing, _) => String::new(),
            // A line is a row, also for tools that ignore quotes.
            (Self::Text(text), _) => text.lines().collect::<Vec<_>>().join(" "),
            (Self::Time(time), _) => time.to_string(),
            (Self::Count(count), _) => count.to_string(),
            (Self::Number(number), CellKind::Number(decimals)) => format!("{number:.decimals$}"),
            (Self::Number(number), _) => number.to_string(),
            (Self::Flag(flag), _) => flag.to_string(),
            (Self::Json(json), _) => json.to_string(),
        }
    }
}
