//! Prepares a server for a run and restores it: provisions and restarts it, changes settings, drops or fills caches;
//! and kills it, for the durability test.

pub mod cycle;
pub mod durability;
pub mod hooks;
pub(crate) mod settings;
