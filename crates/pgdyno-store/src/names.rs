//! Names and digests that a store gives. They become paths only as these types.

use std::fmt;

use pgdyno_results::StudyKind;
use pgdyno_untrusted::{FileName, RelativePath};

use crate::run_files::{DEPTH_MAX, is_stored};

/// Directories of a results directory that are no runs, beside those of studies.
const SUITES: &str = "suites";

/// The name of a run: a [`FileName`] that is not the name of another directory in the results.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct RunName(FileName);

impl RunName {
    /// Checks a name; `None` if no run can have it.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let is_taken = name == SUITES || StudyKind::ALL.iter().any(|kind| kind.directory() == name);
        FileName::parse(name).ok().filter(|_| !is_taken).map(Self)
    }

    /// Returns it as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Returns it as the name of a directory.
    pub(crate) fn as_name(&self) -> &FileName {
        &self.0
    }

    /// Returns the path of a file of the run, from the directory with runs.
    pub(crate) fn join(&self, path: &RelativePath) -> Option<RelativePath> {
        RelativePath::parse_names(&format!("{self}/{path}")).ok()
    }
}

impl fmt::Display for RunName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A SHA-256, in hexadecimal digits.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Sha256Text(String);

impl Sha256Text {
    /// Checks digits; `None` if they are no SHA-256.
    pub(crate) fn parse(digits: &str) -> Option<Self> {
        let fits = digits.len() == 64 && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        fits.then(|| Self(digits.to_owned()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Returns the identity of a store as the name of a directory; `None` if it is no UUID as PostgreSQL writes it.
pub(crate) fn store_id(id: &str) -> Option<FileName> {
    let lengths: Vec<usize> = id.split('-').map(str::len).collect();
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'-');
    let fits = lengths == [8, 4, 4, 4, 12] && id.bytes().all(is_digit);
    FileName::parse(id).ok().filter(|_| fits)
}

/// Returns the path of a file in a run directory; `None` if `push` stores no such file.
pub(crate) fn run_file_path(path: &str) -> Option<RelativePath> {
    let parsed = RelativePath::parse_names(path).ok()?;
    let name = path.rsplit('/').next().unwrap_or_default();
    (path.split('/').count() <= DEPTH_MAX + 1 && is_stored(name)).then_some(parsed)
}

/// Returns the path of the record of a study, from the directory with results; `None` if no study can have this name.
pub(crate) fn study_path(kind: StudyKind, name: &str) -> Option<RelativePath> {
    let file = FileName::parse(&format!("{name}.json")).ok()?;
    FileName::parse(name).ok()?;
    Some(RelativePath::from(&FileName::parse(kind.directory()).ok()?).join(&file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_a_store_cannot_lead_elsewhere() {
        for path in ["run.json", "samples/wal.csv", "inputs/0a"] {
            assert!(run_file_path(path).is_some(), "{path}");
        }
        for path in [
            "",
            "/etc/passwd",
            "../run.json",
            "samples/../../x",
            "a//b",
            "a/b/c/d/e/f",
            ".ssh/x",
            "report.html",
            "transactions.log",
            "a.tmp",
            "./run.json",
        ] {
            assert!(run_file_path(path).is_none(), "{path}");
        }
        assert_eq!(study_path(StudyKind::Search, "a").map(|path| path.to_string()).as_deref(), Some("searches/a.json"));
        for name in ["", "..", "../a", "/a", "a/b", ".a"] {
            assert!(study_path(StudyKind::Search, name).is_none(), "{name}");
        }
    }

    #[test]
    fn names_of_runs_stores_and_digests_have_a_strict_form() {
        assert!(RunName::parse("20261125T101112Z-tproc-c-0a1b2c").is_some());
        for name in ["", ".", "..", "a/b", "/home/victim", ".ssh", "ab", "searches", "frontiers", "suites", "a\n"] {
            assert!(RunName::parse(name).is_none(), "{name}");
        }
        assert!(store_id("9f3d1b9e-0f5e-4a44-9d2b-6f0c1b2a3d4e").is_some());
        for id in [
            "",
            "/home/victim",
            "../../..",
            "..",
            "-",
            "9f3d1b9e-0f5e-4a44-9d2b-6f0c1b2a3d4",
            "9f3d1b9e0f5e4a449d2b6f0c1b2a3d4e",
        ] {
            assert!(store_id(id).is_none(), "{id}");
        }
        assert!(Sha256Text::parse(&"0a".repeat(32)).is_some());
        assert!(Sha256Text::parse(&"0A".repeat(32)).is_none() && Sha256Text::parse("").is_none());
    }
}
