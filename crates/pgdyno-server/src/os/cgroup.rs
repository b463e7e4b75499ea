//! Control groups of server and driver on this machine that have a limit.
//!
//! A container sees the CPUs of its machine in `/proc`, and may use a part of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use pgdyno_samples::cgroup::{
    LIMIT_CPUS, MEMORY_BYTES, MEMORY_LIMIT_BYTES, MEMORY_REACHED, OF, OOM_KILLS, SOURCE, THROTTLED, USED_CPUS,
};

use crate::Frame;
use crate::facts::machine::{Limits, groups};

/// Where the kernel's control groups are.
const MOUNT: &str = "/sys/fs/cgroup";

/// The groups that are looked at.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    groups: Vec<Group>,
}

/// The groups with the tightest limits above a process.
#[derive(Clone, Debug, Default, PartialEq)]
struct Limited {
    cpu: Option<(PathBuf, f64)>,
    memory: Option<(PathBuf, u64)>,
}

#[derive(Debug)]
struct Group {
    of: &'static str,
    limited: Limited,
    before: Option<(Instant, Counts)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    periods: Option<u64>,
    throttled: Option<u64>,
    used_us: Option<f64>,
}

impl Groups {
    /// Returns the groups of this process and of the server's first process, as far as they have limits.
    pub(crate) fn find(postmaster: Option<i32>) -> Self {
        let limited = |process: &str| {
            let memberships = std::fs::read_to_string(format!("/proc/{process}/cgroup")).unwrap_or_default();
            Limited::of(&memberships, Path::new(MOUNT))
        };
        let server = postmaster.map(|pid| limited(&pid.to_string()));
        let driver = Some(limited("self")).filter(|driver| Some(driver) != server.as_ref());
        let groups = [("server", server), ("driver", driver)].into_iter().filter_map(|(of, limited)| {
            let limited = limited.filter(|limited| *limited != Limited::default())?;
            Some(Group { of, limited, before: None })
        });
        Self { groups: groups.collect() }
    }

    /// Returns a row for each group since the look before; `None` if none has a limit.
    pub(crate) fn look(&mut self, at: Instant) -> Option<Frame> {
        let rows: Vec<_> = self.groups.iter_mut().map(|group| group.row(at)).collect();
        (!rows.is_empty()).then_some(Frame { source: SOURCE.name, at, columns: SOURCE.names, rows })
    }
}

impl Limited {
    fn of(memberships: &str, mount: &Path) -> Self {
        let mut found = Self::default();
        for dir in groups(memberships, mount) {
            let limits = Limits::of_group(&dir);
            if let Some(cpus) = limits.cpus.filter(|cpus| found.cpu.as_ref().is_none_or(|(_, least)| cpus < least)) {
                found.cpu = Some((dir.clone(), cpus));
            }
            let is_less = |bytes: &u64| found.memory.as_ref().is_none_or(|(_, least)| bytes < least);
            if let Some(bytes) = limits.memory_bytes.filter(is_less) {
                found.memory = Some((dir, bytes));
            }
        }
        found
    }
}

impl Group {
    fn row(&mut self, at: Instant) -> Vec<Option<String>> {
        let mut row = vec![None; SOURCE.columns.len()];
        let mut set = |column, cell| row[SOURCE.place(column)] = cell;
        set(OF, Some(self.of.to_owned()));
        if let Some((dir, cpus)) = &self.limited.cpu {
            let now = Counts::of(dir);
            set(LIMIT_CPUS, Some(format!("{cpus:.3}")));
            if let Some((then_at, then)) = self.before.replace((at, now)) {
                let seconds = at.saturating_duration_since(then_at).as_secs_f64().max(1e-3);
                let used = now.used_us.zip(then.used_us).map(|(now, then)| (now - then).max(0.0) / 1e6 / seconds);
                set(USED_CPUS, used.map(|used| format!("{used:.3}")));
                let grown = |now: Option<u64>, then: Option<u64>| Some(now?.saturating_sub(then?) as f64);
                let throttled = grown(now.periods, then.periods).zip(grown(now.throttled, then.throttled));
                // Periods are counted while the group has something to do.
                let share = |(periods, throttled): (f64, f64)| if periods > 0.0 { throttled / periods } else { 0.0 };
                set(THROTTLED, throttled.map(share).map(|share| format!("{share:.3}")));
            }
        }
        if let Some((dir, bytes)) = &self.limited.memory {
            let first = |files: [(&str, &str); 2]| files.iter().find_map(|(file, key)| number(&dir.join(file), key));
            let events = keyed(&dir.join("memory.events"));
            let reached = events.get("high").zip(events.get("max")).map(|(high, max)| high + max);
            set(MEMORY_LIMIT_BYTES, Some(bytes.to_string()));
            let used = first([("memory.current", ""), ("memory.usage_in_bytes", "")]);
            set(MEMORY_BYTES, used.map(|n| n.to_string()));
            set(MEMORY_REACHED, reached.or_else(|| number(&dir.join("memory.failcnt"), "")).map(|n| n.to_string()));
            let kills = first([("memory.events", "oom_kill"), ("memory.oom_control", "oom_kill")]);
            set(OOM_KILLS, kills.map(|n| n.to_string()));
        }
        row
    }
}

impl Counts {
    fn of(dir: &Path) -> Self {
        let counts = keyed(&dir.join("cpu.stat"));
        let count = |name: &str| counts.get(name).copied();
        // Version 1 counts nanoseconds, where this controller is mounted with that of the limit.
        let used_ns = || number(&dir.join("cpuacct.usage"), "").map(|ns| ns as f64 / 1e3);
        let used_us = count("usage_usec").map(|us| us as f64).or_else(used_ns);
        Self { periods: count("nr_periods"), throttled: count("nr_throttled"), used_us }
    }
}

/// Returns the lines `name number` of a file.
fn keyed(path: &Path) -> BTreeMap<String, u64> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let line = |line: &str| {
        let (name, number) = line.split_once(' ')?;
        Some((name.to_owned(), number.trim().parse().ok()?))
    };
    text.lines().filter_map(line).collect()
}

/// Returns the number of a file that has only one, or that of the line with this name.
fn number(path: &Path, key: &str) -> Option<u64> {
    match key {
        "" => std::fs::read_to_string(path).ok()?.trim().parse().ok(),
        key => keyed(path).remove(key),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn write(dir: &Path, files: &[(&str, &str)]) {
        std::fs::create_dir_all(dir).unwrap();
        for (name, text) in files {
            std::fs::write(dir.join(name), text).unwrap();
        }
    }

    fn cells(group: &mut Group, at: Instant) -> Vec<String> {
        group.row(at).into_iter().map(Option::unwrap_or_default).collect()
    }

    #[test]
    fn a_group_of_version_2_is_looked_at_where_its_limit_is() {
        let root = tempfile::tempdir().unwrap();
        let (outer, inner) = (root.path().join("a"), root.path().join("a/b"));
        write(&outer, &[("cpu.max", "150000 100000\n"), ("memory.max", "max\n")]);
        write(&outer, &[("cpu.stat", "usage_usec 1000000\nnr_periods 100\nnr_throttled 10\n")]);
        write(&inner, &[("cpu.max", "max 100000\n"), ("memory.max", "1048576\n"), ("memory.current", "4096\n")]);
        write(&inner, &[("memory.events", "low 0\nhigh 3\nmax 4\noom 1\noom_kill 1\n")]);
        let limited = Limited::of("0::/a/b\n", root.path());
        let mut group = Group { of: "server", limited, before: None };
        let at = Instant::now();
        assert_eq!(cells(&mut group, at), ["server", "1.500", "", "", "1048576", "4096", "7", "1"]);
        write(&outer, &[("cpu.stat", "usage_usec 4000000\nnr_periods 120\nnr_throttled 25\n")]);
        let second = cells(&mut group, at + Duration::from_secs(2));
        assert_eq!(second[..4], ["server", "1.500", "1.500", "0.750"]);
    }

    #[test]
    fn a_group_of_version_1_is_understood_and_one_without_limits_is_none() {
        let root = tempfile::tempdir().unwrap();
        let quota = [("cpu.cfs_quota_us", "50000\n"), ("cpu.cfs_period_us", "100000\n")];
        write(&root.path().join("cpu/x"), &quota);
        write(&root.path().join("cpu/x"), &[("cpu.stat", "nr_periods 4\nnr_throttled 4\nthrottled_time 99\n")]);
        write(&root.path().join("memory"), &[("memory.limit_in_bytes", "9223372036854771712\n")]);
        let limited = Limited::of("4:memory:/\n1:cpu,cpuacct:/x\n", root.path());
        assert_eq!((limited.memory.clone(), limited.cpu.as_ref().map(|(_, cpus)| *cpus)), (None, Some(0.5)));
        let mut group = Group { of: "driver", limited, before: None };
        assert_eq!(cells(&mut group, Instant::now()), ["driver", "0.500", "", "", "", "", "", ""]);
        assert_eq!(Limited::of("4:memory:/\n0::/\n", root.path()), Limited::default());
        assert_eq!(Groups::default().look(Instant::now()), None);
    }
}
