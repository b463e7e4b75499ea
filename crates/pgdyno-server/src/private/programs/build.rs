//! A PostgreSQL in a user's directory: checked before it is started, so that the error names the mistake.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::private::account::Account;
use crate::private::programs::find::{self, OLDEST_MAJOR};
use crate::private::programs::installation::{Installation, InstallationOrigin};

/// The error when the PostgreSQL of a directory cannot be started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InstallationError {
    /// There is no such directory.
    #[error("there is no directory {}; name one with the program postgres in it, or in its bin", .0.display())]
    NoDirectory(PathBuf),
    /// It has no `postgres`.
    #[error("{} has no PostgreSQL: there is neither postgres nor bin/postgres in it; name the directory that pg_config --bindir prints", .0.display())]
    NoPostgres(PathBuf),
    /// It has no `initdb`.
    #[error("{} has postgres, but not initdb beside it, which makes the data directory; install PostgreSQL as a whole (make install)", .0.display())]
    NoInitdb(PathBuf),
    /// A program is not executable.
    #[error("{} is not executable; chmod +x it", .0.display())]
    NotExecutable(PathBuf),
    /// The server's account has no access.
    #[error(
        "user {account}, whom the server runs as because PostgreSQL refuses to run as root, has no access to {}; let it \
         pass with 'chmod o+rx {}', or copy the whole installation to where it can, such as /opt", .path.display(), .path.display()
    )]
    NoAccess {
        /// The server's account.
        account: String,
        /// The path that it may not enter or read.
        path: PathBuf,
    },
    /// It is a program for another architecture.
    #[error("{} is built for {theirs}, and this machine has {ours}; name a PostgreSQL that is built for this machine", .path.display())]
    Architecture {
        /// The program.
        path: PathBuf,
        /// Its architecture.
        theirs: String,
        /// The architecture of pgdyno.
        ours: String,
    },
    /// It does not run, or is no PostgreSQL.
    #[error("{} cannot be used as PostgreSQL: {reason}", .path.display())]
    DoesNotRun {
        /// The program.
        path: PathBuf,
        /// The cause.
        reason: String,
    },
    /// It is too old.
    #[error("{} is PostgreSQL {version}, and a private server must be {OLDEST_MAJOR} or newer; start it yourself, and name it with --target 'host=…'", .bindir.display())]
    TooOld {
        /// Its programs.
        bindir: PathBuf,
        /// Its version.
        version: String,
    },
}

/// Returns the PostgreSQL in `dir`, or in `bin` below it. `account` is the server's account, if it is not this
/// process's own.
///
/// # Errors
/// When it cannot be started, with the remedy.
pub fn in_directory(dir: &Path, account: Option<&Account>) -> Result<Installation, InstallationError> {
    if !dir.is_dir() {
        return Err(InstallationError::NoDirectory(dir.to_owned()));
    }
    let named = [dir.to_owned(), dir.join("bin")].into_iter().find(|dir| dir.join("postgres").is_file());
    let named = named.ok_or_else(|| InstallationError::NoPostgres(dir.to_owned()))?;
    // A link to the program stands for the directory of its target, where initdb is, too.
    let linked = named.join("postgres").canonicalize().ok();
    let linked = linked.as_deref().and_then(Path::parent).filter(|dir| dir.join("initdb").is_file());
    let bindir = match named.join("initdb").is_file() {
        true => named,
        false => linked.ok_or(InstallationError::NoInitdb(named))?.to_owned(),
    };
    for program in ["postgres", "initdb"].map(|name| bindir.join(name)) {
        if program.metadata().is_ok_and(|meta| meta.permissions().mode() & 0o111 == 0) {
            return Err(InstallationError::NotExecutable(program));
        }
        if let Some(account) = account
            && let Some(path) = closed_to(account, &program)
        {
            return Err(InstallationError::NoAccess { account: account.name.clone(), path });
        }
    }
    let version = find::inspect(&bindir, account).map_err(|reason| {
        let path = bindir.join("postgres");
        match (architecture(&path), architecture(Path::new("/proc/self/exe"))) {
            (Some(theirs), Some(ours)) if theirs != ours => InstallationError::Architecture { path, theirs, ours },
            _ => InstallationError::DoesNotRun { path, reason },
        }
    })?;
    if version.major < OLDEST_MAJOR {
        return Err(InstallationError::TooOld { bindir, version: version.text });
    }
    Ok(Installation { bindir, version, origin: InstallationOrigin::Named })
}

/// Returns the first directory above a program that `account` may not enter, or the program if it may not run it.
/// Checks only permission bits; access lists matter when the program is run.
fn closed_to(account: &Account, program: &Path) -> Option<PathBuf> {
    let real = program.canonicalize().unwrap_or_else(|_| program.to_owned());
    let mut way: Vec<_> = program.ancestors().chain(real.ancestors()).collect();
    way.sort_by_key(|path| path.components().count());
    way.into_iter().find(|path| !path.metadata().is_ok_and(|meta| is_open_to(account, &meta))).map(Path::to_owned)
}

/// Returns true if `account` may enter a directory, or run a program. The server has no supplementary groups.
fn is_open_to(account: &Account, meta: &std::fs::Metadata) -> bool {
    let bit = match () {
        () if meta.uid() == account.uid => 0o100,
        () if meta.gid() == account.gid => 0o010,
        () => 0o001,
    };
    meta.mode() & bit != 0
}

/// Returns the architecture of a Linux program. Source: elf.h.
fn architecture(program: &Path) -> Option<String> {
    let mut header = [0; 20];
    File::open(program).and_then(|mut file| file.read_exact(&mut header)).ok()?;
    let [0x7f, b'E', b'L', b'F', class, order, ..] = header else { return None };
    let machine = [header[18], header[19]];
    let machine = if order == 2 { u16::from_be_bytes(machine) } else { u16::from_le_bytes(machine) };
    let bits = if class == 2 { 64 } else { 32 };
    let name = match machine {
        3 => "x86",
        20 => "PowerPC",
        21 => "PowerPC64",
        22 => "IBM Z",
        40 => "ARM",
        62 => "x86-64",
        183 => "AArch64",
        243 => "RISC-V",
        258 => "LoongArch",
        _ => return Some(format!("machine {machine} of {bits} bits")),
    };
    Some(format!("{name}, {bits} bits"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::private::programs::find::tests::{fake, write_program};

    fn refusal(dir: &Path) -> String {
        in_directory(dir, None).unwrap_err().to_string()
    }

    #[test]
    fn the_directory_of_the_programs_and_the_one_above_it_are_taken() {
        let root = tempfile::tempdir().unwrap();
        let bin = fake(root.path(), "pg/bin", "16.3", &["postgres", "initdb"]);
        for dir in [&bin, &root.path().join("pg")] {
            let found = in_directory(dir, None).unwrap();
            assert_eq!(
                (&found.bindir, found.version.text.as_str(), found.origin),
                (&bin, "16.3", InstallationOrigin::Named)
            );
        }
        let links = root.path().join("links");
        std::fs::create_dir(&links).unwrap();
        std::os::unix::fs::symlink(bin.join("postgres"), links.join("postgres")).unwrap();
        assert_eq!(in_directory(&links, None).unwrap().bindir, bin.canonicalize().unwrap());
    }

    #[test]
    fn each_mistake_is_reported_as_what_it_is() {
        let root = tempfile::tempdir().unwrap();
        let dir = |name: &str| root.path().join(name);
        let both = &["postgres", "initdb"];
        assert!(refusal(&dir("none")).starts_with("there is no directory "));
        std::fs::create_dir(dir("empty")).unwrap();
        assert!(refusal(&dir("empty")).contains("neither postgres nor bin/postgres"));
        fake(root.path(), "alone", "16.3", &["postgres"]);
        assert!(refusal(&dir("alone")).contains("not initdb beside it"));
        fake(root.path(), "old", "12.22", both);
        assert!(refusal(&dir("old")).contains("is PostgreSQL 12.22, and a private server must be 13 or newer"));
        fake(root.path(), "other", "16.3", both);
        write_program(&dir("other/postgres"), "#!/bin/sh\necho 'MariaDB 11'\n");
        assert!(
            refusal(&dir("other")).contains("other/postgres cannot be used as PostgreSQL: 'postgres --version' tells")
        );
        fake(root.path(), "plain", "16.3", both);
        std::fs::set_permissions(dir("plain/initdb"), std::fs::Permissions::from_mode(0o644)).unwrap();
        let reported = refusal(&dir("plain"));
        assert!(reported.ends_with("plain/initdb is not executable; chmod +x it"), "{reported}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_program_for_other_processors_is_reported_as_one() {
        let root = tempfile::tempdir().unwrap();
        let dir = fake(root.path(), "foreign", "16.3", &["postgres", "initdb"]);
        // This test's own program, changed to another architecture.
        let mut program = std::fs::read("/proc/self/exe").unwrap()[..4096].to_vec();
        program[18..20].copy_from_slice(&22_u16.to_be_bytes());
        program[5] = 2;
        std::fs::write(dir.join("program"), program).unwrap();
        let copied = std::process::Command::new("cp").arg(dir.join("program")).arg(dir.join("postgres")).status();
        assert!(copied.unwrap().success());
        for account in [None, Account::for_server().unwrap()] {
            if account.is_some() {
                std::fs::set_permissions(root.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
            }
            let reported = in_directory(&dir, account.as_ref()).unwrap_err().to_string();
            assert!(reported.contains("is built for IBM Z, 64 bits, and this machine has"), "{reported}");
        }
    }

    #[test]
    fn what_the_server_s_account_may_not_enter_is_named_with_the_remedy() {
        let root = tempfile::tempdir().unwrap();
        std::fs::set_permissions(root.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        fake(root.path(), "home/pg/bin", "16.3", &["postgres", "initdb"]);
        let home = root.path().join("home");
        std::fs::set_permissions(&home, std::fs::Permissions::from_mode(0o700)).unwrap();
        let nobody = Account { name: "bench".into(), uid: u32::MAX - 7, gid: u32::MAX - 7, home: "/".into() };
        let reported = in_directory(&home.join("pg"), Some(&nobody)).unwrap_err().to_string();
        let words = format!("has no access to {}; let it pass with 'chmod o+rx {}'", home.display(), home.display());
        assert!(reported.starts_with("user bench, ") && reported.contains(&words), "{reported}");
    }
}
