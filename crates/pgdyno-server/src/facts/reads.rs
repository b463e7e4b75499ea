//! Bytes that the processes of a server on this machine have read from disks, by the kernel's counters.
//!
//! Source: proc(5), `/proc/PID/io`, `read_bytes`: bytes that came from storage, read-ahead included. The kernel shows
//! it to root and to the owner of the process. A process takes its counter with it when it ends, so nothing is known
//! of a process that came and went between two looks.

use std::collections::BTreeMap;
use std::path::Path;

use pgdyno_net::{Admin, AdminError, ConnectOptions};

use crate::facts::ask::{ask, first};
use crate::os::process::Process;
use crate::process::{children_of, is_postmaster_of};

/// Reads of all processes of one server since a time.
#[derive(Debug)]
pub struct DiskReads {
    postmaster: i32,
    /// Counter of each process at the first and at the last look, by its number and the time of its start.
    seen: BTreeMap<(i32, u64), (u64, u64)>,
}

impl DiskReads {
    /// Starts counting on the server that `admin` is connected to by `options`; `None` if its processes are not on
    /// this machine, or are hidden.
    ///
    /// # Errors
    /// Only when the connection is lost.
    pub fn begin(admin: &mut Admin, options: &ConnectOptions) -> Result<Option<Self>, AdminError> {
        if !options.is_local() {
            return Ok(None);
        }
        let Some(data) = first(ask(admin, "SELECT current_setting('data_directory', true)")?) else { return Ok(None) };
        let pid = first(ask(admin, "SELECT pg_backend_pid()")?).and_then(|pid| pid.parse().ok());
        let Some(postmaster) = pid.and_then(parent_of) else { return Ok(None) };
        // A tunnel ends on this machine, too, and a container has process ids of its own.
        if !is_postmaster_of(postmaster, Path::new(&data)) {
            return Ok(None);
        }
        let mut reads = Self { postmaster, seen: BTreeMap::new() };
        Ok(reads.look(true).map(|()| reads))
    }

    /// Looks again: at the end, and from time to time before it, because of processes that end soon.
    pub fn go_on(&mut self) {
        // The server may be gone: then the earlier counts stand.
        let _ = self.look(false);
    }

    /// Returns the bytes read from disks between the first look and the last.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.seen.values().map(|(first, last)| last.saturating_sub(*first)).sum()
    }

    fn look(&mut self, begins: bool) -> Option<()> {
        let mut any = None;
        for pid in children_of(self.postmaster) {
            let (Some(started), Some(bytes)) = (started_of(pid), read_bytes_of(pid)) else { continue };
            // A process that started later has read all of it since.
            let first = if begins { bytes } else { 0 };
            self.seen.entry((pid, started)).or_insert((first, bytes)).1 = bytes;
            any = Some(());
        }
        any
    }
}

pub(crate) fn parent_of(pid: i32) -> Option<i32> {
    Some(Process::look(pid)?.parent)
}

fn started_of(pid: i32) -> Option<u64> {
    Some(Process::look(pid)?.started)
}

fn read_bytes_of(pid: i32) -> Option<u64> {
    let io = std::fs::read_to_string(format!("/proc/{pid}/io")).ok()?;
    io.lines().find_map(|line| line.strip_prefix("read_bytes: "))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_came_later_counts_from_nothing_and_one_that_ended_keeps_what_it_had() {
        let mut reads = DiskReads { postmaster: 0, seen: BTreeMap::new() };
        reads.seen.insert((10, 1), (1000, 5000));
        reads.seen.insert((10, 2), (0, 300));
        reads.seen.insert((11, 1), (7, 7));
        assert_eq!(reads.bytes(), 4300);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_process_is_known_by_its_start_and_its_parent() {
        let own = std::process::id() as i32;
        assert_eq!(parent_of(own), Some(std::os::unix::process::parent_id() as i32));
        assert!(started_of(own).is_some_and(|ticks| ticks > 0));
        assert_eq!(parent_of(i32::MAX), None);
    }
}
