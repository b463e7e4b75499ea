//! What a run will do, before it does it: plain data that can be printed, stored and compared.
//!
//! A [`Plan`] is made from the command line and from recipes ([`recipe`]); a [`suite`] is many of them; [`targets`] are
//! the servers that have names. Nothing in here looks at a server, a file or the environment: texts come in, data goes
//! out.

pub mod cpus;
pub mod mistake;
pub mod options;
mod plan;
pub mod recipe;
mod steps;
pub mod suite;
pub mod targets;
pub mod units;

pub use pgdyno_wire::{QueryMode, Wire};
pub use pgdyno_workload::{Arrivals, Pace, Rate};
pub use plan::{Cycle, Fitted, LoadChoice, Plan, Published, RecipePlan, ScriptPlan, Shortened, SuitePlan, WatchPlan};
pub use steps::{Step, steps};
