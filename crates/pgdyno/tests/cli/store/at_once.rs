//! Several processes on one store.

use std::fs::File;

use pgdyno_results::{AbRecord, Resumable as _};

use super::{files, home_with_two_runs, place};
use crate::compare::{store, store_intervals};
use crate::given_server::{Place, TRUST};
use crate::program::{PATIENCE, eventually, json};

#[test]
fn a_store_is_created_once_and_each_run_is_pushed_once_however_many_try() {
    let Some(place) = Place::new("six at once", "", TRUST) else { return };
    let (target, home) = (place.target(), home_with_two_runs());
    let six = |args: &[&str]| -> Vec<String> {
        let args = [args, &["--store", &target]].concat();
        let running: Vec<_> = (0..6).map(|_| home.start(&args)).collect();
        running.into_iter().map(|running| running.end().ok().stdout).collect()
    };
    let count = |printed: &[String], word: &str| printed.iter().filter(|text| text.contains(word)).count();
    let inits = six(&["store", "init"]);
    assert_eq!((count(&inits, "created the store"), count(&inits, "the store is there")), (1, 5), "{inits:?}");

    let (id, started_at) = ("20260101-ab-x-1a2b".to_owned(), "2026-01-01T00:00:00Z".to_owned());
    let experiment = AbRecord { id, started_at, ..AbRecord::default() };
    experiment.save(&home.join("pgdyno-results")).unwrap();
    // Large enough that each is in the middle of it when the next one begins.
    std::fs::write(home.join("pgdyno-results/a/big.bin"), vec![7; 8 << 20]).unwrap();
    let pushes = six(&["store", "push"]);
    let pushed = pushes.iter().flat_map(|text| text.lines()).filter(|line| line.starts_with("pushed "));
    assert_eq!(pushed.count(), 3, "{pushes:?}");
    assert_eq!(place.ask("SELECT count(*) FROM pgdyno_results.studies"), "1");
    assert_eq!(place.ask("SELECT count(*) FROM pgdyno_results.records"), "2");

    let compared = home.run(&["compare", "a", "b"]).ok().stdout;
    let compares = six(&["compare", "a", "b"]);
    assert!(compares.iter().all(|text| *text == compared), "{compares:?}");
}

#[test]
fn a_command_waits_for_the_one_that_uses_the_copies() {
    let Some(place) = place("copies that are in use") else { return };
    let (target, home) = (place.target(), home_with_two_runs());
    home.run(&["store", "push", "--store", &target]).ok();
    home.run(&["list", "runs", "--store", &target]).ok();
    let mirrors = std::fs::read_dir(home.join("cache/pgdyno/stores")).unwrap().map(|entry| entry.unwrap().path());
    let lock = mirrors.filter(|path| path.extension().is_some_and(|end| end == "lock")).last().unwrap();
    let held = File::options().write(true).open(lock).unwrap();
    held.lock().unwrap();
    let mut waits = home.start(&["list", "runs", "--store", &target]);
    waits.until_it_says("waiting for ", 1);
    held.unlock().unwrap();
    waits.end().ok().prints(&["a ", "b "]);
}

#[test]
fn a_run_that_is_pruned_while_it_is_pulled_is_pulled() {
    let Some(place) = place("a prune during a pull") else { return };
    let (target, home) = (place.target(), home_with_two_runs());
    home.run(&["store", "push", "--store", &target]).ok();
    let mut holder = place.server.admin();
    holder.execute("BEGIN; LOCK pgdyno_results.parts IN ACCESS EXCLUSIVE MODE").unwrap();
    let pull = home.start(&["store", "pull", "a", "--store", &target, "--out", "copy"]);
    let mut watcher = place.server.admin();
    let waits = "SELECT count(*) FROM pg_stat_activity
                 WHERE application_name = 'pgdyno store' AND wait_event_type = 'Lock'";
    eventually("the pull waits", PATIENCE, || watcher.query_one(waits).unwrap() == "1");
    holder.execute("DELETE FROM pgdyno_results.records; COMMIT").unwrap();
    pull.end().ok().prints(&["1 run pulled"]);
    assert_eq!(files(&home.join("copy/a")), files(&home.join("pgdyno-results/a")));
    // Then it is gone.
    home.run(&["store", "pull", "a", "--store", &target]).ended(1).says(&["the store has no run a"]);
}

#[test]
fn what_the_store_refuses_of_one_run_does_not_keep_the_others() {
    let Some(place) = place("runs that a store refuses") else { return };
    let (target, home) = (place.target(), home_with_two_runs());
    // PostgreSQL has no NUL in texts.
    store(&home, "nul", 1.0, |record| record["labels"] = serde_json::json!({ "a\0b": "c\0d" }));
    store(&home, "broken", 1.0, |_| {});
    store_intervals(&home, "broken", 1000, 3);
    let intervals = home.join("pgdyno-results/broken/intervals.csv");
    let text = std::fs::read_to_string(&intervals).unwrap();
    std::fs::write(&intervals, text.replace("0.000000", "nought")).unwrap();
    store(&home, "named", 1.0, |record| record["id"] = "../named".into());
    let pushed = home.run(&["store", "push", "--store", &target]).ended(1);
    pushed.prints(&["pushed a ", "pushed b ", "pushed nul ", "3 runs pushed"]).says(&[
        "pgdyno-results/broken was not pushed: ",
        "\"nought\"",
        "\"../named\", is not a valid name of a run",
    ]);
    assert_eq!(place.ask("SELECT value FROM pgdyno_results.labels WHERE run = 'nul'"), "c\u{fffd}d");
    home.run(&["store", "pull", "nul", "--store", &target, "--out", "copy"]).ok();
    assert_eq!(json(&home.join("copy/nul/run.json"))["labels"]["a\0b"], "c\0d", "the file is as it was");
}
