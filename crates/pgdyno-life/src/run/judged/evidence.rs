//! What a judgement rests on.

use pgdyno_workload::Drive;

use crate::drive::Driven;
use crate::record::Series;
use crate::record::run_files::RunFiles;
use crate::run::loaded::Before;
use crate::run::measured::After;

/// What a run has measured, as data.
pub(crate) struct Evidence<'a> {
    pub(crate) drive: &'a Drive,
    pub(crate) driven: &'a Driven,
    /// The intervals of the measured window.
    pub(crate) series: &'a Series,
    /// The files of the run; an error says why they could not be read. `None` without samples.
    pub(crate) files: Option<std::result::Result<&'a RunFiles, &'a str>>,
    /// What a fitted workload represents, as its file says it.
    pub(crate) fidelity: Option<&'a [u8]>,
    pub(crate) before: &'a Before,
    pub(crate) after: &'a After,
}
