//! The inputs in the repository that mutations begin from.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A seed file of a target.
#[derive(Clone, Debug)]
pub struct Seed {
    /// Path relative to the root of the repository.
    pub path: PathBuf,
    /// Content.
    pub bytes: Vec<u8>,
}

/// Returns all files below `directories` of the repository at `root`, sorted by path.
///
/// # Errors
/// When a file cannot be read.
pub fn seeds(root: &Path, directories: &[&str]) -> io::Result<Vec<Seed>> {
    let (mut found, mut open) = (Vec::new(), directories.iter().map(PathBuf::from).collect::<Vec<_>>());
    while let Some(path) = open.pop() {
        let whole = root.join(&path);
        if whole.is_dir() {
            for entry in fs::read_dir(&whole)? {
                open.push(path.join(entry?.file_name()));
            }
        } else {
            found.push(Seed { bytes: fs::read(&whole)?, path });
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}
