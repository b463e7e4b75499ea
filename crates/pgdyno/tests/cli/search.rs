//! Searches for the highest load, on a null server whose capacity is known and on a private server.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use pgdyno_testing::directory::TestDirectory;
use serde_json::Value;

use crate::program::{Home, json};

/// What the null server needs for a reply: one thread of it carries 5,000 a second at most.
const SPIN_US: &str = "200";
const CAPACITY: f64 = 5000.0;

/// A null server that is given, and ends with this value.
struct Null {
    child: Child,
    dsn: String,
    _sockets: TestDirectory,
}

impl Null {
    fn start(home: &Home) -> Self {
        let sockets = TestDirectory::new_in(home.path(), "null");
        let mut command = home.command(["server", "null", "--spin-us", SPIN_US, "--socket-dir"]);
        let mut child = command.arg(sockets.path()).stdout(Stdio::piped()).spawn().unwrap();
        let mut ready = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut ready).unwrap();
        assert!(ready.contains("null server ready"), "{ready}");
        let dsn = format!("host={} user=null dbname=null sslmode=disable", sockets.path().display());
        Self { child, dsn, _sockets: sockets }
    }
}

impl Drop for Null {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Searches on a null server, in short points. Returns what was printed, as JSON.
fn search(home: &Home, code: i32, args: &[&str]) -> Value {
    let null = Null::start(home);
    let common =
        ["search", "select-only", "--target", &null.dsn, "-T", "1", "--ramp", "0", "--format", "json", "--steps", "40"];
    let ran = home.run(&[&common, args].concat()).ended(code);
    serde_json::from_str(&ran.stdout).unwrap_or_else(|e| panic!("{e}: {}\n{}", ran.stdout, ran.stderr))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn a_hook_that_fails_in_a_run_ends_the_search_with_its_exit_code() {
    let home = Home::new();
    let null = Null::start(&home);
    let hooks = "[target.db.hooks]\nprovision = { command = 'exit 3' }";
    std::fs::write(home.join("pgdyno.toml"), format!("[target.db]\ndsn = '{}'\n{hooks}\n", null.dsn)).unwrap();
    let args = ["search", "select-only", "--target", "db", "--provision", "-T", "1", "--slo", "p50 < 1s", "-q"];
    home.run(&args).ended(13).says(&["the run of capacity has no figures", "hook provision failed"]);
}

#[test]
fn the_highest_rate_is_found_below_the_capacity_and_every_point_is_a_run() {
    let home = Home::new();
    let found = search(&home, 0, &["-c", "8", "--slo", "p50 < 100ms", "--precision", "25", "--curve", "1", "-q"]);
    assert_eq!((&found["status"], &found["by"]), (&"found".into(), &"rate".into()));
    let (kept, capacity) = (number(&found["kept"]), number(&found["capacity_tps"]));
    assert!(capacity <= CAPACITY && kept <= 1.1 * CAPACITY && kept > 0.0, "{kept} of {capacity}");
    if let Some(broken) = found["broken"].as_f64() {
        assert!(broken > kept);
    }
    let points = found["points"].as_array().unwrap();
    assert!(points.windows(2).all(|pair| number(&pair[0]["load"]) < number(&pair[1]["load"])), "{points:#?}");
    assert!(found["knee"].is_number());

    // The record is what was printed, and its runs are there, marked.
    let id = found["id"].as_str().unwrap();
    assert_eq!(json(&home.join(format!("pgdyno-results/searches/{id}.json"))), found);
    let runs = home.path().join("pgdyno-results");
    let names: Vec<&str> = found["runs"].as_array().unwrap().iter().map(|run| run.as_str().unwrap()).collect();
    let of_points: usize = points.iter().map(|point| point["runs"].as_array().unwrap().len()).sum();
    assert_eq!(names.len(), of_points + 1, "the closed loop and the points");
    let mut marks = Vec::new();
    for name in &names {
        let record = json(&runs.join(name).join("run.json"));
        let place = &record["plan"]["suite"];
        assert_eq!((&place["suite"], &place["id"]), (&"search-select-only".into(), &id.into()));
        marks.push((place["run"].as_str().unwrap().to_owned(), place["repetition"].as_u64().unwrap()));
    }
    assert_eq!(marks[0], ("capacity".to_owned(), 1));
    assert!(marks[1..].iter().all(|(run, _)| run.starts_with("rate=")), "{marks:?}");
    marks.sort();
    marks.dedup();
    assert_eq!(marks.len(), names.len(), "each has a place of its own");
    let listed = home.run(&["list", "runs", "--suite", "search-select-only"]).ok().stdout;
    assert_eq!(listed.lines().count(), names.len());
    assert!(home.join(format!("pgdyno-results/searches/{id}.log")).exists());
}

#[test]
fn the_most_clients_are_whole_and_driven_in_a_closed_loop() {
    let home = Home::new();
    let found = search(&home, 0, &["--by", "clients", "--max", "4", "--slo", "Select_Only p50 < 10s", "--curve", "0"]);
    assert_eq!(found["objectives"], serde_json::json!(["select-only p50 < 10s"]));
    assert!(number(&found["points"][0]["of_kinds"][0]["latency_ns"]) > 0.0, "{found}");
    assert_eq!((number(&found["kept"]), &found["broken"]), (4.0, &Value::Null));
    let loads: Vec<f64> = found["points"].as_array().unwrap().iter().map(|point| number(&point["load"])).collect();
    assert_eq!(loads, [1.0, 2.0, 4.0]);
    for run in home.runs() {
        assert_eq!(run.text("/plan/pace"), "closed-loop");
        assert!(run.text("/plan/suite/run").starts_with("clients="));
    }
}

#[test]
fn where_even_the_lowest_load_breaks_it_the_figures_say_so() {
    let home = Home::new();
    let found = search(&home, 2, &["--min", "50", "--max", "100", "--slo", "p99 < 0.001ms", "--slo", "errors < 1%"]);
    assert_eq!((&found["status"], &found["kept"]), (&"none-kept".into(), &Value::Null));
    assert!(found["reason"].as_str().is_some_and(|reason| reason.contains("even 50.0/s does not meet it")), "{found}");
    assert!(number(&found["points"][0]["response_latency_ns_p99"]) > 1000.0);
    assert_eq!(found["objectives"], serde_json::json!(["p99 < 0.001ms", "errors < 1%"]));

    let found = search(&home, 2, &["--by", "clients", "--max", "1", "--slo", "p99 < 10s", "--slo", "tps > 1000000"]);
    let reason = found["reason"].as_str().unwrap();
    assert!(reason.contains("1 client is the highest load") && reason.contains("tps > 1000000 is not met"), "{reason}");
}

#[test]
fn a_private_server_is_held_for_the_whole_search_and_loaded_once() {
    let home = Home::of_an_ordinary_user();
    let args = ["search", "select-only", "-s", "1", "-T", "1", "--ramp", "0", "--by", "clients", "--max", "2"];
    let ran = home.run(&[&args[..], &["--slo", "p50 < 10s", "--curve", "0", "--set", "work_mem=5MB"]].concat()).ok();
    ran.prints(&["most clients with p50 < 10s: 2 clients", "select-only on embedded", "verdict"]).says(&["record: "]);
    let runs = home.runs();
    assert!(runs.len() >= 3, "{}", runs.len());
    let loads: Vec<bool> = runs.iter().map(|run| run.record.get("load").is_some()).collect();
    assert!(loads[0] && loads[1..].iter().all(|loaded| !loaded), "{loads:?}");
    assert!(runs.iter().all(|run| run.text("/server/settings_changed/work_mem") == "5MB"));
    let pages: Vec<_> =
        std::fs::read_dir(home.join("pgdyno-results/searches")).unwrap().map(|e| e.unwrap().path()).collect();
    let page = pages.iter().find(|path| path.extension().is_some_and(|extension| extension == "html")).unwrap();
    assert!(std::fs::read_to_string(page).unwrap().contains("Most clients with p50 &lt; 10s: 2 clients"));
    home.assert_clean();
}

#[test]
fn an_interrupted_search_keeps_what_it_measured() {
    let home = Home::new();
    let mut running = home.start(&[
        "search",
        "select-only",
        "--target",
        "null",
        "-T",
        "1",
        "--ramp",
        "0",
        "--slo",
        "p99 < 10s",
        "--by",
        "clients",
    ]);
    running.until_it_says(": met so far, in 1 run (", 1);
    running.signal(rustix::process::Signal::INT);
    running.end().ended(130).prints(&["interrupted", "ended by the user"]);
    let searches = std::fs::read_dir(home.join("pgdyno-results/searches")).unwrap().map(|e| e.unwrap().path());
    let record = json(&searches.into_iter().find(|path| path.extension().is_some_and(|e| e == "json")).unwrap());
    assert_eq!(record["status"], "interrupted");
    assert!(record["points"].as_array().is_some_and(|points| !points.is_empty()));
}

#[test]
fn what_cannot_be_searched_is_refused_or_reported_with_its_evidence() {
    let home = Home::new();
    for (args, words) in [
        (&["--slo", "p99 < 10"][..], ["10ms", "unit"]),
        (&["--slo", "p98 < 10ms"], ["p98", "p99.9"]),
        (&["--slo", "read p99 < 10ms"], ["'read' is not one of noop", "--slo"]),
        (&["--slo", "p99 noop < 10ms"], ["the transaction comes first", "noop p99 < 10ms"]),
        (&[], ["--slo", "required"]),
        (&["--slo", "p99 < 1ms", "-R", "5"], ["--rate", "--min"]),
        (&["--slo", "p99 < 1ms", "--by", "clients", "-c", "5"], ["--clients", "--max"]),
        (&["--slo", "tps > 5", "--by", "clients"], ["tps > N", "p99 < 10ms"]),
        (&["--slo", "p99 < 1ms", "--min", "5", "--max", "4"], ["--min is above --max", "hint"]),
        (&["--slo", "p99 < 1ms", "--by", "clients", "--max", "1.5"], ["whole", "--max"]),
    ] {
        home.run(&[&["search", "noop"], args].concat()).ended(1).says(&words);
    }
    assert!(!home.join("pgdyno-results").exists());
    let lost = home.run(&["search", "select-only", "--target", "host=/nonexistent", "--slo", "p99 < 1ms"]).ended(1);
    lost.says(&["the run of capacity has no figures: cannot connect", "searches/", ".log"]);
}
