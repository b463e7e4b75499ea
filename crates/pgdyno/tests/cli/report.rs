//! Reports from stored records, which are read for ever, and from what is none.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::compare::store_intervals;
use crate::program::{Home, json};

/// A record of each kind that pgdyno ever wrote is under `fixtures/runs/`, a directory a version.
fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/v1/run.json")
}

fn report(format: &str) -> String {
    let home = Home::new();
    home.run(&["report", fixture().to_str().unwrap(), "--format", format]).ok().stdout
}

/// Returns true if each field of `old` is in `new`, with the same value.
fn is_part(old: &Value, new: &Value) -> bool {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            old.iter().all(|(name, value)| value.is_null() || new.get(name).is_some_and(|other| is_part(value, other)))
        }
        (Value::Array(old), Value::Array(new)) => {
            old.len() == new.len() && old.iter().zip(new).all(|(old, new)| is_part(old, new))
        }
        _ => old == new,
    }
}

#[test]
fn runs_of_0_2_0_lose_no_field_and_every_command_reads_them() {
    for name in ["tpcb-like", "ch-benchmark"] {
        let home = Home::new();
        let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/0.2.0").join(name);
        let record = json(&stored.join("run.json"));
        let directory = home.join("pgdyno-results").join(record["id"].as_str().unwrap());
        std::fs::create_dir_all(&directory).unwrap();
        for file in std::fs::read_dir(&stored).unwrap().flatten() {
            std::fs::copy(file.path(), directory.join(file.file_name())).unwrap();
        }
        let as_json = home.run(&["report", "last", "--format", "json"]).ok().stdout;
        assert!(is_part(&record, &serde_json::from_str(&as_json).unwrap()), "{name}: a field is lost");
        for format in ["text", "csv", "markdown", "html"] {
            home.run(&["report", "last", "--format", format]).ok();
        }
        home.run(&["compare", "last", "last"]).ok().prints(&["are the same on both sides"]);
        home.run(&["list", "runs"]).ok().prints(&[name]);
        home.run(&["export", "--format", "csv"]).ok().prints(&[name]);
        let hash = record["plan_hash"].as_str().unwrap();
        home.run(&["plan", "--again", "last"]).ok().prints(&[&format!("plan {hash} of {name}")]);
    }
}

#[test]
fn a_stored_record_as_text() {
    insta::assert_snapshot!(report("text"));
}

#[test]
fn a_stored_record_as_csv() {
    insta::assert_snapshot!(report("csv"));
}

#[test]
fn a_stored_record_as_markdown() {
    insta::assert_snapshot!(report("markdown"));
}

#[test]
fn a_stored_record_as_json_is_the_record() {
    let report: serde_json::Value = serde_json::from_str(&report("json")).unwrap();
    assert_eq!(report, json(&fixture()), "no field is lost or added");
}

/// A home with copies of the fixture under other names.
fn home_with(ids: &[&str]) -> Home {
    let home = Home::new();
    for id in ids {
        let directory = home.join("pgdyno-results").join(id);
        std::fs::create_dir_all(&directory).unwrap();
        let mut record = json(&fixture());
        record["id"] = (*id).into();
        std::fs::write(directory.join("run.json"), record.to_string()).unwrap();
    }
    home
}

#[test]
fn a_run_is_named_by_the_ends_of_its_name_its_place_or_as_the_last() {
    let (first, second) = ("20260101T000000Z-noop-aaaaaa", "20260102T000000Z-noop-bbbbbb");
    let home = home_with(&[first, second]);
    let csv = |run: &str| home.run(&["report", run, "--format", "csv"]).ok().stdout;
    let (of_first, of_second) = (csv(first), csv(second));
    assert!(of_first.contains(first) && of_second.contains(second));
    assert_eq!((csv("last"), csv("last-1")), (of_second.clone(), of_first.clone()));
    assert_eq!(csv("20260101"), of_first);
    assert_eq!(csv("bbbbbb"), of_second);
    assert_eq!(csv(&format!("pgdyno-results/{first}")), of_first);
    assert_eq!(csv(&format!("pgdyno-results/{first}/run.json")), of_first);
    home.run(&["report", "2026"]).ended(1).says(&["2026", first, second]);
    home.run(&["report", "2027"]).ended(1).says(&["no run '2027' in pgdyno-results", "pgdyno list runs"]);
    home.run(&["report", "last", "--out", "elsewhere"]).ended(1).says(&["no run 'last' in elsewhere"]);
    home.run(&["list", "runs"]).ok().prints(&[first, second]);
}

#[test]
fn the_last_of_two_runs_in_one_second_is_the_later_one() {
    let (early, late) = ("20260101T000000Z-noop-ffffff", "20260101T000000Z-noop-000000");
    let home = home_with(&[early, late]);
    for (id, started) in [(early, "2026-01-01T00:00:00.1Z"), (late, "2026-01-01T00:00:00.9Z")] {
        let path = home.join("pgdyno-results").join(id).join("run.json");
        let mut record = json(&path);
        record["started_at"] = started.into();
        std::fs::write(path, record.to_string()).unwrap();
    }
    assert!(home.run(&["report", "last", "--format", "csv"]).ok().stdout.contains(late));
}

#[test]
fn what_is_no_record_is_refused_and_left_alone() {
    let home = Home::new();
    let newer = json(&fixture()).to_string().replacen("\"format_version\":1", "\"format_version\":2", 1);
    let cases = [
        ("newer", newer.as_str(), &["format 2", "newer pgdyno"][..]),
        ("future", r#"{"format_version": 99, "all": "different"}"#, &["format 99", "up to 1", "newer pgdyno"]),
        ("unversioned", r#"{"id": "x"}"#, &["not a run record", "format_version"]),
        ("incomplete", r#"{"format_version": 1, "id": "x"}"#, &["not a run record", "missing field"]),
        ("cut", r#"{"format_version": 1, "id": "#, &["not a run record"]),
        ("empty", "", &["not a run record"]),
        ("picture", "\u{89}PNG", &["not a run record"]),
    ];
    for (name, text, words) in cases {
        let directory = home.join("pgdyno-results").join(name);
        std::fs::create_dir_all(&directory).unwrap();
        let path = directory.join("run.json");
        std::fs::write(&path, text).unwrap();
        let ran = home.run(&["report", name]).ended(1);
        assert_eq!(ran.stdout, "");
        ran.says(words).says(&[&format!("{name}/run.json")]);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text, "it is left as it is");
    }
    // A list names them and goes on.
    home.run(&["list", "runs"]).ok().prints(&["newer", "unreadable", "cut", "future"]);
    home.run(&["report", "pgdyno-results"]).ended(1).says(&["no run 'pgdyno-results'"]);
}

#[test]
fn a_record_does_not_lead_to_what_lies_elsewhere() {
    const SEEN_ELSEWHERE: &str = "SecretWait";
    let home = home_with(&["20260101T000000Z-noop-aaaaaa"]);
    let outside = home.join("outside");
    std::fs::create_dir_all(outside.join("samples")).unwrap();
    store_intervals(&home, "20260101T000000Z-noop-aaaaaa", 1000, 3);
    std::fs::copy(
        home.join("pgdyno-results/20260101T000000Z-noop-aaaaaa/intervals.csv"),
        outside.join("intervals.csv"),
    )
    .unwrap();
    let wait = |at_s| format!("{at_s},client backend,Lock,{SEEN_ELSEWHERE},10,10\n");
    let waits: String = ["1.0", "2.0", "3.0"].map(wait).concat();
    let waits = format!("at_s,backend_type,wait_event_type,wait_event,samples,looks\n{waits}");
    std::fs::write(outside.join("samples/waits.csv"), waits).unwrap();
    let page_of = |id: &str, place: &str| {
        let mut record = json(&fixture());
        record["id"] = id.into();
        std::fs::create_dir_all(home.join(place)).unwrap();
        std::fs::write(home.join(place).join("run.json"), record.to_string()).unwrap();
        let ran = home.run(&["report", &format!("{place}/run.json"), "--format", "html"]).ok();
        assert_eq!(ran.stdout.trim(), format!("{place}/report.html"), "{id}");
        std::fs::read_to_string(home.join(place).join("report.html")).unwrap()
    };
    assert!(page_of("x", "outside").contains(SEEN_ELSEWHERE), "they are files of a run");
    std::fs::remove_file(outside.join("report.html")).unwrap();
    for id in [outside.to_str().unwrap(), "../outside", "20260101T000000Z-noop-aaaaaa/../../outside"] {
        assert!(!page_of(id, "foreign").contains(SEEN_ELSEWHERE), "{id}");
        assert!(!outside.join("report.html").exists(), "{id}");
    }
}

#[test]
fn a_stored_record_in_the_words_of_ycsb_and_sysbench() {
    insta::assert_snapshot!("a_stored_record_as_ycsb", report("ycsb"));
    insta::assert_snapshot!("a_stored_record_as_sysbench", report("sysbench"));
}

#[test]
fn text_is_as_wide_as_its_terminal_up_to_120_columns() {
    let home = Home::new();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/0.2.0/tpcb-like/run.json");
    std::fs::copy(fixture, home.join("run.json")).unwrap();
    let report = || {
        let mut command = home.command(["report", "run.json"]);
        command.env("TERM", "xterm").env("NO_COLOR", "1");
        command
    };
    let piped = crate::program::finish(report()).ok().stdout;
    let longest = |text: &str| text.lines().map(|line| line.trim_end().chars().count()).max().unwrap_or_default();
    let on = |columns| crate::pty::Pty::start(report(), (columns, 30)).end().1.replace('\r', "");
    assert_eq!(on(80).trim(), piped.trim(), "a pipe has lines as a terminal of 80 columns");
    let [hundred, wide, narrow] = [100, 300, 40].map(on);
    assert!((81..=100).contains(&longest(&hundred)) && (101..=120).contains(&longest(&wide)), "{hundred}{wide}");
    assert_eq!(narrow.trim(), piped.trim());
    // A file has no terminal.
    let mut command = report();
    command.args(["-o", "report.txt"]);
    assert!(crate::pty::Pty::start(command, (120, 30)).end().0.success());
    assert_eq!(std::fs::read_to_string(home.join("report.txt")).unwrap().trim(), piped.trim());
}
