//! The program from outside: exit code, standard output and error, files, processes; without a server, against
//! the null server, on private servers, and on a server that is given.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

mod ab;
mod again;
mod agents;
mod axe;
mod between;
mod browser;
mod builds;
mod capture;
mod capture_log;
mod causes;
mod ch_benchmark;
mod ci;
mod citus;
mod compare;
mod corruption;
mod cycle;
mod diagnosis;
mod disk_full;
mod doctor;
mod drop_in;
mod embedded_workloads;
mod failures;
mod faults;
mod fidelity;
mod given_server;
mod groups;
mod history;
mod html;
mod isolation;
mod kept_data;
mod ledger;
mod live;
mod machines;
mod no_server;
mod notices;
mod null_server;
mod other_data;
mod outputs;
mod own;
mod packaging;
mod place;
mod pooler;
mod private_server;
mod program;
mod pty;
mod python;
mod read_only;
mod readers;
mod recipes;
mod report;
mod resets;
mod results;
mod retries;
mod samples;
mod schemas;
mod search;
mod serve;
mod server_states;
mod signals;
mod stalls;
mod store;
mod strangers;
mod suites;
mod targets;
mod terminals;
mod tproc_c;
mod tproc_c_data;
mod tproc_ds;
mod tproc_h;

mod waits;
mod ycsb;

use pgdyno_testing::{pki, postgres, server, skipped};
