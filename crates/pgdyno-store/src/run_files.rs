//! The files of a run that are stored, and their digest.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use pgdyno_results::RECORD;
use pgdyno_text::hex;
use pgdyno_untrusted::{Directory, EntryKind, FileName, RelativePath};
use sha2::{Digest, Sha256};

use crate::error::{CentralError, io_error};

/// Maximum depth of directories in a run directory, as when results are served.
pub(crate) const DEPTH_MAX: usize = 4;

/// Size of a part of a file.
pub(crate) const PART_BYTES: usize = 1 << 20;

/// A file of a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RunFile {
    /// Its path in the run directory.
    pub(crate) path: RelativePath,
    /// Its length.
    pub(crate) bytes: u64,
    /// SHA-256 of its content, in hexadecimal digits.
    pub(crate) sha256: String,
}

/// A file of the run directory that is not stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedFile {
    /// Its path in the run directory.
    pub path: String,
    /// Its length.
    pub bytes: u64,
}

/// The files of a run that are stored: all of its directory but the page, which can be made again, and
/// `transactions.log`, which has a line for each transaction. Links are not followed.
#[derive(Debug)]
pub struct RunFiles {
    directory: Directory,
    pub(crate) files: Vec<RunFile>,
    /// Files that are not stored although they cannot be made again.
    pub left_out: Vec<SkippedFile>,
}

impl RunFiles {
    /// Reads the files of a run directory.
    ///
    /// # Errors
    /// When one cannot be read.
    pub fn read(directory: &Path) -> Result<Self, CentralError> {
        let directory = Directory::open(directory).map_err(io_error("read", directory))?;
        let (mut files, mut left_out) = (Vec::new(), Vec::new());
        add(&directory, None, DEPTH_MAX, &mut files, &mut left_out)?;
        files.sort();
        Ok(Self { directory, files, left_out })
    }

    /// Returns the digest of all: the SHA-256 of what `sha256sum` prints of the files, sorted by their paths.
    #[must_use]
    pub fn digest(&self) -> String {
        digest_of_list(self.files.iter().map(|file| (file.path.as_str(), &*file.sha256)))
    }

    /// Returns the length of all, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// Returns the run directory.
    pub(crate) fn directory(&self) -> &Directory {
        &self.directory
    }

    /// Returns the path of the record.
    pub(crate) fn record(&self) -> PathBuf {
        self.directory.path().join(RECORD)
    }
}

/// Adds the files of a directory, which is at the path `within` in the run directory.
fn add(
    directory: &Directory,
    within: Option<&RelativePath>,
    depth: usize,
    files: &mut Vec<RunFile>,
    left_out: &mut Vec<SkippedFile>,
) -> Result<(), CentralError> {
    let cannot = |what| io_error(what, directory.path());
    for name in directory.names().map_err(cannot("read"))? {
        let own = RelativePath::from(&name);
        let path = within.map_or_else(|| own.clone(), |within| within.join(&name));
        match directory.kind(&own).map_err(cannot("read"))? {
            Some(EntryKind::Directory) if depth > 0 => {
                let child = directory.open_child(&name).map_err(cannot("read"))?;
                add(&child, Some(&path), depth - 1, files, left_out)?;
            }
            Some(EntryKind::File(bytes)) => match Kept::of(name.as_str()) {
                Kept::Stored => {
                    let read = directory.open_file(&own).and_then(|file| copy(file, &mut io::sink()));
                    let (bytes, sha256) = read.map_err(io_error("read", &directory.path().join(name.as_str())))?;
                    files.push(RunFile { path, bytes, sha256 });
                }
                Kept::Here => left_out.push(SkippedFile { path: path.to_string(), bytes }),
                Kept::MadeAgain => {}
            },
            _ => {}
        }
    }
    Ok(())
}

/// Returns the SHA-256 of what `sha256sum` prints of files, sorted by their paths.
pub(crate) fn digest_of_list<'a>(files: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let lines = files.map(|(path, sha256)| format!("{sha256}  {path}\n"));
    hex(&Sha256::digest(lines.collect::<String>().as_bytes()))
}

/// What becomes of a file.
enum Kept {
    Stored,
    /// It is too large for a store, and cannot be made again.
    Here,
    /// It is made of the others, or half written.
    MadeAgain,
}

impl Kept {
    fn of(name: &str) -> Self {
        match name {
            _ if name.starts_with("transactions.log") => Self::Here,
            _ if name.ends_with(".html") || name.ends_with(".tmp") || !FileName::is_valid(name) => Self::MadeAgain,
            _ => Self::Stored,
        }
    }
}

/// Returns true if a file of this name is stored.
pub(crate) fn is_stored(name: &str) -> bool {
    matches!(Kept::of(name), Kept::Stored)
}

/// Copies to `out`. Returns the number of bytes and their SHA-256.
pub(crate) fn copy(mut from: impl Read, out: &mut impl Write) -> io::Result<(u64, String)> {
    let (mut sha, mut bytes, mut buffer) = (Sha256::new(), 0, vec![0; 64 << 10]);
    loop {
        let n = from.read(&mut buffer)?;
        if n == 0 {
            return Ok((bytes, hex(&sha.finalize())));
        }
        sha.update(&buffer[..n]);
        out.write_all(&buffer[..n])?;
        bytes += n as u64;
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_runs_digest_changes_with_its_files_and_not_with_its_page() {
        let run = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(run.path().join(name), text).unwrap();
        fs::create_dir(run.path().join("samples")).unwrap();
        write("run.json", "{}");
        write("samples/wal.csv", "at_s\n1\n");
        let digest = || RunFiles::read(run.path()).unwrap().digest();
        let before = digest();
        write("report.html", "a page");
        write("transactions.log", "0 1 2");
        write(".hidden", "x");
        std::os::unix::fs::symlink("/etc/passwd", run.path().join("linked")).unwrap();
        assert_eq!(digest(), before);
        let files = RunFiles::read(run.path()).unwrap();
        assert_eq!(
            files.files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(),
            ["run.json", "samples/wal.csv"]
        );
        assert_eq!(files.left_out, [SkippedFile { path: "transactions.log".to_owned(), bytes: 5 }]);
        write("samples/wal.csv", "at_s\n2\n");
        assert_ne!(digest(), before);
    }

    #[test]
    fn the_digest_is_that_of_sha256sum() {
        let run = tempfile::tempdir().unwrap();
        fs::write(run.path().join("run.json"), "").unwrap();
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        let all = hex(&Sha256::digest(format!("{empty}  run.json\n").as_bytes()));
        assert_eq!(RunFiles::read(run.path()).unwrap().digest(), all);
    }
}
