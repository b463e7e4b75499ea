//! What the tests of several crates share. A test binary takes what it needs by a dev-dependency; what pulls in other
//! crates is behind a feature.
//!
//! - [`postgres`] is the PostgreSQL that tests start servers of;
//! - `server`, with the feature of this name, is such a server, and gone with its value;
//! - `pki`, with the feature of this name, signs certificates;
//! - [`port`] keeps TCP ports for one test;
//! - [`skipped`] says and counts what cannot be tested here;
//! - [`random`] draws what a test leaves to chance, by a seed that is printed.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

#[cfg(feature = "pki")]
pub mod pki;
pub mod port;
pub mod postgres;
pub mod random;
#[cfg(feature = "server")]
pub mod server;
pub mod skipped;
