//! The state that a server is brought into for a run, and back: provisioned, restarted, with settings and cold or warm caches;
//! and crashed, for the durability test.

pub mod cycle;
pub mod durability;
pub mod hooks;
pub(crate) mod settings;
