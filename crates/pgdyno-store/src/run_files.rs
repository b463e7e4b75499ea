//! The files of a run that are stored, and their digest.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use pgdyno_results::{RECORD, is_run_name};
use sha2::{Digest, Sha256};

use crate::error::{CentralError, io_error};

/// Maximum depth of directories in a run directory, as when results are served.
const DEPTH_MAX: usize = 4;

/// A file of a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RunFile {
    /// Its path in the run directory, with `/` between its parts.
    pub(crate) path: String,
    /// Its length.
    pub(crate) bytes: u64,
    /// SHA-256 of its content, in hexadecimal digits.
    pub(crate) sha256: String,
}

/// A file of the run directory that is not stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Its path in the run directory.
    pub path: String,
    /// Its length.
    pub bytes: u64,
}

/// The files of a run that are stored: all of its directory but the page, which can be made again, and
/// `transactions.log`, which has a line for each transaction. Links are not followed.
#[derive(Clone, Debug)]
pub struct RunFiles {
    pub(crate) directory: PathBuf,
    pub(crate) files: Vec<RunFile>,
    /// Files that are not stored although they cannot be made again.
    pub left_out: Vec<LeftOut>,
}

impl RunFiles {
    /// Reads the files of a run directory.
    ///
    /// # Errors
    /// When one cannot be read.
    pub fn read(directory: &Path) -> Result<Self, CentralError> {
        let mut found = Self { directory: directory.to_owned(), files: Vec::new(), left_out: Vec::new() };
        found.add(directory, "", DEPTH_MAX)?;
        found.files.sort();
        Ok(found)
    }

    fn add(&mut self, directory: &Path, within: &str, depth: usize) -> Result<(), CentralError> {
        for entry in fs::read_dir(directory).map_err(io_error("read", directory))? {
            let entry = entry.map_err(io_error("read", directory))?;
            let (name, path) = (entry.file_name().to_string_lossy().into_owned(), entry.path());
            let kind = entry.file_type().map_err(io_error("read", &path))?;
            let relative = if within.is_empty() { name.clone() } else { format!("{within}/{name}") };
            if kind.is_dir() && depth > 0 && is_run_name(&name) {
                self.add(&path, &relative, depth - 1)?;
            } else if kind.is_file() {
                match Kept::of(&name) {
                    Kept::Stored => {
                        let (bytes, sha256) = digest(&path)?;
                        self.files.push(RunFile { path: relative, bytes, sha256 });
                    }
                    Kept::Here => {
                        let bytes = entry.metadata().map_err(io_error("read", &path))?.len();
                        self.left_out.push(LeftOut { path: relative, bytes });
                    }
                    Kept::MadeAgain => {}
                }
            }
        }
        Ok(())
    }

    /// Returns the digest of all: the SHA-256 of what `sha256sum` prints of the files, sorted by their paths.
    #[must_use]
    pub fn digest(&self) -> String {
        let lines = self.files.iter().map(|file| format!("{}  {}\n", file.sha256, file.path));
        hex(&Sha256::digest(lines.collect::<String>().as_bytes()))
    }

    /// Returns the length of all, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// Returns the path of the record.
    pub(crate) fn record(&self) -> PathBuf {
        self.directory.join(RECORD)
    }
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
            _ if name.ends_with(".html") || name.ends_with(".tmp") || !is_run_name(name) => Self::MadeAgain,
            _ => Self::Stored,
        }
    }
}

/// Returns true if a path from a store stays within the run directory.
pub(crate) fn is_inside(path: &str) -> bool {
    path.split('/').count() <= DEPTH_MAX + 1 && path.split('/').all(is_run_name)
}

/// Returns the length of a file and the SHA-256 of its content.
pub(crate) fn digest(path: &Path) -> Result<(u64, String), CentralError> {
    let read = || -> io::Result<(u64, String)> {
        let (mut file, mut sha, mut bytes) = (File::open(path)?, Sha256::new(), 0);
        let mut buffer = vec![0; 64 << 10];
        loop {
            let n = file.read(&mut buffer)?;
            if n == 0 {
                return Ok((bytes, hex(&sha.finalize())));
            }
            sha.update(&buffer[..n]);
            bytes += n as u64;
        }
    };
    read().map_err(io_error("read", path))
}

/// Returns bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a text cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
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
        assert_eq!(files.left_out, [LeftOut { path: "transactions.log".to_owned(), bytes: 5 }]);
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

    #[test]
    fn a_path_of_a_store_cannot_lead_elsewhere() {
        for path in ["run.json", "samples/wal.csv", "inputs/0a"] {
            assert!(is_inside(path), "{path}");
        }
        for path in ["", "/etc/passwd", "../run.json", "samples/../../x", "a//b", "a/b/c/d/e/f", ".ssh/x"] {
            assert!(!is_inside(path), "{path}");
        }
    }
}
