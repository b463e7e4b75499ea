//! A run of a study, and what carries it out.

use std::path::Path;
use std::time::Duration;

use pgdyno_life::interrupt::Interrupt;
use pgdyno_plan::{Order, SuitePlan};

/// Carries out the runs of a study.
#[derive(Clone, Copy)]
pub struct Runner<'a> {
    /// The directory of the runs' records.
    pub results: &'a Path,
    /// The store to which each run pushes itself, if there is one.
    pub store: Option<&'a str>,
    /// What the user asks for.
    pub interrupt: &'a Interrupt,
}

/// A run of a study.
#[derive(Clone, Copy)]
pub struct StudyRun<'a> {
    /// What it does.
    pub order: &'a Order,
    /// Its place in the study, which its record stores and is found by.
    pub place: &'a SuitePlan,
    /// The file to which its output is appended.
    pub log: &'a Path,
    /// The time after which it is ended.
    pub time_limit: Option<Duration>,
}
