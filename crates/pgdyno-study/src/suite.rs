//! Suites: many runs, one after the other, each in a separate process.
//!
//! The records of the runs decide what is complete. The directory of an execution has only what was planned, in which
//! order, and what records cannot contain. So a suite that was killed can resume.

pub mod background;
pub mod check;
pub mod decider;
pub mod execution;
mod private;
pub mod run;
pub mod standing;
pub mod status;
pub mod sweep;
mod targets;
mod turn;
pub mod view;
