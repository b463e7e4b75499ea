//! Experiments, searches and frontiers: each as a line of a list, and rendered by its kind.

use std::io::{self, Write};
use std::path::Path;

use pgdyno_results::{AbRecord, FrontierRecord, Resumable as _, SearchRecord, StoreError, Study, StudyKind};
use pgdyno_text::units;

use crate::ab::words::{ratio_of, title};
use crate::compare::words::signed;
use crate::forms::ListedStudyForm;
use crate::{ab, frontier, search};

/// The record of a study.
#[derive(Debug)]
pub enum StudyRecord {
    /// An experiment.
    Experiment(Box<AbRecord>),
    /// A search.
    Search(Box<SearchRecord>),
    /// A frontier.
    Frontier(Box<FrontierRecord>),
}

impl StudyRecord {
    /// Reads the record of a study of this kind.
    ///
    /// # Errors
    /// When it cannot be read, is no such record, or has a newer format.
    pub fn read(kind: StudyKind, path: &Path) -> Result<Self, StoreError> {
        Ok(match kind {
            StudyKind::Experiment => Self::Experiment(Box::new(AbRecord::read(path)?)),
            StudyKind::Search => Self::Search(Box::new(SearchRecord::read(path)?)),
            StudyKind::Frontier => Self::Frontier(Box::new(FrontierRecord::read(path)?)),
        })
    }

    /// Returns the names of the formats in which it can be rendered.
    #[must_use]
    pub fn formats(&self) -> Vec<&'static str> {
        match self {
            Self::Experiment(_) => ab::FORMATS.iter().map(|(name, _)| *name).collect(),
            Self::Search(_) => search::FORMATS.iter().map(|(name, _)| *name).collect(),
            Self::Frontier(_) => frontier::FORMATS.iter().map(|(name, _)| *name).collect(),
        }
    }

    /// Writes it in the format of this name; returns false if there is none.
    ///
    /// # Errors
    /// When `out` refuses it.
    pub fn render(&self, format: &str, out: &mut dyn Write) -> io::Result<bool> {
        let written = match self {
            Self::Experiment(record) => ab::format(format).map(|render| render(record, out)),
            Self::Search(record) => search::format(format).map(|render| render(record, out)),
            Self::Frontier(record) => frontier::format(format).map(|render| render(record, out)),
        };
        written.map_or(Ok(false), |written| written.map(|()| true))
    }

    /// Returns its main figure in a few words; empty before there is one.
    #[must_use]
    pub fn figure(&self) -> String {
        match self {
            Self::Experiment(record) => change(record),
            Self::Search(record) => record.kept.map(|kept| search::load(&record.by, kept)).unwrap_or_default(),
            Self::Frontier(record) => {
                record.result.as_ref().map(|result| format!("area {:.2}", result.area)).unwrap_or_default()
            }
        }
    }
}

/// Returns the change that an experiment has measured so far: `B +5.2 % TPS`; empty before the first unit.
#[must_use]
pub fn change(record: &AbRecord) -> String {
    let change = record.change_percent.or(record.figures.first().map(|figure| figure.change_percent));
    let named = |change| format!("B {} {}", signed(ratio_of(change)), title(record, &record.metric));
    change.map(named).unwrap_or_default()
}

/// Reads a study as a list has it.
///
/// # Errors
/// When its record cannot be read.
pub fn listed(kind: StudyKind, path: &Path) -> Result<ListedStudyForm, StoreError> {
    let record = StudyRecord::read(kind, path)?;
    let figure = record.figure();
    let study: Study = match record {
        StudyRecord::Experiment(record) => (*record).into(),
        StudyRecord::Search(record) => (*record).into(),
        StudyRecord::Frontier(record) => (*record).into(),
    };
    Ok(ListedStudyForm {
        kind: kind.name().to_owned(),
        id: study.id,
        started_at: study.started_at,
        workload: study.workload,
        status: study.status,
        figure,
        runs: study.runs.len(),
    })
}

/// Returns the line of a study, as [`crate::runs::line`] that of a run.
#[must_use]
pub fn line(study: &ListedStudyForm) -> String {
    let figure = Some(&study.figure).filter(|figure| !figure.is_empty()).cloned();
    let words: Vec<String> = [Some(study.kind.clone()), figure].into_iter().flatten().collect();
    format!("{:<11} {}", study.status, words.join(" · "))
}

/// Returns the line of the runs of a suite, so many of which are complete.
#[must_use]
pub fn suite_line(suite: &str, complete: usize, runs: usize) -> String {
    format!("{:<11} {suite}: {complete} of {} complete", "suite", units::plural(runs as u64, "run"))
}
