//! From an order to a plan: which workload is meant, what a recipe fills in, and what everything else is by default.

pub mod recipe_order;
pub mod resolve;
mod stored;
pub mod workload_source;
