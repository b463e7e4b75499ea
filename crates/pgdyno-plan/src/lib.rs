//! Plans of runs as plain data that can be printed, stored and compared.
//!
//! An [`Order`] is what the command line, a recipe ([`recipe`]) or a program asks for. A [`Plan`] is made from it and
//! the [`Facts`] about driver, target and data. A [`suite`] has many orders; [`targets`] are servers with names.
//! Nothing in this crate reads a server, a file or the environment: it takes texts and returns data.

pub mod cpus;
mod facts;
mod fault;
pub mod mistake;
pub mod options;
mod order;
mod plan;
mod rate_order;
mod rate_steps_order;
pub mod recipe;
mod stages;
mod steps;
pub mod suite;
mod target_kind;
pub mod targets;

pub use facts::{Facts, Loaded, TargetFacts};
pub use fault::{FailoverKind, FaultKind, FaultName, FaultPlan};
pub use order::{
    AnalyticsOrder, CycleOrder, DriveOrder, FaultOrder, LoadingOrder, MeetingOrder, Order, RESULTS, RecipeOrder,
    TargetOrder, WatchOrder, WorkloadOrder,
};
pub use pgdyno_wire::{QueryMode, Wire};
pub use pgdyno_workload::{Arrivals, Pace, Rate, RateSteps};
pub use plan::{
    AnalyticsPlan, Cycle, DrivePlan, Fitted, INLINE_BYTES, InputFile, LedgerPlan, LoadPlan, LoadWhen, Plan, Published,
    RecipePlan, ScriptPlan, Shortened, SuitePlan, WatchPlan, sha256,
};
pub use rate_order::RateOrder;
pub use rate_steps_order::RateStepsOrder;
pub use stages::{GroupPlan, OfferedRate, StagePlan};
pub use steps::{Step, steps};
pub use target_kind::{TargetBuild, TargetKind, TargetName};
