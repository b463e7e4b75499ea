//! A machine: what was so at the look, or on the average since the one before.

use crate::Source;

crate::source! { "machine":
    /// CPUs that are online.
    CPUS = gauge("cpus", Cpus);
    /// CPUs that programs and the kernel kept busy.
    BUSY_CPUS = gauge("busy_cpus", Cpus);
    /// CPUs in programs.
    USER_CPUS = gauge("user_cpus", Cpus);
    /// CPUs in the kernel.
    SYSTEM_CPUS = gauge("system_cpus", Cpus);
    /// CPUs that were idle while something waited for a disk.
    IOWAIT_CPUS = gauge("iowait_cpus", Cpus);
    /// CPUs that the hypervisor gave to others.
    STEAL_CPUS = gauge("steal_cpus", Cpus);
    /// Busy CPUs as a part of all.
    CPU_PERCENT = gauge("cpu_percent", Percent);
    /// Memory.
    MEMORY_BYTES = gauge("memory_bytes", Bytes);
    /// Memory that is available without swapping.
    AVAILABLE_BYTES = gauge("available_bytes", Bytes);
    /// File cache that is not written to disks yet.
    DIRTY_BYTES = gauge("dirty_bytes", Bytes);
    /// What was read from disks.
    DISK_READ_BYTES_PER_S = gauge("disk_read_bytes_per_s", BytesPerSecond);
    /// What was written to disks.
    DISK_WRITE_BYTES_PER_S = gauge("disk_write_bytes_per_s", BytesPerSecond);
    /// The share of the time in which the busiest disk had a request.
    DISK_BUSY = gauge("disk_busy", Share);
    /// What came from other machines.
    NET_RECEIVE_BYTES_PER_S = gauge("net_receive_bytes_per_s", BytesPerSecond);
    /// What went to other machines.
    NET_SEND_BYTES_PER_S = gauge("net_send_bytes_per_s", BytesPerSecond);
    /// The load average of the last minute.
    LOAD_1MIN = gauge("load_1min", Count);
}

/// The driver's machine, where it is another one than the server's.
pub const OF_DRIVER: Source = Source { name: "driver_machine", ..SOURCE };
