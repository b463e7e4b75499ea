//! The inputs in the tree that mutations begin from.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A file of a target.
#[derive(Clone, Debug)]
pub struct Seed {
    /// Where it is, from the root of the repository.
    pub path: PathBuf,
    /// What it holds.
    pub bytes: Vec<u8>,
}

/// All files below `directories`, which stand in the repository at `root`, in the order of their names.
///
/// # Errors
/// When one cannot be read.
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
