//! Connections to real PostgreSQL servers, started for the test, and to peers that are none.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

mod admin;
mod auth;
mod beside;
mod fake;
mod floods;
mod hostile;
mod hosts;
mod signals;
mod silent;
mod tls;
mod trust;

use pgdyno_testing::{pki, postgres, server, skipped};
