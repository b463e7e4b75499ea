//! Reports, progress lines and logs, held against those of an installed pgbench.
//!
//! pgbench's own log of a run is read back, counted by this crate, and the report of those counts must be the one
//! that pgbench printed for that run. What is in no log (durations, what commands took) is taken from the printed
//! report.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod log;
mod progress;
mod read;
mod report;
mod support;

use pgdyno_testing::{postgres, skipped};
