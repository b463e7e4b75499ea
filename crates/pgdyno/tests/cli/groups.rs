//! Groups of clients and stages, as a directory with `workload.toml` declares them.

use serde_json::Value;

use crate::browser::{browser, look};
use crate::given_server::{Place, TRUST};
use crate::own::write;
use crate::program::{Home, Run};

/// A number of the record of a group.
#[track_caller]
fn number(group: &Value, pointer: &str) -> f64 {
    group.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("no {pointer} in {group}"))
}

/// The groups of a stage, by their names.
fn groups<'a>(run: &'a Run, stage: usize, names: &[&str]) -> Vec<&'a Value> {
    let groups = run.at(&format!("/stages/{stage}/groups")).as_array().unwrap();
    assert_eq!(groups.iter().map(|group| group["name"].as_str().unwrap()).collect::<Vec<_>>(), names);
    groups.iter().collect()
}

#[test]
fn writers_run_beside_readers_with_a_rate_then_each_query_runs_once() {
    let Some(place) = Place::new("groups of clients", "", TRUST) else { return };
    let planned = place.run("plan mixed -s 1 -c 8 -T 4 --ramp 1").ok();
    planned.prints(&[
        "stage mix: 4 s after 1 s of warm-up: 8 clients",
        "writers: 6 clients, write.sql, query mode simple, as fast as the server answers",
        "readers: 2 clients, read.sql, latency limit 500 ms, query mode prepared, 100 transactions a second",
        "stage each-once: until the clients of queries are done, 60 s of grace: 1 client",
        "queries: 1 client, each runs once branches.sql, tellers.sql, accounts.sql",
    ]);
    let ran = place.run("run mixed -s 1 -c 8 -T 4 --ramp 1 --grace 7").ok();
    let run = place.home.the_run();
    assert_eq!((run.text("/status"), run.checks_that_hold().last()), ("complete", Some(&"after the run")));

    // The plan says what there is.
    assert_eq!((run.number("/plan/clients"), run.number("/plan/grace_s")), (8.0, 7.0));
    assert_eq!((run.number("/plan/stages/0/grace_s"), run.number("/plan/stages/1/grace_s")), (7.0, 60.0));
    assert_eq!(run.text("/plan/stages/1/ends_with"), "queries");
    assert_eq!(run.number("/plan/stages/0/groups/1/pace/rate/per_s"), 100.0);
    assert_eq!(run.text("/plan/stages/0/groups/1/mode"), "prepared");

    // The record has the figures of each group; the summary is of the first stage.
    let [writers, readers] = groups(&run, 0, &["writers", "readers"])[..] else { panic!() };
    let [queries] = groups(&run, 1, &["queries"])[..] else { panic!() };
    assert_eq!([writers, readers, queries].map(|group| number(group, "/clients")), [6.0, 2.0, 1.0]);
    let [written, read] = [writers, readers].map(|group| number(group, "/summary/committed"));
    assert!(written > 0.0 && read > 0.0 && number(readers, "/summary/tps") < 150.0, "{written} and {read}");
    assert_eq!(run.number("/summary/committed"), written + read);
    for group in [writers, readers, queries] {
        assert!(number(group, "/summary/response_latency_ns/p99") > 0.0, "{group}");
    }
    assert!(readers.pointer("/summary/schedule_lag_ns").is_some());
    assert_eq!(number(queries, "/summary/committed"), 3.0);
    let statements = queries["statements"].as_array().unwrap();
    let rows: Vec<_> = statements.iter().map(|s| (number(s, "/executed"), number(s, "/rows"))).collect();
    assert_eq!(rows, [(1.0, 1.0), (1.0, 1.0), (1.0, 1.0)], "one branch has a row in each");
    assert!(statements.iter().all(|s| s["rows_digest"].is_string()), "{statements:?}");
    let intervals = std::fs::read_to_string(run.path.join("intervals-by-group.csv")).unwrap();
    for name in ["mix,writers,", "mix,readers,", "each-once,queries,"] {
        assert!(intervals.lines().any(|line| line.starts_with(name)), "{name}\n{intervals}");
    }

    // Reports show each group.
    let words = ["mix: writers", "mix: readers", "each-once: queries", "branches.sql", "8 clients in 2 groups"];
    ran.prints(&words);
    place
        .home
        .run(&["report", "last", "--format", "markdown"])
        .ok()
        .prints(&["| group | clients |", "| mix: readers | 2 |"]);
    let csv = place.home.run(&["report", "last", "--format", "csv"]).ok().stdout;
    let columns: Vec<_> = csv.lines().map(|line| line.split(',').count()).collect();
    assert!(columns.iter().all(|n| *n == columns[0]), "{csv}");
    assert!(csv.lines().any(|line| line.contains(",tellers.sql,") && line.ends_with(",each-once,queries")), "{csv}");
    let page = std::fs::read_to_string(run.path.join("report.html")).unwrap();
    for words in ["Groups of clients", "each-once: queries", "Throughput by group", "intervals-by-group.csv"] {
        assert!(page.contains(words), "{words}");
    }
    let Some(browser) = browser("a page with groups") else { return };
    let seen = look(&browser, &run.path.join("report.html"));
    seen.is_whole(&["Throughput", "Throughput by group", "p99 by group"]);
    assert!(seen.dom.contains("mix: writers"));
}

#[test]
fn room_on_the_server_is_for_the_largest_stage() {
    let Some(place) = Place::new("room for groups", "max_connections = 20\n", TRUST) else { return };
    let manifest = "[data]\nworkload = 'tpcb-like'\n[[script]]\nfile = 'a.sql'\n\
        [[group]]\nname = 'few'\nscripts = ['a.sql']\n[[group]]\nname = 'many'\nscripts = ['a.sql']\nclients = 30\n\
        [[stage]]\nname = 'small'\ngroups = ['few']\n[[stage]]\nname = 'large'\ngroups = ['few', 'many']\n";
    write(&place.home, "mine", &[("workload.toml", manifest), ("a.sql", "select 1;\n")]);
    let refused = place.run("run ./mine -s 1 -c 2 -t 10").ended(1);
    assert!(refused.stderr.contains("32"), "{}", refused.stderr);
}

#[test]
fn what_is_wrong_with_groups_is_reported_before_anything_is_touched() {
    let home = Home::new();
    let manifest = "[data]\nworkload = 'tpcb-like'\n[[script]]\nfile = 'a.sql'\n\
        [[group]]\nname = 'g'\nscripts = ['a.sql']\nshare = 0.1\n";
    let files = [("workload.toml", manifest), ("a.sql", "select 1;\n")];
    write(&home, "mine", &files);
    let nowhere = ["--target", "host=/nonexistent", "-c", "2"];
    home.run(&[&["run", "./mine"], &nowhere[..]].concat()).ended(1).says(&["group g has no client of 2", "--clients"]);
    let wrong = manifest.replace("share", "shares");
    write(&home, "mine", &[("workload.toml", &wrong)]);
    home.run(&[&["run", "./mine"], &nowhere[..]].concat()).ended(1).says(&["unknown field `shares`", "line 8"]);
}
