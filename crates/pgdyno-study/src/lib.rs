//! Measurements of many runs: suites, searches for the highest load, A/B experiments, and frontiers of transactions and
//! queries. Each run is a process of its own with a record of its own.

pub mod ab;
pub mod child;
pub mod frontier;
pub mod held;
pub mod lock;
pub mod resumable;
pub mod search;
pub mod suite;
