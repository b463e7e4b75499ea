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
#[expect(dead_code, reason = "shared with the tests of other crates")]
#[path = "../../../pgdyno-net/tests/real/server.rs"]
mod server;
mod side_by_side;
#[path = "../../../pgdyno-net/tests/real/skipped.rs"]
mod skipped;
