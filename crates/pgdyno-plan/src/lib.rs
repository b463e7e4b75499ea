//! What a run will do, before it does it: plain data that can be printed, stored and compared.
//!
//! An [`Order`] is what the command line, a recipe ([`recipe`]) and a program ask for, a [`Plan`] what becomes of it with the [`Facts`] of driver, target and data; a [`suite`] is many of them; [`targets`] are
//! the servers that have names. Nothing in here looks at a server, a file or the environment: texts come in, data goes
//! out.

pub mod cpus;
mod facts;
pub mod mistake;
pub mod options;
mod order;
mod plan;
pub mod recipe;
mod stages;
mod steps;
pub mod suite;
pub mod targets;
pub mod units;

pub use facts::{Facts, Loaded, TargetFacts};
pub use order::{
    CycleOrder, DriveOrder, LoadingOrder, Order, RESULTS, RecipeOrder, TargetOrder, WatchOrder, WorkloadOrder,
};
pub use pgdyno_wire::{QueryMode, Wire};
pub use pgdyno_workload::{Arrivals, Pace, Rate};
pub use plan::{
    Cycle, Fitted, INLINE_BYTES, InputFile, LoadChoice, Plan, Published, RecipePlan, ScriptPlan, Shortened, SuitePlan,
    WatchPlan, sha256,
};
pub use stages::{GroupPlan, StagePlan};
pub use steps::{Step, steps};
