//! Drops the operating system's file cache.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::OFlags;

/// The file by which Linux drops its caches. Source: kernel documentation, `sysctl/vm`, `drop_caches`.
const SWITCH: &str = "/proc/sys/vm/drop_caches";

/// Drops the whole file cache of this machine, after everything was written. Only root may, and not in every
/// container.
///
/// # Errors
/// When the system refuses.
pub fn drop_all() -> io::Result<()> {
    rustix::fs::sync();
    // 3: pages, and entries of directories and files.
    File::options().write(true).open(SWITCH).and_then(|mut file| io::Write::write_all(&mut file, b"3\n"))
}

/// Drops all files below `directory` from the cache of this machine, and returns their size in bytes. Writes each to
/// its disk first: dirty pages cannot be dropped. The server must be shut down, or have just written a checkpoint.
///
/// # Errors
/// When a directory cannot be read, or a file cannot be opened.
pub fn forget_files(directory: &Path) -> io::Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let gone = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
        let forgotten = match entry.file_type()? {
            kind if kind.is_dir() => forget_files(&entry.path()),
            kind if kind.is_symlink() && entry.path().is_dir() => forget_files(&entry.path()),
            kind if kind.is_file() => forget_file(&entry.path()),
            _ => Ok(0),
        };
        match forgotten {
            Ok(n) => bytes += n,
            // A running server removes files at any time.
            Err(error) if gone(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(bytes)
}

fn forget_file(path: &Path) -> io::Result<u64> {
    use std::os::unix::fs::OpenOptionsExt;
    let no_surprises = OFlags::NONBLOCK | OFlags::NOFOLLOW;
    let file = File::options().read(true).custom_flags(no_surprises.bits() as i32).open(path)?;
    forget(&file)?;
    Ok(file.metadata()?.len())
}

#[cfg(target_os = "linux")]
fn forget(file: &File) -> io::Result<()> {
    use rustix::fs::{Advice, fadvise, fdatasync};
    fdatasync(file)?;
    // Length 0 means until the end of the file.
    Ok(fadvise(file, 0, None, Advice::DontNeed)?)
}

/// Other systems have no such advice.
#[cfg(not(target_os = "linux"))]
fn forget(_: &File) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_counted_through_all_directories_and_what_is_gone_is_no_error() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("base/5")).unwrap();
        std::fs::write(dir.path().join("base/5/1234"), [1; 8192]).unwrap();
        std::fs::write(dir.path().join("PG_VERSION"), "18\n").unwrap();
        std::os::unix::fs::symlink("/nowhere", dir.path().join("dangling")).unwrap();
        assert_eq!(forget_files(dir.path()).unwrap(), 8195);
        assert!(forget_files(&dir.path().join("absent")).is_err());
    }
}
