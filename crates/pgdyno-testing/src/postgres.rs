//! The PostgreSQL installation that tests start servers from.
//!
//! `PGDYNO_TEST_POSTGRES` names the directory of its programs (`.ci/test-on` sets it); the default is the newest version of
//! Debian's packages. Programs that the directory lacks (portable builds lack psql and pgbench) are taken from Debian's.

use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

/// Parent of Debian's directories of PostgreSQL, one a version.
const INSTALLED: &str = "/usr/lib/postgresql";

/// Returns the directory that the environment names.
#[must_use]
pub fn chosen() -> Option<PathBuf> {
    std::env::var_os("PGDYNO_TEST_POSTGRES").map(PathBuf::from)
}

/// Returns the newest of Debian's directories with these programs.
#[must_use]
pub fn installed(programs: &[&str]) -> Option<PathBuf> {
    let entries = std::fs::read_dir(INSTALLED).into_iter().flatten().flatten();
    let versions = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let dirs = versions.map(|version| (version, Path::new(INSTALLED).join(version.to_string()).join("bin")));
    let newest = dirs.filter(|(_, dir)| programs.iter().all(|program| dir.join(program).exists())).max();
    newest.map(|(_, dir)| dir)
}

/// Returns the directory of `postgres`, which may not exist.
#[must_use]
pub fn bin() -> &'static Path {
    static BIN: LazyLock<PathBuf> =
        LazyLock::new(|| chosen().or_else(|| installed(&["postgres", "initdb"])).unwrap_or_else(|| INSTALLED.into()));
    &BIN
}

/// Returns the path of a program in that directory, or else of Debian's newest.
#[must_use]
pub fn program(name: &str) -> PathBuf {
    let own = bin().join(name);
    if own.exists() {
        return own;
    }
    installed(&[name]).map_or(own, |dir| dir.join(name))
}

/// Makes the server's account the owner of a file.
pub fn hand_over(path: &Path) {
    if let Some((uid, gid)) = account() {
        chown(path, Some(uid), Some(gid)).unwrap();
    }
}

/// Returns a command for a program of PostgreSQL, run as the servers' account.
#[must_use]
pub fn command(program: &str) -> Command {
    let mut command = Command::new(self::program(program));
    if let Some((uid, gid)) = account() {
        command.uid(uid).gid(gid);
    }
    command.env_clear().env("LC_ALL", "C").current_dir("/").stdin(Stdio::null());
    command
}

/// Returns whether there is a PostgreSQL to test with; reports a skipped test if not.
#[must_use]
pub fn available(test: &str) -> bool {
    let there = bin().join("postgres").exists();
    if !there {
        crate::skipped::skipped(&format!("{test}: no PostgreSQL in {}", bin().display()));
    }
    there
}

/// Returns the major version of the servers.
#[must_use]
pub fn major() -> u32 {
    static MAJOR: LazyLock<u32> = LazyLock::new(|| major_of("postgres"));
    *MAJOR
}

/// Returns the major version of a program.
#[must_use]
pub fn major_of(name: &str) -> u32 {
    let output = Command::new(program(name)).arg("--version").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let (_, version) = text.split_once("(PostgreSQL) ").unwrap();
    version[..2].parse().unwrap()
}

/// Returns user and group `postgres` if this process is root, which PostgreSQL refuses to run as; else `None`.
#[must_use]
pub fn account() -> Option<(u32, u32)> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let passwd = std::fs::read_to_string("/etc/passwd").unwrap();
    let line = passwd.lines().find(|l| l.starts_with("postgres:")).unwrap();
    let fields: Vec<_> = line.split(':').collect();
    Some((fields[2].parse().unwrap(), fields[3].parse().unwrap()))
}
