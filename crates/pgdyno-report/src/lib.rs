//! Renders run records for people and for programs. Each format is a file with a pure function of the record. A new run
//! and `pgdyno report` use the same functions.
//!
//! A new format is a file with a `render` function and a row in [`FORMATS`].

pub mod ab;
mod analytics;
pub mod compare;
mod cost;
mod csv;
mod cycle;
mod describe;
mod diagnosis;
mod difference;
mod drawing;
mod faults;
pub mod fidelity;
pub mod flame;
pub mod forms;
pub mod frontier;
mod group_name;
mod groups;
pub mod guide;
pub mod history;
pub mod html;
mod json;
mod latency_table;
pub mod ledger;
mod machine;
mod markdown;
mod metric;
pub mod plan;
mod query_costs;
mod readers;
mod recipe;
mod rules;
pub mod runs;
pub mod scaling;
#[cfg(feature = "schema")]
pub mod schemas;
pub mod search;
mod steady;
pub mod stored;
pub mod studies;
pub mod suite;
mod sysbench;
mod tasks;
mod text;
mod time_profile;
mod trust;
mod ycsb;

use std::io::{self, Write};

use pgdyno_results::RunRecord;
use pgdyno_text::TextStyle;

pub use recipe::{recipe, recipes};
pub use text::answer;

/// How much is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// As much as fits into a summary of 80 columns.
    Short,
    /// All of it.
    Full,
}

/// Renders a record.
pub type RenderRecord = fn(&RunRecord, TextStyle, &mut dyn Write) -> io::Result<()>;

/// All formats by name.
pub const FORMATS: &[(&str, RenderRecord)] = &[
    ("text", text::render),
    ("json", json::render),
    ("csv", csv::render),
    ("markdown", markdown::render),
    ("html", html::render),
    ("time-profile", time_profile::render),
    ("ycsb", ycsb::render),
    ("sysbench", sysbench::render),
];

/// Returns the renderer of a format.
#[must_use]
pub fn format(name: &str) -> Option<RenderRecord> {
    FORMATS.iter().find(|(known, _)| *known == name).map(|(_, render)| *render)
}
