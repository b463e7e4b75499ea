//! Facts of this machine, for the record and for sizing the private server.

use std::path::{Path, PathBuf};
#[cfg(not(target_os = "linux"))]
use std::process::Command;

use serde::{Deserialize, Serialize};

/// The machine of pgdyno, and of the private server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MachineFacts {
    /// Its host name.
    pub host_name: Option<String>,
    /// Model name of the first CPU.
    pub cpu_model: Option<String>,
    /// CPUs that this process may use.
    pub cpus: u32,
    /// Memory of the machine, in bytes.
    pub ram_bytes: Option<u64>,
    /// Kernel and its release: `Linux 6.1.0`.
    pub kernel: String,
    /// Architecture of the CPU: `x86_64`.
    pub architecture: String,
    /// The operating system's own name: `Debian GNU/Linux 12 (bookworm)`.
    pub os: Option<String>,
    /// CPUs that the container may use, if it is limited.
    pub cpu_limit: Option<f64>,
    /// Memory that the container may use in bytes, if it is limited.
    pub memory_limit_bytes: Option<u64>,
}

impl MachineFacts {
    /// Reads the facts of this machine. Unknown ones are empty.
    #[must_use]
    pub fn look() -> Self {
        let uname = rustix::system::uname();
        let text = |s: &std::ffi::CStr| s.to_string_lossy().into_owned();
        let limits = Limits::look();
        Self {
            host_name: Some(text(uname.nodename())).filter(|name| !name.is_empty()),
            cpu_model: cpu_model(),
            cpus: std::thread::available_parallelism().map_or(1, |n| n.get() as u32),
            ram_bytes: ram_bytes(),
            kernel: format!("{} {}", text(uname.sysname()), text(uname.release())),
            architecture: text(uname.machine()),
            os: os_name(),
            cpu_limit: limits.cpus,
            memory_limit_bytes: limits.memory_bytes,
        }
    }

    /// Returns the usable memory: the machine's, or less in a container.
    #[must_use]
    pub fn usable_ram_bytes(&self) -> Option<u64> {
        match (self.ram_bytes, self.memory_limit_bytes) {
            (Some(ram), Some(limit)) => Some(ram.min(limit)),
            (ram, limit) => ram.or(limit),
        }
    }

    /// Returns the usable CPUs: those of this process, or less in a container.
    #[must_use]
    pub fn usable_cpus(&self) -> u32 {
        match self.cpu_limit {
            Some(limit) => self.cpus.min(limit.ceil() as u32).max(1),
            None => self.cpus,
        }
    }
}

/// Limits of a container.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Limits {
    pub(crate) cpus: Option<f64>,
    pub(crate) memory_bytes: Option<u64>,
}

/// Returns the directories of the control groups in `memberships` (the text of `/proc/PID/cgroup`), and of those above them, as
/// far as they have limits of CPU or memory. Source: cgroups(7); the kernel's documentation of cgroup-v1 and cgroup-v2.
pub(crate) fn groups(memberships: &str, mount: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for line in memberships.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(group)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        let controllers: Vec<&str> = controllers.split(',').collect();
        let mount = match controllers.as_slice() {
            [""] => mount.to_owned(),
            some if some.contains(&"memory") => mount.join("memory"),
            some if some.contains(&"cpu") => mount.join("cpu"),
            _ => continue,
        };
        // In a container the group's path may be the host's, which does not exist there: then the mount itself is
        // the group.
        let group = Path::new(group.trim_start_matches('/'));
        found.extend(group.ancestors().map(|above| mount.join(above)));
    }
    found
}

impl Limits {
    fn look() -> Self {
        let memberships = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        Self::of(&memberships, Path::new("/sys/fs/cgroup"))
    }

    /// Returns the tightest limits of the groups in `memberships` and of those above them.
    fn of(memberships: &str, mount: &Path) -> Self {
        let mut limits = Self::default();
        for dir in groups(memberships, mount) {
            limits.tighten(Self::of_group(&dir));
        }
        limits
    }

    /// Returns the limits of one group.
    pub(crate) fn of_group(dir: &Path) -> Self {
        let read = |name| std::fs::read_to_string(dir.join(name)).ok();
        let number = |name| read(name).and_then(|text| text.trim().parse::<i64>().ok());
        let share = |quota: f64, period: f64| (quota > 0.0 && period > 0.0).then(|| quota / period);
        let cpus = match read("cpu.max") {
            Some(text) => {
                text.split_once(' ').and_then(|(quota, period)| share(quota.parse().ok()?, period.trim().parse().ok()?))
            }
            None => number("cpu.cfs_quota_us")
                .zip(number("cpu.cfs_period_us"))
                .and_then(|(quota, period)| share(quota as f64, period as f64)),
        };
        // In version 1 a number next to the largest one means no limit.
        let memory_bytes = number("memory.max")
            .or_else(|| number("memory.limit_in_bytes"))
            .and_then(|bytes| u64::try_from(bytes).ok())
            .filter(|bytes| *bytes < 1 << 60);
        Self { cpus, memory_bytes }
    }

    fn tighten(&mut self, other: Self) {
        self.cpus = match (self.cpus, other.cpus) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        self.memory_bytes = match (self.memory_bytes, other.memory_bytes) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }
}

#[cfg(target_os = "linux")]
fn cpu_model() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    field(&text, "model name", ':')
}

#[cfg(target_os = "linux")]
fn ram_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let kib: u64 = field(&text, "MemTotal", ':')?.strip_suffix(" kB")?.parse().ok()?;
    Some(kib * 1024)
}

#[cfg(target_os = "linux")]
fn os_name() -> Option<String> {
    let text = std::fs::read_to_string("/etc/os-release").ok()?;
    field(&text, "PRETTY_NAME", '=').map(|name| name.trim_matches('"').to_owned())
}

/// Returns the value of the first line with this `name`.
#[cfg(target_os = "linux")]
fn field(text: &str, name: &str, separator: char) -> Option<String> {
    text.lines()
        .filter_map(|line| line.split_once(separator))
        .find(|(key, _)| key.trim() == name)
        .map(|(_, value)| value.trim().to_owned())
}

#[cfg(not(target_os = "linux"))]
fn cpu_model() -> Option<String> {
    reported("sysctl", &["-n", "machdep.cpu.brand_string"])
}

#[cfg(not(target_os = "linux"))]
fn ram_bytes() -> Option<u64> {
    reported("sysctl", &["-n", "hw.memsize"])?.parse().ok()
}

#[cfg(not(target_os = "linux"))]
fn os_name() -> Option<String> {
    reported("sw_vers", &["-productVersion"]).map(|version| format!("macOS {version}"))
}

/// Returns the output of a command.
#[cfg(not(target_os = "linux"))]
fn reported(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(root: &Path, dir: &str, files: &[(&str, &str)]) {
        let dir = root.join(dir);
        std::fs::create_dir_all(&dir).unwrap();
        for (name, text) in files {
            std::fs::write(dir.join(name), text).unwrap();
        }
    }

    #[test]
    fn this_machine_has_processors_and_memory() {
        let machine = MachineFacts::look();
        assert!(machine.cpus >= 1);
        assert!(machine.usable_ram_bytes().unwrap() > 64 << 20);
        assert!(machine.kernel.contains(' '), "{}", machine.kernel);
    }

    #[test]
    fn the_tightest_group_above_counts() {
        let root = tempfile::tempdir().unwrap();
        group(root.path(), "a", &[("cpu.max", "150000 100000\n"), ("memory.max", "max\n")]);
        group(root.path(), "a/b", &[("cpu.max", "max 100000\n"), ("memory.max", "1073741824\n")]);
        assert_eq!(Limits::of("0::/a/b\n", root.path()), Limits { cpus: Some(1.5), memory_bytes: Some(1 << 30) });
    }

    #[test]
    fn the_first_version_of_control_groups_is_understood() {
        let root = tempfile::tempdir().unwrap();
        group(root.path(), "cpu", &[("cpu.cfs_quota_us", "-1\n"), ("cpu.cfs_period_us", "100000\n")]);
        group(root.path(), "memory/x", &[("memory.limit_in_bytes", "536870912\n")]);
        group(root.path(), "memory", &[("memory.limit_in_bytes", "9223372036854771712\n")]);
        assert_eq!(
            Limits::of("4:memory:/x\n1:cpu,cpuacct:/\n0::/\n", root.path()),
            Limits { cpus: None, memory_bytes: Some(512 << 20) }
        );
        assert_eq!(Limits::of("", root.path()), Limits::default());
    }
}
