//! Suites: what becomes of their runs when something goes wrong, and that nothing is lost, repeated or mistaken.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use pgdyno_testing::random::Random;
use rustix::process::{Pid, Signal, kill_process};

use crate::disk_full::Disk;
use crate::program::{Home, PATIENCE, Ran, Run, Running, descendants, eventually, finish, json, processes};
use crate::server;

/// Half a second for a client, and a second for two, however slow the machine is.
const SHORT: &str = "transactions = 25\nrate = 50";
/// Longer than any test.
const LONG: &str = "rate = 1000\ntime = '1h'\nramp = '0s'";

/// Two cells against the null server, each run so often and with these options.
fn suite(repetitions: u32, options: &str) -> String {
    format!(
        "name = 'six'\nrepetitions = {repetitions}\ntargets = ['null']\n\
         [[run]]\nwhat = 'select-only'\n{options}\nmatrix.clients = [1, 2]\n"
    )
}

/// Writes a suite's file and returns its path.
fn file(home: &Home, text: &str) -> String {
    let path = home.join("suite.toml");
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Runs a suite to its end.
fn run(home: &Home, text: &str) -> Ran {
    home.run(&["suite", "run", &file(home, text)])
}

/// The directories of all executions that were begun.
fn executions(home: &Home) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(home.join("pgdyno-results/suites")) else { return Vec::new() };
    let mut dirs: Vec<_> =
        entries.map(|entry| entry.unwrap().path()).filter(|dir| dir.join("state.json").exists()).collect();
    dirs.sort();
    dirs
}

/// Key and repetition of a run.
fn place(run: &Run) -> (String, u64) {
    (run.text("/plan/suite/run").to_owned(), run.number("/plan/suite/repetition") as u64)
}

fn complete(home: &Home) -> Vec<Run> {
    home.runs().into_iter().filter(|run| run.text("/status") == "complete").collect()
}

/// The lines of `results.csv` by the run's id: its status. There is one for each.
#[track_caller]
fn listed(home: &Home) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(home.join("pgdyno-results/results.csv")).unwrap();
    let mut lines = BTreeMap::new();
    for line in text.lines().skip(1) {
        let cells: Vec<_> = line.split(',').collect();
        let before = lines.insert(cells[0].to_owned(), cells[2].to_owned());
        assert_eq!(before, None, "two lines of one run:\n{text}");
    }
    lines
}

/// Every run has its line, which says of it what its record says.
#[track_caller]
fn assert_listed(home: &Home) {
    let records: BTreeMap<_, _> =
        home.runs().iter().map(|run| (run.text("/id").to_owned(), run.text("/status").to_owned())).collect();
    assert_eq!(listed(home), records);
}

/// A suite without a terminal. Killed with this value, and its run with it.
struct Detached(i32);

impl Detached {
    /// The one that `suite start` or `resume --detach` prints.
    fn reported_by(ran: &Ran) -> Self {
        let number = ran.stdout.split("(process ").nth(1).and_then(|rest| rest.split(')').next());
        Self(number.unwrap().parse().unwrap())
    }
}

impl Drop for Detached {
    fn drop(&mut self) {
        // It is gone where the test went well.
        let _ = kill_process(Pid::from_raw(self.0).unwrap(), Signal::KILL);
    }
}

#[test]
fn a_suite_that_is_killed_at_ten_random_moments_ends_with_exactly_its_six_runs() {
    let home = Home::new();
    let file = file(&home, &suite(3, SHORT));
    let temporary = home.join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let mut random = Random::new();
    for kill in 0..10 {
        let mut command = match executions(&home).is_empty() {
            true => home.command(["suite", "run", &file]),
            false => home.command(["suite", "resume"]),
        };
        // Null servers that are killed leave their directories.
        command.env("TMPDIR", &temporary);
        let running = Running::new(command);
        std::thread::sleep(Duration::from_millis(random.below(900)));
        let below = descendants(running.pid());
        // Dropping it is kill -9. Every other time all of it goes, as when a machine does.
        drop(running);
        for process in below.iter().filter(|_| kill % 2 == 1) {
            let _ = kill_process(Pid::from_raw(process.pid).unwrap(), Signal::KILL);
        }
        let places: Vec<_> = complete(&home).iter().map(place).collect();
        let distinct: BTreeSet<_> = places.iter().collect();
        assert_eq!(places.len(), distinct.len(), "a complete run is not repeated: {places:?}");
    }
    assert_eq!(executions(&home).len(), 1);
    home.run(&["suite", "resume", "six"]).ok().says(&["6 of 6 runs complete, 0 failed"]);
    let runs = complete(&home);
    let places: BTreeSet<_> = runs.iter().map(place).collect();
    let expected = [1, 2].map(|clients| format!("select-only.clients={clients}@null"));
    let expected: BTreeSet<_> = expected.iter().flat_map(|key| (1..=3).map(move |nth| (key.clone(), nth))).collect();
    assert_eq!((runs.len(), places), (6, expected));
    // What was broken off is there too, and says so.
    for run in home.runs() {
        assert!(["complete", "interrupted"].contains(&run.text("/status")), "{}", run.record);
    }
    assert_listed(&home);
    eventually("nothing of it is left", PATIENCE, || home.processes().is_empty());
}

#[test]
fn a_run_ends_with_the_process_of_its_suite_and_the_next_one_waits_for_it() {
    let home = Home::new();
    let text = suite(1, LONG);
    let mut running = home.start(&["suite", "run", &file(&home, &text)]);
    running.until_it_says("2 of 2 runs to do", 1);
    eventually("a run", PATIENCE, || home.runs().len() == 1);
    let below: Vec<_> = descendants(running.pid()).iter().map(|process| process.pid).collect();
    assert!(below.len() >= 2, "a run and its null server");
    drop(running);
    eventually("the run is gone", PATIENCE, || processes().iter().all(|process| !below.contains(&process.pid)));
    let first = home.the_run();
    assert_eq!(first.text("/status"), "interrupted");
    assert_eq!(listed(&home).len(), 1, "it had the time to end cleanly");

    // A second process on the same suite is refused, and the first is not disturbed.
    let mut running = home.start(&["suite", "resume"]);
    running.until_it_says("2 of 2 runs to do", 1);
    home.run(&["suite", "resume"]).ended(1).says(&["is already running (process ", "suite attach", "suite stop"]);
    eventually("a second run", PATIENCE, || home.runs().len() == 2);
    running.signal(Signal::INT);
    running.end().ended(130).says(&["interrupted after", "0 of 2 runs complete, 0 failed", "suite resume six-"]);
    assert_listed(&home);
    home.run(&["suite", "status"]).ok().prints(&["interrupted\n", "@null: to do"]);
}

#[test]
fn a_suite_without_a_terminal_is_followed_stopped_and_resumed() {
    let home = Home::new();
    let text = suite(3, LONG).replace("matrix.clients = [1, 2]", "clients = 1").replace("'six'", "'long'");
    let path = file(&home, &text);
    let started =
        home.run(&["suite", "start", &path]).ok().prints(&["suite long-", "is started (process ", "suite.log"]);
    let detached = Detached::reported_by(&started);
    let pid = detached.0;
    eventually("a run", PATIENCE, || !home.runs().is_empty());
    home.run(&["suite", "status", "long"]).ok().prints(&[&format!("running (process {pid})"), "1 of 3", "running"]);
    home.run(&["suite", "list"]).ok().prints(&["running", "0 of 3 complete"]);

    let first = executions(&home)[0].file_name().unwrap().to_str().unwrap().to_owned();
    // A process that follows it may end, and so may the terminal.
    let attached = home.start(&["suite", "attach", "long"]);
    attached.signal(Signal::INT);
    drop(attached);
    let attached = home.start(&["suite", "attach", &first]);
    kill_process(Pid::from_raw(pid).unwrap(), Signal::HUP).unwrap();
    let _second = Detached::reported_by(&home.run(&["suite", "start", &path]).ok());
    let other = executions(&home).len();
    assert_eq!(other, 2, "the same file again is another suite");
    home.run(&["suite", "stop", "long"]).ok().prints(&["stopped"]);
    let state = |name: &str| json(&home.join("pgdyno-results/suites").join(name).join("state.json"));
    assert_eq!(state(&first)["end"], serde_json::Value::Null, "SIGHUP is not heard");
    home.run(&["suite", "stop", "--now", &first]).ok();
    assert_eq!(state(&first)["end"], "interrupted");
    let followed = attached.end().ended(130);
    assert!(followed.stdout.contains("0 of 3 runs complete, 0 failed"), "{}", followed.stdout);
    home.run(&["suite", "stop", &first]).ended(1).says(&["is not running"]);

    let _resumed = Detached::reported_by(&home.run(&["suite", "resume", "--detach", &first]).ok());
    home.run(&["suite", "stop", "--now", &first]).ok();
    eventually("nothing of it is left", PATIENCE, || home.processes().is_empty());
    assert_eq!(complete(&home).len(), 0);
    assert_listed(&home);
}

#[test]
fn a_run_that_is_killed_has_failed_and_leaves_no_process_and_its_line_is_written_for_it() {
    let home = Home::new();
    let text = suite(1, "transactions = 50\nrate = 25");
    let running = home.start(&["suite", "run", &file(&home, &text)]);
    eventually("a run", PATIENCE, || home.runs().len() == 1);
    let below = descendants(running.pid());
    let child = below.iter().find(|process| process.args.contains("--until-eof --suite-run")).unwrap();
    kill_process(Pid::from_raw(child.pid).unwrap(), Signal::KILL).unwrap();
    eventually("its null server is gone", PATIENCE, || {
        processes().iter().all(|process| below.iter().all(|gone| gone.pid != process.pid))
    });
    running.end().ended(2).says(&[
        "its process was ended by signal 9",
        "1 of 2 runs complete, 1 failed",
        "--retry-failed",
    ]);
    let statuses: Vec<_> = home.runs().iter().map(|run| run.text("/status").to_owned()).collect();
    assert_eq!(statuses, ["failed", "complete"], "the next run is not touched");
    assert_eq!(home.runs()[0].text("/reason"), "its process was ended by signal 9");
    assert_listed(&home);

    // What failed is not repeated by itself, and is when that is wanted.
    home.run(&["suite", "resume"]).ended(2).says(&["0 of 2 runs to do"]);
    assert_eq!(home.runs().len(), 2);
    home.run(&["suite", "resume", "--retry-failed"])
        .ok()
        .says(&["1 of 2 runs to do", "2 of 2 runs complete, 0 failed"]);
    assert_eq!((home.runs().len(), complete(&home).len()), (3, 2), "and the failed record stays");
    assert_listed(&home);
}

#[test]
fn a_run_that_takes_too_long_has_failed() {
    let home = Home::new();
    let text = "name = 'late'\ntargets = ['null']\nrun_timeout = '3s'\n[[run]]\nwhat = 'select-only'\n\
                rate = 1000\ntime = '3600s'\nramp = '0s'\n[[run]]\nname = 'quick'\nwhat = 'select-only'\ntransactions = 5\n";
    run(&home, text).ended(2).says(&["it took longer than run_timeout, 3.0 s", "1 of 2 runs complete, 1 failed"]);
    // Its line was written when it ended, and is not written again.
    assert_listed(&home);
    home.run(&["suite", "status"]).ok().prints(&["select-only@null: failed", "run_timeout", "quick@null: complete, "]);
    home.run(&["suite", "resume"]).ended(2).says(&["0 of 2 runs to do"]);
}

#[test]
fn a_suite_that_is_run_again_neither_overwrites_nor_adds_to_what_was_there() {
    let home = Home::new();
    let text = suite(1, "transactions = 5");
    run(&home, &text).ok();
    let (first, records) = (executions(&home), home.runs());
    let logs = |dir: &Path| -> Vec<_> {
        let mut logs: Vec<_> =
            std::fs::read_dir(dir.join("runs")).unwrap().map(|entry| entry.unwrap().path()).collect();
        logs.sort();
        logs.iter().map(|log| std::fs::read_to_string(log).unwrap()).collect()
    };
    let said = logs(&first[0]);
    run(&home, &text).ok();
    assert_eq!((executions(&home).len(), home.runs().len()), (2, 4));
    assert_eq!(logs(&first[0]), said);
    for (before, after) in records.iter().zip(home.runs()) {
        assert_eq!(before.record, after.record);
    }
    // Each table is of its own execution only.
    for dir in executions(&home) {
        let name = dir.file_name().unwrap().to_str().unwrap();
        home.run(&["suite", "report", name]).ok().prints(&["1 of 1"]);
        let csv = home.run(&["suite", "report", "--format", "csv", name]).ok().stdout;
        let rows: Vec<Vec<_>> = csv.lines().skip(1).map(|line| line.split(',').collect()).collect();
        assert_eq!(rows.len(), 2);
        for row in rows {
            let record = home.runs().into_iter().find(|run| run.text("/id") == *row.last().unwrap()).unwrap();
            let mean: f64 = row[10].parse().unwrap();
            assert!((mean - record.number("/summary/tps")).abs() < 1e-3, "{csv}");
        }
    }
    assert_listed(&home);
}

#[test]
fn order_repetitions_and_cool_down_are_kept_and_labels_are_what_really_ran() {
    let home = Home::new();
    let text = "name = 'order'\nrepetitions = 2\ncool_down = '300ms'\ntargets = ['null']\n\
                [[run]]\nname = 'four'\nwhat = 'select-only'\nclients = 3\nscale = 7\ntransactions = 5\n\
                [[run]]\nwhat = 'noop'\ntargets = ['none']\ntransactions = 5\nmatrix.clients = [1, 2]\n";
    let planned = home.run(&["suite", "plan", &file(&home, text)]).ok();
    planned.prints(&["  1. four@null #1", "  6. noop.clients=2@none #2", "6 runs; time: not known"]);
    assert!(!home.join("pgdyno-results").exists(), "a plan touches nothing");
    let ran = home.run(&["suite", "run", &file(&home, text), "--label", "commit=abc"]);
    ran.ok().prints(&["four@null", "select-only scale 7, 3 clients"]);
    let runs = home.runs();
    assert!(runs.iter().all(|run| run.text("/labels/commit") == "abc"));
    let order: Vec<_> = runs.iter().map(place).collect();
    let once = ["four@null", "noop.clients=1@none", "noop.clients=2@none"];
    let expected: Vec<_> = [1, 2].iter().flat_map(|nth| once.map(|key| (key.to_owned(), *nth))).collect();
    assert_eq!(order, expected);
    let at = |run: &Run, what: &str| run.text(what).parse::<jiff::Timestamp>().unwrap();
    for pair in runs.windows(2) {
        let rest = at(&pair[1], "/started_at").duration_since(at(&pair[0], "/ended_at"));
        assert!(rest.as_secs_f64() >= 0.3, "{rest:?}");
    }
    for run in &runs[1..3] {
        assert_eq!(run.text("/plan/suite/run"), format!("noop.clients={}@none", run.number("/plan/clients")));
    }
    // The table does not repeat what the file called it, but what the records say.
    let csv = home.run(&["suite", "report", "--format", "csv"]).ok().stdout;
    assert!(csv.contains(",four@null,select-only,7,3,null,2,2,0,tps,"), "{csv}");
    home.run(&["suite", "report", "--format", "markdown"])
        .ok()
        .prints(&["| four@null | select-only scale 7, 3 clients |"]);
}

#[test]
fn runs_that_do_not_fit_into_the_budget_are_not_run_and_say_so() {
    let home = Home::new();
    let text = format!("budget = '2.5s'\n{}", suite(3, "time = '1s'\nramp = '0s'"));
    let ran = run(&home, &text).ended(2).says(&["stopped: budget exhausted", "runs did not fit"]);
    let runs = complete(&home).len();
    assert!((1..=2).contains(&runs), "{}", ran.stderr);
    home.run(&["suite", "status"]).ok().prints(&["stopped: budget exhausted", "not run: budget"]);
    assert_listed(&home);
}

#[test]
fn a_failed_run_ends_the_suite_where_that_is_wanted() {
    let home = Home::new();
    let text = "name = 'stops'\ntargets = ['null']\non_failure = 'stop'\nrun_timeout = '300ms'\n\
                [[run]]\nwhat = 'select-only'\nmatrix.time = ['1h', '2h']";
    run(&home, text).ended(2).says(&["stopped after a failed run", "1 runs were not carried out"]);
    assert_eq!(home.runs().len(), 1);
}

#[test]
fn mistakes_are_reported_with_their_run_before_anything_is_done() {
    let home = Home::new();
    let head = "name = 'm'\ntargets = ['null']\n[[run]]\nwhat = 'noop'\ntargets = ['none']\n[[run]]\n";
    for (text, words) in [
        ("what = 'tpcb-lik'", vec!["run 2 (tpcb-lik@null)", "tpcb-lik", "hint: ", "pgdyno list workloads"]),
        ("what = './gone'", vec!["run 2 (gone@null)", "no file or directory"]),
        ("what = 'tpcb-like'\nargs = ['--clinets=4']", vec!["run 2 (tpcb-like@null)", "--clinets", "--clients"]),
        ("what = 'tpcb-like'\nargs = ['--out=x']", vec!["run 2", "--out"]),
        ("what = 'tpcb-like'\nclients = 0", vec!["line 8, column 11", "0: write a whole number from 1 to 1000000"]),
        (
            "what = 'tpcb-like'\nno_load = true\nreplace = true",
            vec!["run 2", "`no_load` cannot be used with `replace`"],
        ),
        ("what = 'tpcb-like'\narrivals = 'uniform'", vec!["run 2", "this run has no rate"]),
        ("what = 'tpcb-like'\ncleints = 4", vec!["line 8, column 1", "^^^^^^^", "did you mean `clients`?"]),
        ("what = 'tpcb-like'\nsettings = { work_mem = '4MB' }", vec!["run 2", "private server"]),
        ("what = 'tpcb-like'\ntargets = ['postgres://u:secret@h/d']", vec!["holds a password", "pgpass"]),
        ("what = 'tpcb-like'\nargs = ['--target', 'dbname=x password=secret']", vec!["its target holds a password"]),
        ("what = 'tpcb-like'\nargs = ['--reader=postgres://u:secret@h/d']", vec!["a reader holds a password"]),
        ("what = 'noop'", vec!["run 2 (noop@null)", "takes no --target"]),
    ] {
        let ran = run(&home, &format!("{head}{text}\n")).ended(1).says(&words);
        assert!(ran.stderr.contains("suite.toml") && !ran.stderr.contains("secret"), "{}", ran.stderr);
        assert!(!home.join("pgdyno-results").exists(), "{text}");
    }
    home.run(&["suite", "run", "gone.toml"]).ended(1).says(&["gone.toml"]);
    home.run(&["suite", "resume", "gone"]).ended(1).says(&["no suite gone", "suite list"]);
    home.run(&["suite", "status"]).ended(1).says(&["no suite has been started yet"]);
    home.run(&["suite", "list"]).ok().prints(&["no suites in pgdyno-results"]);
}

#[test]
fn a_suite_whose_state_is_cut_is_named_and_not_missing() {
    let home = Home::new();
    run(&home, &suite(1, SHORT)).ok();
    let [dir] = &executions(&home)[..] else { panic!("one execution") };
    std::fs::write(dir.join("state.json"), "{\"format_version\": 1,").unwrap();
    let cut = ["failed to read the state of a suite, ", "state.json: EOF while parsing"];
    home.run(&["suite", "list"]).ok().prints(&["no readable suites"]).says(&cut);
    let name = dir.file_name().unwrap().to_str().unwrap();
    for args in [&["suite", "status"][..], &["suite", "status", name], &["suite", "resume", "six"]] {
        home.run(args).ended(1).says(&cut).says(&["restore it, or remove "]);
    }
}

#[test]
fn the_example_for_every_night_has_no_mistake() {
    let home = Home::new();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/nightly.toml");
    let planned = home.run(&["suite", "plan", example.to_str().unwrap()]).ok();
    planned.prints(&[
        "tpcb-like.clients=4@embedded #1",
        "model.what=sensor-2@embedded #3",
        "21 runs",
        "budget: 30 min",
    ]);
}

#[test]
fn the_example_of_all_guides_has_no_mistake() {
    let home = Home::new();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/guides.toml");
    let planned = home.run(&["suite", "plan", example.to_str().unwrap()]).ok();
    planned.prints(&["alloydb/tpcb-full@embedded #1", "citus/tproc-c-250@embedded #1", "22 runs"]);
}

#[test]
fn a_file_that_has_changed_is_not_gone_on_with() {
    let home = Home::new();
    let text = suite(1, "transactions = 5");
    run(&home, &text).ok();
    let path = file(&home, &format!("{text}# changed\n"));
    home.run(&["suite", "resume", &path]).ended(1).says(&["has changed since six-", "hint: ", "suite run"]);
    home.run(&["suite", "resume", "six"]).ok().says(&["0 of 2 runs to do"]);
    assert_eq!(home.runs().len(), 2);
}

#[test]
fn a_full_disk_ends_a_suite_that_goes_on_when_there_is_room() {
    let Some(disk) = Disk::new("a suite on a full disk", 2) else { return };
    let home = Home::new();
    let out = disk.path().join("results");
    let out = out.to_str().unwrap();
    let text = suite(2, SHORT);
    let mut running = home.start(&["suite", "run", &file(&home, &text), "--out", out]);
    running.until_it_says("run 1 of 4", 1);
    disk.fill();
    let ran = running.end();
    assert!([Some(1), Some(2)].contains(&ran.code), "{:?} {}", ran.code, ran.stderr);
    let ran = ran.says(&["No space left"]);
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    disk.make_room();
    home.run(&["suite", "resume", "--out", out, "--retry-failed"]).ok().says(&["4 of 4 runs complete, 0 failed"]);
}

/// A home for private servers, where one can be had without a download.
fn with_postgres(test: &str) -> Option<Home> {
    server::available(test).then(Home::of_an_ordinary_user)
}

#[test]
fn a_private_server_is_kept_for_all_runs_and_loads_once() {
    let Some(home) = with_postgres("a suite on a private server") else { return };
    let text = "name = 'private'\nrepetitions = 2\ntargets = ['embedded']\n[[run]]\nwhat = 'tpcb-like'\nclients = 2\n\
                rate = 100\ntime = '1s'\nramp = '0s'\nmatrix.scale = [1, 2]\n";
    run(&home, text).ok().says(&["4 of 4 runs complete"]).prints(&["tpcb-like scale 1, 2 clients", "PostgreSQL"]);
    let runs = home.runs();
    assert_eq!(runs.len(), 4);
    let loaded: Vec<_> = runs.iter().map(|run| run.record.pointer("/load").is_some()).collect();
    assert_eq!(loaded, [true, true, false, false], "each set of data is loaded once, though they alternate");
    let started: BTreeSet<_> =
        runs.iter().map(|run| run.text("/plan/target").split(" dbname").next().unwrap().to_owned()).collect();
    assert_eq!(started.len(), 1);
    for run in &runs {
        // What the server was is in every record.
        assert_eq!(run.text("/server/settings/fsync"), "on");
        assert!(!run.at("/server/settings_changed").as_object().unwrap().is_empty());
        assert_eq!(run.text("/plan/suite/run"), format!("tpcb-like.scale={}@embedded", run.number("/plan/scale")));
    }
    assert_listed(&home);
    home.assert_clean();
}

#[test]
fn a_failed_load_is_recorded_as_failed_and_not_as_a_plausible_number() {
    let Some(home) = with_postgres("a suite with a load that fails") else { return };
    let dir = home.join("broken");
    std::fs::create_dir(&dir).unwrap();
    for (name, text) in [
        ("workload.toml", "summary = 'broken'\nscale = 'nothing'\n[[script]]\nfile = 'a.sql'\n"),
        ("schema.sql", "create table a (n int);\n"),
        ("load.sql", "insert into a values (1 / 0);\n"),
        ("a.sql", "select 1;\n"),
    ] {
        std::fs::write(dir.join(name), text).unwrap();
    }
    let text = "name = 'fails'\ntargets = ['embedded']\n\
                [[run]]\nname = 'no server'\nwhat = 'select-only'\nscale = 1\ntransactions = 5\n\
                settings = { shared_buffers = 'none' }\n\
                [[run]]\nwhat = './broken'\nclients = 1\ntransactions = 5\n\
                [[run]]\nwhat = 'select-only'\nscale = 1\nclients = 1\ntransactions = 5\n";
    let ran = run(&home, text).ended(2).says(&["1 of 3 runs complete, 2 failed", "division by zero"]);
    ran.prints(&["broken@embedded", "0 of 1", "division by zero"]);
    let runs = home.runs();
    let status = |run: &Run| (run.text("/status").to_owned(), run.record.pointer("/summary").is_some());
    let statuses: Vec<_> = runs.iter().map(status).collect();
    assert_eq!(statuses, [("failed".to_owned(), false), ("failed".to_owned(), false), ("complete".to_owned(), true)]);
    // A run that never came to have a server has its record and its line as well.
    assert_eq!((place(&runs[0]).0.as_str(), runs[0].number("/exit_code")), ("no server@embedded", 10.0));
    assert_eq!(runs[1].number("/exit_code"), 11.0);
    assert_listed(&home);
    let csv = home.run(&["suite", "report", "--format", "csv"]).ok().stdout;
    assert!(csv.contains(",1,0,1,tps,,,,"), "no figure stands for what failed: {csv}");
    home.assert_clean();
}

#[test]
fn a_private_server_that_dies_fails_its_run_and_the_next_has_a_new_one() {
    let Some(home) = with_postgres("a suite whose private server dies") else { return };
    let text = "name = 'dies'\ntargets = ['embedded']\nrepetitions = 2\n[[run]]\nwhat = 'select-only'\nscale = 1\n\
                clients = 1\nrate = 100\ntime = '6s'\nramp = '0s'\n";
    let running = home.start(&["suite", "run", &file(&home, text)]);
    eventually("a run is measured", PATIENCE, || home.runs().iter().any(|run| !run.intervals().is_empty()));
    let all = descendants(running.pid());
    let postmaster = all.iter().find(|process| process.args.contains("/postgres -D")).unwrap();
    kill_process(Pid::from_raw(postmaster.pid).unwrap(), Signal::KILL).unwrap();
    running.end().ended(2).says(&["1 of 2 runs complete, 1 failed", "the next run on it gets a new one"]);
    let statuses: Vec<_> = home.runs().iter().map(|run| run.text("/status").to_owned()).collect();
    assert_eq!(statuses, ["failed", "complete"]);
    assert_listed(&home);
    home.assert_clean();
}

#[test]
fn a_suite_on_a_private_server_survives_kills_as_well() {
    let Some(home) = with_postgres("a killed suite on a private server") else { return };
    let text = "name = 'killed'\ntargets = ['embedded']\nrepetitions = 2\n[[run]]\nwhat = 'simple-update'\nscale = 1\n\
                clients = 1\ntransactions = 50\nrate = 50\n";
    let file = file(&home, text);
    let mut random = Random::new();
    for kill in 0..3 {
        let running = match executions(&home).is_empty() {
            true => home.start(&["suite", "run", &file]),
            false => home.start(&["suite", "resume"]),
        };
        // Once while its first run is being measured, when the server goes at the same moment.
        match kill {
            0 => {
                eventually("a run is measured", PATIENCE, || home.runs().iter().any(|run| !run.intervals().is_empty()))
            }
            _ => std::thread::sleep(Duration::from_millis(random.below(4000))),
        }
        drop(running);
    }
    home.run(&["suite", "resume"]).ok().says(&["2 of 2 runs complete, 0 failed"]);
    let places: Vec<_> = complete(&home).iter().map(place).collect();
    assert_eq!(places, [1, 2].map(|nth| ("simple-update@embedded".to_owned(), nth)));
    assert_listed(&home);
    eventually("nothing is left", PATIENCE, || home.processes().is_empty() && home.instances().is_empty());
}

#[test]
fn a_killed_suite_leaves_no_private_server() {
    let Some(home) = with_postgres("a killed suite with a private server") else { return };
    let text = "name = 'gone'\ntargets = ['embedded']\n[[run]]\nwhat = 'select-only'\nscale = 1\nclients = 1\nrate = 100\n\
                matrix.time = ['1h', '2h']\n";
    let running = home.start(&["suite", "run", &file(&home, text)]);
    eventually("a run is measured", PATIENCE, || home.runs().iter().any(|run| !run.intervals().is_empty()));
    drop(running);
    eventually("nothing is left", PATIENCE, || home.processes().is_empty() && home.instances().is_empty());
    assert_eq!(home.the_run().text("/status"), "interrupted");
}

#[test]
fn a_second_suite_on_the_same_target_is_refused_with_the_name_of_the_first() {
    let Some(place) = crate::given_server::Place::new("two suites on one target", "", crate::given_server::TRUST)
    else {
        return;
    };
    let text = format!(
        "name = 'first'\ntargets = [\"{}\"]\n[[run]]\nwhat = 'select-only'\nscale = 1\nclients = 1\nrate = 100\nramp = '0s'\ntime = '1h'\n",
        place.target()
    );
    let mut first: Running = place.home.start(&["suite", "run", &file(&place.home, &text)]);
    first.until_it_says("1 of 1 runs to do", 1);
    let second = place.home.join("second.toml");
    std::fs::write(&second, text.replace("'first'", "'second'").replace("1h", "2s")).unwrap();
    let mut command = place.home.command(["suite", "run", second.to_str().unwrap()]);
    command.stdin(std::process::Stdio::null());
    finish(command).ended(1).says(&["suite first-"]);
    first.signal(Signal::INT);
    first.end().ended(130);
    // The server notices a little later that the session of the first has ended.
    let marks = "select count(*) from pg_locks where locktype = 'advisory'";
    eventually("its mark is gone", PATIENCE, || place.ask(marks) == "0");
    place.home.run(&["suite", "run", second.to_str().unwrap()]).ok();
}

#[test]
fn a_target_is_provisioned_before_its_first_run_and_removed_after_its_last() {
    let Some(given) = crate::given_server::Place::new("a suite that provisions", "", crate::given_server::TRUST) else {
        return;
    };
    let home = &given.home;
    let target = |name: &str, provision: &str| {
        format!(
            "[target.{name}]\ndsn = 'host=nowhere.invalid'\n[target.{name}.hooks]\n\
             provision = {{ command = \"{provision}\" }}\nteardown = {{ command = \"echo teardown {name} >> calls\" }}\n"
        )
    };
    let good = format!("echo provision good >> calls; echo making it; echo \\\"dsn={}\\\"", given.target());
    let config = target("good", &good) + &target("bad", "echo provision bad >> calls; exit 3");
    std::fs::write(home.join("pgdyno.toml"), config).unwrap();
    let text = "name = 'cloud'\nprovision = 'target'\nrepetitions = 2\ntargets = ['good', 'bad']\n\
                [[run]]\nwhat = 'select-only'\nscale = 1\nclients = 1\ntransactions = 5\n";
    run(home, text).ended(2).says(&["2 of 4 runs complete, 2 failed"]);
    let calls = std::fs::read_to_string(home.join("calls")).unwrap();
    assert_eq!(calls, "provision good\nprovision bad\nteardown bad\nteardown good\n", "each once");
    let statuses: Vec<_> = home.runs().iter().map(|run| (place(run).0, run.text("/status").to_owned())).collect();
    let expected = [("good", "complete"), ("bad", "failed"), ("good", "complete"), ("bad", "failed")];
    assert_eq!(statuses, expected.map(|(name, status)| (format!("select-only@{name}"), status.to_owned())));
    assert_listed(home);
}

#[test]
fn settings_that_alternate_are_those_that_each_run_had() {
    let Some(home) = with_postgres("a suite with settings") else { return };
    let text = "name = 'settings'\ntargets = ['embedded']\nrepetitions = 2\n[[run]]\nwhat = 'select-only'\nscale = 1\n\
                clients = 1\ntransactions = 5\nrestart = true\n\
                matrix.settings = [{ max_wal_size = '512MB' }, { max_wal_size = '600MB' }]\n";
    run(&home, text).ok().says(&["4 of 4 runs complete"]);
    let runs = home.runs();
    let sizes: Vec<_> = runs.iter().map(|run| run.text("/plan/settings/max_wal_size").to_owned()).collect();
    assert_eq!(sizes, ["512MB", "600MB", "512MB", "600MB"]);
    for (run, size) in runs.iter().zip(sizes) {
        assert_eq!(run.text("/server/settings_changed/max_wal_size"), size, "{}", run.record);
        assert_eq!((run.text("/plan/target"), run.text("/cycle/0/step")), ("embedded", "restart"));
        assert_eq!(run.text("/plan/suite/run"), format!("select-only.settings=max_wal_size={size}@embedded"));
    }
    assert_eq!(
        runs.iter().filter(|run| run.record.pointer("/load").is_some()).count(),
        1,
        "the data survives restarts"
    );
    home.assert_clean();
}
