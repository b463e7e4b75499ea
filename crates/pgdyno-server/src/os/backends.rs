//! Memory of the server's sessions on this machine, by `/proc`.
//!
//! It is the private memory of a backend and of its parallel workers, swapped pages included, and the segments of shared
//! memory that they allocate for a query, such as the table of a parallel hash join. Shared buffers do not count.

use std::collections::HashMap;
use std::fs;

use super::kind::server_title;
use super::server::{ServerSession, title_of};

/// Beginning of the title of a parallel worker, before the number of its leader's process.
const WORKER: &str = "parallel worker for PID ";

/// In the paths of segments, with `dynamic_shared_memory_type` `posix` and `mmap`.
const SEGMENTS: [&str; 2] = ["/dev/shm/PostgreSQL.", "/pg_dynshmem/mmap."];

/// Reads the memory of a server's sessions.
#[derive(Debug)]
pub struct BackendMemory {
    postmaster: i32,
    cluster_name: String,
    /// The processes of the server that have a title, each with its leader if it is a parallel worker.
    processes: HashMap<i32, Option<i32>>,
}

impl BackendMemory {
    /// Returns the memory of the server of `session`; `None` if its processes are not visible on this machine.
    #[must_use]
    pub fn of(session: &ServerSession) -> Option<Self> {
        let postmaster = session.postmaster_here()?;
        let cluster_name = session.cluster_name.clone();
        Some(Self { postmaster, cluster_name, processes: HashMap::new() })
    }

    /// Returns the memory of each of these backends in bytes, parallel workers included. Leaves out processes that are not
    /// the server's, or have ended.
    pub fn look(&mut self, backends: &[i32]) -> Vec<(i32, u64)> {
        self.find_workers();
        let bytes = |backend: &i32| {
            self.processes.get(backend)?;
            let own = private_bytes(&read(*backend, "status"))?;
            let mut workers = self.processes.iter().filter(|(_, leader)| **leader == Some(*backend)).peekable();
            let shared = workers.peek().map_or(0, |_| segment_bytes(&read(*backend, "maps")));
            let of_workers: u64 = workers.filter_map(|(worker, _)| private_bytes(&read(*worker, "status"))).sum();
            Some((*backend, own + of_workers + shared))
        };
        backends.iter().filter_map(bytes).collect()
    }

    /// Reads which processes the server has. Their titles are read once.
    fn find_workers(&mut self) {
        let postmaster = self.postmaster;
        let children = read(postmaster, &format!("task/{postmaster}/children"));
        let children: Vec<i32> = children.split_whitespace().filter_map(|pid| pid.parse().ok()).collect();
        self.processes.retain(|process, _| children.contains(process));
        for child in children {
            if !self.processes.contains_key(&child)
                && let Some(leader) = leader(&title_of(read(child, "cmdline").as_bytes()), &self.cluster_name)
            {
                self.processes.insert(child, leader);
            }
        }
    }
}

/// Returns a file of a process; empty if it cannot be read.
fn read(process: i32, file: &str) -> String {
    let bytes = fs::read(format!("/proc/{process}/{file}")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the leader of the parallel worker with this title, or that the process is none; `None` while it has no title.
fn leader(title: &str, cluster_name: &str) -> Option<Option<i32>> {
    let title = server_title(title, cluster_name)?;
    Some(title.strip_prefix(WORKER).and_then(|pid| pid.trim().parse().ok()))
}

/// Returns the private bytes in the text of `status`.
fn private_bytes(status: &str) -> Option<u64> {
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()
    };
    Some((field("RssAnon:")? + field("VmSwap:").unwrap_or_default()) * 1024)
}

/// Returns the bytes of the segments in the text of `maps`.
fn segment_bytes(maps: &str) -> u64 {
    let bytes = |line: &str| {
        let (from, to) = line.split_whitespace().next()?.split_once('-')?;
        u64::from_str_radix(to, 16).ok()?.checked_sub(u64::from_str_radix(from, 16).ok()?)
    };
    let is_segment = |line: &&str| SEGMENTS.iter().any(|path| line.contains(path));
    maps.lines().filter(is_segment).filter_map(bytes).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parallel_worker_names_its_leader() {
        assert_eq!(leader("postgres: parallel worker for PID 4711 ", ""), Some(Some(4711)));
        assert_eq!(leader("postgres: 15/main: parallel worker for PID 4711", "15/main"), Some(Some(4711)));
        assert_eq!(leader("postgres: me bench [local] SELECT", ""), Some(None));
        assert_eq!(leader("/usr/bin/postgres -D /data", ""), None, "it has just been forked");
    }

    #[test]
    fn memory_is_private_or_in_segments() {
        let status =
            "Name:\tpostgres\nVmRSS:\t  90000 kB\nRssAnon:\t    3000 kB\nRssShmem:\t  80000 kB\nVmSwap:\t      24 kB\n";
        assert_eq!(private_bytes(status), Some(3024 * 1024));
        assert_eq!((private_bytes("RssAnon:\t 1 kB\n"), private_bytes("Name:\tx\n")), (Some(1024), None));
        let maps = "7f0000000000-7f0000100000 rw-s 00000000 00:1b 7 /dev/shm/PostgreSQL.3421\n\
                    7f1000000000-7f1080000000 rw-s 00000000 00:01 8 /dev/zero (deleted)\n\
                    7f2000000000-7f2000001000 rw-s 00000000 00:1b 9 /data/pg_dynshmem/mmap.99\n";
        assert_eq!(segment_bytes(maps), 0x10_1000);
    }
}
