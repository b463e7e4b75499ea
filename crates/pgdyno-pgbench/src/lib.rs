//! pgbench's command line, texts and tables: what a drop-in for pgbench needs beside an engine.
//!
//! The reference is pgbench of PostgreSQL 18, with `--continue-on-error` of 19: options, messages and what is
//! sent to the server are its own, to the letter; differences are named where they are. This crate touches no
//! global of the process: arguments, environment, clock and writers are given to it, and it returns an exit code
//! and what is to be said.
//!
//! - [`options`]: arguments to [`options::Parsed`];
//! - [`messages`]: where output goes, and pgbench's way of saying what is wrong;
//! - [`connect`]: connecting as pgbench does, and refusals in libpq's words;
//! - [`mod@init`]: `pgbench -i`;
//! - [`report`], [`progress`], [`log`]: what a run prints and logs, from [`stats`] and each [`transaction`];
//! - [`Witness`]: who hears of a run beside, for `--json` and `--csv`.

pub mod connect;
pub mod init;
pub mod log;
pub mod messages;
pub mod options;
mod program;
pub mod progress;
pub mod report;
pub mod run;
pub mod scripts;
pub mod stats;
pub mod transaction;
mod witness;

pub use program::{World, main};
pub use witness::Witness;
