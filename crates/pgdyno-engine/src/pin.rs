//! The CPUs that a thread may run on.

use std::io;

/// Returns the CPUs that this process may use, in ascending order.
///
/// # Errors
/// When the system refuses, or is not Linux.
#[cfg(target_os = "linux")]
pub fn allowed_cpus() -> io::Result<Vec<usize>> {
    use rustix::thread::{CpuSet, sched_getaffinity};
    let set = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).collect())
}

/// Pins the calling thread to this CPU.
#[cfg(target_os = "linux")]
pub(crate) fn pin(cpu: usize) -> io::Result<()> {
    use rustix::thread::{CpuSet, sched_setaffinity};
    let mut set = CpuSet::new();
    set.set(cpu);
    Ok(sched_setaffinity(None, &set)?)
}

/// Returns the CPUs that this process may use, in ascending order.
///
/// # Errors
/// Always: only Linux supports pinning.
#[cfg(not(target_os = "linux"))]
pub fn allowed_cpus() -> io::Result<Vec<usize>> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "threads can be pinned to CPUs on Linux only"))
}

/// Pins the calling thread to this CPU.
#[cfg(not(target_os = "linux"))]
pub(crate) fn pin(_: usize) -> io::Result<()> {
    allowed_cpus().map(drop)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_thread_runs_on_its_cpu_and_no_other_thread_is_touched() {
        let before = allowed_cpus().unwrap();
        let last = *before.last().unwrap();
        let (pinned, ran_on) = std::thread::spawn(move || {
            pin(last).unwrap();
            (allowed_cpus().unwrap(), rustix::thread::sched_getcpu())
        })
        .join()
        .unwrap();
        assert_eq!((pinned, ran_on), (vec![last], last));
        assert_eq!(allowed_cpus().unwrap(), before);
    }
}
