//! The list of results, choosing runs, and exports.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::program::{Home, json as read_json};

fn fixture() -> Value {
    read_json(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/v1/run.json"))
}

/// A run of the fixture under another name, and changed.
fn put(home: &Home, id: &str, change: impl FnOnce(&mut Value)) -> PathBuf {
    let directory = home.join("pgdyno-results").join(id);
    std::fs::create_dir_all(&directory).unwrap();
    let mut record = fixture();
    record["id"] = id.into();
    change(&mut record);
    std::fs::write(directory.join("run.json"), record.to_string()).unwrap();
    directory
}

/// Three runs that differ in everything that runs are chosen by.
fn home_with_runs() -> Home {
    let home = Home::new();
    put(&home, "20260101T000000Z-a", |r| r["started_at"] = "2026-01-01T00:00:00Z".into());
    put(&home, "20260102T000000Z-b", |r| {
        r["started_at"] = "2026-01-02T00:00:00Z".into();
        r["plan"]["workload"] = "select-only".into();
        r["plan"]["recipe"] = json!({
            "name": "alloydb/select-only", "source": "a guide", "size": "64vcpu", "machine": "n2",
            "shortened": {"by": 20.0, "time_s": 3900.0, "ramp_s": 0.0},
        });
        r["plan"]["suite"] = json!({"suite": "nightly", "id": "1", "run": "clients=8", "repetition": 3});
        r["target"] = json!({"name": "big", "labels": {"cluster": "c4+2w8"}, "price_per_hour": 2.5, "currency": "EUR"});
    });
    put(&home, "20260103T000000Z-c", |r| {
        r["started_at"] = "2026-01-03T00:00:00Z".into();
        r["status"] = "failed".into();
        r["reason"] = "no, really:\n\"broken\"".into();
        r.as_object_mut().unwrap().remove("summary");
    });
    home
}

#[test]
fn runs_are_chosen_by_what_they_are() {
    let home = home_with_runs();
    let cases: &[(&[&str], &str)] = &[
        (&[], "abc"),
        (&["--workload", "select-only"], "b"),
        (&["--recipe", "alloydb/select-only"], "b"),
        (&["--recipe", "alloydb/"], "b"),
        (&["--suite", "nightly"], "b"),
        (&["--target", "big"], "b"),
        (&["--status", "failed"], "c"),
        (&["--since", "2026-01-02"], "bc"),
        (&["--since", "2026-01-02T00:00:01Z"], "c"),
        (&["--label", "cluster=c4+2w8"], "b"),
        (&["--label", "cluster=c4"], ""),
        (&["--last", "2"], "bc"),
        (&["--status", "complete", "--last", "1"], "b"),
        (&["--suite", "nightly", "--status", "failed"], ""),
    ];
    for (args, wanted) in cases {
        let listed = home.run(&[&["list", "runs", "--all"], *args].concat()).ok().stdout;
        let exported = home.run(&[&["export", "--format", "json"], *args].concat()).ok().stdout;
        let exported: Vec<Value> = serde_json::from_str(&exported).unwrap();
        let last = |id: &str| id.chars().last().unwrap();
        let in_export: String = exported.iter().map(|row| last(row["id"].as_str().unwrap())).collect();
        assert_eq!(in_export, *wanted, "{args:?}");
        if wanted.is_empty() {
            assert_eq!(listed, "no such runs in pgdyno-results\n");
        } else {
            let in_list: String = listed.lines().map(|line| last(line.split_whitespace().next().unwrap())).collect();
            assert_eq!(in_list, *wanted, "{args:?}");
        }
    }
    home.run(&["list", "runs", "--suite", "nightly"])
        .ok()
        .prints(&["alloydb/select-only 64vcpu", "nightly clients=8 #3"]);
    // A suite has one line for all of its runs.
    let listed = home.run(&["list", "runs", "--last", "2"]).ok().stdout;
    let lines: Vec<_> = listed.lines().collect();
    assert!(lines.len() == 2 && lines[0].starts_with("nightly-"), "{listed}");
    assert!(lines[0].ends_with("  suite       nightly: 1 of 1 run complete"), "{listed}");
    for (args, words) in [
        (["--status", "broken"], ["complete", "failed"]),
        (["--since", "yesterday"], ["2026-01-31", "yesterday"]),
        (["--label", "cluster"], ["NAME=VALUE", "cluster"]),
        (["--last", "0"], ["0", "--last"]),
    ] {
        home.run(&["list", "runs", args[0], args[1]]).ended(1).says(&words);
    }
}

#[test]
fn an_export_is_a_table_in_three_formats() {
    let home = home_with_runs();
    let csv = home.run(&["export"]).ok().stdout;
    let lines: Vec<_> = csv.lines().collect();
    assert_eq!(lines.len(), 4, "{csv}");
    assert!(lines[3].contains("\"no, really: \"\"broken\"\"\""), "{}", lines[3]);

    let rows: Vec<Value> = serde_json::from_str(&home.run(&["export", "--format", "json"]).ok().stdout).unwrap();
    let header: Vec<_> = lines[0].split(',').collect();
    let names: Vec<_> = rows[0].as_object().unwrap().keys().collect();
    assert_eq!((rows.len(), names.len()), (3, header.len()));
    assert!(header.iter().all(|name| rows[0].get(*name).is_some()), "{header:?}");
    let (b, c) = (&rows[1], &rows[2]);
    assert_eq!((&b["short"], &b["repetition"], &b["fitted"]), (&json!(20.0), &json!(3), &json!(false)));
    assert_eq!((&b["price_per_hour"], &b["currency"]), (&json!(2.5), &json!("EUR")));
    assert!(c["tps"].is_null() && c["recipe"].is_null() && rows[0]["tps"].is_number());
    assert_eq!(c["reason"], "no, really:\n\"broken\"");

    home.run(&["export", "--format", "parquet", "-o", "runs.parquet"]).ok();
    let file = std::fs::read(home.join("runs.parquet")).unwrap();
    assert!(file.starts_with(b"PAR1") && file.ends_with(b"PAR1"));
    let piped = home.command(["export", "--format", "parquet"]).output().unwrap();
    assert_eq!(piped.stdout, file);

    // What cannot be written is reported, and the old file stays.
    home.run(&["export", "-o", "/nowhere/runs.csv"]).ended(1).says(&["/nowhere/runs.csv"]);
    assert_eq!(std::fs::read(home.join("runs.parquet")).unwrap(), file);
}

#[test]
fn what_cannot_be_read_is_reported_and_left_out() {
    let home = home_with_runs();
    let broken = put(&home, "20260104T000000Z-d", |_| ());
    std::fs::write(broken.join("run.json"), "{").unwrap();
    let ran = home.run(&["export"]).ok().says(&["warning: left out", "20260104T000000Z-d/run.json"]);
    assert_eq!(ran.stdout.lines().count(), 4);
    home.run(&["list", "runs"]).ok().prints(&["20260104T000000Z-d", "unreadable"]);
    let chosen = home.run(&["list", "runs", "--workload", "select-only"]).ok();
    assert!(!chosen.stdout.contains("unreadable"), "{}", chosen.stdout);
}

#[test]
fn the_list_has_the_lines_of_an_export_and_an_older_list_is_kept() {
    let home = Home::new();
    let old = "id,started_at,status\nrun-1,2026-01-01T00:00:00Z,complete\n";
    std::fs::create_dir(home.join("pgdyno-results")).unwrap();
    std::fs::write(home.join("pgdyno-results/results.csv"), old).unwrap();
    let running: Vec<_> = (0..4).map(|_| home.start(&["run", "noop", "-t", "10", "-q"])).collect();
    for run in running {
        run.end().ok();
    }
    let read = |name: &str| std::fs::read_to_string(home.join("pgdyno-results").join(name)).unwrap();
    assert_eq!(read("results-1.csv"), old);
    let (list, export) = (read("results.csv"), home.run(&["export"]).ok().stdout);
    let sorted = |text: &str| {
        let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
        lines[1..].sort();
        lines
    };
    let (list, export) = (sorted(&list), sorted(&export));
    assert_eq!((list.len(), export.len()), (5, 5));
    for (line, row) in list.iter().zip(&export) {
        assert!(row.starts_with(&format!("{line},")), "{row}\ndoes not begin with\n{line}");
    }
}

#[test]
fn runs_that_fail_or_are_interrupted_have_their_line_with_the_reason() {
    let home = Home::new();
    let mut running = home.start(&["run", "noop", "-T", "1h", "--ramp", "0", "-R", "100"]);
    running.until_it_says("progress:", 1);
    running.signal(rustix::process::Signal::INT);
    running.end().ended(130);
    let list = std::fs::read_to_string(home.join("pgdyno-results/results.csv")).unwrap();
    let line = list.lines().nth(1).unwrap();
    assert!(line.contains(",interrupted,130,") && line.contains("ended by the user"), "{line}");
}

#[test]
fn the_example_for_pandas_and_duckdb_runs_as_it_stands() {
    let modules = ["pandas", "pyarrow", "duckdb"];
    let Some(python) = crate::python::python(&modules, "read Parquet") else { return };
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results.md");
    let page = std::fs::read_to_string(page).unwrap();
    let example = page.split("```python\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let export = example.lines().next().unwrap().strip_prefix("# pgdyno ").unwrap();
    let home = home_with_runs();
    home.run(&export.split(' ').collect::<Vec<_>>()).ok();
    std::fs::write(home.join("example.py"), example).unwrap();
    let mut command = crate::python::program(python);
    let ran = crate::program::finish({
        command.arg("example.py").current_dir(home.path());
        command
    });
    // Two of the three runs have figures; the failed one has none, and is no zero.
    let ran = ran.ok().prints(&["started_at", "select-only", "tproc-c", "count"]);
    assert!(ran.stdout.contains("NaN") || ran.stdout.contains("NULL"), "{}", ran.stdout);
}
