//! Two sides measured in turns until it is decided.

use pgdyno_results::{FrontierRecord, Resumable as _};
use rustix::process::Signal;
use serde_json::Value;

use crate::given_server::{Place, TRUST};
use crate::program::{Home, PATIENCE, REST, assert_nowhere, eventually, finish, json};
use crate::pty::Pty;

/// The record of the only experiment.
fn record(home: &Home) -> Value {
    let mut files = std::fs::read_dir(home.join("pgdyno-results/ab")).unwrap().map(|file| file.unwrap().path());
    json(&files.find(|path| path.extension().is_some_and(|extension| extension == "json")).unwrap())
}

#[test]
fn a_script_that_is_much_slower_is_found_slower_in_a_few_units() {
    let Some(place) = Place::new("an experiment", "", TRUST) else { return };
    // So long that the delays of a busy machine are small beside them.
    std::fs::write(place.home.join("quick.sql"), "SELECT pg_sleep(0.02);\n").unwrap();
    std::fs::write(place.home.join("slow.sql"), "SELECT pg_sleep(0.2);\n").unwrap();
    let args = "ab ./quick.sql -c 2 --b script=./slow.sql --budget 5min -q";
    let ran = place.run(args).ended(20);
    ran.prints(&[
        "B is slower: A is ",
        "A: as given",
        "B: script=./slow.sql",
        "p99 ms ",
        "share of the clients' time, and time in each transaction:",
        "  why   ",
        "sure  4 units, noise ",
        "each unit is four slices of 1.0 s in turns",
    ]);
    let record = record(&place.home);
    assert_eq!((&record["verdict"], &record["ended"]), (&"slower".into(), &"decided".into()));
    assert_eq!((&record["looks"], &record["restarts"]), (&1.into(), &false.into()));
    let [low, high] = [0, 1].map(|end| record["interval_percent"][end].as_f64().unwrap());
    assert!(low < high && high < 0.0, "{record}");
    let [tps, p50] = ["tps", "p50"].map(|name| {
        let figures = record["figures"].as_array().unwrap();
        let found = figures.iter().find(|figure| figure["name"] == name).unwrap();
        ["a", "b"].map(|side| found[side].as_f64().unwrap())
    });
    assert!(tps[0] > 2.0 * tps[1] && p50[0] < 0.5 * p50[1] && p50[1] > 200e6, "{tps:?} {p50:?}");
    // What makes the difference is the part that grew by what the script sleeps longer.
    let moved = &record["clients_time"][0];
    let [a, b, low] =
        ["/a_ns", "/b_ns", "/change_ns_interval/0"].map(|at| moved.pointer(at).unwrap().as_f64().unwrap());
    assert!((150e6..250e6).contains(&(b - a)) && low > 100e6, "{moved}");
    // Every slice is a run of its own.
    assert_eq!(record["runs"]["a"].as_array().unwrap().len(), 8);
    assert_eq!(place.home.runs().len(), 18, "eight slices of each side, and one run of each that warms up");

    // The experiment is one thing in a list, and as the last one; its slices are no runs of their own.
    let id = record["id"].as_str().unwrap();
    let listed = place.home.run(&["list", "runs"]).ok().stdout;
    let [line] = listed.lines().collect::<Vec<_>>()[..] else { panic!("{listed}") };
    assert!(line.starts_with(&format!("{id}  slower      experiment · B -")) && line.chars().count() <= 80, "{line}");
    assert_eq!(place.home.run(&["list", "runs", "--all"]).ok().stdout.lines().count(), 18);
    assert_eq!(place.home.run(&["list", "runs", "--suite", "ab"]).ok().stdout.lines().count(), 18);
    let listed: Value =
        serde_json::from_str(&place.home.run(&["list", "runs", "--format", "json"]).ok().stdout).unwrap();
    assert_eq!((&listed["studies"][0]["id"], &listed["studies"][0]["status"]), (&record["id"], &"slower".into()));
    for name in ["last", id, &format!("pgdyno-results/ab/{id}.json")] {
        place.home.run(&["report", name]).ok().prints(&["B is slower: A is ", "  why   "]);
    }
    place.home.run(&["report", "last", "--format", "html"]).ok().prints(&[&format!("ab/{id}.html")]);
    let hint = "give one of text, json, markdown, html";
    place.home.run(&["report", "last", "--format", "csv"]).ended(1).says(&["the experiment has no format 'csv'", hint]);
    place.home.run(&["compare", "last", "last"]).ended(1).says(&["no run 'last'"]);
}

#[test]
fn a_profile_that_cannot_be_taken_is_refused_before_anything_is_measured() {
    let home = Home::new();
    std::fs::write(home.join("one.sql"), format!("SELECT 1;\n{REST}")).unwrap();
    let null = ["ab", "./one.sql", "--target", "null", "--a", "mode=simple", "--b", "mode=prepared", "--yes", "-q"];
    let refused = &["--perf profiles a PostgreSQL on this machine", "hint: leave --perf out"];
    home.run(&[&null[..], &["--perf"]].concat()).ended(1).says(refused);
    assert!(home.runs().is_empty());
    // An experiment that goes on is refused in the same way: its record could come from elsewhere.
    home.run(&[&null[..], &["-c", "1", "--slice", "0.5", "--budget", "1s"]].concat()).ended(21);
    let mut record = record(&home);
    record["a"]["order"]["watch"]["perf"] = true.into();
    let file = home.join(format!("pgdyno-results/ab/{}.json", record["id"].as_str().unwrap()));
    std::fs::write(file, record.to_string()).unwrap();
    let runs = home.runs().len();
    home.run(&["ab", "--resume", "last", "--yes", "-q"]).ended(1).says(refused);
    assert_eq!(home.runs().len(), runs);
}

#[test]
fn profiles_of_both_sides_show_which_functions_take_more_time() {
    let Some(place) = Place::new("profiles of both sides", "", TRUST) else { return };
    if let Some((why, _)) = pgdyno_server::os::perf::hindrance() {
        // Before anything is loaded.
        place.run("ab select-only --a jit=off --b jit=on --perf").ended(1).says(&["--perf", &why]);
        assert!(place.home.runs().is_empty());
        return crate::skipped::skipped(&format!("profiles of both sides: {why}"));
    }
    for (name, rows) in [("quick.sql", 10_000), ("slow.sql", 100_000)] {
        let script = format!("SELECT count(*) FROM generate_series(1, {rows});\n{REST}");
        std::fs::write(place.home.join(name), script).unwrap();
    }
    let ran = place.run("ab ./quick.sql -c 1 --b script=./slow.sql --slice 500ms --budget 5min --perf").ended(20);
    let record = record(&place.home);
    let Some(profile) = record.get("profile") else {
        // A machine may not let a guest or a container count anything.
        return crate::skipped::skipped("profiles of both sides: perf cannot sample here");
    };
    ran.prints(&["  perf  CPU time of functions in each transaction: "]);
    let beside = |end: &str| {
        let name = format!("pgdyno-results/ab/{}.{end}", record["id"].as_str().unwrap());
        std::fs::read_to_string(place.home.join(name)).unwrap()
    };
    let folded = beside("folded");
    let samples = |side: usize| {
        let of_line = |line: &str| line.rsplitn(3, ' ').nth(1 - side).unwrap().parse::<u64>().unwrap();
        folded.lines().map(of_line).sum::<u64>()
    };
    let of_record = |side: &str| {
        profile["stacks"].as_array().unwrap().iter().map(|stack| stack[side].as_u64().unwrap()).sum::<u64>()
    };
    assert_eq!([samples(0), samples(1)], [of_record("a"), of_record("b")]);
    assert!(samples(0) > 0 && samples(1) > 0, "{profile}");
    let page = beside("html");
    assert!(page.contains("Profiles of the server") && page.contains("flame graph of "), "{page}");
    assert!(beside("svg").contains("<title>postgres: "));
}

#[test]
fn an_experiment_that_is_ended_early_keeps_what_it_measured_and_is_undecided() {
    let Some(place) = Place::new("an experiment's end", "", TRUST) else { return };
    std::fs::write(place.home.join("one.sql"), format!("SELECT 1;\n{REST}")).unwrap();
    let args = "ab ./one.sql -c 1 --a mode=simple --b mode=simple --slice 500ms --budget 1s --yes --format json -q";
    let ran = place.run(args).ended(21);
    let reported: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&reported["verdict"], &reported["ended"]), (&"cannot-tell".into(), &"budget".into()));
    assert_eq!(reported["units"].as_array().unwrap().len(), 1);
    assert_eq!(record(&place.home), reported);

    // It goes on where it was.
    let resume = |args: &str| {
        place.home.run(&format!("ab --resume last --budget 1s --yes -q {args}").split_whitespace().collect::<Vec<_>>())
    };
    resume("-c 3").ended(1).says(&["it can only be combined with --budget"]);
    let ran = resume("--format json").ended(21);
    let reported: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(reported["units"].as_array().unwrap().len(), 2);
    assert!(reported["budget_s"].as_f64() > Some(2.0) && reported["runs_made"] == 12, "{reported}");
    std::fs::write(place.home.join("one.sql"), format!("SELECT 2;\n{REST}")).unwrap();
    resume("").ended(1).says(&["side A no longer runs what it ran before", "start another experiment"]);
}

#[test]
fn an_experiment_is_measured_by_one_process_at_a_time() {
    let home = Home::new();
    std::fs::write(home.join("one.sql"), format!("SELECT 1;\n{REST}")).unwrap();
    let args = "ab ./one.sql --target null -c 1 --a mode=simple --b mode=simple --slice 500ms --budget 10min -q";
    let first = home.start(&args.split(' ').collect::<Vec<_>>());
    let begun = || {
        std::fs::read_dir(home.join("pgdyno-results/ab"))
            .is_ok_and(|mut files| files.any(|file| file.unwrap().path().extension().is_some_and(|end| end == "json")))
    };
    eventually("it has a record", PATIENCE, begun);
    let resume = || home.run(&["ab", "--resume", "last", "--budget", "1s", "--yes", "-q"]);
    let pid = format!("is already being measured (process {})", first.pid());
    resume().ended(1).says(&[&pid, "then resume it"]);
    // A killed one no longer holds it.
    first.signal(Signal::KILL);
    first.end();
    let resumed = resume();
    assert!(!resumed.stderr.contains("already being measured"), "{}", resumed.stderr);
    assert!(!record(&home)["units"].as_array().unwrap().is_empty());

    // Nor does the name in a stranger's record lead elsewhere.
    let mut hostile = record(&home);
    hostile["id"] = "../../victim".into();
    hostile["verdict"] = "cannot-tell".into();
    std::fs::write(home.join("stranger.json"), hostile.to_string()).unwrap();
    home.run(&["ab", "--resume", "stranger.json", "-q"]).ended(1).says(&["does not have the name of a study"]);
    assert!(!home.join("victim.json").exists());

    // The same of a frontier.
    let frontier = FrontierRecord { id: "20260101-frontier".to_owned(), ..FrontierRecord::default() };
    frontier.save(&home.join("pgdyno-results")).unwrap();
    let held = std::fs::File::create(home.join("pgdyno-results/frontiers/20260101-frontier.lock")).unwrap();
    held.lock().unwrap();
    home.run(&["frontier", "--resume", "last"])
        .ended(1)
        .says(&["frontier 20260101-frontier is already being measured"]);
}

#[test]
fn the_server_that_only_the_environment_names_is_named_before_the_runs_and_in_the_answer() {
    let Some(place) = Place::new("an experiment on the server of the environment", "", TRUST) else { return };
    std::fs::write(place.home.join("one.sql"), format!("SELECT 1;\n{REST}")).unwrap();
    let args = "ab ./one.sql -c 1 --a mode=simple --b mode=prepared --slice 500ms --budget 1s --yes";
    let port = place.server.port.to_string();
    let mut command = place.home.command(args.split(' '));
    command.env("PGHOST", place.server.dir()).env("PGPORT", &port).env("PGUSER", "postgres");
    let ran = finish(command).ended(21);
    let named: Vec<_> = ran.stderr.lines().filter(|line| line.starts_with("target: PostgreSQL ")).collect();
    assert!(
        named.len() == 1 && named[0].contains("(given), database postgres") && named[0].contains(&port),
        "{named:?}"
    );
    let answer = ran.stdout.lines().find(|line| line.starts_with("  target: "));
    assert!(answer.is_some_and(|line| line.contains(&port)), "{}", ran.stdout);
}

#[test]
fn private_servers_have_their_own_settings_and_one_load() {
    let home = Home::new();
    // A server that is kept would have other settings.
    home.run(&["server", "start"]).ok();
    let args = "ab select-only -s 1 -c 1 --a work_mem=5MB --b work_mem=9MB --b enable_indexscan=off --b enable_bitmapscan=off \
                --slice 500ms --budget 1s --yes";
    let ran = home.run(&args.split_whitespace().collect::<Vec<_>>()).ended(21);
    ran.says(&["copying the data of A to B", "restarting the private server", "page: "]);
    home.run(&["server", "stop"]).ok();
    let record = record(&home);
    assert_eq!(record["restarts"], true);
    let runs = home.runs();
    assert_eq!(runs.iter().filter(|run| run.record.get("load").is_some()).count(), 1, "B has the data of A");
    for (side, work_mem) in [("a", "5MB"), ("b", "9MB")] {
        let slices = record["units"][0]["runs"][side].as_array().unwrap();
        for slice in slices {
            let run = runs.iter().find(|run| run.text("/id") == slice).unwrap();
            assert_eq!(run.text("/server/settings_changed/work_mem"), work_mem);
            assert!(run.record.get("load").is_none() && run.number("/summary/committed") > 0.0);
        }
    }
    // B reads the whole table.
    let of_statement = |side: &str| record["statements"][0][side].as_f64().unwrap();
    assert!(record["statements"][0]["sql"].as_str().unwrap().starts_with("SELECT abalance"), "{record}");
    assert!(of_statement("b_ns") > 2.0 * of_statement("a_ns"), "{record}");
    for side in ["a", "b"] {
        let counted = record["responses"][side].as_array().unwrap().iter().map(|bin| bin["count"].as_u64().unwrap());
        let slices = runs.iter().filter(|run| record["runs"][side].as_array().unwrap().contains(&run.record["id"]));
        let committed: f64 = slices.map(|run| run.number("/summary/committed")).sum();
        assert_eq!(counted.sum::<u64>() as f64, committed, "every transaction of the slices is counted");
    }
    home.assert_clean();
}

#[test]
fn on_a_terminal_it_shows_what_it_measures_what_is_known_and_what_is_left() {
    let home = Home::new();
    std::fs::write(home.join("one.sql"), format!("SELECT 1;\n{REST}")).unwrap();
    let args = "ab ./one.sql --target null -c 1 --a mode=simple --b mode=prepared --slice 500ms --budget 10min";
    let mut command = home.command(args.split(' '));
    command.env("TERM", "xterm");
    let pty = Pty::start(command, (80, 24));
    for shown in ["unit 1, slice 3 of 4: B", "no unit done yet", "first verdict after 4 units, in about "] {
        pty.until_it_shows(shown, 1);
    }
    pty.until_it_shows("unit 2, slice 1 of 4: B", 1);
    pty.until_it_shows(" % TPS after 1 unit", 1);
    pty.until_it_shows(" s of 10 min 0 s, at most 9 min ", 1);
}

#[test]
fn a_plan_that_changed_is_named_with_both_shapes() {
    let home = Home::new();
    // Without a parameter: before PostgreSQL 16 others are not explained.
    std::fs::write(home.join("sorted.sql"), format!("SELECT oid FROM pg_class ORDER BY oid;\n{REST}")).unwrap();
    let args =
        "ab ./sorted.sql -c 1 --b enable_indexscan=off --b enable_indexonlyscan=off --slice 2s --budget 1s --yes -q";
    let ran = home.run(&args.split(' ').collect::<Vec<_>>()).ended(21);
    let record = record(&home);
    assert_eq!(record["plans"].as_array().map(Vec::len), Some(1), "{record}");
    let plan = &record["plans"][0];
    assert_eq!(plan["statement"], "SELECT oid FROM pg_class ORDER BY oid");
    let shapes = "Index Only Scan using pg_class_oid_index on pg_class → Sort (Seq Scan on pg_class)";
    assert_eq!(plan["changes"], serde_json::json!([shapes]));
    ran.prints(&["  plan  SELECT oid FROM pg_class ORDER BY oid: Index Only Scan"]);
    let page = std::fs::read_to_string(home.join(format!("pgdyno-results/ab/{}.html", record["id"].as_str().unwrap())));
    assert!(page.unwrap().contains("Sort (Seq Scan on pg_class)"));
}

#[test]
fn a_password_of_a_target_is_not_in_the_record() {
    let Some(place) = Place::new("a password of an experiment", "", TRUST) else { return };
    std::fs::write(place.home.join("one.sql"), format!("SELECT 1;\n{REST}")).unwrap();
    // It is not needed here, and must not be kept.
    let [a, b] = ["a", "b"].map(|name| format!("target={} password=geheim application_name={name}", place.target()));
    let args =
        ["ab", "./one.sql", "-c", "1", "--slice", "500ms", "--budget", "1s", "--yes", "-q", "--a", &a, "--b", &b];
    place.home.run(&args).ended(21).prints(&["sure  1 unit, ", "application_name=b"]);
    assert_nowhere("geheim", place.home.path());
}

#[test]
fn what_cannot_be_an_experiment_is_refused_with_the_remedy() {
    let home = Home::new();
    for (args, words) in [
        (&["ab", "select-only"][..], "A and B are the same"),
        (&["ab", "select-only", "--a", "work_mem"], "is not a difference"),
        (&["ab", "select-only", "--b", "work_mem=8MB", "-T", "10"], "--slice and --budget"),
        (&["ab", "select-only", "--b", "work_mem=8MB", "-R", "10"], "leave --rate out"),
        (&["ab", "select-only", "--b", "work_mem=8MB", "--slice", "100ms"], "give --slice 2s"),
        (&["ab", "select-only", "--b", "work_mem=8MB", "--margin", "200%"], "a percentage below 100"),
    ] {
        home.run(args).ended(1).says(&[words]);
    }
}
