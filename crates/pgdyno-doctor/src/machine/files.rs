//! Files of `/proc` and `/sys`.

use std::path::PathBuf;

/// The files below a directory: `/`, or in tests another one.
#[derive(Clone, Debug)]
pub(super) struct Files {
    root: PathBuf,
}

impl Files {
    /// Returns those of this machine.
    pub(super) fn of_this_machine() -> Self {
        Self { root: PathBuf::from("/") }
    }

    /// Returns the text of a file without white space around it; `None` without the file, or the right to read it.
    pub(super) fn text(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.root.join(path)).ok().map(|text| text.trim().to_owned())
    }

    /// Returns the number in a file.
    pub(super) fn number(&self, path: &str) -> Option<u64> {
        self.text(path)?.parse().ok()
    }

    /// Returns the choice that a file such as `always [madvise] never` marks.
    pub(super) fn choice(&self, path: &str) -> Option<String> {
        let text = self.text(path)?;
        let (_, rest) = text.split_once('[')?;
        rest.split_once(']').map(|(chosen, _)| chosen.to_owned())
    }

    /// Returns the names in a directory; none without it.
    pub(super) fn names(&self, path: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.root.join(path)).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
    }
}

/// Files made by a test.
#[cfg(test)]
pub(super) struct Made {
    directory: tempfile::TempDir,
}

#[cfg(test)]
impl Made {
    /// Returns files with these paths and texts.
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = directory.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Self { directory }
    }

    pub(super) fn files(&self) -> Files {
        Files { root: self.directory.path().to_owned() }
    }
}
