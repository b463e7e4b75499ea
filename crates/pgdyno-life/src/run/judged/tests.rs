//! Judges stored runs again, without a server: `fixtures/` has runs on PostgreSQL 15, as this version records them, and
//! `../../fixtures/runs/` a record of each version.

use std::path::{Path, PathBuf};

use pgdyno_engine::RunEnd;
use pgdyno_results::{RECORD, RunRecord, Status, TrustRecord, Warning, Warnings, read_record};

use super::assess;
use crate::exit_code::Code;
use crate::record::ending::Ending;
use crate::record::run_files::RunFiles;
use crate::record::verdict::End;

fn stored(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Returns a stored record, the same one judged again by `ending`, and how it ended.
fn judged_again(directory: &str, ending: &Ending) -> (RunRecord, RunRecord, End) {
    let path = stored(directory).join(RECORD);
    let stored = read_record(&path).unwrap();
    let mut record = stored.clone();
    record.warnings = vec![Warning::note("known before")].into();
    record.events.clear();
    (record.findings, record.clients_time) = (Vec::new(), Vec::new());
    let files = RunFiles::read(&path, &record, path.parent().unwrap()).unwrap();
    let files = record.samples.is_some().then_some(Ok(&files));
    let end = assess(&mut record, ending, files);
    (stored, record, end)
}

/// Returns the texts of a record's warnings.
fn texts(record: &RunRecord) -> Vec<String> {
    record.warnings.iter().map(ToString::to_string).collect()
}

/// Returns the texts of the warnings of a record that was judged again, without what was known before.
fn new_warnings(record: &RunRecord) -> Vec<String> {
    let mut texts = texts(record);
    assert_eq!(texts.pop().as_deref(), Some("known before"), "{texts:#?}");
    texts
}

/// Compares a judgement with the stored one.
fn assert_same(stored: &RunRecord, again: &RunRecord, end: &End) {
    let said = (stored.status, stored.reason.as_deref(), stored.exit_code);
    assert_eq!((end.status, end.reason.as_deref(), end.code as u8), said);
    assert_eq!(again.findings, stored.findings);
    assert_eq!(again.clients_time, stored.clients_time);
    assert!(texts(stored).starts_with(&new_warnings(again)), "{:#?}\n{:#?}", stored.warnings, again.warnings);
    let judged = RunRecord { warnings: stored.warnings.clone(), ..again.clone() };
    let trust = stored.trust.as_ref().expect("a stored record has its trust");
    assert_eq!(TrustRecord::of(&judged).reasons, trust.reasons);
    // Stored warnings of that version have no figures; those of a new judgement have.
    assert_eq!(TrustRecord::of(again).verdict, trust.verdict);
}

#[test]
fn a_run_that_ended_as_planned_is_complete_and_has_the_same_findings() {
    let (stored, again, end) = judged_again("fixtures/complete", &Ending::complete());
    assert!(!stored.findings.is_empty() && !stored.clients_time.is_empty());
    assert_same(&stored, &again, &end);
    assert_eq!((end.status, end.code), (Status::Complete, Code::Success));
}

#[test]
fn a_run_whose_clients_aborted_is_invalid() {
    let ending = Ending { clients_aborted: 2, ..Ending::complete() };
    let (stored, again, end) = judged_again("fixtures/aborted-clients", &ending);
    assert_same(&stored, &again, &end);
    assert_eq!((end.status, end.code), (Status::Invalid, Code::Run));
}

#[test]
fn a_run_that_left_broken_data_is_invalid_with_the_code_of_checks() {
    let (stored, again, end) = judged_again("fixtures/broken-data", &Ending::complete());
    assert_same(&stored, &again, &end);
    assert_eq!((end.status, end.code), (Status::Invalid, Code::Check));
}

#[test]
fn a_run_that_the_user_ended_is_interrupted() {
    let ending = Ending { ended: RunEnd::Interrupted, ..Ending::complete() };
    let (stored, again, end) = judged_again("fixtures/interrupted", &ending);
    assert_same(&stored, &again, &end);
    assert_eq!((end.status, end.code), (Status::Interrupted, Code::Interrupted));
}

/// 0.1.0 sampled nothing, and asked for fewer things.
#[test]
fn a_record_of_the_first_version_is_judged_too() {
    let (stored, again, end) = judged_again("../../fixtures/runs/v1", &Ending::complete());
    assert_eq!((end.status, end.reason, end.code as u8), (stored.status, None, stored.exit_code));
    assert!(again.findings.is_empty());
    assert!(new_warnings(&again).iter().all(|warning| !warning.contains("diagnosed")));
}

#[test]
fn records_of_0_2_0_are_judged_as_they_were() {
    for name in ["tpcb-like", "ch-benchmark"] {
        let (stored, _, end) = judged_again(&format!("../../fixtures/runs/0.2.0/{name}"), &Ending::complete());
        assert_eq!((end.status, end.reason, end.code as u8), (stored.status, None, stored.exit_code), "{name}");
    }
}

#[test]
fn what_ended_the_clients_decides_before_the_figures() {
    let table: [(Ending, Status, &str); 6] = [
        (
            Ending {
                ended: RunEnd::ServerLost("gone".to_owned()),
                death: Some("it crashed".to_owned()),
                ..Ending::complete()
            },
            Status::Failed,
            "the server was lost: gone; what was measured until then is kept (--reconnect TIME keeps trying); it crashed",
        ),
        (Ending { broken: vec!["1 is not 2".to_owned()], ..Ending::complete() }, Status::Invalid, "1 is not 2"),
        (
            Ending { clients_lost: 2, clients_aborted: 1, ..Ending::complete() },
            Status::Invalid,
            "2 clients had no connection when the window ended, 1 client aborted",
        ),
        (Ending { clients_aborted: 3, ..Ending::complete() }, Status::Invalid, "3 clients aborted"),
        (
            Ending { is_silent: true, cancelled: 1, ..Ending::complete() },
            Status::Failed,
            "the server stopped answering: 1 transaction never ended",
        ),
        (Ending { differing_count: Some("6 and 5".to_owned()), ..Ending::complete() }, Status::Invalid, "6 and 5"),
    ];
    for (ending, status, reason) in table {
        let (_, _, end) = judged_again("fixtures/complete", &ending);
        assert_eq!((end.status, end.code as u8), (status, 2), "{ending:?}");
        assert!(end.reason.unwrap().starts_with(reason), "{ending:?}");
    }
}

#[test]
fn failures_other_than_by_concurrency_make_a_run_invalid() {
    let mut record = read_record(&stored("fixtures/complete").join(RECORD)).unwrap();
    let mut judge = |class: &str| {
        record.summary.as_mut().unwrap().failed_by_class = [(class.to_owned(), 3)].into_iter().collect();
        assess(&mut record, &Ending::complete(), None)
    };
    assert_eq!(judge("serialization").status, Status::Complete);
    let end = judge("constraint");
    let why = "3 transactions failed other than by serialization or deadlock";
    assert_eq!((end.status, end.reason.as_deref()), (Status::Invalid, Some(why)));
}

#[test]
fn files_that_cannot_be_read_leave_the_run_undiagnosed() {
    let mut record = read_record(&stored("fixtures/complete").join(RECORD)).unwrap();
    (record.findings, record.warnings) = (Vec::new(), Warnings::default());
    let end = assess(&mut record, &Ending::complete(), Some(Err("no such file")));
    assert_eq!((end.status, record.findings.len()), (Status::Complete, 0));
    assert!(texts(&record).contains(&"the run was not diagnosed: no such file".to_owned()), "{:#?}", record.warnings);
}
