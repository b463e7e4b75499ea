//! Helpers shared by the tests of several crates, used as a dev-dependency. Modules that need other crates are behind a
//! feature:
//!
//! - [`postgres`] finds the PostgreSQL that tests start servers from;
//! - `server`, with the feature of this name, starts such a server and removes it when its value is dropped;
//! - [`busy`] keeps CPUs busy;
//! - [`directory`] makes temporary directories with room for a socket;
//! - `pki`, with the feature of this name, signs certificates;
//! - [`proxy`] stands in for balancers and firewalls before a server;
//! - [`port`] reserves TCP ports for one test;
//! - [`signals`] gives programs the default actions of signals;
//! - [`pages`] compares parts of the documentation with what the program has;
//! - [`skipped`] reports and counts what cannot be tested on this machine;
//! - [`random`] draws a test's random numbers from a seed that it prints.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

pub mod busy;
#[cfg(feature = "server")]
mod cluster;
pub mod directory;
pub mod pages;
#[cfg(feature = "pki")]
pub mod pki;
pub mod port;
pub mod postgres;
pub mod proxy;
pub mod random;
#[cfg(feature = "server")]
pub mod server;
pub mod signals;
pub mod skipped;
