//! What a run will do, before it does it: plain data that can be printed, stored and compared.
//!
//! A [`Plan`] is made from the command line, later from recipes and suites; nothing in here looks at a
//! server, a file or the environment.

mod plan;
mod steps;

pub use plan::{Arrivals, LoadChoice, Pace, Plan, ScriptPlan};
pub use steps::{Step, steps};
