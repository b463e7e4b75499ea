//! Whether throughput was steady over the measured window, and where it changed.
//!
//! - [`steadiness`] is the trend from the first to the last third, and how much of it could be due to chance;
//! - [`level_changes`] finds where throughput went from one level to another;
//! - [`warm_up`] finds how much of the window's start belongs to the warm-up.
//!
//! Neighbouring intervals are correlated: a slow second follows a slow one. Each test compares with the *long-run*
//! variance of the residuals ([`noise`]). Its bounds are those that simulated series without any change exceed in at
//! most one of twenty cases, with an autocorrelation of up to 0.9 (`simulation.rs`).

mod levels;
mod noise;
#[cfg(test)]
mod simulation;
mod trend;
mod warm_up;

pub use levels::{LevelChange, level_changes};
pub use trend::{STEADY_BELOW, Steadiness, WindowVerdict, steadiness};
pub use warm_up::warm_up;

/// Changes below this share of the mean are not reported, however certain they are.
const RELEVANT: f64 = 0.05;

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
