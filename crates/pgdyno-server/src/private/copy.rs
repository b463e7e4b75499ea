//! A copy of the data directory of a stopped server, for another one of the same build.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::thread;

use crate::private::account::Account;
use crate::private::instance::own;
use crate::private::places::make_dir;

/// Files that are copied at once: while one waits for the disk, others are read.
const AT_ONCE: usize = 4;

/// When a copy reaches the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durability {
    /// Before it is used: it survives a loss of power, and nothing is left to be written meanwhile.
    BeforeUse,
    /// When the system writes it.
    OfTheSystem,
}

/// Copies a data directory to a place where nothing is, for a server that runs as `account`. Blocks are shared where the file
/// system can do that.
///
/// # Errors
/// When the system refuses, or the directory has links: a tablespace belongs to one server.
pub(crate) fn copy(from: &Path, to: &Path, account: Option<&Account>, durability: Durability) -> io::Result<()> {
    let mut files = Vec::new();
    copy_directories(from, to, account, &mut files)?;
    // The largest first, so that none is left alone at the end.
    files.sort_unstable_by_key(|file| file.bytes);
    let files = Mutex::new(files);
    let next = || files.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let copy_files = || {
        while let Some(file) = next() {
            file.copy(account, durability)?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(copy_files)).collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

/// A file to copy.
struct Copied {
    bytes: u64,
    source: PathBuf,
    target: PathBuf,
}

impl Copied {
    fn copy(&self, account: Option<&Account>, durability: Durability) -> io::Result<()> {
        fs::copy(&self.source, &self.target)?;
        own(&self.target, account)?;
        match durability {
            Durability::BeforeUse => File::open(&self.target)?.sync_all(),
            Durability::OfTheSystem => Ok(()),
        }
    }
}

/// Makes the directories, and lists their files.
fn copy_directories(from: &Path, to: &Path, account: Option<&Account>, files: &mut Vec<Copied>) -> io::Result<()> {
    make_dir(to, 0o700)?;
    own(to, account)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target, meta) = (entry.path(), to.join(entry.file_name()), entry.metadata()?);
        if meta.is_dir() {
            copy_directories(&source, &target, account, files)?;
        } else if meta.is_file() {
            files.push(Copied { bytes: meta.len(), source, target });
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
        copy(&from, &to, None, Durability::BeforeUse).unwrap();
        assert_eq!(fs::read(to.join("base/1/1259")).unwrap(), [7; 9000]);
        assert_eq!(fs::read_to_string(to.join("PG_VERSION")).unwrap(), "15\n");
        std::os::unix::fs::symlink("/nowhere", from.join("base/2")).unwrap();
        assert!(
            copy(&from, &place.path().join("other"), None, Durability::OfTheSystem)
                .unwrap_err()
                .to_string()
                .contains("base/2")
        );
    }
}
