//! The private server: its programs found or downloaded ([`programs`]), sized, started, and run by a supervisor
//! process that ends it.

pub(crate) mod account;
pub(crate) mod cache;
mod copy;
pub(crate) mod error;
mod fingerprint;
mod handle;
pub(crate) mod held;
pub(crate) mod instance;
pub mod kept;
mod new_cluster;
pub(crate) mod pipe;
pub(crate) mod places;
mod postmaster;
pub(crate) mod power_loss;
pub(crate) mod prepare;
pub(crate) mod programs;
pub(crate) mod progress;
mod restart;
pub(crate) mod server;
pub mod sizing;
pub(crate) mod space;
mod startup;
pub(crate) mod supervise;
mod wake;
