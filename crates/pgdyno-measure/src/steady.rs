//! Whether throughput held steady over the measured window, and where it did not.
//!
//! - [`steadiness`] is the trend from the first to the last third, and how much of it could be chance;
//! - [`level_changes`] finds where throughput went from one level to another;
//! - [`warm_up`] tells how much of the window's begin belongs to the warm-up.
//!
//! Neighbouring intervals are alike: a slow second follows a slow one. Each test holds what it sees against the *long-run*
//! variance of what is left when the change is taken away ([`noise`]), and its bounds are those that simulated series
//! without any change exceed in at most one of twenty cases, where a value inherits up to nine tenths of the one before
//! (`simulation.rs`).

mod levels;
mod noise;
#[cfg(test)]
mod simulation;
mod trend;
mod warm_up;

pub use levels::{LevelChange, level_changes};
pub use trend::{STEADY_BELOW, Steadiness, Verdict, steadiness};
pub use warm_up::warm_up;

/// Changes of less than this share of the mean are not worth a word, however certain they are.
const RELEVANT: f64 = 0.05;

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
