//! A machine: values at the time of the sample, or the average since the sample before.

use crate::SampleSource;

crate::source! { "machine":
    /// CPUs that are online.
    CPUS = gauge("cpus", Cpus);
    /// CPUs busy in programs or the kernel.
    BUSY_CPUS = gauge("busy_cpus", Cpus);
    /// CPUs busy in programs.
    USER_CPUS = gauge("user_cpus", Cpus);
    /// CPUs busy in the kernel.
    SYSTEM_CPUS = gauge("system_cpus", Cpus);
    /// CPUs idle while a process waited for a disk.
    IOWAIT_CPUS = gauge("iowait_cpus", Cpus);
    /// CPUs that the hypervisor gave to other virtual machines.
    STEAL_CPUS = gauge("steal_cpus", Cpus);
    /// Busy CPUs as a share of all.
    CPU_PERCENT = gauge("cpu_percent", Percent);
    /// Memory.
    MEMORY_BYTES = gauge("memory_bytes", Bytes);
    /// Memory that is available without swapping.
    AVAILABLE_BYTES = gauge("available_bytes", Bytes);
    /// File cache not written to disk yet.
    DIRTY_BYTES = gauge("dirty_bytes", Bytes);
    /// Reads from disks.
    DISK_READ_BYTES_PER_S = gauge("disk_read_bytes_per_s", BytesPerSecond);
    /// Writes to disks.
    DISK_WRITE_BYTES_PER_S = gauge("disk_write_bytes_per_s", BytesPerSecond);
    /// Share of the time in which the busiest disk had a request.
    DISK_BUSY = gauge("disk_busy", Share);
    /// Bytes received from other machines.
    NET_RECEIVE_BYTES_PER_S = gauge("net_receive_bytes_per_s", BytesPerSecond);
    /// Bytes sent to other machines.
    NET_SEND_BYTES_PER_S = gauge("net_send_bytes_per_s", BytesPerSecond);
    /// Load average of the last minute.
    LOAD_1MIN = gauge("load_1min", Count);
    /// Mean time of a request of the busiest disk.
    DISK_WAIT_MS = gauge("disk_wait_ms", Milliseconds);
    /// Mean number of its requests that were queued or served.
    DISK_QUEUE = gauge("disk_queue", Count);
    /// Pages read from swap a second.
    SWAP_IN_PAGES = gauge("swap_in_pages", Count);
    /// Pages written to swap a second.
    SWAP_OUT_PAGES = gauge("swap_out_pages", Count);
    /// Share of the time in which a process waited for a CPU.
    CPU_PRESSURE = gauge("cpu_pressure", Share);
    /// Share of the time in which a process waited for I/O.
    IO_PRESSURE = gauge("io_pressure", Share);
    /// Share of the time in which a process waited for memory.
    MEMORY_PRESSURE = gauge("memory_pressure", Share);
    /// TCP segments sent again, as a share of those sent.
    TCP_RETRANSMITTED = gauge("tcp_retransmitted", Share);
}

/// The driver's machine, where it is not the server's.
pub const OF_DRIVER: SampleSource = SampleSource { name: "driver_machine", ..SOURCE };
