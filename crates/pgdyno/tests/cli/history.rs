//! Histories of stored runs, and of runs that have labels.

use serde_json::Value;

use crate::compare::store;
use crate::program::Home;

/// Thirty runs, the last ten of them slower, with the commits `c00` to `c29`.
fn home_with_a_slowdown() -> Home {
    let home = Home::new();
    for nth in 0..30_usize {
        let spread = [0.3, -1.1, 0.8, -0.2, 1.2, -0.9, 0.1][nth % 7];
        let level = if nth < 20 { 1000.0 } else { 900.0 };
        store(&home, &format!("run-{nth:02}"), level + spread * 10.0, |record| {
            record["started_at"] = format!("2026-03-{:02}T00:00:00Z", nth + 1).into();
            record["labels"] = serde_json::json!({ "commit": format!("c{nth:02}") });
            record["pgdyno_version"] = if nth < 20 { "0.2.0" } else { "0.3.0" }.into();
        });
    }
    home
}

#[test]
fn a_slowdown_has_an_exit_code_and_the_commit() {
    let home = home_with_a_slowdown();
    let history = |args: &[&str]| home.run(&[&["history"], args].concat());
    let answer = ["slower by 10.", "since commit c20, 9 runs ago", "changed there: pgdyno 0.2.0 → 0.3.0"];
    history(&[]).ended(20).prints(&answer);
    history(&["--within", "9"]).ok().prints(&["no change since commit c20, 9 runs ago"]);
    history(&["--margin", "20%"]).ok();
    history(&["run-*", "--last", "9"]).ok().prints(&["no change shown"]);
    history(&["--since", "2026-03-27"]).ended(21).prints(&["cannot tell: 6 comparable runs are the minimum, 2 more"]);
    history(&["--since", "2026-03-27", "--pass-if-unsure"]).ok();
    history(&["--label", "commit=c03"]).ended(21);
    store(&home, "cut", 500.0, |record| record["status"] = "interrupted".into());
    let json: Value = serde_json::from_str(&history(&["--format", "json"]).ended(20).stdout).unwrap();
    assert_eq!(json["series"][0]["changes"][0]["after"], "run-20");
    assert_eq!(json["series"][0]["changes"][0]["changed"][0]["name"], "pgdyno");
    history(&["--format", "markdown"]).ended(20).prints(&["  - changed there: pgdyno 0.2.0 → 0.3.0"]);
    assert_eq!(json["left_out"], serde_json::json!([{ "run": "cut", "why": "interrupted" }]));
    history(&["--metric", "p50"]).ok().prints(&["p50 ms of 30 runs", "left out: 1 run (1 interrupted)"]);
    history(&["--within", "2"]).ended(1).says(&["at least 3"]);
}

#[test]
fn labels_are_in_the_record_and_select_runs_and_are_no_part_of_the_plan() {
    let home = Home::new();
    let run = |label: &str| home.run(&["run", "noop", "-t", "10", "-q", "--random-seed", "1", "--label", label]).ok();
    run("commit=abc");
    run("commit=def");
    home.run(&["list", "runs", "--label", "commit=abc"]).ok().prints(&["commit=abc"]);
    let rows = home.run(&["export", "--format", "json"]).ok().stdout;
    let rows: Vec<Value> = serde_json::from_str(&rows).unwrap();
    assert_eq!((&rows[0]["labels"], &rows[1]["labels"]), (&"commit=abc".into(), &"commit=def".into()));
    assert_eq!(rows[0]["plan_hash"], rows[1]["plan_hash"]);
    home.run(&["report", "last"]).ok().prints(&["commit=def"]);
    home.run(&["run", "--again", "last", "--label", "commit=new", "-q"]).ok();
    home.run(&["list", "runs", "--last", "1"]).ok().prints(&["commit=new"]);
    home.run(&["run", "noop", "--label", "commit"]).ended(1).says(&["NAME=VALUE"]);
}
