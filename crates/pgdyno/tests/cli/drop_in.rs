//! What the drop-in for pgbench writes beside pgbench's own output: `--json` and `--csv`.

use std::path::Path;

use rustix::process::Signal;
use serde_json::Value;

use crate::given_server::{Place, TRUST};
use crate::program::{Ran, Running, finish, json};

impl Place {
    /// The program as pgbench, in its home, on this server.
    fn pgbench_command(&self, args: &str) -> std::process::Command {
        let mut command = self.home.command(["pgbench"].into_iter().chain(args.split(' ')));
        command.env("PGHOST", self.server.dir()).env("PGPORT", self.server.port.to_string());
        command.env("PGUSER", "postgres").env("PGDATABASE", self.database);
        command
    }

    fn pgbench(&self, args: &str) -> Ran {
        finish(self.pgbench_command(args))
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.home.join(name), text).unwrap();
    }

    fn json(&self, name: &str) -> Value {
        json(&self.home.join(name))
    }
}

fn number(value: &Value, pointer: &str) -> u64 {
    value.pointer(pointer).and_then(Value::as_u64).unwrap_or_else(|| panic!("no {pointer} in {value}"))
}

/// The number behind these words in pgbench's report.
fn reported(ran: &Ran, words: &str) -> u64 {
    let line = ran.stdout.lines().find_map(|line| line.strip_prefix(words));
    let digits: String = line
        .unwrap_or_else(|| panic!("no '{words}' in {}", ran.stdout))
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    digits.parse().unwrap()
}

/// The column of a CSV file.
fn column(path: &Path, name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    let at = text.lines().next().unwrap().split(',').position(|column| column == name).unwrap();
    text.lines().skip(1).map(|line| line.split(',').nth(at).unwrap().to_owned()).collect()
}

#[test]
fn the_record_of_a_benchmark_agrees_with_its_report_and_with_its_intervals() {
    let Some(place) = Place::new("--json", "", TRUST) else { return };
    place.pgbench("-i -q").ok();
    place.write("own, mine.sql", "\\set x random(1, 9)\nselect :x;\n");
    let mut command = place.pgbench_command("-T 2 --warmup-time=1 -c 3 -j 2 -R 200 -L 1000 -b tpcb-like");
    command.args(["-f", "own, mine.sql@3", "--random-seed=7", "--json=a.json", "--csv=a.csv", "-M", "prepared"]);
    let ran = finish(command).ok();
    let record = place.json("a.json");

    let committed = number(&record, "/summary/committed");
    assert_eq!(committed, reported(&ran, "number of transactions actually processed: "));
    assert!(committed > 0);
    let intervals = record["intervals"].as_array().unwrap();
    let counted = intervals.iter().filter(|i| i["phase"] != "ramp");
    assert_eq!(counted.map(|i| number(i, "/committed")).sum::<u64>(), committed);
    let whole: Vec<_> = intervals.iter().filter(|i| i["phase"] == "measure").collect();
    assert_eq!(whole.len(), 2, "of a second each");
    assert!(whole.iter().all(|i| number(i, "/response_latency_ns/p99") >= number(i, "/service_latency_ns/p50")));
    assert!(intervals.iter().any(|i| i["phase"] == "ramp"));

    let csv = place.home.join("a.csv");
    let of_csv: Vec<u64> = column(&csv, "committed").iter().map(|n| n.parse().unwrap()).collect();
    assert_eq!(of_csv, intervals.iter().map(|i| number(i, "/committed")).collect::<Vec<_>>());
    assert_eq!(column(&csv, "phase"), intervals.iter().map(|i| i["phase"].as_str().unwrap()).collect::<Vec<_>>());

    assert_eq!((&record["status"], number(&record, "/exit_code")), (&"complete".into(), 0));
    let plan = &record["plan"];
    assert_eq!((number(plan, "/seed"), number(plan, "/scale"), &plan["mode"]), (7, 1, &"prepared".into()));
    assert_eq!(plan.pointer("/pace/rate/per_s"), Some(&200.0.into()));
    assert_eq!(
        (&plan["latency_limit_ms"], &plan["ramp_s"], &plan["time_s"]),
        (&1000.0.into(), &1.0.into(), &2.0.into())
    );
    assert_eq!((&plan["scripts"][1]["file"], number(plan, "/scripts/1/weight")), (&"own, mine.sql".into(), 3));
    assert!(number(&record, "/server/version_num") > 100_000);
    assert!(record.pointer("/server/settings/shared_buffers").is_some() && number(&record, "/client/cpus") > 0);
    let lag = number(&record, "/summary/schedule_lag_ns/max");
    assert!(number(&record, "/summary/response_latency_ns/max") >= lag);
    let scripts = record["transactions"].as_array().unwrap();
    assert_eq!(scripts.iter().map(|t| number(t, "/committed")).sum::<u64>(), committed);
    assert_eq!(scripts[1]["name"], "own, mine.sql");
    // Commands are in the record whether or not -r prints them.
    let selects = record["statements"]
        .as_array()
        .unwrap()
        .iter()
        .find(|s| s["transaction"] == "own, mine.sql" && s["sql"] == "select :x;");
    assert_eq!(number(selects.unwrap(), "/executed"), number(&scripts[1], "/committed"));
    assert!(!ran.stdout.contains("statement latencies"));

    // Times are in order.
    let at = |name: &str| record[name].as_str().unwrap().to_owned();
    assert!(at("started_at") < at("measured_at") && at("measured_at") < at("ended_at"));

    // pgdyno reads it again.
    let place_of = |path: &Path| path.to_str().unwrap().to_owned();
    let path = place_of(&place.home.join("a.json"));
    place.home.run(&["report", &path]).ok().prints(&["pgbench, scale 1", "own, mine.sql", "TPS"]);
    let again = place.home.run(&["report", &path, "--format", "json"]).ok().stdout;
    assert_eq!(serde_json::from_str::<Value>(&again).unwrap(), record, "no field is lost or added");
    let csv = place.home.run(&["report", &path, "--format", "csv"]).ok().stdout;
    assert!(csv.contains("\"own, mine.sql\","), "{csv}");
    place.home.run(&["report", "a.json", "--format", "markdown"]).ok().prints(&["own, mine.sql"]);
}

#[test]
fn a_benchmark_that_goes_wrong_has_a_record_that_says_so() {
    let Some(place) = Place::new("--json of failures", "", TRUST) else { return };
    place.write("ok.sql", "select 1;\n");
    place.write("bad.sql", "select 1/(:client_id - 1);\n");
    let run = |args: &str, code| {
        let ran = place.pgbench(&format!("-n --json=r.json {args}")).ended(code);
        (ran, place.json("r.json"))
    };
    let (ran, record) = run("-t 5 -c 3 -f bad.sql", 2);
    ran.prints(&["number of transactions actually processed: 10/15"]).says(&["division by zero"]);
    assert_eq!((&record["status"], number(&record, "/exit_code")), (&"invalid".into(), 2));
    assert_eq!(record["reason"], "1 client aborted");
    assert_eq!((number(&record, "/summary/committed"), number(&record, "/summary/failed_by_class/data")), (10, 1));
    assert_eq!((&record["errors"][0]["sqlstate"], number(&record, "/errors/0/count")), (&"22012".into(), 1));

    let (ran, record) = run("-t 5 -c 3 -f bad.sql --continue-on-error", 0);
    ran.prints(&["number of transactions actually processed: 10/15", "number of failed transactions: 5"]);
    assert_eq!((&record["status"], number(&record, "/summary/failed")), (&"complete".into(), 5));

    // pgbench prints no report then; the record is all there is.
    let (ran, record) = run("-T 60 -c 3 -f bad.sql --exit-on-abort", 2);
    assert!(!ran.stdout.contains("tps"));
    assert_ne!(record["status"], "complete");
    assert_eq!(number(&record, "/summary/failed_by_class/data"), 1);

    let (ran, record) = run("-t 4 -C -f ok.sql", 0);
    ran.prints(&["average connection time"]);
    assert_eq!(number(&record, "/summary/connections_opened"), 4);

    let mut running = Running::new(place.pgbench_command("-n -T 600 -P 1 -f ok.sql --json=r.json --csv=r.csv"));
    running.until_it_says("progress:", 1);
    running.signal(Signal::INT);
    running.end().ended(130).prints(&["number of transactions actually processed"]);
    let record = place.json("r.json");
    assert_eq!((&record["status"], number(&record, "/exit_code")), (&"interrupted".into(), 130));
    let of_csv: u64 = column(&place.home.join("r.csv"), "committed").iter().map(|n| n.parse::<u64>().unwrap()).sum();
    assert_eq!(of_csv, number(&record, "/summary/committed"));
}

#[test]
fn what_cannot_be_written_is_reported_before_the_run_and_never_costs_the_report() {
    let Some(place) = Place::new("--json that cannot be written", "", TRUST) else { return };
    place.write("ok.sql", "select 1;\n");
    for (option, path) in [("json", "none/x"), ("csv", "none/x"), ("json", "."), ("csv", ".")] {
        let ran = place.pgbench(&format!("-n -f ok.sql --{option}={path}")).ended(1);
        assert_eq!(ran.stdout, "", "nothing was begun");
        ran.says(&[&format!("error: could not write file \"{path}\""), &format!("with --{option}")]);
    }
    place.write("newer.json", r#"{"format_version": 99}"#);
    place.pgbench("-n -f ok.sql --json=newer.json").ended(1).says(&["format 99", "newer pgdyno"]);
    assert_eq!(std::fs::read_to_string(place.home.join("newer.json")).unwrap(), r#"{"format_version": 99}"#);

    if Path::new("/dev/full").exists() {
        let ran = place.pgbench("-n -t 3 -f ok.sql --json=/dev/full").ended(1);
        ran.prints(&["number of transactions actually processed: 3/3", "tps = "])
            .says(&["error: could not write file \"/dev/full\": No space left on device"]);
        assert!(Path::new("/dev/full").exists());
    }
    // A device is written to, not replaced; a link leads to the file that is.
    let ran = place.pgbench("-n -t 3 -f ok.sql --json=/dev/stdout").ok();
    let at = ran.stdout.find("\n{").unwrap();
    assert_eq!(number(&serde_json::from_str(&ran.stdout[at..]).unwrap(), "/summary/committed"), 3);
    place.write("file.json", "what was there before\n");
    std::os::unix::fs::symlink("file.json", place.home.join("link.json")).unwrap();
    place.pgbench("-n -t 2 -f ok.sql --json=link.json").ok();
    assert!(place.home.join("link.json").is_symlink());
    assert_eq!(number(&place.json("file.json"), "/summary/committed"), 2);
    // Nothing is left lying about.
    let mut left: Vec<_> = std::fs::read_dir(place.home.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["file.json", "link.json", "newer.json", "ok.sql"]);
}

/// What the shell of a script or a pipe does to the program.
#[test]
fn signals_are_taken_as_users_of_pgbench_are_used_to() {
    let Some(place) = Place::new("signals", "", TRUST) else { return };
    place.write("ok.sql", "select 1;\n");
    let mut running = Running::new(place.pgbench_command("-n -T 600 -P 1 -f ok.sql --json=r.json"));
    running.until_it_says("progress:", 1);
    running.signal(Signal::TERM);
    running.end().ended(143).prints(&["number of transactions actually processed"]);
    assert_eq!(number(&place.json("r.json"), "/exit_code"), 143);

    // A background job of a script ignores SIGINT, and goes on.
    let in_shell = |script: &str, args: &str| {
        let pgbench = place.pgbench_command(args);
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", script]).arg(pgbench.get_program()).args(pgbench.get_args());
        shell.envs(pgbench.get_envs().filter_map(|(name, value)| Some((name, value?))));
        shell.current_dir(pgbench.get_current_dir().unwrap());
        shell
    };
    let mut running = Running::new(in_shell("trap '' INT; exec \"$0\" \"$@\"", "-n -T 2 -P 1 -f ok.sql"));
    running.until_it_says("progress:", 1);
    running.signal(Signal::INT);
    running.end().ended(0).prints(&["tps = "]);

    // Nobody reads its progress any more after the first line: it ends long before its time.
    let script = "\"$0\" \"$@\" 2>&1 >pgbench.out | head -n 1";
    Running::new(in_shell(script, "-n -T 600 -P 1 -f ok.sql")).end().ended(0).prints(&["progress:"]);
}

#[test]
fn a_pipeline_of_seventy_thousand_statements_is_one_transaction() {
    let Some(place) = Place::new("-M extended", "", TRUST) else { return };
    let pipeline = format!("\\startpipeline\n{}\\endpipeline\n", "select 1;\n".repeat(70_000));
    place.write("long.sql", &pipeline);
    let ran = place.pgbench("-n -M extended -c 2 -j 2 -t 1 -f long.sql").ok();
    assert_eq!(reported(&ran, "number of transactions actually processed: "), 2);
    assert_eq!(reported(&ran, "number of failed transactions: "), 0);
}
