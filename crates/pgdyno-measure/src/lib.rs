//! Measurements: counters and latency histograms of every transaction and statement.
//!
//! Each engine thread has one [`Recorder`], which returns its [`ThreadCounts`] once a second. The parts of all threads merge
//! into an [`Interval`], the intervals of the measured window into [`Totals`]. Nothing is shared or locked while
//! transactions run.
//!
//! This crate reads no clock: times are arguments, in nanoseconds.

pub mod ab;
mod bytes;
pub mod change_points;
mod client_spread;
pub mod compare;
mod counts;
mod delays;
pub mod frontier;
mod identity;
pub mod in_flight;
mod interval;
mod latency;
pub mod mean;
mod merge;
pub mod pauses;
mod ranks;
mod recorder;
mod rows;
pub mod search;
pub mod stall;
mod steady;

pub use bytes::{ListBounds, NoPart};
pub use client_spread::{ClientSpread, ClientWork};
pub use delays::Delays;
pub use identity::{BrokenIdentity, broken_identities, broken_schedule};
pub use in_flight::InFlight;
pub use interval::{GroupInterval, Interval, Phase, Totals, WorkerUsage};
pub use latency::{Latency, Percentiles};
pub use merge::{IntervalPart, Merger, Phases, StagePlace};
pub use recorder::{Recorder, StmtPart, ThreadCounts, TxnPart};
pub use rows::{Digest, StatementRows};
pub use steady::{LevelChange, STEADY_BELOW, Steadiness, WindowVerdict, level_changes, steadiness, warm_up};
