//! Suites: many runs, one after the other, each in a separate process.
//!
//! The records of the runs decide what is complete. The directory of an execution has only what was planned, in which
//! order, and what records cannot contain. So a suite that was killed can resume.

pub mod check;
pub mod detach;
pub mod execution;
mod private;
pub mod runner;
pub mod standing;
mod targets;
pub mod view;
