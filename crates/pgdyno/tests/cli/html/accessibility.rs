//! Reports can be used with a keyboard and a screen reader.

use std::path::Path;

use pgdyno_report::studies::StudyRecord;
use pgdyno_results::StudyKind;

use super::{made_up, with_chart, write};
use crate::axe::is_accessible;

#[test]
fn the_page_of_a_run_is_accessible() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("page.html");
    write(&[with_chart(made_up::with_samples(made_up::run("one", 120, &["a", "b"]), ""))], &path);
    is_accessible("run", &std::fs::read_to_string(path).unwrap());
}

#[test]
fn the_page_of_an_experiment_is_accessible() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/0.2.0/ab.json");
    let record = StudyRecord::read(StudyKind::Experiment, &path).unwrap();
    let mut bytes = Vec::new();
    assert!(record.render("html", &mut bytes).unwrap());
    is_accessible("experiment", &String::from_utf8(bytes).unwrap());
}
