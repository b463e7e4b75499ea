//! Makes a plan of an order: finds the workload, fills in what a recipe says, and then the defaults.

pub mod fault;
mod foreign_order;
pub mod other_servers;
mod pace;
pub mod preview;
pub mod recipe_order;
pub mod resolve;
mod stored;
mod watch;
pub mod workload_source;
