//! A directory that nothing leads out of.

use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, OpenOptions};

use crate::name::{FileName, RelativePath};

/// How often a name for a temporary file is tried.
const ATTEMPTS: usize = 16;

/// What a name in a directory is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum EntryKind {
    /// An ordinary file, of this length in bytes.
    File(u64),
    /// A directory.
    Directory,
    /// A link, pipe, socket or device.
    Other,
}

/// A directory whose files are reached by [`RelativePath`]: no link leads out of it, and a link in place of a file is not
/// followed.
#[derive(Debug)]
pub struct Directory {
    dir: Dir,
    path: PathBuf,
}

impl Directory {
    /// Opens a directory that the user named; the empty path is the working directory.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn open(path: &Path) -> io::Result<Self> {
        let place = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        Ok(Self { dir: Dir::open_ambient_dir(place, ambient_authority())?, path: path.to_owned() })
    }

    /// Opens a directory that the user named, and creates it with those above it if it is not there.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn create(path: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(path)?;
        Self::open(path)
    }

    /// Opens a directory like [`Directory::create`]; those that it creates are open to this user only, whatever the umask is.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn create_private(path: &Path) -> io::Result<Self> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        Self::open(path)
    }

    /// Returns its path as the user named it, for messages.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a directory in it.
    ///
    /// # Errors
    /// When there is none of this name, or it is a link or a file.
    pub fn open_child(&self, name: &FileName) -> io::Result<Self> {
        let dir = self.dir.open_dir_nofollow(name.as_str())?;
        Ok(Self { dir, path: self.path.join(name.as_str()) })
    }

    /// Creates a directory in it, unless it is there, and opens it.
    ///
    /// # Errors
    /// When the system refuses, or there is a link or a file of this name.
    pub fn create_child(&self, name: &FileName) -> io::Result<Self> {
        match self.dir.create_dir(name.as_str()) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        self.open_child(name)
    }

    /// Creates a directory of a new name in it, which begins with a dot.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn create_temporary_child(&self) -> io::Result<TemporaryChild<'_>> {
        let name = self.create_fresh(Path::new(""), |name| self.dir.create_dir(name))?.0;
        let directory = Self { dir: self.dir.open_dir_nofollow(&name)?, path: self.path.join(&name) };
        Ok(TemporaryChild { parent: self, name, directory })
    }

    /// Returns the kind of an entry; `None` if it does not exist.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn kind(&self, path: &RelativePath) -> io::Result<Option<EntryKind>> {
        match self.dir.symlink_metadata(path.as_path()) {
            Ok(there) if there.is_file() => Ok(Some(EntryKind::File(there.len()))),
            Ok(there) if there.is_dir() => Ok(Some(EntryKind::Directory)),
            Ok(_) => Ok(Some(EntryKind::Other)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Opens a file for a lock on it, and creates it if it is not there.
    ///
    /// # Errors
    /// When the system refuses, or it is a link or not an ordinary file.
    pub(crate) fn open_for_lock(&self, path: &RelativePath) -> io::Result<std::fs::File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).follow(FollowSymlinks::No).nonblock(true);
        let file = self.dir.open_with(path.as_path(), &options)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not an ordinary file"));
        }
        Ok(file.into_std())
    }

    /// Reads a file of at most `bytes_max`.
    ///
    /// # Errors
    /// When it is absent, a link, not an ordinary file (a pipe would block), or larger.
    pub fn read(&self, path: &RelativePath, bytes_max: u64) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        self.open_file(path)?.take(bytes_max.saturating_add(1)).read_to_end(&mut content)?;
        if content.len() as u64 > bytes_max {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than {bytes_max} bytes")));
        }
        Ok(content)
    }

    /// Opens an ordinary file for reading.
    ///
    /// # Errors
    /// When it is absent, a link, or not an ordinary file.
    pub fn open_file(&self, path: &RelativePath) -> io::Result<std::fs::File> {
        self.open_ordinary(path, OpenOptions::new().read(true))
    }

    /// Creates a file that is not there, with its directories.
    ///
    /// # Errors
    /// When there is something of this name, a link included.
    pub fn create_new(&self, path: &RelativePath) -> io::Result<std::fs::File> {
        self.create_parents(path)?;
        Ok(self.create_new_file(path.as_path())?.into_std())
    }

    /// Creates a directory in it that is not there, and opens it.
    ///
    /// # Errors
    /// When there is something of this name, a link included.
    pub fn create_new_child(&self, name: &FileName) -> io::Result<Self> {
        self.dir.create_dir(name.as_str())?;
        self.open_child(name)
    }

    /// Creates a file that is not there with this content, whole from its first moment. If several processes do, one succeeds.
    ///
    /// # Errors
    /// When there is something of this name, a link included.
    pub fn create_whole(&self, path: &RelativePath, content: &[u8]) -> io::Result<()> {
        let (fresh, mut file) = self.create_temporary(path.as_path())?;
        let created = file.write_all(content).and_then(|()| self.dir.hard_link(&fresh, &self.dir, path.as_path()));
        self.dir.remove_file(&fresh)?;
        created
    }

    /// Opens an ordinary file for reading and appending.
    ///
    /// # Errors
    /// When it is absent, a link, or not an ordinary file.
    pub fn open_to_append(&self, path: &RelativePath) -> io::Result<std::fs::File> {
        self.open_ordinary(path, OpenOptions::new().read(true).append(true))
    }

    /// Opens an ordinary file for reading and appending; creates it if it is absent.
    ///
    /// # Errors
    /// When it is a link, or not an ordinary file.
    pub fn create_to_append(&self, path: &RelativePath) -> io::Result<std::fs::File> {
        self.create_parents(path)?;
        self.open_ordinary(path, OpenOptions::new().read(true).append(true).create(true))
    }

    /// Gives a file another name in it.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn rename(&self, from: &RelativePath, to: &RelativePath) -> io::Result<()> {
        self.dir.rename(from.as_path(), &self.dir, to.as_path())
    }

    /// Writes this many bytes to a file of a new name, and removes it: a full disk still accepts an empty file.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn probe(&self, bytes: usize) -> io::Result<()> {
        let (fresh, mut file) = self.create_temporary(Path::new("probe"))?;
        let written = file.write_all(&vec![0; bytes]);
        self.dir.remove_file(&fresh)?;
        written
    }

    /// Returns true if there is anything of this name, a link included.
    #[must_use]
    pub fn has(&self, path: &RelativePath) -> bool {
        self.dir.symlink_metadata(path.as_path()).is_ok()
    }

    /// Writes a file as a whole, or leaves the old one. A link of this name is replaced, not followed.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn write_whole(&self, path: &RelativePath, content: &[u8]) -> io::Result<()> {
        self.write_with(path, |file| file.write_all(content))
    }

    /// Writes a file by `write` as a whole, or leaves the old one. A link of this name is replaced, not followed.
    ///
    /// # Errors
    /// When the system or `write` refuses.
    pub fn write_with<E: From<io::Error>>(
        &self,
        path: &RelativePath,
        write: impl FnOnce(&mut std::fs::File) -> Result<(), E>,
    ) -> Result<(), E> {
        self.create_parents(path)?;
        self.replace(path.as_path(), write)
    }

    /// Returns true if there is an ordinary file, not a link.
    #[must_use]
    pub fn has_file(&self, path: &RelativePath) -> bool {
        self.dir.symlink_metadata(path.as_path()).is_ok_and(|there| there.is_file())
    }

    /// Removes a file, or the link of this name. Succeeds if there is none.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn remove_file(&self, path: &RelativePath) -> io::Result<()> {
        is_gone(self.dir.remove_file(path.as_path()))
    }

    /// Removes a directory in it with all that it contains; of a link, only the link. Succeeds if there is none.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn remove_child(&self, name: &FileName) -> io::Result<()> {
        match self.dir.symlink_metadata(name.as_str()) {
            Ok(there) if there.is_dir() => is_gone(self.dir.remove_dir_all(name.as_str())),
            Ok(_) => is_gone(self.dir.remove_file(name.as_str())),
            Err(error) => is_gone(Err(error)),
        }
    }

    /// Returns the names in it that are of the strict form, sorted.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn names(&self) -> io::Result<Vec<FileName>> {
        let mut names = Vec::new();
        for entry in self.dir.entries()? {
            if let Some(name) = entry?.file_name().to_str().and_then(|name| FileName::parse(name).ok()) {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }

    /// Creates the directories above a file.
    fn create_parents(&self, path: &RelativePath) -> io::Result<()> {
        match path.as_path().parent() {
            Some(parent) if !parent.as_os_str().is_empty() => self.dir.create_dir_all(parent),
            _ => Ok(()),
        }
    }

    /// Writes a file of a new name by `write`, then gives it this name.
    fn replace<E: From<io::Error>>(
        &self,
        path: &Path,
        write: impl FnOnce(&mut std::fs::File) -> Result<(), E>,
    ) -> Result<(), E> {
        let (fresh, file) = self.create_temporary(path)?;
        let written = write(&mut file.into_std()).and_then(|()| Ok(self.dir.rename(&fresh, &self.dir, path)?));
        if written.is_err() {
            // The half-written file is useless; a failure to remove it adds nothing to the error.
            let _ = self.dir.remove_file(&fresh);
        }
        written
    }

    /// Opens an ordinary file; does not follow a link.
    fn open_ordinary(&self, path: &RelativePath, options: &mut OpenOptions) -> io::Result<std::fs::File> {
        // A pipe without a writer must not block; an ordinary file ignores the flag.
        options.follow(FollowSymlinks::No).nonblock(true);
        let file = self.dir.open_with(path.as_path(), options).map_err(|error| match self.is_link(path) {
            true => io::Error::new(io::ErrorKind::InvalidInput, "it is a link, and links are not followed here"),
            false => error,
        })?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not an ordinary file"));
        }
        Ok(file.into_std())
    }

    fn is_link(&self, path: &RelativePath) -> bool {
        self.dir.symlink_metadata(path.as_path()).is_ok_and(|there| there.is_symlink())
    }

    /// Creates a file of a new name beside `path`.
    fn create_temporary(&self, path: &Path) -> io::Result<(PathBuf, File)> {
        let parent = path.parent().unwrap_or(Path::new(""));
        self.create_fresh(parent, |name| self.create_new_file(name))
    }

    /// Creates something of a new name in `parent`, by `create`.
    fn create_fresh<T>(&self, parent: &Path, create: impl Fn(&Path) -> io::Result<T>) -> io::Result<(PathBuf, T)> {
        let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
        for _ in 0..ATTEMPTS {
            let fresh = parent.join(format!(".{:016x}.tmp", random_number()));
            match create(&fresh) {
                Ok(created) => return Ok((fresh, created)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
                Err(error) => return Err(error),
            }
        }
        Err(last)
    }

    /// Creates a file; fails if there is anything of this name.
    fn create_new_file(&self, path: &Path) -> io::Result<File> {
        self.dir.open_with(path, OpenOptions::new().write(true).create_new(true))
    }
}

/// A new directory within another one. It is removed with all that it contains, unless it gets a name.
#[derive(Debug)]
pub struct TemporaryChild<'a> {
    parent: &'a Directory,
    name: PathBuf,
    directory: Directory,
}

impl TemporaryChild<'_> {
    /// Returns the directory.
    #[must_use]
    pub fn directory(&self) -> &Directory {
        &self.directory
    }

    /// Gives it its name, under which nothing may be yet but an empty directory.
    ///
    /// # Errors
    /// When there is something of this name, or the system refuses.
    pub fn rename(self, name: &FileName) -> io::Result<()> {
        self.parent.dir.rename(&self.name, &self.parent.dir, name.as_str())
    }
}

impl Drop for TemporaryChild<'_> {
    fn drop(&mut self) {
        // It is no longer there if it got its name. If it cannot be removed, it is only in the way.
        let _ = self.parent.dir.remove_dir_all(&self.name);
    }
}

/// Writes the file at a path that the user named by `write`, as a whole, or leaves the old one.
///
/// # Errors
/// When the system or `write` refuses.
pub fn replace_file<E: From<io::Error>>(
    path: &Path,
    write: impl FnOnce(&mut std::fs::File) -> Result<(), E>,
) -> Result<(), E> {
    let name = path.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::IsADirectory))?;
    Directory::open(directory_of(path))?.replace(Path::new(name), write)
}

/// Opens the file at a path for reading and appending, and creates it if it is absent. Follows no link in its place: its name is
/// not the user's.
///
/// # Errors
/// When it is a link, or not an ordinary file.
pub fn append_to_file(path: &Path) -> io::Result<std::fs::File> {
    let name = path.file_name().and_then(|name| RelativePath::parse(name.to_str()?).ok());
    let name = name.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidFilename))?;
    Directory::open(directory_of(path))?.create_to_append(&name)
}

/// Returns the directory of a file that the user named.
#[must_use]
pub fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Returns a number that another process cannot guess: the standard library's hash keys are random.
fn random_number() -> u64 {
    RandomState::new().hash_one(0)
}

/// Takes "not found" for success.
fn is_gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn relative(path: &str) -> RelativePath {
        RelativePath::parse(path).expect(path)
    }

    fn name(name: &str) -> FileName {
        FileName::parse(name).expect(name)
    }

    /// A directory beside one with a file that must not be touched.
    fn beside_a_victim() -> (tempfile::TempDir, Directory, PathBuf) {
        let root = tempfile::tempdir().expect("a directory");
        let (inside, outside) = (root.path().join("inside"), root.path().join("outside"));
        fs::create_dir(&inside).expect("a directory");
        fs::create_dir(&outside).expect("a directory");
        fs::write(outside.join("file"), "precious").expect("a file");
        let directory = Directory::open(&inside).expect("opens");
        (root, directory, outside)
    }

    #[test]
    fn files_are_written_whole_and_read_back() {
        let (_root, directory, _) = beside_a_victim();
        directory.write_whole(&relative("a/b/c"), b"one").expect("writes");
        directory.write_whole(&relative("a/b/c"), b"two").expect("replaces");
        assert_eq!(directory.read(&relative("a/b/c"), 3).expect("reads"), b"two");
        assert_eq!(directory.read(&relative("a/b/c"), 2).expect_err("too large").kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(fs::read_dir(directory.path().join("a/b")).expect("a directory").count(), 1, "no temporary file");
        let refused: io::Result<()> = directory.write_with(&relative("a/b/c"), |_| Err(io::Error::other("full")));
        refused.expect_err("fails");
        assert_eq!(directory.read(&relative("a/b/c"), 3).expect("reads"), b"two");
        assert_eq!(fs::read_dir(directory.path().join("a/b")).expect("a directory").count(), 1, "no temporary file");
        directory.create_new(&relative("a/b/c")).expect_err("is there");
    }

    #[test]
    fn links_are_not_followed() {
        let (_root, directory, outside) = beside_a_victim();
        symlink(outside.join("file"), directory.path().join("link")).expect("a link");
        symlink(&outside, directory.path().join("folder")).expect("a link");
        directory.read(&relative("link"), 100).expect_err("a link");
        directory.read(&relative("folder/file"), 100).expect_err("leads out");
        directory.create_new(&relative("link")).expect_err("a link");
        directory.write_whole(&relative("folder/file"), b"x").expect_err("leads out");
        directory.open_child(&name("folder")).expect_err("a link");
        directory.create_child(&name("folder")).expect_err("a link");
        assert!(!directory.has_file(&relative("link")));
        directory.write_whole(&relative("link"), b"own").expect("replaces the link");
        assert_eq!(directory.read(&relative("link"), 100).expect("reads"), b"own");
        directory.remove_child(&name("folder")).expect("removes the link");
        assert_eq!(fs::read_to_string(outside.join("file")).expect("is still there"), "precious");
        assert_eq!(directory.names().expect("reads"), [name("link")]);
    }

    #[test]
    fn a_directory_appears_as_a_whole_or_not_at_all() {
        let (_root, directory, outside) = beside_a_victim();
        let made = directory.create_temporary_child().expect("a directory");
        made.directory().write_whole(&relative("a"), b"x").expect("writes");
        assert_eq!(directory.names().expect("reads"), []);
        made.rename(&name("run")).expect("is named");
        assert_eq!(directory.read(&relative("run/a"), 10).expect("reads"), b"x");
        directory.create_temporary_child().expect("a directory").rename(&name("run")).expect_err("is there");
        symlink(&outside, directory.path().join("link")).expect("a link");
        directory.create_temporary_child().expect("a directory").rename(&name("link")).expect_err("is there");
        assert_eq!(fs::read_dir(directory.path()).expect("a directory").count(), 2, "no temporary directory is left");
        let kind = |path: &str| directory.kind(&relative(path)).expect("looks");
        assert_eq!((kind("run"), kind("run/a")), (Some(EntryKind::Directory), Some(EntryKind::File(1))));
        assert_eq!((kind("link"), kind("none")), (Some(EntryKind::Other), None));
    }

    #[test]
    fn what_is_there_is_neither_followed_nor_overwritten() {
        let (_root, directory, outside) = beside_a_victim();
        symlink(outside.join("file"), directory.path().join("link")).expect("a link");
        directory.open_to_append(&relative("link")).expect_err("a link");
        directory.create_to_append(&relative("link")).expect_err("a link");
        directory.create_whole(&relative("link"), b"x").expect_err("is there");
        directory.create_new_child(&name("link")).expect_err("is there");
        directory.probe(100).expect("writes");
        directory.create_whole(&relative("list"), b"one\n").expect("creates");
        directory.create_whole(&relative("list"), b"two\n").expect_err("is there");
        directory.create_to_append(&relative("list")).expect("opens").write_all(b"two\n").expect("appends");
        assert_eq!(directory.read(&relative("list"), 100).expect("reads"), b"one\ntwo\n");
        replace_file::<io::Error>(&directory.path().join("list"), |file| file.write_all(b"new")).expect("replaces");
        assert_eq!(directory.read(&relative("list"), 100).expect("reads"), b"new");
        assert_eq!(fs::read_to_string(outside.join("file")).expect("is still there"), "precious");
        assert_eq!(fs::read_dir(directory.path()).expect("a directory").count(), 2, "no temporary file");
    }

    #[test]
    fn a_pipe_does_not_block() {
        let (_root, directory, _) = beside_a_victim();
        let pipe = directory.path().join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).expect("a pipe");
        let refused = directory.read(&relative("pipe"), 100).expect_err("a pipe");
        assert_eq!(refused.kind(), io::ErrorKind::InvalidInput);
        directory.create_to_append(&relative("pipe")).expect_err("a pipe");
    }
}
