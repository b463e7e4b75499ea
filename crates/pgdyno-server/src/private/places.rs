//! Directories of pgdyno's cache: downloaded PostgreSQLs and private servers.

use std::ffi::OsString;
use std::fs::{DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use pgdyno_untrusted::require_own;

use crate::private::account::Account;

/// The directory of everything.
///
/// For root it is readable by all, because the server runs as another account; for any other user it is private.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    root: PathBuf,
}

/// The error when there is no directory.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoPlace {
    /// The user has no home.
    #[error("no place for the cache: none of PGDYNO_CACHE, XDG_CACHE_HOME and HOME is set to an absolute path")]
    NoHome,
    /// The one that was asked for depends on the working directory.
    #[error("PGDYNO_CACHE must be an absolute path, and is '{}'", .0.display())]
    Relative(PathBuf),
}

impl Places {
    /// Returns the directories under `root`, an absolute path.
    #[must_use]
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Returns the directories of this process's user, with `env` as the environment: `PGDYNO_CACHE`; without it `/var/cache/pgdyno`
    /// for root, else `pgdyno` in `XDG_CACHE_HOME`, `~/Library/Caches` (macOS) or `~/.cache`.
    ///
    /// # Errors
    /// When the user has no home, or `PGDYNO_CACHE` is a relative path.
    pub fn of_user(env: impl Fn(&str) -> Option<OsString>) -> Result<Self, NoPlace> {
        if let Some(root) = env("PGDYNO_CACHE").filter(|root| !root.is_empty()).map(PathBuf::from) {
            return if root.is_absolute() { Ok(Self::at(root)) } else { Err(NoPlace::Relative(root)) };
        }
        if rustix::process::geteuid().is_root() {
            return Ok(Self::at("/var/cache/pgdyno"));
        }
        let home = || env("HOME").map(PathBuf::from).or_else(|| Account::own().ok().map(|own| own.home));
        let cache = if cfg!(target_os = "macos") { "Library/Caches" } else { ".cache" };
        // The XDG base directory specification says to ignore relative paths.
        env("XDG_CACHE_HOME")
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
            .or_else(|| home().filter(|path| path.is_absolute()).map(|home| home.join(cache)))
            .map(|cache| Self::at(cache.join("pgdyno")))
            .ok_or(NoPlace::NoHome)
    }

    /// Returns the directory of everything.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the directory of portable PostgreSQLs, one for each version.
    #[must_use]
    pub fn portable(&self) -> PathBuf {
        self.root.join("postgres")
    }

    /// Returns the directory of new clusters, one for each build.
    pub(crate) fn clusters(&self) -> PathBuf {
        self.root.join("clusters")
    }

    /// Returns the directory of temporary servers.
    pub(crate) fn instances(&self) -> PathBuf {
        self.root.join("instances")
    }

    /// Returns the directory of the kept server.
    pub(crate) fn kept(&self) -> PathBuf {
        self.root.join("kept")
    }

    /// Creates `path`, one of the above, if necessary, with the right permissions.
    pub(crate) fn make(&self, path: &Path) -> io::Result<()> {
        let mode = if rustix::process::geteuid().is_root() { 0o755 } else { 0o700 };
        if let Some(above) = self.root.parent() {
            std::fs::create_dir_all(above)?;
        }
        make_dir(&self.root, mode)?;
        make_dir(path, mode)?;
        self.require_own(path)
    }

    /// Checks that only this user, or the server's account, can have put something into `path`, one of the above: programs there are
    /// run, and data is started.
    ///
    /// # Errors
    /// When another user can write there.
    pub(crate) fn require_own(&self, path: &Path) -> io::Result<()> {
        let account = Account::for_server().ok().flatten().map(|account| account.uid);
        [self.root.as_path(), path]
            .into_iter()
            .try_for_each(|place| require_own(place, account))
            .map_err(io::Error::other)
    }
}

/// Creates one directory with exactly this mode, whatever the umask. An existing one stays as it is.
pub(crate) fn make_dir(path: &Path, mode: u32) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => std::fs::set_permissions(path, Permissions::from_mode(mode)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(variables: &[(&str, &str)]) -> Result<Places, NoPlace> {
        Places::of_user(|name| variables.iter().find(|(n, _)| *n == name).map(|(_, value)| OsString::from(value)))
    }

    #[test]
    fn root_has_its_place_where_others_can_read() {
        if !rustix::process::geteuid().is_root() {
            eprintln!("SKIPPED: root's place, as this is not root");
            return;
        }
        assert_eq!(place(&[("HOME", "/home/x")]).unwrap().root(), Path::new("/var/cache/pgdyno"));
    }

    #[test]
    fn anybody_may_name_another() {
        let named = place(&[("HOME", "/home/x"), ("XDG_CACHE_HOME", "/c"), ("PGDYNO_CACHE", "/data/bench")]);
        assert_eq!(named.unwrap().root(), Path::new("/data/bench"));
        let relative = place(&[("HOME", "/home/x"), ("PGDYNO_CACHE", "bench")]);
        assert_eq!(relative, Err(NoPlace::Relative("bench".into())));
        assert_eq!(place(&[("HOME", "/home/x"), ("PGDYNO_CACHE", "")]), place(&[("HOME", "/home/x")]));
    }

    #[test]
    fn a_user_has_it_in_the_cache() {
        if rustix::process::geteuid().is_root() {
            eprintln!("SKIPPED: an ordinary user's place, as this is root");
            return;
        }
        let of = |variables| place(variables).unwrap().root().to_owned();
        assert_eq!(of(&[("HOME", "/home/x"), ("XDG_CACHE_HOME", "/c")]), Path::new("/c/pgdyno"));
        let home = of(&[("HOME", "/home/x"), ("XDG_CACHE_HOME", "relative")]);
        assert!(home.starts_with("/home/x") && home.ends_with("pgdyno"), "{home:?}");
    }

    #[test]
    fn a_cache_that_others_can_write_to_is_refused() {
        let above = tempfile::tempdir().unwrap();
        let places = Places::at(above.path().join("cache"));
        places.make(&places.portable()).unwrap();
        for place in [places.root().to_owned(), places.portable()] {
            std::fs::set_permissions(&place, Permissions::from_mode(0o777)).unwrap();
            let refused = places.make(&places.portable()).unwrap_err().to_string();
            assert!(
                refused.contains("can be written to by other users") && refused.contains("chmod go-w"),
                "{refused}"
            );
            std::fs::set_permissions(&place, Permissions::from_mode(0o755)).unwrap();
        }
        places.make(&places.portable()).unwrap();
    }

    #[test]
    fn directories_are_made_whatever_the_umask() {
        let above = tempfile::tempdir().unwrap();
        let places = Places::at(above.path().join("a/b"));
        places.make(&places.instances()).unwrap();
        places.make(&places.instances()).unwrap();
        assert!(places.instances().is_dir());
    }
}
