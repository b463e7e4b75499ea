//! Processes of a machine by their kind.

use crate::SampleSource;

crate::source! { "processes":
    /// `pg_stat_activity.backend_type`, or one of `driver`, `kernel`, `other`, `postmaster`, `starting`, `ended`.
    KIND = key("kind");
    /// CPUs used since the sample before.
    CPUS = gauge("cpus", Cpus);
    /// Number of processes.
    COUNT = gauge("count", Count);
}

/// Processes of the driver's machine, where it is not the server's.
pub const OF_DRIVER: SampleSource = SampleSource { name: "driver_processes", ..SOURCE };
