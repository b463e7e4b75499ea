//! Connections to real PostgreSQL servers, started for the test, and to peers that are none.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

mod admin;
mod hosts;
mod pki;
#[expect(dead_code, reason = "shared with the tests of other crates")]
mod server;
mod skipped;
mod tls;
