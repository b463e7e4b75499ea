//! Measurements of many runs: suites, searches for the highest load, A/B experiments, and frontiers of transactions and
//! queries. Each run is a process of its own with a record of its own.
//!
//! - [`runner`] carries out one run: an order and a place become a record. Its `process` has a log, signals and a time limit.
//! - `study` is the loop: measure what comes next until it is enough, the budget has ended, or the user ends it.
//! - [`ab`], [`search`], [`frontier`] and [`suite`] are the studies. The `decider` of each says what is measured next and what
//!   was shown; it is pure, or as pure as its records.
//! - [`steady`] refuses faults where steady states are compared, [`lock`] admits one process at a time, [`private_server`] keeps
//!   one server for all runs, [`page`] writes the page of a record.
//!
//! Studies report by events, as a run does, and print nothing.

pub mod ab;
pub mod frontier;
pub mod lock;
pub mod objectives;
pub mod page;
pub mod private_server;
pub mod process;
pub mod run;
pub mod runner;
pub mod search;
pub mod steady;
mod stored;
mod study;
pub mod suite;
