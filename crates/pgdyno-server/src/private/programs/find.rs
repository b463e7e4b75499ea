//! Finds PostgreSQL installations of this machine, and selects one.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::private::account::Account;
use crate::private::programs::installation::{Installation, InstallationOrigin};
use crate::private::programs::version::PgVersion;
use crate::private::programs::want::Want;

/// Result of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InstallationSearch {
    /// Usable installations; the newest first, and of the same version the one found first.
    pub usable: Vec<Installation>,
    /// Directories with an unusable `postgres`, and why.
    pub passed_over: Vec<(PathBuf, String)>,
}

impl InstallationSearch {
    /// Returns the newest installation that is wanted.
    #[must_use]
    pub fn newest(&self, want: &Want) -> Option<&Installation> {
        self.usable.iter().find(|installation| want.is(installation))
    }
}

/// The oldest major version of a private server.
pub const OLDEST_MAJOR: u32 = 13;

/// Directories of packages; a `*` stands for any part of one name.
///
/// Source: the file lists of the packages of Debian, PGDG (apt, yum), SUSE, Alpine, Homebrew, MacPorts,
/// Postgres.app and EDB.
const PACKAGED: [&str; 13] = [
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/usr/lib/postgresql*/bin",
    "/usr/libexec/postgresql*",
    "/usr/bin",
    "/usr/local/bin",
    "/usr/local/pgsql/bin",
    "/opt/homebrew/opt/postgresql@*/bin",
    "/usr/local/opt/postgresql@*/bin",
    "/opt/homebrew/bin",
    "/opt/local/lib/postgresql*/bin",
    "/Applications/Postgres.app/Contents/Versions/*/bin",
    "/Library/PostgreSQL/*/bin",
];

/// Searches this machine. `path` is the `PATH`, `account` the server's account: installations that it cannot reach
/// are skipped.
#[must_use]
pub fn search(path: Option<&OsStr>, account: Option<&Account>) -> InstallationSearch {
    let mut search = InstallationSearch::default();
    let mut seen = HashSet::new();
    for (dir, origin) in candidates(path) {
        // A link to the program stands for the directory of its target, where initdb is, too.
        let Ok(program) = dir.join("postgres").canonicalize() else {
            continue;
        };
        let bindir = match program.parent() {
            Some(parent) if parent.join("initdb").exists() => parent.to_owned(),
            _ => dir,
        };
        if !seen.insert(bindir.clone()) {
            continue;
        }
        match inspect(&bindir, account) {
            Ok(version) if version.major < OLDEST_MAJOR => {
                let reason = format!("version {version} is older than {OLDEST_MAJOR}");
                search.passed_over.push((bindir, reason));
            }
            Ok(version) => search.usable.push(Installation { bindir, version, origin }),
            Err(reason) => search.passed_over.push((bindir, reason)),
        }
    }
    // Stable, so that of equal versions the one found first stays first.
    search.usable.sort_by_key(|found| std::cmp::Reverse((found.version.major, found.version.minor)));
    search
}

/// Returns directories that may have a PostgreSQL, in the order of preference.
fn candidates(path: Option<&OsStr>) -> Vec<(PathBuf, InstallationOrigin)> {
    let on_path: Vec<PathBuf> = path.map(|path| std::env::split_paths(path).collect()).unwrap_or_default();
    let reported = on_path
        .iter()
        .map(|dir| dir.join("pg_config"))
        .find(|program| program.is_file())
        .and_then(|program| Command::new(program).arg("--bindir").output().ok())
        .and_then(|output| String::from_utf8(output.stdout).ok())
        .map(|bindir| PathBuf::from(bindir.trim_end()));
    let packaged = PACKAGED.iter().flat_map(|pattern| expand(pattern));
    on_path
        .iter()
        // An empty or relative entry means the working directory, where no server is installed.
        .filter(|dir| dir.is_absolute())
        .map(|dir| (dir.clone(), InstallationOrigin::Path))
        .chain(reported.map(|dir| (dir, InstallationOrigin::PgConfig)))
        .chain(packaged.map(|dir| (dir, InstallationOrigin::Packaged)))
        .collect()
}

/// Returns the directories that match `pattern`, in which one name may have one `*`.
fn expand(pattern: &str) -> Vec<PathBuf> {
    let Some((before, after)) = pattern.split_once('*') else {
        return vec![PathBuf::from(pattern)];
    };
    let (parent, prefix) = before.rsplit_once('/').unwrap_or(("", before));
    let (suffix, below) = after.split_once('/').unwrap_or((after, ""));
    let Ok(entries) = std::fs::read_dir(if parent.is_empty() { "/" } else { parent }) else {
        return Vec::new();
    };
    entries
        .filter_map(Result::ok)
        .filter(|entry| {
            entry
                .file_name()
                .to_str()
                .and_then(|name| name.strip_prefix(prefix))
                .is_some_and(|rest| rest.ends_with(suffix))
        })
        .map(|entry| entry.path().join(below))
        .collect()
}

/// Returns the version of the PostgreSQL in `bindir`, as `account` sees it; or why it is unusable.
pub(crate) fn inspect(bindir: &Path, account: Option<&Account>) -> Result<PgVersion, String> {
    if !bindir.join("initdb").is_file() {
        return Err("initdb is missing beside postgres".to_owned());
    }
    let mut command = Command::new(bindir.join("postgres"));
    command.arg("--version").current_dir("/").stdin(Stdio::null());
    if let Some(account) = account {
        // The standard library drops root's supplementary groups with it.
        command.uid(account.uid).gid(account.gid);
    }
    let output = command.output().map_err(|error| match account {
        Some(account) => format!("user {} cannot run its postgres: {error}", account.name),
        None => format!("its postgres does not run: {error}"),
    })?;
    PgVersion::from_output(&String::from_utf8_lossy(&output.stdout)).ok_or_else(|| {
        let complaint = String::from_utf8_lossy(&output.stderr);
        format!("'postgres --version' tells no version: {}", complaint.lines().next().unwrap_or("it printed nothing"))
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns a directory with programs that print this version.
    pub(crate) fn fake(root: &Path, name: &str, version: &str, programs: &[&str]) -> PathBuf {
        let bindir = root.join(name);
        std::fs::create_dir_all(&bindir).unwrap();
        for program in programs {
            let text = format!("#!/bin/sh\necho '{program} (PostgreSQL) {version}'\n");
            write_program(&bindir.join(program), &text);
        }
        bindir
    }

    /// Written by another process: were the file open here, a child that another test starts meanwhile
    /// would hold it open too, and "text file busy" keep it from running.
    pub(crate) fn write_program(path: &Path, text: &str) {
        let status = Command::new("/bin/sh")
            .args(["-c", "printf %s \"$2\" > \"$1\" && chmod 755 \"$1\"", "sh"])
            .arg(path)
            .arg(text)
            .status()
            .unwrap();
        assert!(status.success());
    }

    #[test]
    fn the_newest_wins_and_a_link_leads_to_its_programs() {
        let root = tempfile::tempdir().unwrap();
        let both = &["postgres", "initdb"];
        let old = fake(root.path(), "old", "9999.1", both);
        let new = fake(root.path(), "new", "9999.10", both);
        let alone = fake(root.path(), "alone", "10000.1", &["postgres"]);
        let ancient = fake(root.path(), "ancient", "9.6.24", both);
        let linked = root.path().join("linked");
        std::fs::create_dir(&linked).unwrap();
        std::os::unix::fs::symlink(new.join("postgres"), linked.join("postgres")).unwrap();

        let path = std::env::join_paths([&old, &alone, &ancient, &linked]).unwrap();
        let found = search(Some(&path), None);
        let newest = found.newest(&Want::Any).unwrap();
        assert_eq!(
            (newest.bindir.clone(), newest.version.minor, newest.origin),
            (new.canonicalize().unwrap(), Some(10), InstallationOrigin::Path)
        );
        assert_eq!(found.newest(&Want::Major(9999)), Some(newest));
        assert_eq!(found.newest(&Want::Major(10_000)), None);
        assert_eq!(found.passed_over[0], (alone, "initdb is missing beside postgres".to_owned()));
        assert_eq!(found.passed_over[1], (ancient, "version 9.6.24 is older than 13".to_owned()));
    }

    #[test]
    fn what_does_not_run_is_passed_over() {
        let root = tempfile::tempdir().unwrap();
        let dir = fake(root.path(), "x", "9999", &["postgres", "initdb"]);
        write_program(&dir.join("postgres"), "#!/nowhere\n");
        let reason = inspect(&dir, None).unwrap_err();
        assert!(reason.starts_with("its postgres does not run"), "{reason}");
        write_program(&dir.join("postgres"), "#!/bin/sh\necho broken >&2\n");
        assert_eq!(inspect(&dir, None).unwrap_err(), "'postgres --version' tells no version: broken");
    }

    #[test]
    fn a_star_stands_for_any_name() {
        let root = tempfile::tempdir().unwrap();
        for name in ["pgsql-15", "pgsql-16", "other"] {
            std::fs::create_dir_all(root.path().join(name).join("bin")).unwrap();
        }
        let mut found = expand(&format!("{}/pgsql-*/bin", root.path().display()));
        found.sort();
        assert_eq!(found, [root.path().join("pgsql-15/bin"), root.path().join("pgsql-16/bin")]);
    }
}
