//! The copies of any answers that a store could give, for the fuzz targets. Not part of the interface.

use std::path::Path;

use pgdyno_untrusted::{Directory, RelativePath};

use crate::copies::{Copies, UpdateEvent};
use crate::error::CentralError;
use crate::names::{RunName, store_id};
use crate::rows::{Row, Rows};

/// What a store answers.
#[derive(Clone, Debug, Default)]
pub struct StoreAnswers {
    /// Its identity.
    pub id: String,
    /// Name, length of the record, SHA-256 of the record.
    pub runs: Vec<Row>,
    /// Name of the run, and path, length, SHA-256 of the file and of the list.
    pub files: Vec<(String, Row)>,
    /// Name of the run, path, number, and content in base64.
    pub parts: Vec<[String; 4]>,
    /// Kind, name, SHA-256.
    pub studies: Vec<Row>,
    /// Name of the study, and content in base64.
    pub contents: Vec<[String; 2]>,
}

impl Rows for StoreAnswers {
    fn runs(&mut self) -> Result<Vec<Row>, CentralError> {
        Ok(self.runs.clone())
    }

    fn files(&mut self, run: &RunName) -> Result<Vec<Row>, CentralError> {
        let of_run = self.files.iter().filter(|(of, _)| of == run.as_str());
        Ok(of_run.map(|(_, row)| row.clone()).collect())
    }

    fn part(&mut self, run: &RunName, path: &RelativePath, part: u32) -> Result<Option<String>, CentralError> {
        let wanted = [run.as_str(), path.as_str(), &part.to_string()];
        Ok(self
            .parts
            .iter()
            .find(|[run, path, part, _]| wanted == [run, path, part])
            .map(|[.., content]| content.clone()))
    }

    fn studies(&mut self) -> Result<Vec<Row>, CentralError> {
        Ok(self.studies.clone())
    }

    fn study(&mut self, name: &str) -> Result<Option<String>, CentralError> {
        Ok(self.contents.iter().find(|[of, _]| of == name).map(|[_, content]| content.clone()))
    }
}

/// Copies all that can be copied to the directory of the store below `cache`, and from there to `results`. Returns the number
/// of runs and studies that were copied to `results`; `None` if the store has no identity.
#[must_use]
pub fn copy_all(answers: &mut StoreAnswers, cache: &Path, results: &Path) -> Option<usize> {
    let id = store_id(&answers.id)?;
    let copies = Copies::of(Directory::open(cache).ok()?.create_child(&id).ok()?);
    let results = Directory::open(results).ok()?;
    // What an update refuses leaves the rest as it is, which is copied like any other.
    let _ = copies.update(answers, &mut |_: UpdateEvent| {});
    let runs: Vec<_> = answers.runs.iter().filter_map(|row| RunName::parse(row.first()?.as_deref()?)).collect();
    let copied_runs =
        runs.iter().filter(|run| copies.copy_run(answers, run, &results).is_ok_and(|copied| copied)).count();
    let studies: Vec<_> = answers.studies.iter().filter_map(crate::rows::study).collect();
    let copied_studies = studies
        .iter()
        .filter(|study| copies.copy_study(study.kind, &study.name, &results).is_ok_and(|copied| copied))
        .count();
    Some(copied_runs + copied_studies)
}
