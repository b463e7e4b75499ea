//! The machine of a server, or of the driver: CPU, memory, disks, network, and the CPU usage of programs.
//!
//! Everything comes from Linux's `/proc` ([`proc`]): of this machine, or of another one by a shell through ssh; or
//! from a user's command that prints CSV. [`observer`] computes rows of differences. [`MachineWatch`] looks every
//! second, each source in a thread of its own.
//!
//! CPU usage is in CPUs: 1.5 means one and a half CPUs all the time. It is a share of the ticks that the kernel
//! counted for all CPUs together, so that neither the length of a tick nor a late look matters.

mod backends;
mod beat;
mod cgroup;
mod child;
mod command;
mod cpu;
mod disk;
#[doc(hidden)]
pub mod fuzzing;
mod kind;
mod local;
mod memory;
mod net;
mod observer;
mod os_metrics;
pub mod perf;
mod pressure;
mod proc;
pub(crate) mod process;
mod report;
mod rows;
mod server;
mod ssh;
mod tally;
mod watch;

use pgdyno_samples::{machine, processes};

pub use backends::BackendMemory;
pub use kind::{DRIVER, ENDED, KERNEL, NODE, OTHER, POSTMASTER, STARTING};
pub use os_metrics::OsMetrics;
pub use report::MachineReport;
pub use server::{ServerSession, is_here};
pub use watch::{MachineWatch, Machines};

/// Samples of the server's machine.
pub const MACHINE: &str = machine::SOURCE.name;
/// Samples of the driver's machine, if it is another one.
pub const DRIVER_MACHINE: &str = machine::OF_DRIVER.name;
/// CPU usage of programs on the server's machine.
pub const PROCESSES: &str = processes::SOURCE.name;
/// CPU usage of programs on the driver's machine, if it is another one.
pub const DRIVER_PROCESSES: &str = processes::OF_DRIVER.name;

/// The columns of [`MACHINE`] and [`DRIVER_MACHINE`].
pub const MACHINE_COLUMNS: &[&str] = machine::SOURCE.names;

/// The columns of [`PROCESSES`] and [`DRIVER_PROCESSES`].
pub const PROCESS_COLUMNS: &[&str] = processes::SOURCE.names;
