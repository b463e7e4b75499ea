//! The program from outside: exit code, standard output and error, files, processes; without a server, against
//! the null server, on private servers, and on a server that is given.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

mod browser;
mod citus;
mod compare;
mod cycle;
mod diagnosis;
mod disk_full;
mod drop_in;
mod embedded_workloads;
mod given_server;
mod html;
mod isolation;
mod live;
mod machines;
mod no_server;
mod notices;
mod null_server;
mod own;
#[path = "../../../pgdyno-net/tests/real/pki.rs"]
mod pki;
mod private_server;
mod program;
mod pty;
mod recipes;
mod report;
mod results;
mod samples;
mod search;
mod serve;
#[path = "../../../pgdyno-net/tests/real/server.rs"]
#[expect(dead_code, reason = "shared with the tests of other crates")]
mod server;
#[path = "../../../pgdyno-net/tests/real/skipped.rs"]
mod skipped;
mod suites;
mod targets;
mod terminals;
mod tproc_c;
mod tproc_c_data;
mod trouble;
