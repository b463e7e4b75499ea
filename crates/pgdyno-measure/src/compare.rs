//! The statistics of comparisons: how uncertain a figure of a run is, and what that leaves to say of the change from one
//! run to another. docs/adr/0008-comparisons.md says why it is done so.
//!
//! All figures are positive, and changes are ratios: sums of logarithms. What is uncertain is so in the logarithm.
//!
//! - Of one run: its intervals are a series whose neighbours are alike. [`Estimate::of_intervals`] and [`Latencies`] take
//!   that into account. What differs from run to run cannot be known from one run.
//! - Of several runs: the runs are what is drawn. [`Change::of_runs`] looks at nothing else; [`Change::in_turns`] also takes
//!   a drift out, where the order of the runs allows it.

mod change;
mod estimate;
mod in_turns;
mod latencies;
mod limit;
#[cfg(test)]
pub(crate) mod simulation;
pub(crate) mod student;
mod together;

pub use change::{Change, Direction};
pub use estimate::{Estimate, INTERVALS_MIN};
pub use in_turns::Timed;
pub(crate) use in_turns::fewest;
pub use latencies::Latencies;
pub use limit::{Held, POWER, RUNS_MAX};
pub use together::{Repeated, Tested, directions};
