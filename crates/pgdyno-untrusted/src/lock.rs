//! A lock that one process holds at a time, and that the system releases however the process ends.

use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::process;

use crate::directory::Directory;
use crate::name::RelativePath;

/// Longest number of a process, in digits.
const DIGITS_MAX: u64 = 20;

/// The file of a lock. It stays after the lock is released: a process that waits for it has it open.
#[derive(Debug)]
pub struct LockFile(File);

/// A lock that this process holds, until it is dropped.
#[derive(Debug)]
pub struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        // The end of the process releases it in any case.
        let _ = self.0.unlock();
    }
}

impl LockFile {
    /// Opens the file of a lock, and creates it if it is not there.
    ///
    /// # Errors
    /// When the system refuses, or it is a link or not an ordinary file.
    pub fn open(directory: &Directory, path: &RelativePath) -> io::Result<Self> {
        directory.open_for_lock(path).map(Self)
    }

    /// Takes the lock; `None` if another process holds it.
    ///
    /// On a file system without locks, the lock is taken without effect: what it protects is worth more than the protection.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn try_lock(&self) -> io::Result<Option<Lock>> {
        match self.0.try_lock() {
            Ok(()) => self.locked().map(Some),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => self.without_locks(error).map(Some),
        }
    }

    /// Waits for the lock.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn lock(&self) -> io::Result<Lock> {
        match self.0.lock() {
            Ok(()) => self.locked(),
            Err(error) => self.without_locks(error),
        }
    }

    /// Returns the number of the process that took the lock last; `None` if it did not write it.
    #[must_use]
    pub fn holder(&self) -> Option<u32> {
        let mut text = String::new();
        let mut file = &self.0;
        file.seek(SeekFrom::Start(0)).ok()?;
        file.take(DIGITS_MAX).read_to_string(&mut text).ok()?;
        text.trim().parse().ok()
    }

    fn locked(&self) -> io::Result<Lock> {
        let mut file = &self.0;
        // The number is for people: a full disk does not prevent the lock.
        let _ = file
            .set_len(0)
            .and_then(|()| file.seek(SeekFrom::Start(0)))
            .and_then(|_| write!(file, "{}", process::id()));
        Ok(Lock(self.0.try_clone()?))
    }

    fn without_locks(&self, error: io::Error) -> io::Result<Lock> {
        let has_none = rustix::io::Errno::from_io_error(&error).is_some_and(|errno| {
            matches!(errno, rustix::io::Errno::NOSYS | rustix::io::Errno::NOLCK | rustix::io::Errno::OPNOTSUPP)
        });
        if has_none { Ok(Lock(self.0.try_clone()?)) } else { Err(error) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_holds_a_lock_at_a_time_and_is_named() {
        let root = tempfile::tempdir().expect("a directory");
        let directory = Directory::open(root.path()).expect("opens");
        let path = RelativePath::parse("a.lock").expect("a path");
        let open = || LockFile::open(&directory, &path).expect("opens");
        let (first, second) = (open(), open());
        let held = first.try_lock().expect("locks").expect("is free");
        assert!(second.try_lock().expect("tries").is_none());
        assert_eq!(second.holder(), Some(process::id()));
        drop(held);
        drop(second.lock().expect("locks"));
        assert!(first.try_lock().expect("locks").is_some());
        std::os::unix::fs::symlink("/dev/null", root.path().join("b.lock")).expect("a link");
        LockFile::open(&directory, &RelativePath::parse("b.lock").expect("a path")).expect_err("a link");
    }
}
