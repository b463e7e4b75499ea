//! The directory of one private server: created, locked, and removed.
//!
//! ```text
//! instances/<id>/lock              held by the living supervisor; can it be taken, the server is dead
//!                postgresql.conf, pg_hba.conf, pg_ident.conf
//!                server.log
//!                data/             the server's own
//!                run/              the server's own: the socket, or a link to where it is
//! ```

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::private::account::Account;
use crate::private::places::{Places, make_dir};
use crate::process;

/// Limit of a socket's path in bytes: `sun_path` without its last 0.
const SOCKET_PATH_MAX: usize = if cfg!(target_os = "macos") { 103 } else { 107 };

/// A directory whose lock this process holds.
#[derive(Debug)]
pub(crate) struct Instance {
    dir: PathBuf,
    _lock: File,
}

impl Instance {
    /// Creates a directory for a server that ends with the run. Removes those of dead servers.
    pub(crate) fn temporary(places: &Places) -> io::Result<Self> {
        let instances = places.instances();
        places.make(&instances)?;
        // No other process cleans up while a directory exists that is not locked yet.
        let _guard = guard(&instances)?;
        sweep(&instances);
        let dir = tempfile::Builder::new().prefix("pg-").tempdir_in(&instances)?;
        let lock = lock_file(&dir.path().join("lock"))?;
        lock.lock()?;
        let dir = dir.keep();
        set_mode(&dir)?;
        Ok(Self { dir, _lock: lock })
    }

    /// Returns the directory of the kept server; `None` if it is running.
    pub(crate) fn kept(places: &Places) -> io::Result<Option<Self>> {
        let dir = places.kept();
        places.make(&dir)?;
        // A status query holds the lock for a moment: retry for a while.
        let mut attempts = 100;
        let lock = loop {
            attempts -= 1;
            match try_lock_kept(places)? {
                Some(lock) => break lock,
                None if attempts == 0 => return Ok(None),
                None => std::thread::sleep(Duration::from_millis(10)),
            }
        };
        set_mode(&dir)?;
        process::end_stray(&dir.join("data"));
        Ok(Some(Self { dir, _lock: lock }))
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.dir.join("data")
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.dir.join("server.log")
    }

    /// Creates an empty directory that only the server (and root) may enter.
    pub(crate) fn make_private(&self, name: &str, account: Option<&Account>) -> io::Result<PathBuf> {
        let path = self.dir.join(name);
        make_dir(&path, 0o700)?;
        own(&path, account)?;
        Ok(path)
    }

    /// Creates the empty directory for the socket. If the socket's path would be too long for the system, it is in
    /// `/tmp`, and `run` is a link to it so that it is found and removed.
    pub(crate) fn make_socket_dir(&self, account: Option<&Account>) -> io::Result<PathBuf> {
        let run = self.dir.join("run");
        remove_socket_dir(&run);
        if run.as_os_str().len() + "/.s.PGSQL.65535".len() <= SOCKET_PATH_MAX {
            return self.make_private("run", account);
        }
        let dir =
            tempfile::Builder::new().prefix("pgdyno-").permissions(Permissions::from_mode(0o700)).tempdir_in("/tmp")?;
        std::os::unix::fs::symlink(dir.path(), &run)?;
        own(dir.path(), account)?;
        Ok(dir.keep())
    }

    /// Removes everything. The server must have ended.
    pub(crate) fn remove(self) {
        remove(&self.dir);
    }
}

/// Creates a temporary directory for a socket: in `/tmp` if a path below `TMPDIR` would be too long for the system.
///
/// # Errors
/// When the system refuses.
pub fn socket_tempdir(prefix: &str) -> io::Result<tempfile::TempDir> {
    let dir = tempfile::Builder::new().prefix(prefix).tempdir()?;
    match dir.path().as_os_str().len() + "/.s.PGSQL.65535".len() <= SOCKET_PATH_MAX {
        true => Ok(dir),
        false => tempfile::Builder::new().prefix(prefix).tempdir_in("/tmp"),
    }
}

/// Takes the lock of the kept server; `None` if its supervisor is running.
pub(crate) fn try_lock_kept(places: &Places) -> io::Result<Option<File>> {
    // Beside the directory, so that the holder can remove the directory.
    let lock = lock_file(&places.root().join("kept.lock"))?;
    match lock.try_lock() {
        Ok(()) => Ok(Some(lock)),
        Err(std::fs::TryLockError::WouldBlock) => Ok(None),
        Err(std::fs::TryLockError::Error(error)) => Err(error),
    }
}

/// Removes the directories of dead servers, and ends their remaining processes. The caller holds the guard.
fn sweep(instances: &Path) {
    let Ok(entries) = std::fs::read_dir(instances) else {
        return;
    };
    for dir in entries.filter_map(Result::ok).map(|entry| entry.path()) {
        if dir.is_dir() && is_dead(&dir) {
            remove(&dir);
        }
    }
}

fn is_dead(dir: &Path) -> bool {
    match File::open(dir.join("lock")) {
        Ok(lock) => lock.try_lock().is_ok(),
        // Directories are locked while no process cleans up: one without a lock was half removed.
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

fn guard(instances: &Path) -> io::Result<File> {
    let guard = lock_file(&instances.join(".lock"))?;
    guard.lock()?;
    Ok(guard)
}

/// Opens a file to lock. No other user can open it, because opening it is enough to lock it.
pub(crate) fn lock_file(path: &Path) -> io::Result<File> {
    File::options().write(true).create(true).truncate(true).mode(0o600).open(path)
}

/// Removes a server's directory, after ending the processes in it. The next cleanup removes what cannot be removed
/// now.
pub(crate) fn remove(dir: &Path) {
    process::end_stray(&dir.join("data"));
    remove_socket_dir(&dir.join("run"));
    // A backend whose postmaster was killed may write a last file while its directory is removed.
    for _ in 0..50 {
        match std::fs::remove_dir_all(dir) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                std::thread::sleep(Duration::from_millis(50));
            }
            _ => return,
        }
    }
}

fn remove_socket_dir(run: &Path) {
    let Ok(meta) = run.symlink_metadata() else {
        return;
    };
    // Errors are reported for the directory around it.
    if meta.is_symlink() {
        if let Ok(target) = run.read_link() {
            let _ = std::fs::remove_dir_all(target);
        }
        let _ = std::fs::remove_file(run);
    } else {
        let _ = std::fs::remove_dir_all(run);
    }
}

/// Root's server runs as another account, which must pass through this directory and need not list it.
pub(crate) fn set_mode(dir: &Path) -> io::Result<()> {
    let mode = if rustix::process::geteuid().is_root() { 0o711 } else { 0o700 };
    std::fs::set_permissions(dir, Permissions::from_mode(mode))
}

pub(crate) fn own(path: &Path, account: Option<&Account>) -> io::Result<()> {
    match account {
        Some(account) => chown(path, Some(account.uid), Some(account.gid)),
        None => Ok(()),
    }
}

/// Returns the bytes of all files below `dir`, without unreadable ones.
pub(crate) fn size_of_tree(dir: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(dir) else {
        return 0;
    };
    entries
        .filter_map(Result::ok)
        .map(|entry| match entry.metadata() {
            Ok(meta) if meta.is_dir() => size_of_tree(&entry.path()),
            Ok(meta) => meta.len(),
            Err(_) => 0,
        })
        .sum()
}

/// Returns the last lines of a server's log.
pub(crate) fn log_tail(log: &Path) -> Vec<String> {
    use std::io::{Read, Seek, SeekFrom};
    const BYTES: u64 = 8192;
    const LINES: usize = 20;
    let read = || -> io::Result<Vec<u8>> {
        let mut file = File::open(log)?;
        let len = file.metadata()?.len();
        file.seek(SeekFrom::Start(len.saturating_sub(BYTES)))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let text = String::from_utf8_lossy(&read().unwrap_or_default()).into_owned();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(LINES)..].iter().map(|line| (*line).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dead_are_swept_and_the_living_are_not() {
        let root = tempfile::tempdir().unwrap();
        let places = Places::at(root.path().join("cache"));
        let living = Instance::temporary(&places).unwrap();
        let dead = Instance::temporary(&places).unwrap().dir().to_owned();
        assert!(dead.is_dir());
        let half = places.instances().join("pg-half");
        std::fs::create_dir(&half).unwrap();
        let next = Instance::temporary(&places).unwrap();
        assert!(living.dir().is_dir() && next.dir().is_dir());
        assert!(!dead.exists() && !half.exists());
        let dir = living.dir().to_owned();
        living.remove();
        assert!(!dir.exists());
    }

    #[test]
    fn the_kept_one_is_there_once() {
        let root = tempfile::tempdir().unwrap();
        let places = Places::at(root.path().join("cache"));
        let first = Instance::kept(&places).unwrap();
        assert!(first.is_some());
        assert!(Instance::kept(&places).unwrap().is_none());
        drop(first);
        assert!(Instance::kept(&places).unwrap().is_some());
    }

    #[test]
    fn a_socket_with_too_long_a_path_goes_elsewhere_and_is_removed_with_the_rest() {
        let root = tempfile::tempdir().unwrap();
        let places = Places::at(root.path().join("c".repeat(90)));
        let instance = Instance::temporary(&places).unwrap();
        let dir = instance.make_socket_dir(None).unwrap();
        assert!(dir.as_os_str().len() < 60, "{dir:?}");
        assert_eq!(dir.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        std::fs::write(dir.join(".s.PGSQL.5432"), "").unwrap();
        instance.remove();
        assert!(!dir.exists());
    }

    #[test]
    fn the_tail_of_a_log_is_its_last_lines() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        assert_eq!(log_tail(&log), Vec::<String>::new());
        let text: String = (0..5000).map(|n| format!("line {n}\n")).collect();
        std::fs::write(&log, text).unwrap();
        let tail = log_tail(&log);
        assert_eq!((tail.len(), tail[19].as_str()), (20, "line 4999"));
    }
}
