//! The built-in workloads: what holds for all of them, and each on a real server.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod by_hand;
mod ch_benchmark;
mod pgbench;
mod registry;
mod support;
mod sysbench;
mod tproc_c;
mod tproc_c_concurrency;
mod tproc_c_defects;
mod tproc_c_forms;
mod tproc_c_plans;
mod tproc_c_procedures;
mod ycsb;

use pgdyno_testing::postgres;
