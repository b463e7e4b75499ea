//! The central store: runs of several machines in one PostgreSQL database.

mod at_once;
mod hostile;
mod silent;

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::compare::{store, store_intervals};
use crate::given_server::{Place, TRUST};
use crate::program::{Home, PATIENCE, REST, assert_nowhere, eventually, finish, json};
use crate::serve::serve_with;

/// A server with an empty store.
fn place(test: &str) -> Option<Place> {
    let place = Place::new(test, "", TRUST)?;
    place
        .home
        .run(&["store", "init", "--store", &place.target()])
        .ok()
        .prints(&["created the store in schema pgdyno_results"]);
    Some(place)
}

/// Returns all files below a directory, with their contents.
fn files(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap()) {
        let name = entry.file_name().into_string().unwrap();
        if entry.path().is_dir() {
            found.extend(files(&entry.path()).into_iter().map(|(file, content)| (format!("{name}/{file}"), content)));
        } else if name != "report.html" {
            found.push((name, std::fs::read(entry.path()).unwrap()));
        }
    }
    found.sort();
    found
}

/// The directory with the copies of the only store.
fn mirror(home: &Home) -> PathBuf {
    let entries = std::fs::read_dir(home.join("cache/pgdyno/stores")).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.is_dir()).last().unwrap()
}

#[test]
fn a_run_is_pushed_at_its_end_and_read_elsewhere_as_it_is_here() {
    let Some(place) = place("a store of runs") else { return };
    let target = place.target();
    let args =
        ["run", "select-only", "-s", "1", "-c", "2", "-R", "200", "-T", "2", "--ramp", "1", "-q", "--target", &target];
    let ran = place.home.run(&[&args[..], &["--label", "commit=abc", "--store", &target]].concat()).ok();
    ran.prints(&["STORE   host="]);
    let run = place.home.the_run();
    let id = run.text("/id");
    let push = || place.home.run(&["store", "push", "--store", &target]).ok();
    push().prints(&["0 runs pushed, 1 already there"]);
    place.home.run(&["store", "list", "--store", &target]).ok().prints(&[id, "complete", "postgres"]);

    // Another machine.
    let other = Home::new();
    let read = |args: &[&str]| {
        let mut command = other.command(args);
        command.env("PGDYNO_STORE", &target);
        finish(command)
    };
    let here = |args: &[&str]| place.home.run(args).ok().stdout;
    for args in [
        &["list", "runs"][..],
        &["export"],
        &["export", "--format", "json", "--label", "commit=abc"],
        &["report", "last"],
        &["report", "last", "-v"],
        &["compare", "last", "last"],
    ] {
        assert_eq!(read(args).ok().stdout, here(args), "{args:?}");
    }
    assert_eq!(read(&["history"]).code, place.home.run(&["history"]).code);
    read(&["report", "last", "--format", "html", "-o", "page.html"]).ok();
    assert!(std::fs::read_to_string(other.join("page.html")).unwrap().contains("</svg>"), "the page has charts");
    other.run(&["list", "runs"]).ok().prints(&["no runs in pgdyno-results"]);
    read(&["report", "nothing"]).ended(1).says(&["no run 'nothing' in the store host="]);
    read(&["list", "runs", "--out", "elsewhere"]).ok().prints(&["no runs in elsewhere"]);

    // A copy is the run, byte for byte.
    read(&["store", "pull", "last"]).ok().prints(&["1 run pulled"]);
    read(&["store", "pull", id]).ok().prints(&["0 runs pulled, 1 already here"]);
    let there = other.join("pgdyno-results").join(id);
    assert_eq!(files(&there), files(&place.home.join("pgdyno-results").join(id)));
    assert!(std::fs::read_to_string(other.join("pgdyno-results/results.csv")).unwrap().contains(id));

    // What psql and Grafana read.
    let ask = |sql: &str| place.ask(&sql.replace("$run", &format!("'{id}'")));
    let lines = std::fs::read_to_string(there.join("intervals.csv")).unwrap().lines().count() - 1;
    assert_eq!(ask("SELECT count(*) FROM pgdyno_results.intervals WHERE run = $run"), lines.to_string());
    let stored = ask("SELECT sum(committed) FROM pgdyno_results.intervals WHERE run = $run AND phase = 'measure'");
    assert_eq!(stored, run.committed_by_intervals().to_string());
    assert_eq!(ask("SELECT workload FROM pgdyno_results.runs WHERE id = $run"), "select-only");
    assert_eq!(
        ask("SELECT tps = (SELECT value FROM pgdyno_results.metrics WHERE run = $run AND metric = 'tps')
                    FROM pgdyno_results.runs WHERE id = $run"),
        "t"
    );
    assert_eq!(ask("SELECT value FROM pgdyno_results.labels WHERE run = $run AND name = 'commit'"), "abc");
    assert_eq!(ask("SELECT count(*) FROM pgdyno_results.transactions WHERE run = $run"), "1");
    let counted =
        "SELECT count(*) > 0 AND bool_and((fields ->> 'xact_commit')::bigint > 0) AND bool_and(sampled_at BETWEEN
        (SELECT started_at FROM pgdyno_results.runs WHERE id = $run) AND now())
        FROM pgdyno_results.samples WHERE run = $run AND source = 'database'";
    assert_eq!(ask(counted), "t");

    // The end of a run, once more: with other files, it is another run.
    std::fs::write(place.home.join("pgdyno-results").join(id).join("note.txt"), "changed").unwrap();
    place
        .home
        .run(&["store", "push", id, "--store", &target])
        .ended(1)
        .says(&["with other files, pushed at", "--replace"]);
    place.home.run(&["store", "push", id, "--replace", "--store", &target]).ok().prints(&["replaced"]);
    read(&["store", "pull", id]).ended(1).says(&["other files than the store", "--out"]);
    // The mirror notices the change.
    read(&["compare", "last", "last"]).ok();
    let mirror = mirror(&other);
    assert_eq!(std::fs::read(mirror.join(id).join("note.txt")).unwrap(), b"changed");
}

#[test]
fn searches_and_experiments_are_pushed_with_their_runs_and_read_elsewhere() {
    let Some(place) = place("a store of searches") else { return };
    let target = place.target();
    let with = |home: &Home, args: &[&str]| home.run(&[args, &["--store", &target]].concat());
    std::fs::write(place.home.join("rest.sql"), format!("SELECT 1;\n{REST}")).unwrap();
    let null = ["./rest.sql", "--target", "null", "-q", "--format", "json"];
    let load = ["-T", "1", "--ramp", "0", "--by", "clients", "--max", "2", "--slo", "p99 < 10s", "--steps", "3"];
    let found = with(&place.home, &[&["search"][..], &null, &load].concat());
    let search: Value = serde_json::from_str(&found.stdout).unwrap_or_else(|e| panic!("{e}: {}", found.stderr));
    let slices = ["--slice", "500ms", "--budget", "1s", "--yes", "-c", "2", "--b", "mode=simple"];
    let ran = with(&place.home, &[&["ab"][..], &null, &slices].concat());
    let experiment: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|e| panic!("{e}: {}", ran.stderr));
    let of = |record: &Value| record["id"].as_str().unwrap().to_owned();
    let (search_id, ab_id) = (of(&search), of(&experiment));
    let runs: Vec<_> = search["runs"].as_array().unwrap().iter().map(|run| run.as_str().unwrap()).collect();
    assert!(runs.len() >= 2, "{search}");

    // All that counts was pushed at the end, and is pushed once.
    let listed: Value =
        serde_json::from_str(&with(&place.home, &["store", "list", "--format", "json"]).ok().stdout).unwrap();
    let names: Vec<_> = listed["stored"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert!(runs.iter().all(|run| names.contains(run)) && names.contains(&&*search_id), "{listed}");
    with(&place.home, &["store", "push", &ab_id]).ok().prints(&["0 runs pushed, 5 already there"]);
    // Its warm-ups were not, because they count for nothing.
    with(&place.home, &["store", "push"]).ok().prints(&["2 runs pushed"]);
    with(&place.home, &["store", "push"]).ok().prints(&["0 runs pushed"]);
    let joined = format!(
        "SELECT count(*) FROM pgdyno_results.studies, unnest(runs) AS run
         JOIN pgdyno_results.runs ON id = run WHERE study = '{search_id}' AND kind = 'search' AND tps > 0"
    );
    assert_eq!(place.ask(&joined), runs.len().to_string());

    // On another machine, byte for byte; `serve` shows searches of the store.
    let other = Home::new();
    let file = |home: &Home, path: &str| std::fs::read(home.join("pgdyno-results").join(path)).unwrap();
    with(&other, &["store", "pull", &search_id]).ok().prints(&["1 search pulled, 0 already here"]);
    let path = format!("searches/{search_id}.json");
    assert_eq!(file(&other, &path), file(&place.home, &path));
    assert_eq!(other.runs().len(), runs.len());
    with(&other, &["store", "pull", &search_id]).ok().prints(&["0 runs pulled"]);
    with(&other, &["store", "pull", &ab_id]).ok().prints(&["4 runs and 1 experiment pulled"]);
    let serving = serve_with(&other, &["--store", &target]);
    assert!(serving.get("/searches").body.contains(&search_id));
    assert!(serving.get("/experiments").body.contains(&format!("/ab/{ab_id}.html")));
    assert!(serving.get(&format!("/ab/{ab_id}.html")).body.contains("Response times"));
    let list = |address: &str| serving.get(address).body.matches("href=\"/runs/").count();
    assert!(list("/") == 0 && list("/?all") >= runs.len(), "runs of studies are listed if they are asked for");
    // Each is one line, and the last of both is what `report last` shows.
    let listed = with(&other, &["list", "runs"]).ok().stdout;
    let names: Vec<_> = listed.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(names, [&search_id, &ab_id], "{listed}");
    with(&other, &["report", "last"]).ok().prints(&["sure  1 unit, "]);
    with(&other, &["report", &search_id]).ok().prints(&["on null"]);
    drop(serving);

    // An experiment that goes on replaces its earlier state; another one of its name does not.
    let path = place.home.join(format!("pgdyno-results/ab/{ab_id}.json"));
    let mut later = json(&path);
    later["runs"]["a"].as_array_mut().unwrap().push("another-slice".into());
    std::fs::write(&path, later.to_string()).unwrap();
    with(&place.home, &["store", "push", &ab_id]).ok().prints(&["replaced", "1 experiment pushed"]);
    with(&other, &["store", "push", &ab_id]).ended(1).says(&["1 experiment was not pushed", "--replace"]);
    with(&other, &["store", "pull", &ab_id]).ok().prints(&["1 experiment pulled"]);

    with(&other, &["store", "prune", "--older-than", "0h", "--dry-run"]).ok().prints(&["1 experiment and 1 search"]);
    // A store of 0.2.0 has runs only.
    place.server.admin().execute("DROP TABLE pgdyno_results.studies").unwrap();
    with(&other, &["list", "runs"]).ok();
    let path = format!("pgdyno-results/searches/{search_id}.json");
    with(&other, &["store", "push", &path]).ended(1).says(&["not pushed", "pgdyno store init"]);
    with(&other, &["store", "init"]).ok().prints(&["the store is there"]);
    with(&other, &["store", "push", &path]).ok().prints(&["1 search pushed"]);
}

#[test]
fn the_runs_of_a_suite_are_pushed_one_by_one() {
    let Some(place) = place("a store of a suite") else { return };
    let run = |clients: u8| {
        format!(
            "[[run]]\nname = \"c{clients}\"\nwhat = \"select-only\"\ntime = \"1s\"\nramp = \"0s\"\nclients = {clients}\n"
        )
    };
    let file = format!("name = \"tiny\"\ntargets = [\"null\"]\n{}{}", run(1), run(2));
    std::fs::write(place.home.join("tiny.toml"), file).unwrap();
    let without = place.target().replace("dbname=postgres", "dbname=template1");
    let refused = place.home.run(&["suite", "run", "tiny.toml", "--store", &without]).ended(1);
    refused.says(&["database template1 has no store of results"]);
    assert_eq!(place.home.runs().len(), 0, "reported before anything is measured");
    place.home.run(&["suite", "run", "tiny.toml", "--store", &place.target()]).ok();
    assert_eq!(place.home.runs().len(), 2);
    let sql = "SELECT count(*) FROM pgdyno_results.records WHERE record #>> '{plan,suite,suite}' = 'tiny'";
    assert_eq!(place.ask(sql), "2");
}

/// Returns a home with runs `a` and `b`, each with intervals.
fn home_with_two_runs() -> Home {
    let home = Home::new();
    for (id, tps, began) in [("a", 1000, "2026-01-01T00:00:00Z"), ("b", 900, "2099-01-01T00:00:00Z")] {
        store(&home, id, tps as f64, |record| {
            record["started_at"] = began.into();
            // Text that jsonb cannot hold.
            record["warnings"] = serde_json::json!(["a \0 and \"quotes\", ünd 'so weiter'\\"]);
            record["warning_details"] = serde_json::json!([]);
        });
        store_intervals(&home, id, tps, 30);
    }
    home
}

#[test]
fn a_lost_connection_is_made_again_and_a_run_is_there_once_and_whole() {
    let Some(place) = place("a store whose connections are lost") else { return };
    let home = home_with_two_runs();
    let big: Vec<u8> = (0..5_000_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    std::fs::write(home.join("pgdyno-results/a/big.bin"), &big).unwrap();
    let target = place.target();
    let mut holder = place.server.admin();
    // A push waits for the table, in the middle of its transaction.
    holder.execute("BEGIN; LOCK pgdyno_results.parts IN ACCESS EXCLUSIVE MODE").unwrap();
    let push = home.start(&["store", "push", "a", "--store", &target]);
    let mut killer = place.server.admin();
    let waits = "FROM pg_stat_activity WHERE application_name = 'pgdyno store' AND wait_event_type = 'Lock'";
    eventually("the push waits", PATIENCE, || killer.query_one(&format!("SELECT count(*) {waits}")).unwrap() == "1");
    killer.execute(&format!("SELECT pg_terminate_backend(pid) {waits}")).unwrap();
    holder.execute("COMMIT").unwrap();
    push.end().ok().prints(&["1 run pushed"]);
    assert_eq!(place.ask("SELECT count(*) FROM pgdyno_results.records"), "1");
    assert_eq!(place.ask("SELECT sum(length(content)) FROM pgdyno_results.parts WHERE path = 'big.bin'"), "5000000");

    home.run(&["store", "pull", "a", "--store", &target, "--out", "copy"]).ok();
    assert_eq!(files(&home.join("copy/a")), files(&home.join("pgdyno-results/a")));
    // What is damaged in the store is noticed, wherever it is read.
    std::fs::remove_dir_all(home.join("cache")).unwrap();
    place
        .server
        .admin()
        .execute("UPDATE pgdyno_results.parts SET content = content || '\\x00' WHERE path = 'big.bin' AND part = 4")
        .unwrap();
    let pull = home.run(&["store", "pull", "a", "--store", &target, "--out", "another"]);
    pull.ended(1).says(&["the store's file big.bin of the run a is damaged", "--replace"]);
    assert!(!home.join("another/a/run.json").exists());
}

#[test]
fn comparisons_of_a_store_are_those_of_the_directory_and_old_runs_are_pruned() {
    let Some(place) = place("two runs in a store") else { return };
    let home = home_with_two_runs();
    let target = place.target();
    let with = |args: &[&str]| home.run(&[args, &["--store", &target]].concat());
    with(&["store", "push"]).ok().prints(&["2 runs pushed, 0 already there"]);
    let compare = with(&["compare", "a", "b"]).ok().stdout;
    assert_eq!(compare, home.run(&["compare", "a", "b"]).ok().stdout);
    assert!(compare.contains("-10.1 % to -9.9 %"), "it has the intervals: {compare}");
    let warnings: Value = serde_json::from_str(&with(&["report", "a", "--format", "json"]).ok().stdout).unwrap();
    assert_eq!(
        warnings["warnings"],
        json(&home.join("pgdyno-results/a/run.json"))["warnings"],
        "the file is as it was"
    );
    let serving = serve_with(&home, &["--store", &target]);
    assert!(serving.get("/").body.contains("/runs/a"));
    assert!(serving.get("/runs/a").body.contains("</svg>"), "the page has the charts of the intervals");
    assert_eq!(serving.get("/compare?base=a&new=b").status, 200);
    drop(serving);
    with(&["store", "prune", "--older-than", "24h", "--dry-run"]).ok().prints(&["a ", "1 run", "would be deleted"]);
    with(&["store", "prune", "--older-than", "24h"]).ok().prints(&["1 run", "deleted"]);
    with(&["store", "prune", "--older-than", "24h"]).ok().prints(&["no run is that old"]);
    for table in ["records", "files", "parts", "intervals"] {
        assert_eq!(place.ask(&format!("SELECT count(DISTINCT run) FROM pgdyno_results.{table}")), "1", "{table}");
    }
    let list = with(&["list", "runs"]).ok().stdout;
    assert!(list.starts_with("b ") && list.lines().count() == 1, "what was pruned is gone from the mirror: {list}");
    assert!(home.join("pgdyno-results/a/run.json").exists(), "the directory is nobody's business");
    with(&["store", "prune", "--older-than", "90"]).ended(1).says(&["12h, 90d, 26w"]);
}

#[test]
fn who_may_not_and_what_is_not_there_is_reported_before_anything_is_written() {
    let Some(place) = Place::new("a store that is not there", "", TRUST) else { return };
    let target = place.target();
    let home = home_with_two_runs();
    let with = |args: &[&str], store: &str| home.run(&[args, &["--store", store]].concat());
    home.run(&["store", "list"]).ended(1).says(&["no store is named", "PGDYNO_STORE"]);
    for args in [&["list", "runs"][..], &["store", "push"], &["run", "noop", "-t", "5"], &["compare", "a", "b"]] {
        with(args, &target).ended(1).says(&["database postgres has no store of results", "pgdyno store init"]);
    }
    with(&["store", "push"], "host=127.0.0.1 port=1")
        .ended(1)
        .says(&["failed to reach the store of results", "port=1"]);
    // A run goes on without it, and says how to push it later.
    let ran = with(&["run", "noop", "-t", "5", "-q"], "host=127.0.0.1 port=1").ok();
    ran.says(&["failed to reach the store of results", "pgdyno store push pgdyno-results/"]);

    let mut admin = place.server.admin();
    for statement in ["CREATE ROLE reader LOGIN", "CREATE ROLE stranger LOGIN"] {
        admin.execute(statement).unwrap();
    }
    let as_role = |role: &str| target.replace("user=postgres", &format!("user={role}"));
    let refused = with(&["store", "init"], &as_role("reader"));
    refused.ended(1).says(&["role reader may not create", "CREATE SCHEMA pgdyno_results AUTHORIZATION \"reader\""]);
    with(&["store", "init"], &target).ok();
    with(&["store", "init"], &target).ok().prints(&["the store is there"]);
    admin.execute("GRANT USAGE ON SCHEMA pgdyno_results TO reader").unwrap();
    admin.execute("GRANT SELECT ON ALL TABLES IN SCHEMA pgdyno_results TO reader").unwrap();
    // The name of the other run may end with either letter.
    with(&["store", "push", "pgdyno-results/a"], &target).ok();
    with(&["compare", "a", "a"], &as_role("reader")).ok();
    with(&["store", "push", "pgdyno-results/b"], &as_role("reader"))
        .ended(1)
        .says(&["role reader may not write to", "docs/store.md"]);
    with(&["list", "runs"], &as_role("stranger")).ended(1).says(&["role stranger may not read"]);
    admin.execute("UPDATE pgdyno_results.store SET version = 2").unwrap();
    with(&["list", "runs"], &target).ended(1).says(&["is of version 2; this program has version 1", "newest pgdyno"]);
}

#[test]
fn the_passwords_of_a_store_are_stored_nowhere() {
    const PASSWORD: &str = "only_for_the_store";
    let Some(place) = Place::new("the password of a store", "", &format!("host all keeper all scram-sha-256\n{TRUST}"))
    else {
        return;
    };
    let mut admin = place.server.admin();
    admin.execute(&format!("CREATE ROLE keeper LOGIN PASSWORD '{PASSWORD}'")).unwrap();
    admin.execute("CREATE DATABASE results OWNER keeper").unwrap();
    let dsn = format!("host=127.0.0.1 port={} user=keeper dbname=results password={PASSWORD}", place.server.port);
    place.home.run(&["store", "init", "--store", &dsn]).ok();
    place.home.run(&["run", "noop", "-t", "5", "-q", "--store", &dsn]).ok();
    place.home.run(&["list", "runs", "--store", &dsn]).ok().prints(&["noop"]);
    assert_nowhere(PASSWORD, place.home.path());
    let mut store = pgdyno_net::Admin::connect(&place.server.resolve(&dsn)).unwrap();
    let found = format!("SELECT count(*) FROM pgdyno_results.records WHERE record::text LIKE '%{PASSWORD}%'");
    assert_eq!(store.query_one(&found).unwrap(), "0");
    let wrong = dsn.replace(PASSWORD, "guessed");
    place.home.run(&["list", "runs", "--store", &wrong]).ended(1).says(&["password authentication failed"]);
}
