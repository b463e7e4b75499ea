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

pub use kind::{DRIVER, ENDED, KERNEL, OTHER, POSTMASTER, STARTING};
pub use os_metrics::OsMetrics;
pub use server::ServerSession;
pub use told::Told;
pub use watch::{MachineWatch, Machines};

/// What is known of the server's machine.
pub const MACHINE: &str = "machine";
/// What is known of the driver's machine, where it is another one.
pub const DRIVER_MACHINE: &str = "driver_machine";
/// Who uses the CPUs of the server's machine.
pub const PROCESSES: &str = "processes";
/// Who uses the CPUs of the driver's machine, where it is another one.
pub const DRIVER_PROCESSES: &str = "driver_processes";

/// The columns of [`MACHINE`] and [`DRIVER_MACHINE`]: what was so at the look, or on the average since the one before.
pub const MACHINE_COLUMNS: &[&str] = &[
    "cpus",
    "busy_cpus",
    "user_cpus",
    "system_cpus",
    "iowait_cpus",
    "steal_cpus",
    "cpu_percent",
    "memory_bytes",
    "available_bytes",
    "dirty_bytes",
    "disk_read_bytes_per_s",
    "disk_write_bytes_per_s",
    "disk_busy",
    "net_receive_bytes_per_s",
    "net_send_bytes_per_s",
    "load_1min",
];

/// The columns of [`PROCESSES`] and [`DRIVER_PROCESSES`].
pub const PROCESS_COLUMNS: &[&str] = &["kind", "cpus", "count"];
