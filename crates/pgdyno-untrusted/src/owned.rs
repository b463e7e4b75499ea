//! Directories that are trusted only if no other user can write to them.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A directory whose content is not trusted.
#[derive(Debug, thiserror::Error)]
pub enum NotOwn {
    /// The system refused to look.
    #[error("failed to examine {}: {source}", path.display())]
    Io {
        /// The directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Another user owns it.
    #[error("{} belongs to another user (uid {owner}), who could have put anything there; remove it, or name another place", path.display())]
    Owner {
        /// The directory.
        path: PathBuf,
        /// Its owner.
        owner: u32,
    },
    /// Others can write to it.
    #[error("{} can be written to by other users (mode {mode:04o}); check what is in it, then `chmod go-w` it", path.display())]
    Writable {
        /// The directory.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// It is a file.
    #[error("{} is not a directory; remove it, or name another place", path.display())]
    NoDirectory {
        /// The path.
        path: PathBuf,
    },
}

/// Checks that only this user, root or `trusted` can have written to a directory: its owner is one of them, and its group and
/// others cannot write. A link of this user is followed. A directory that is absent passes.
///
/// # Errors
/// When another user can write there, or when it cannot be examined.
pub fn require_own(path: &Path, trusted: Option<u32>) -> Result<(), NotOwn> {
    let own = rustix::process::geteuid().as_raw();
    let is_trusted = |owner: u32| [own, 0].contains(&owner) || trusted == Some(owner);
    // The owner of a link decides where it leads.
    for look in [|path: &Path| fs::symlink_metadata(path), |path: &Path| fs::metadata(path)] {
        let path = path.to_owned();
        match look(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(source) => return Err(NotOwn::Io { path, source }),
            Ok(there) if !is_trusted(there.uid()) => return Err(NotOwn::Owner { path, owner: there.uid() }),
            Ok(there) if there.is_symlink() => {}
            Ok(there) if !there.is_dir() => return Err(NotOwn::NoDirectory { path }),
            Ok(there) if there.mode() & 0o022 != 0 => {
                return Err(NotOwn::Writable { path, mode: there.mode() & 0o7777 });
            }
            Ok(_) => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    use super::*;

    #[test]
    fn a_directory_of_others_is_refused() {
        let root = tempfile::tempdir().expect("a directory");
        let path = root.path().join("cache");
        require_own(&path, None).expect("absent");
        fs::create_dir(&path).expect("a directory");
        for (mode, fits) in [(0o700, true), (0o755, true), (0o775, false), (0o757, false), (0o1777, false)] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("own");
            assert_eq!(require_own(&path, None).is_ok(), fits, "{mode:o}");
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("own");
        let (link, file) = (root.path().join("link"), root.path().join("file"));
        symlink(&path, &link).expect("a link");
        require_own(&link, None).expect("an own link");
        fs::write(&file, "").expect("a file");
        assert!(matches!(require_own(&file, None), Err(NotOwn::NoDirectory { .. })));
        // Only root can give directories away.
        if chown(&path, Some(65534), None).is_ok() {
            assert!(matches!(require_own(&path, None), Err(NotOwn::Owner { owner: 65534, .. })));
            require_own(&path, Some(65534)).expect("trusted");
        }
    }
}
