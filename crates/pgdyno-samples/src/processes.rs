//! Processes of a machine by their kind.

use crate::Source;

crate::source! { "processes":
    /// `pg_stat_activity.backend_type`, or one of `driver`, `kernel`, `other`, `postmaster`, `starting`, `ended`.
    KIND = key("kind");
    /// CPUs that they used since the look before.
    CPUS = gauge("cpus", Cpus);
    /// How many there are.
    COUNT = gauge("count", Count);
}

/// Those of the driver's machine, where it is another one than the server's.
pub const OF_DRIVER: Source = Source { name: "driver_processes", ..SOURCE };
