//! Temporary directories for servers.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// The longest path of a directory in which a server can have its socket `/.s.PGSQL.65535`: 103 bytes is what macOS allows, Linux
/// allows 107.
const PATH_BYTES_MAX: usize = 103 - "/.s.PGSQL.65535".len();

/// A temporary directory that other users may enter, removed with this value. Its path is short enough for a socket in it, however
/// long `TMPDIR` is.
#[derive(Debug)]
pub struct TestDirectory {
    path: PathBuf,
    _dir: tempfile::TempDir,
    /// The directory with a link to it, where its own path is too long.
    _link: Option<tempfile::TempDir>,
}

impl TestDirectory {
    /// Creates one below `TMPDIR`.
    #[must_use]
    pub fn new(prefix: &str) -> Self {
        Self::new_in(&std::env::temp_dir(), prefix)
    }

    /// Creates one below `parent`.
    #[must_use]
    pub fn new_in(parent: &Path, prefix: &str) -> Self {
        let dir = open_to_others(tempfile::Builder::new().prefix(prefix).tempdir_in(parent).unwrap());
        if dir.path().as_os_str().len() <= PATH_BYTES_MAX {
            return Self { path: dir.path().to_owned(), _dir: dir, _link: None };
        }
        let place = open_to_others(tempfile::Builder::new().prefix("pg").tempdir_in("/tmp").unwrap());
        let path = place.path().join("d");
        symlink(dir.path(), &path).unwrap();
        Self { path, _dir: dir, _link: Some(place) }
    }

    /// Returns its path, by the link where there is one.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn open_to_others(dir: tempfile::TempDir) -> tempfile::TempDir {
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    dir
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_has_room_however_long_the_temporary_directory_is() {
        let parent = tempfile::tempdir_in("/tmp").unwrap();
        let long = parent.path().join("x".repeat(120));
        std::fs::create_dir(&long).unwrap();
        for (parent, is_direct) in [(parent.path(), true), (&long, false)] {
            let directory = TestDirectory::new_in(parent, "pgdyno");
            let path = directory.path().to_owned();
            assert_eq!(path.starts_with(parent), is_direct);
            std::os::unix::net::UnixListener::bind(path.join(".s.PGSQL.65535")).unwrap();
            drop(directory);
            assert!(!path.exists());
        }
        assert_eq!(std::fs::read_dir(&long).unwrap().count(), 0);
    }
}
