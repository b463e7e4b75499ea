//! Makes a plan of an order: finds the workload, fills in what a recipe says, and then the defaults.

mod foreign_order;
pub mod preview;
pub mod recipe_order;
pub mod resolve;
mod stored;
pub mod workload_source;
