//! Reports can be used with a keyboard and a screen reader.

use std::path::Path;

use pgdyno_report::studies::StudyRecord;
use pgdyno_results::{CallRecord, FidelityRecord, FidelityStatementRecord, ProfileRecord, StudyKind};

use super::{made_up, with_chart, write};
use crate::axe::is_accessible;
use crate::program::json;

/// The page with its details open, on a screen that is narrower than a flame graph.
fn opened(page: &str) -> String {
    assert!(page.contains("<div class=\"flame\""), "{page}");
    page.replace("<details>", "<details open>").replace("</head>", "<style>main { max-width: 600px; }</style></head>")
}

/// Two statements of a capture, of which the run has one as it was.
fn fidelity() -> FidelityRecord {
    let call = |blocks_per_call| CallRecord { blocks_per_call, rows_per_call: 1.0, ..CallRecord::default() };
    let statement = |script: &str, run_blocks, is_representative| FidelityStatementRecord {
        script: script.to_owned(),
        time_percent: 50.0,
        is_representative,
        captured: call(12.0),
        run: Some(call(run_blocks)),
        ..FidelityStatementRecord::default()
    };
    let statements = vec![statement("01-a.sql", 11.0, true), statement("02-b.sql", 900.0, false)];
    FidelityRecord { time_percent: 50.0, statements, ..FidelityRecord::default() }
}

#[test]
fn the_page_of_a_run_is_accessible() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("page.html");
    let mut run = with_chart(made_up::with_samples(made_up::run("one", 120, &["a", "b"]), ""));
    run.timeline.profile = vec![("postgres;main".to_owned(), 7), ("postgres;[libc.so.6];x_[k]".to_owned(), 1)];
    run.record.profile = Some(ProfileRecord { samples: 8, frequency_hz: 199, stacks: 2, ..ProfileRecord::default() });
    run.record.fidelity = Some(fidelity());
    write(&[run], &path);
    let page = std::fs::read_to_string(path).unwrap();
    assert!(page.contains("Captured and run"), "{page}");
    is_accessible("run", &page);
    is_accessible("run, opened", &opened(&page));
}

#[test]
fn the_page_of_an_experiment_is_accessible() {
    let mut record = json(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/0.2.0/ab.json"));
    let stack = |stack: &str, a: u64, b: u64| serde_json::json!({ "stack": stack, "a": a, "b": b });
    let stacks = [stack("postgres;main;sort", 100, 900), stack("postgres;main;scan", 500, 200)];
    record["profile"] =
        serde_json::json!({ "frequency_hz": 199, "a_transactions": 1e3, "b_transactions": 1e3, "stacks": stacks });
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ab.json");
    std::fs::write(&path, record.to_string()).unwrap();
    let record = StudyRecord::read(StudyKind::Experiment, &path).unwrap();
    let mut bytes = Vec::new();
    assert!(record.render("html", &mut bytes).unwrap());
    let page = String::from_utf8(bytes).unwrap();
    is_accessible("experiment", &page);
    is_accessible("experiment, opened", &opened(&page));
}
