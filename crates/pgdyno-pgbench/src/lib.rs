//! pgbench's command line, texts and tables: everything that the drop-in for pgbench needs in addition to an engine.
//!
//! The reference is pgbench of PostgreSQL 18, with `--continue-on-error` of 19: options, messages and statements are
//! exactly its own; differences are documented where they occur. This crate uses no global state of the process:
//! arguments, environment, clock and writers are parameters, and it returns an exit code and messages.
//!
//! - [`options`]: arguments to [`options::Parsed`];
//! - [`messages`]: standard output and standard error, and pgbench's format of errors;
//! - [`connect`]: connecting as pgbench does, and refusals in libpq's words;
//! - [`mod@init`]: `pgbench -i`;
//! - [`report`], [`progress`], [`log`]: what a run prints and logs, from [`stats`] and each [`transaction`];
//! - [`BenchmarkObserver`]: receives the events of a run, for `--json` and `--csv`.

pub mod connect;
pub mod init;
pub mod log;
pub mod messages;
mod observer;
pub mod options;
mod program;
pub mod progress;
pub mod report;
pub mod run;
pub mod scripts;
pub mod stats;
pub mod transaction;

pub use observer::BenchmarkObserver;
pub use program::{World, main};
