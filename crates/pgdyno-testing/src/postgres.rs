//! The PostgreSQL that tests start servers of.
//!
//! `PGDYNO_TEST_POSTGRES` names the directory of its programs (`.ci/test-on` sets it); without it, the newest version of
//! Debian's packages is taken. Programs that the directory lacks, as portable ones lack psql and pgbench, are Debian's.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// Where Debian puts PostgreSQL's programs, by version.
const INSTALLED: &str = "/usr/lib/postgresql";

/// The directory that the environment chooses.
#[must_use]
pub fn chosen() -> Option<PathBuf> {
    std::env::var_os("PGDYNO_TEST_POSTGRES").map(PathBuf::from)
}

/// The newest of Debian's directories that has these programs.
#[must_use]
pub fn installed(programs: &[&str]) -> Option<PathBuf> {
    let entries = std::fs::read_dir(INSTALLED).into_iter().flatten().flatten();
    let versions = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let dirs = versions.map(|version| (version, Path::new(INSTALLED).join(version.to_string()).join("bin")));
    let newest = dirs.filter(|(_, dir)| programs.iter().all(|program| dir.join(program).exists())).max();
    newest.map(|(_, dir)| dir)
}

/// The directory with `postgres`; it may not be there.
#[must_use]
pub fn bin() -> &'static Path {
    static BIN: LazyLock<PathBuf> =
        LazyLock::new(|| chosen().or_else(|| installed(&["postgres", "initdb"])).unwrap_or_else(|| INSTALLED.into()));
    &BIN
}

/// A program of that directory, or else Debian's newest.
#[must_use]
pub fn program(name: &str) -> PathBuf {
    let own = bin().join(name);
    if own.exists() {
        return own;
    }
    installed(&[name]).map_or(own, |dir| dir.join(name))
}

/// Whether there is a PostgreSQL to test with; says so if there is none.
#[must_use]
pub fn available(test: &str) -> bool {
    let there = bin().join("postgres").exists();
    if !there {
        crate::skipped::skipped(&format!("{test}: no PostgreSQL in {}", bin().display()));
    }
    there
}

/// The major version of the servers.
#[must_use]
pub fn major() -> u32 {
    static MAJOR: LazyLock<u32> = LazyLock::new(|| major_of("postgres"));
    *MAJOR
}

/// The major version of a program.
#[must_use]
pub fn major_of(name: &str) -> u32 {
    let output = Command::new(program(name)).arg("--version").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let (_, version) = text.split_once("(PostgreSQL) ").unwrap();
    version[..2].parse().unwrap()
}

/// PostgreSQL refuses to run as root; then it runs as `postgres`. `None` where this is not root.
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
