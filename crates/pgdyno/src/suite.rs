//! Suites: many runs, one after the other, each a process of its own.
//!
//! The records of the runs are the truth about what is done. An execution's own directory says what was planned, in which
//! order, and what a record cannot say. So a suite that was killed goes on where it was.

pub(crate) mod check;
pub(crate) mod detach;
pub(crate) mod execution;
mod private;
pub(crate) mod runner;
pub(crate) mod standing;
mod targets;
pub(crate) mod view;
