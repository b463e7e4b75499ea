//! One process in `/proc/PID/stat`.

use std::fs::File;
use std::io::Read;

/// Upper limit of a line of `/proc/PID/stat`: 52 numbers and a name.
const LONGEST: usize = 2048;

/// Upper limit of a process's CPU time, 300 years: the sum over all processes does not overflow, whatever a machine
/// reports.
const TICKS_MAX: u64 = 1 << 40;

/// A process. Source: proc_pid_stat(5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: i32,
    pub(crate) parent: i32,
    /// CPU time of the process and of all its threads, in ticks.
    pub(crate) own_ticks: u64,
    /// CPU time of its children that have ended and were waited for, and of theirs, in ticks.
    pub(crate) reaped_ticks: u64,
    /// Its start, in ticks since the machine's start: with its number it identifies a process.
    pub(crate) started: u64,
}

impl Process {
    /// Parses the line of `/proc/PID/stat`; `None` if it is invalid.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        // The name is in parentheses and may contain anything, also parentheses.
        let (begin, rest) = line.rsplit_once(')')?;
        let (pid, _) = begin.split_once('(')?;
        // Counted from the state, the field after the name.
        let fields: Vec<&str> = rest.split_whitespace().take(20).collect();
        let number = |nth: usize| fields.get(nth).and_then(|field| field.parse::<u64>().ok());
        // The kernel shows these two as signed numbers.
        let reaped = |nth: usize| fields.get(nth).and_then(|field| field.parse::<i64>().ok()).map(|n| n.max(0) as u64);
        Some(Self {
            pid: pid.trim().parse().ok()?,
            parent: fields.get(1)?.parse().ok()?,
            own_ticks: number(11)?.saturating_add(number(12)?).min(TICKS_MAX),
            reaped_ticks: reaped(13)?.saturating_add(reaped(14)?).min(TICKS_MAX),
            started: number(19)?,
        })
    }

    /// Reads a process of this machine; `None` if there is none with this number, or it is hidden.
    pub(crate) fn look(pid: i32) -> Option<Self> {
        // The kernel formats the whole line for the first read. There may be thousands of processes.
        let mut line = [0; LONGEST];
        let length = File::open(format!("/proc/{pid}/stat")).ok()?.read(&mut line).ok()?;
        Self::parse(&String::from_utf8_lossy(&line[..length]))
    }

    /// Returns the CPU time of it and of its children that have ended.
    pub(crate) fn ticks(&self) -> u64 {
        self.own_ticks + self.reaped_ticks
    }
}

/// Returns the numbers of the processes of this machine; none on other systems than Linux.
pub(crate) fn all() -> impl Iterator<Item = i32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_are_where_the_kernel_has_them() {
        let line =
            "4711 (a (b) c) S 17 4711 4711 0 -1 4194560 4762 80645 2 7 100 8 92 -69 20 0 1 0 136809 5124096 956\n";
        let process = Process { pid: 4711, parent: 17, own_ticks: 108, reaped_ticks: 92, started: 136_809 };
        assert_eq!(Process::parse(line), Some(process));
        assert_eq!(process.ticks(), 200);
    }

    #[test]
    fn what_is_no_stat_of_a_process_is_none() {
        for line in ["", "4711", "4711 (x", "x (y) S 1 2", "1 (y) S 1 1 1 0 -1 0 0 0 0 0 many 8 92 69 20 0 1 0 1"] {
            assert_eq!(Process::parse(line), None, "{line:?}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_process_has_its_parent_and_a_start() {
        let own = Process::look(std::process::id() as i32).unwrap();
        assert_eq!(own.parent, std::os::unix::process::parent_id() as i32);
        assert!(own.started > 0);
        assert!(all().any(|pid| pid == own.pid));
        assert_eq!(Process::look(i32::MAX), None);
    }
}
