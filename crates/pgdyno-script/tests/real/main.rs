//! The script language beside the installed pgbench: the same values, the same draws, the same words for the same
//! mistakes, the same commands. Where no pgbench is installed, these tests are skipped and counted.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod commands;
mod expressions;
mod malformed;
#[expect(clippy::disallowed_methods, reason = "a real server is waited for")]
mod pgbench;

use pgdyno_testing::{postgres, skipped};
