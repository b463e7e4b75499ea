//! What a store answers: rows of texts, which every role that may write to it determines, and what they mean.

use pgdyno_results::StudyKind;
use pgdyno_untrusted::RelativePath;

use crate::error::CentralError;
use crate::names::{RunName, Sha256Text, run_file_path, study_path};

/// A row of an answer; `None` is NULL.
pub(crate) type Row = Vec<Option<String>>;

/// Questions to a store.
pub(crate) trait Rows {
    /// Runs: their name, and the length and SHA-256 of their record.
    fn runs(&mut self) -> Result<Vec<Row>, CentralError>;

    /// Files of a run: their path, length and SHA-256.
    fn files(&mut self, run: &RunName) -> Result<Vec<Row>, CentralError>;

    /// A part of a file, in base64; `None` if it is not there.
    fn part(&mut self, run: &RunName, path: &RelativePath, part: u32) -> Result<Option<String>, CentralError>;

    /// Studies: their kind, name and SHA-256.
    fn studies(&mut self) -> Result<Vec<Row>, CentralError>;

    /// The record of a study, in base64; `None` if it is not there.
    fn study(&mut self, name: &str) -> Result<Option<String>, CentralError>;
}

/// A file of a run, as the store describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredFile {
    /// Its path in the run directory.
    pub(crate) path: RelativePath,
    /// Its length.
    pub(crate) bytes: u64,
    /// SHA-256 of its content.
    pub(crate) sha256: Sha256Text,
}

/// A study, as the store describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredStudy {
    pub(crate) kind: StudyKind,
    pub(crate) name: String,
    /// The path of its record in a results directory.
    pub(crate) path: RelativePath,
    /// SHA-256 of its record.
    pub(crate) sha256: Sha256Text,
}

/// Returns a text of a row; empty if it is NULL or missing.
fn text(row: &Row, column: usize) -> &str {
    row.get(column).and_then(Option::as_deref).unwrap_or_default()
}

/// Returns the name of a run and its record; `None` where no run has this name. A record without length and SHA-256 is
/// `Err`, with the reason.
pub(crate) fn run(row: &Row, record: &str) -> Option<(RunName, Result<StoredFile, String>)> {
    let name = RunName::parse(text(row, 0))?;
    let file = [Some(record.to_owned()), row.get(1).cloned().flatten(), row.get(2).cloned().flatten()];
    Some((name, file_of(&file.to_vec())))
}

/// Returns a file of a run, or why the row describes none.
pub(crate) fn file_of(row: &Row) -> Result<StoredFile, String> {
    let path = run_file_path(text(row, 0)).ok_or_else(|| format!("a run has no file {:?}", text(row, 0)))?;
    let bytes = text(row, 1).parse().map_err(|_| format!("it has the length {:?}", text(row, 1)))?;
    let sha256 = Sha256Text::parse(text(row, 2)).ok_or_else(|| format!("it has the SHA-256 {:?}", text(row, 2)))?;
    Ok(StoredFile { path, bytes, sha256 })
}

/// Returns a study; `None` for a kind that a newer program knows, and where no study has this name or digest.
pub(crate) fn study(row: &Row) -> Option<StoredStudy> {
    let (kind, name) = (StudyKind::named(text(row, 0))?, text(row, 1).to_owned());
    Some(StoredStudy { kind, path: study_path(kind, &name)?, sha256: Sha256Text::parse(text(row, 2))?, name })
}
