//! Processes of a PostgreSQL without an owner: finds and ends them.

use std::collections::BTreeSet;
#[cfg(target_os = "linux")]
use std::io::ErrorKind::PermissionDenied;
#[cfg(target_os = "linux")]
use std::os::unix::ffi::OsStrExt;
#[cfg(target_os = "linux")]
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

#[cfg(target_os = "linux")]
use crate::os::process::{self, Process};

/// Where the files of POSIX shared memory of PostgreSQL begin (`dynamic_shared_memory_type = posix`).
const SEGMENT: &str = "/dev/shm/PostgreSQL.";

/// Content of `postmaster.pid`. Source: PostgreSQL, `src/include/utils/pidfile.h`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PidFile {
    /// The postmaster's process id.
    pub(crate) pid: i32,
    /// The id of the System V shared memory segment that guards its data directory.
    pub(crate) shm_id: Option<i32>,
    /// Whether it accepts connections.
    pub(crate) ready: bool,
}

impl PidFile {
    /// Reads it from a data directory; `None` if it is missing or incomplete.
    pub(crate) fn read(data: &Path) -> Option<Self> {
        Self::parse(&std::fs::read_to_string(data.join("postmaster.pid")).ok()?)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let pid = lines.next()?.trim().parse().ok().filter(|pid| *pid > 1)?;
        // Data directory, start time, port, socket directory and listen address are in between.
        let shm = lines.nth(5);
        Some(Self {
            pid,
            shm_id: shm.and_then(|keys| keys.split_whitespace().nth(1)?.parse().ok()),
            ready: lines.next().is_some_and(|status| status.trim() == "ready"),
        })
    }
}

/// Sends a signal. A missing process is no error.
pub(crate) fn send(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        // The only other error is that the process belongs to another user: then it is not a server of pgdyno.
        let _ = kill_process(pid, signal);
    }
}

/// Returns true if this process is a running postmaster of this data directory, and not another process with its
/// number.
pub(crate) fn is_postmaster_of(pid: i32, data: &Path) -> bool {
    // A postmaster changes into its data directory. A zombie has no directory.
    #[cfg(target_os = "linux")]
    {
        let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        let cwd = std::fs::read_link(format!("/proc/{pid}/cwd"));
        let same_place = matches!((cwd, data.canonicalize()), (Ok(cwd), Ok(data)) if cwd == data);
        same_place && name.trim_end() == "postgres"
    }
    #[cfg(not(target_os = "linux"))]
    {
        let output = std::process::Command::new("ps").args(["-o", "command=", "-p", &pid.to_string()]).output();
        output.is_ok_and(|output| {
            let command = String::from_utf8_lossy(&output.stdout);
            command.contains("postgres") && command.contains(&*data.to_string_lossy())
        })
    }
}

/// Returns true if this process may be the postmaster of this data directory: as [`is_postmaster_of`], but where another user runs
/// it, whose processes hide their directory, its command line is all that shows it. That names the directory, or none.
pub(crate) fn may_be_postmaster_of(pid: i32, data: &Path) -> bool {
    #[cfg(target_os = "linux")]
    {
        let hidden = std::fs::read_link(format!("/proc/{pid}/cwd")).is_err_and(|e| e.kind() == PermissionDenied);
        let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        let command = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        is_postmaster_of(pid, data)
            || (hidden && name.trim_end() == "postgres" && directory_of(&command).is_none_or(|named| named == data))
    }
    #[cfg(not(target_os = "linux"))]
    is_postmaster_of(pid, data)
}

/// Returns the data directory that a postmaster's command line names.
#[cfg(target_os = "linux")]
fn directory_of(command: &[u8]) -> Option<&Path> {
    let mut words = command.split(|byte| *byte == 0);
    let named = words.find_map(|word| word.strip_prefix(b"-D"))?;
    let named = if named.is_empty() { words.next()? } else { named };
    Some(Path::new(std::ffi::OsStr::from_bytes(named)))
}

/// Returns the child processes of `pid`.
pub(crate) fn children_of(pid: i32) -> Vec<i32> {
    #[cfg(target_os = "linux")]
    {
        let parent = |process: &Process| process.parent;
        process::all().filter(|child| Process::look(*child).as_ref().map(parent) == Some(pid)).collect()
    }
    #[cfg(not(target_os = "linux"))]
    {
        let output = std::process::Command::new("ps").args(["-A", "-o", "pid=,ppid="]).output();
        let Ok(output) = output else {
            return Vec::new();
        };
        String::from_utf8_lossy(&output.stdout)
            .lines()
            .filter_map(|line| {
                let mut numbers = line.split_whitespace().map(str::parse::<i32>);
                let child = numbers.next()?.ok()?;
                (numbers.next()?.ok()? == pid).then_some(child)
            })
            .collect()
    }
}

/// Kills a postmaster and its children at once. Its backends lead sessions of their own, so that no signal to a
/// process group reaches them. Removes the POSIX shared memory that they leave in `/dev/shm`.
pub(crate) fn kill_with_children(postmaster: i32) {
    let children = children_of(postmaster);
    let all = || std::iter::once(postmaster).chain(children.iter().copied());
    let segments: BTreeSet<String> = all().flat_map(segments_of).collect();
    all().for_each(|pid| send(pid, Signal::KILL));
    for segment in segments {
        // Another process may have removed it.
        let _ = std::fs::remove_file(segment);
    }
}

/// Returns the files of POSIX shared memory that a process of a server has mapped, where the system shows them.
fn segments_of(pid: i32) -> Vec<String> {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    let path = |line: &str| line.find(SEGMENT).and_then(|at| line.get(at..)).map(str::to_owned);
    maps.lines().filter_map(path).filter(|path| !path.ends_with(" (deleted)")).collect()
}

/// Ends the postmaster of a data directory without an owner, if it still runs, and removes its shared memory.
pub(crate) fn end_stray(data: &Path) {
    let Some(file) = PidFile::read(data) else {
        return;
    };
    let gone_within = |patience: Duration| {
        let deadline = Instant::now() + patience;
        while is_postmaster_of(file.pid, data) {
            if Instant::now() > deadline {
                return false;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        true
    };
    if is_postmaster_of(file.pid, data) {
        send(file.pid, Signal::QUIT);
        if !gone_within(Duration::from_secs(2)) {
            kill_with_children(file.pid);
            gone_within(Duration::from_secs(5));
        }
    }
    release_shared_memory(data);
}

/// Makes the program of `command` get `end` when the thread that starts it has ended, however that happens.
pub(crate) fn ends_with_parent(command: &mut Command, end: Signal) {
    #[cfg(target_os = "linux")]
    {
        let parent = rustix::process::getpid();
        // SAFETY: between fork and exec only system calls are made, and nothing is allocated.
        unsafe {
            // After the change of the user, which would undo it.
            command.pre_exec(move || {
                rustix::process::set_parent_process_death_signal(Some(end))?;
                // The parent may have ended before.
                if rustix::process::getppid() == Some(parent) {
                    Ok(())
                } else {
                    Err(std::io::Error::from_raw_os_error(libc::ESRCH))
                }
            });
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (command, end);
}

/// Removes the shared memory segment of a postmaster that was killed. One that ended properly has removed its
/// `postmaster.pid`, too.
pub(crate) fn release_shared_memory(data: &Path) {
    let Some(file) = PidFile::read(data) else {
        return;
    };
    let (Some(id), Ok(meta)) = (file.shm_id, std::fs::metadata(data)) else {
        return;
    };
    if is_postmaster_of(file.pid, data) {
        return;
    }
    let uid = std::os::unix::fs::MetadataExt::uid(&meta);
    // Backends that were killed a moment ago may still use it.
    for _ in 0..100 {
        // SAFETY: `shmid_ds` is plain data, and both calls get a pointer to one that lives.
        unsafe {
            let mut about: libc::shmid_ds = std::mem::zeroed();
            // Segments are numbered anew after a reboot: only an unused one of the server's own account can belong to
            // it.
            if libc::shmctl(id, libc::IPC_STAT, &mut about) != 0 || about.shm_perm.uid != uid {
                return;
            }
            if about.shm_nattch == 0 {
                libc::shmctl(id, libc::IPC_RMID, &mut about);
                return;
            }
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pid_file_is_read_in_every_state() {
        let starting = "4711\n/data\n1700000000\n5433\n/run\n\n";
        assert_eq!(PidFile::parse(starting), Some(PidFile { pid: 4711, shm_id: None, ready: false }));
        let ready = format!("{starting}   123456     65537\nready   \n");
        assert_eq!(PidFile::parse(&ready), Some(PidFile { pid: 4711, shm_id: Some(65537), ready: true }));
        let recovering = format!("{starting}   123456     65537\nstarting\n");
        assert!(!PidFile::parse(&recovering).unwrap().ready);
        for half in ["", "47x", "-1\n", "1\n"] {
            assert_eq!(PidFile::parse(half), None);
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_command_line_names_the_data_directory_or_none() {
        for (command, named) in [
            ("postgres\0-D\0/srv/data\0-c\0config_file=/etc/pg.conf\0", Some("/srv/data")),
            ("postgres\0-p\x005432\0-D/srv/data\0", Some("/srv/data")),
            ("postgres\0-p\x005432\0", None),
            ("", None),
        ] {
            assert_eq!(directory_of(command.as_bytes()), named.map(Path::new), "{command}");
        }
    }

    #[test]
    fn a_child_is_found_by_its_parent() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = child.id() as i32;
        assert!(children_of(std::process::id() as i32).contains(&pid));
        assert!(!is_postmaster_of(pid, Path::new("/")));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!children_of(std::process::id() as i32).contains(&pid));
    }

    #[test]
    fn nothing_is_done_to_a_process_that_only_has_the_number() {
        let data = tempfile::tempdir().unwrap();
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        std::fs::write(data.path().join("postmaster.pid"), format!("{}\n{}\n", child.id(), data.path().display()))
            .unwrap();
        end_stray(data.path());
        assert_eq!(child.try_wait().unwrap(), None, "it was killed");
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
