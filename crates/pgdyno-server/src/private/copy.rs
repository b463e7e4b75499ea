//! A copy of the data directory of a stopped server, for another one of the same build.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use crate::private::account::Account;
use crate::private::instance::own;
use crate::private::places::make_dir;

/// Copies a data directory to a place where nothing is, for a server that runs as `account`. Blocks are shared where the file
/// system can do that. Nothing of the copy is left to be written to the disk later.
///
/// # Errors
/// When the system refuses, or the directory has links: a tablespace belongs to one server.
pub(crate) fn copy(from: &Path, to: &Path, account: Option<&Account>) -> io::Result<()> {
    make_dir(to, 0o700)?;
    own(to, account)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target, kind) = (entry.path(), to.join(entry.file_name()), entry.file_type()?);
        if kind.is_dir() {
            copy(&source, &target, account)?;
        } else if kind.is_file() {
            fs::copy(&source, &target)?;
            own(&target, account)?;
            File::open(&target)?.sync_all()?;
        } else {
            return Err(io::Error::other(format!("{} is neither a file nor a directory", source.display())));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_copied_and_a_link_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let (from, to) = (place.path().join("data"), place.path().join("copy"));
        fs::create_dir_all(from.join("base/1")).unwrap();
        fs::write(from.join("PG_VERSION"), "15\n").unwrap();
        fs::write(from.join("base/1/1259"), [7; 9000]).unwrap();
        copy(&from, &to, None).unwrap();
        assert_eq!(fs::read(to.join("base/1/1259")).unwrap(), [7; 9000]);
        assert_eq!(fs::read_to_string(to.join("PG_VERSION")).unwrap(), "15\n");
        std::os::unix::fs::symlink("/nowhere", from.join("base/2")).unwrap();
        assert!(copy(&from, &place.path().join("other"), None).unwrap_err().to_string().contains("base/2"));
    }
}
