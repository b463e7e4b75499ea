//! The machine that a server, or the driver, runs on: CPU, memory, disks, network, and who uses the CPUs.
//!
//! Everything comes from the texts of Linux's `/proc` ([`proc`]): this machine's own, or those that a shell on another
//! machine sends through ssh; or from a command of the user's that prints CSV. [`observer`] makes rows of them by difference,
//! [`MachineWatch`] takes a look every second, each way of looking in a thread of its own.
//!
//! CPU time is counted in CPUs: 1.5 is one and a half of them all the time. It is a share of the ticks that the kernel
//! counted for all CPUs together, so that neither the length of a tick nor a late look matters.

mod beat;
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
mod proc;
pub(crate) mod process;
mod rows;
mod server;
mod ssh;
mod tally;
mod told;
mod watch;

use pgdyno_samples::{machine, processes};

pub use kind::{DRIVER, ENDED, KERNEL, OTHER, POSTMASTER, STARTING};
pub use os_metrics::OsMetrics;
pub use server::{ServerSession, is_here};
pub use told::Told;
pub use watch::{MachineWatch, Machines};

/// What is known of the server's machine.
pub const MACHINE: &str = machine::SOURCE.name;
/// What is known of the driver's machine, where it is another one.
pub const DRIVER_MACHINE: &str = machine::OF_DRIVER.name;
/// Who uses the CPUs of the server's machine.
pub const PROCESSES: &str = processes::SOURCE.name;
/// Who uses the CPUs of the driver's machine, where it is another one.
pub const DRIVER_PROCESSES: &str = processes::OF_DRIVER.name;

/// The columns of [`MACHINE`] and [`DRIVER_MACHINE`].
pub const MACHINE_COLUMNS: &[&str] = machine::SOURCE.names;

/// The columns of [`PROCESSES`] and [`DRIVER_PROCESSES`].
pub const PROCESS_COLUMNS: &[&str] = processes::SOURCE.names;
