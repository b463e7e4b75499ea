//! What the processes of a server on this machine have read from disks, by the kernel's count of each.
//!
//! Source: proc(5), `/proc/PID/io`, `read_bytes`: bytes that really came from storage, read-ahead among them. The kernel
//! shows it to root and to whoever the process runs as. A process takes its count with it when it ends, so that of one
//! that came and went between two looks nothing is known.

use std::collections::BTreeMap;
use std::path::Path;

use pgdyno_net::{Admin, AdminError, ConnectOptions};

use crate::facts::ask::{ask, first};
use crate::os::process::Process;
use crate::process::{children_of, is_postmaster_of};

/// The reads of all processes of one server since a moment.
#[derive(Debug)]
pub struct DiskReads {
    postmaster: i32,
    /// Of each process, by its number and the time of its start: its count at the first and at the last look.
    seen: BTreeMap<(i32, u64), (u64, u64)>,
}

impl DiskReads {
    /// Begins to count on the server that `admin` is connected to by `options`; `None` where its processes are not on
    /// this machine, or do not show themselves.
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
        // A tunnel ends on this machine, too, and a container counts its processes by itself.
        if !is_postmaster_of(postmaster, Path::new(&data)) {
            return Ok(None);
        }
        let mut reads = Self { postmaster, seen: BTreeMap::new() };
        Ok(reads.look(true).map(|()| reads))
    }

    /// Looks again: at the end, and now and then before it, for the sake of processes that do not last.
    pub fn go_on(&mut self) {
        // The server may be gone: then the counts before stand.
        let _ = self.look(false);
    }

    /// Bytes that were read from disks from the first look to the last.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.seen.values().map(|(first, last)| last.saturating_sub(*first)).sum()
    }

    fn look(&mut self, begins: bool) -> Option<()> {
        let mut any = None;
        for pid in children_of(self.postmaster) {
            let (Some(started), Some(bytes)) = (started_of(pid), read_bytes_of(pid)) else { continue };
            // One that came later has read all of it since.
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
