//! Suites: many runs, one after the other, each in a separate process.
//!
//! The records of the runs decide what is complete. The directory of an execution has only what was planned, in which
//! order, and what records cannot contain. So a suite that was killed can resume.

pub(crate) mod check;
pub(crate) mod detach;
pub(crate) mod execution;
mod private;
pub(crate) mod runner;
pub(crate) mod standing;
mod targets;
pub(crate) mod view;
