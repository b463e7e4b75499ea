//! pgdyno beside the installed pgbench: the same command lines, the same words, the same tables.
//!
//! The reference is pgbench 18. Where an older one is installed, what it does otherwise is listed, and must differ.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

mod command_lines;
mod connect;
mod drop_in;
mod errors;
mod init;
mod init_jobs;
mod programs;
mod side_by_side;

use pgdyno_testing::{postgres, server, skipped};
