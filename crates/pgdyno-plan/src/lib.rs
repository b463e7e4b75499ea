//! What a run will do, before it does it: plain data that can be printed, stored and compared.
//!
//! A [`Plan`] is made from the command line and from recipes ([`recipe`]); a [`suite`] is many of them; [`targets`] are
//! the servers that have names. Nothing in here looks at a server, a file or the environment: texts come in, data goes
//! out.

pub mod cpus;
pub mod mistake;
mod plan;
pub mod recipe;
mod steps;
pub mod suite;
pub mod targets;
pub mod units;

pub use plan::{
    Arrivals, Cycle, Fitted, LoadChoice, Pace, Plan, Published, RecipePlan, ScriptPlan, Shortened, SuitePlan,
    WatchPlan, Wire,
};
pub use steps::{Step, steps};
