//! The built-in workloads: data and pure functions, each in a directory of its own.
//!
//! - `pgbench`: `tpcb-like`, `simple-update` and `select-only` on pgbench's own tables;
//! - `tproc_c`: the nine tables and five transactions of TPC-C, unaudited;
//! - `ch_benchmark`: transactions of `tproc_c` beside the 22 queries of CH-benCHmark;
//! - `tproc_h`: the eight tables and 22 queries of TPC-H, unaudited;
//! - `tproc_ds`: the 24 tables and the queries of TPC-DS, unaudited;
//! - `oltp`: sysbench's OLTP benchmarks on its tables;
//! - `ycsb`: the core workloads A to F of YCSB;
//! - `noop`: no server at all, to measure pgdyno itself;
//! - [`own`]: a user's directory of scripts and SQL files.
//!
//! [`registry`] lists the built-in ones. This crate opens no connection and reads no clock.
//!
//! ```
//! let workload = pgdyno_workloads::registry::build("tproc-c", [("warehouses", "4")])?;
//! assert_eq!(workload.scale, 4);
//! assert_eq!(workload.drive.txns().len(), 5);
//! # Ok::<(), pgdyno_workloads::registry::BuildError>(())
//! ```

mod ch_benchmark;
pub mod families;
mod ledger;
mod noop;
mod oltp;
pub mod options;
pub mod own;
pub mod pgbench;
mod query_set;
mod refused;
pub mod registry;
pub mod scripted;
mod tproc_c;
mod tproc_ds;
mod tproc_h;
mod ycsb;
