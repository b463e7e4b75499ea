//! Resource usage of the engine's threads and of the process.

use pgdyno_measure::WorkerUsage;

/// CPU time and memory of the process so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessUsage {
    /// CPU time in user mode.
    pub user_ns: u64,
    /// CPU time in the kernel.
    pub sys_ns: u64,
    /// Peak resident memory so far.
    pub rss_bytes_max: u64,
}

impl ProcessUsage {
    /// Returns the usage since `earlier`, with the memory unchanged.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            sys_ns: self.sys_ns.saturating_sub(earlier.sys_ns),
            rss_bytes_max: self.rss_bytes_max,
        }
    }

    /// Returns the CPU time, user and kernel.
    #[must_use]
    pub fn cpu_ns(&self) -> u64 {
        self.user_ns + self.sys_ns
    }
}

fn rusage(who: libc::c_int) -> libc::rusage {
    // SAFETY: all zero is a valid rusage, and getrusage fills it in or leaves it.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(who, &raw mut usage);
        usage
    }
}

fn ns(time: libc::timeval) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1_000
}

/// Makes the kernel wake the calling thread at the time it asks for. By default Linux may delay it by 50 µs to save
/// wake-ups.
pub(crate) fn be_punctual() {
    // If the kernel refuses, the thread wakes late, and the delay is measured.
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
}

/// Returns the usage of the process so far.
#[must_use]
pub fn process_usage() -> ProcessUsage {
    let usage = rusage(libc::RUSAGE_SELF);
    // Kibibytes on Linux and the BSDs, bytes on macOS.
    let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    ProcessUsage {
        user_ns: ns(usage.ru_utime),
        sys_ns: ns(usage.ru_stime),
        rss_bytes_max: own_peak_bytes().unwrap_or(usage.ru_maxrss as u64 * unit),
    }
}

/// Returns the peak resident memory of this program. On Linux, `getrusage` includes that of the program that started
/// this one, up to the exec.
#[cfg(target_os = "linux")]
fn own_peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    peak.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kib| kib * 1024)
}

#[cfg(not(target_os = "linux"))]
fn own_peak_bytes() -> Option<u64> {
    None
}

/// Returns the usage of the calling thread so far.
#[cfg(target_os = "linux")]
pub(crate) fn thread_usage() -> WorkerUsage {
    let usage = rusage(libc::RUSAGE_THREAD);
    // "time on the CPU, time waiting for one, time slices", in ns.
    let run_delay_ns = std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|text| text.split_whitespace().nth(1)?.parse().ok())
        .unwrap_or(0);
    WorkerUsage { user_ns: ns(usage.ru_utime), sys_ns: ns(usage.ru_stime), run_delay_ns, ..WorkerUsage::default() }
}

/// Returns the usage of the calling thread so far, all of it as user time.
#[cfg(not(target_os = "linux"))]
pub(crate) fn thread_usage() -> WorkerUsage {
    WorkerUsage { user_ns: thread_cpu_ns(), ..WorkerUsage::default() }
}

/// Returns the CPU time of the calling thread so far: a system call.
pub(crate) fn thread_cpu_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

pub(crate) fn usage_since(now: WorkerUsage, earlier: WorkerUsage) -> WorkerUsage {
    WorkerUsage {
        user_ns: now.user_ns.saturating_sub(earlier.user_ns),
        sys_ns: now.sys_ns.saturating_sub(earlier.sys_ns),
        run_delay_ns: now.run_delay_ns.saturating_sub(earlier.run_delay_ns),
        beside_ns: now.beside_ns.saturating_sub(earlier.beside_ns),
        absent_ns: now.absent_ns.saturating_sub(earlier.absent_ns),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peak_memory_holds_what_was_used_and_little_else() {
        let before = process_usage().rss_bytes_max;
        let block = vec![1_u8; 64 << 20];
        std::hint::black_box(&block);
        let after = process_usage().rss_bytes_max;
        assert!((64 << 20..before + (512 << 20)).contains(&after), "{before} then {after} bytes");
    }
}
