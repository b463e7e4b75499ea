//! Arguments, plans, and the workload without a server.

use crate::program::{Home, Ran, Run, Running, finish, json};
use crate::pty::Pty;

#[test]
fn help_is_for_the_asking_and_for_those_who_ask_nothing() {
    let home = Home::new();
    let help = home.run(&[]).ok();
    assert_eq!(help.stderr, "");
    let help = help.prints(&["Usage: pgdyno <COMMAND>", "pgdyno run tproc-c", "run, ab, search"]);
    assert_eq!(home.run(&["-h"]).ok().stdout, help.stdout);
    home.run(&["--help"]).ok().prints(&["Usage: pgdyno <COMMAND>", "Compare runs, with confidence", "-V, --version"]);
    for command in ["run", "plan", "load", "check", "drop", "report", "server start"] {
        let args: Vec<_> = command.split(' ').chain(["--help"]).collect();
        home.run(&args).ok().prints(&["Usage:", "Help:", "-h, --help"]);
    }
    for group in ["list", "server", "suite"] {
        home.run(&[group]).ended(1).says(&["Usage:", "Examples:"]);
    }
    let version = home.run(&["--version"]).ok().stdout;
    assert_eq!(version, format!("pgdyno {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn help_on_a_terminal_has_its_headings_in_bold_and_nothing_else() {
    let home = Home::new();
    let mut command = home.command(["run", "-h"]);
    command.env("TERM", "xterm");
    let (status, shown) = Pty::start(command, (80, 30)).end();
    assert!(status.success() && shown.contains("\u{1b}[1m") && shown.contains("Usage:"), "{shown:?}");
    assert!(!shown.contains("u{1b}"), "{shown:?}");
}

#[test]
fn completions_manual_pages_and_the_help_of_the_drop_in_are_there() {
    let home = Home::new();
    for (shell, words) in [("bash", "complete -F _pgdyno"), ("zsh", "#compdef pgdyno"), ("fish", "complete -c pgdyno")]
    {
        home.run(&["completions", shell]).ok().prints(&[words, "tcp"]);
    }
    home.run(&["man", "pages"]).ok();
    let page = std::fs::read_to_string(home.join("pages/pgdyno-run.1")).unwrap();
    assert!(page.contains(".TH pgdyno-run 1") && page.contains("pgdyno run tproc"), "{page}");
    for section in ["NAME", "SYNOPSIS", "OPTIONS", "EXIT STATUS", "ENVIRONMENT", "FILES", "EXAMPLES", "SEE ALSO"] {
        let heading = [format!(".SH {section}\n"), format!(".SH \"{section}\"\n")];
        assert!(heading.iter().any(|heading| page.contains(heading)), "{section} in {page}");
    }
    assert!(!page.contains("]("), "a link of Markdown in {page}");
    let search = std::fs::read_to_string(home.join("pages/pgdyno-search.1")).unwrap();
    assert!(search.contains("[default: 10]") && !search.contains("[default: 30]"), "{search}");
    assert!(search.contains("\\-\\-time") && !search.contains("\\-\\-rate\\fR"), "{search}");
    let (_, synopsis) = page.split_once("\"SYNOPSIS\"\n").unwrap();
    let synopsis: Vec<_> = synopsis.lines().take(3).collect();
    assert_eq!(synopsis, ["pgdyno run [OPTIONS] [WORKLOAD]...", ".br", "pgdyno run \\-\\-help"]);
    let help = home.run(&["help", "pgbench"]).ok().stdout;
    assert_eq!(help, home.run(&["pgbench", "--help"]).ok().stdout);
    home.run(&["run", "--help"]).ok().prints(&["Clients and pace:", "Target:", "Help:", "Examples:"]);
}

#[test]
fn what_cannot_be_meant_is_refused_with_a_remedy_and_touches_nothing() {
    let home = Home::new();
    let cases: &[(&str, &[&str])] = &[
        ("rum", &["unrecognized subcommand 'rum'", "'run'"]),
        ("run tpcb-lik", &["unknown workload 'tpcb-lik'", "did you mean tpcb-like?", "pgdyno list workloads"]),
        ("run orders", &["unknown workload 'orders'", "tproc-c", "pgdyno list workloads"]),
        ("run tpcc", &["unknown workload 'tpcc'", "did you mean tproc-c?"]),
        ("run --host db1", &["unexpected argument '--host'", "hint: name the server by --target"]),
        ("run -h db1 -p 5433", &["-h asks for help, and takes no host", "hint: name the server by --target"]),
        ("run -P 1", &["unexpected argument '-P'", "progress is shown every second"]),
        ("run --duration 60", &["unexpected argument '--duration'", "hint: write --time (-T)"]),
        ("drop tproc-c --pipeline", &["unexpected argument '--pipeline'"]),
        ("run --clint 3", &["unexpected argument '--clint'", "'--clients'"]),
        ("run -T 5m", &["'5m'", "minutes or milliseconds", "min or ms"]),
        ("run -T 5d", &["'5d'", "unknown unit 'd'", "use us, ms, s, min or h"]),
        ("run -T 0", &["--time must be above 0"]),
        ("run -T -5", &["'-5'", "--time", "negative"]),
        ("run --ramp -1", &["'-1'", "--ramp", "negative"]),
        ("run --reconnect soon", &["'soon'", "--reconnect", "use us, ms, s, min or h"]),
        (
            "run tproc-c -s 10",
            &[
                "--scale is an option of pgbench's workloads, tproc-h",
                "not of tproc-c",
                "hint: ",
                "use --warehouses (-w)",
            ],
        ),
        ("run -w 10", &["--warehouses is an option of tproc-c and ch-benchmark, not of tpcb-like", "use --scale (-s)"]),
        (
            "run ycsb-a --no-refresh",
            &["--no-refresh is an option of tproc-h, not of ycsb-a", "hint: `pgdyno show ycsb-a`"],
        ),
        ("run noop --pipeline", &["--pipeline is an option of tpcb-like, simple-update", "not of noop"]),
        ("load sensor-1 -w 3", &["--warehouses is an option of", "not of sensor-1", "use --scale (-s)"]),
        ("run -s 0", &["scale must be a whole number between 1 and", "'0'"]),
        ("run -s -1", &["scale must be a whole number between 1 and", "'-1'"]),
        ("run -s many", &["scale must be a whole number", "'many'"]),
        ("run -s 2147483648", &["scale must be a whole number between 1 and", "'2147483648'"]),
        ("run -s 99999999999999999999", &["scale must be a whole number", "'99999999999999999999'"]),
        ("run tproc-c -w 0", &["warehouses must be a whole number between 1 and", "'0'"]),
        ("run tproc-c -w -7", &["warehouses must be a whole number between 1 and", "'-7'"]),
        ("run tproc-c -w 2147483648", &["warehouses must be a whole number between 1 and", "'2147483648'"]),
        ("run -s 3 -w 3", &["'--scale <N>' cannot be used with '--warehouses <N>'"]),
        ("run --param colour=blue", &["no parameter 'colour'", "pipeline"]),
        ("run --param pipeline=perhaps", &["pipeline", "'perhaps'"]),
        ("run --param scale", &["'scale'", "NAME=VALUE"]),
        ("run tproc-c --call telephone", &["call", "'telephone'"]),
        ("run -c 0", &["'0'", "--clients", "from 1 to 1000000"]),
        ("run -c -4", &["'-4'", "--clients", "from 1 to 1000000"]),
        ("run -j 0", &["'0'", "--threads"]),
        ("run -t 0", &["'0'", "--transactions"]),
        ("run -t 5 -T 5", &["'--transactions <N>' cannot be used with '--time <TIME>'"]),
        ("run -R 0", &["'0'", "--rate", "above 0"]),
        ("run -R -3", &["'-3'", "--rate", "above 0"]),
        ("run --arrivals bursts -R 5", &["'bursts'", "poisson, uniform"]),
        ("run -L 0", &["'0'", "--latency-limit", "above 0"]),
        ("run -M telepathic", &["'telepathic'", "--mode", "prepared"]),
        ("run --wire carrier-pigeon", &["'carrier-pigeon'", "--wire", "native, libpq"]),
        ("run --pin=0,x", &["'x' is not a CPU", "0,2-4"]),
        ("run --max-tries 0 -t 5", &["--max-tries=0 needs an end", "--time"]),
        ("run --loaders 0", &["'0'", "--loaders"]),
        ("run --no-load --replace", &["cannot be used with"]),
        ("run --target banana", &["connection string is malformed", "host=db1 dbname=bench"]),
        ("run --target hots=db1", &["connection parameter 'hots' does not exist", "'host'"]),
        ("run --target port=nine", &["a port is not a number between 1 and 65535"]),
        ("run --target sslmode=maybe", &["sslmode", "maybe", "verify-full"]),
        ("run --target embedded:banana", &["embedded:banana", "'embedded:18'"]),
        ("run --target embedded:9", &["embedded:9", "13 or newer"]),
        ("run --target null --set jit=off", &["--set", "private server"]),
        ("run --set primary_conninfo=password=geheim", &["setting primary_conninfo holds a password"]),
        ("run --set jit", &["'jit'", "NAME=VALUE"]),
        ("run --target null --prewarm", &["--prewarm", "null server"]),
        ("run noop --restart", &["noop measures pgdyno itself", "--restart"]),
        ("run noop --target null", &["noop measures pgdyno itself", "--target"]),
        ("load noop", &["noop has no data"]),
        ("drop", &["drop has no default", "pgdyno drop tpcb-like"]),
        ("load --target null", &["null server keeps no data"]),
        ("report", &["<RUN>"]),
        ("report last --format xml", &["'xml'", "text, json, csv, markdown"]),
        ("server null", &["--port or --socket-dir"]),
    ];
    for (args, words) in cases {
        let args: Vec<_> = args.split(' ').collect();
        home.run(&args).ended(1).says(words);
        if args[0] == "run" {
            let plan: Vec<_> = ["plan"].iter().chain(&args[1..]).copied().collect();
            home.run(&plan).ended(1).says(words);
        }
    }
    let left: Vec<_> = std::fs::read_dir(home.path()).unwrap().map(|e| e.unwrap().path()).collect();
    assert!(left.is_empty(), "{left:?}");
    // Root may have a kept server, which it would check.
    Home::of_an_ordinary_user().run(&["check"]).ended(1).says(&["no target is given", "pgdyno server start"]);
}

#[test]
fn a_plan_shows_every_step_and_touches_nothing() {
    let home = Home::new();
    let plan = ["plan", "tproc-c", "-w", "7", "-c", "3", "-T", "2min", "--target", "host=db1 password=geheim"];
    let ran = home.run(&plan).ok();
    assert!(!ran.stdout.contains("geheim"), "{}", ran.stdout);
    ran.prints(&["7 warehouses", "3 clients on ", "120 s", "db1", "1. prepare", "8. report"]);
    let hash = |args: &[&str]| home.run(args).ok().stdout.split(' ').nth(1).unwrap().to_owned();
    assert_eq!(hash(&plan), hash(&plan), "the same arguments are the same plan");
    assert_ne!(hash(&plan), hash(&["plan", "tproc-c", "-w", "8", "-c", "3", "-T", "2min"]));
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
}

#[test]
fn lists_are_complete_and_an_empty_one_says_so() {
    let home = Home::new();
    home.run(&["list", "workloads"]).ok().prints(&[
        "tpcb-like",
        "simple-update",
        "select-only",
        "tproc-c",
        "noop",
        "pgdyno show tproc-c",
    ]);
    home.run(&["show", "tproc-c"]).ok().prints(&[
        "tproc-c: order entry",
        "-w, --warehouses ",
        "--keying-time, --no-think ",
        "-D seed=…",
        "[default: 1]",
    ]);
    home.run(&["show", "tproc-x"]).ended(1).says(&["unknown recipe 'tproc-x'"]);
    home.run(&["list", "runs"]).ok().prints(&["no runs in pgdyno-results"]);
    home.run(&["list", "runs", "--out", "elsewhere"]).ok().prints(&["no runs in elsewhere"]);
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
}

/// The lines of a results.csv after its header.
fn results(home: &Home, path: &str) -> Vec<String> {
    let text = std::fs::read_to_string(home.join(path)).unwrap();
    let mut lines = text.lines().map(str::to_owned);
    let columns = |line: &str| line.matches(',').count();
    let header = lines.next().unwrap();
    assert!(header.starts_with("id,started_at,status,"), "{header}");
    let lines: Vec<_> = lines.collect();
    assert!(lines.iter().all(|line| !line.starts_with("id,") && columns(line) == columns(&header)), "{lines:?}");
    lines
}

#[test]
fn a_run_says_whether_it_meets_its_objectives_and_ends_with_a_code_of_its_own_if_not() {
    let home = Home::new();
    let run = |objectives: &[&str]| {
        let objectives = objectives.iter().flat_map(|objective| ["--slo", objective]);
        let args: Vec<&str> = ["run", "noop", "-c", "2", "-t", "100"].into_iter().chain(objectives).collect();
        home.run(&args)
    };
    let all_met = ["p99 < 1min", "tps > 1", "errors<0.1 %", "noop max < 1h"];
    let ran = run(&all_met).ok();
    ran.prints(&[
        "ok p99 < 1min is met: ",
        "ok tps > 1 is met: ",
        "ok errors < 0.1 % is met: 0",
        "ok noop max < 1h is met",
    ]);
    let missed = run(&["mean < 1min", "tps > 1000000000"]).ended(22);
    let missed = missed.prints(&[
        "ok mean < 1min is met: ",
        "! tps > 1000000000 is not met: ",
        "  tps > 1000000000 is not met: ",
    ]);
    let last = missed.stdout.lines().last().unwrap();
    assert!(last.contains(" TPS  p99 ") && last.ends_with("/report.html"), "{last}");
    let record = home.runs().pop().unwrap();
    assert_eq!((record.text("/status"), record.number("/exit_code")), ("complete", 22.0));
    let met: Vec<_> = record.at("/objectives").as_array().unwrap().iter().map(|one| one["met"].as_bool()).collect();
    assert_eq!(met, [Some(true), Some(false)]);
    home.run(&["report", "last"]).ok().prints(&["! tps > 1000000000 is not met: "]);
    home.run(&["report", "last", "--format", "markdown"]).ok().prints(&["tps &gt; 1000000000 is not met"]);
    // A mistake ends it before anything runs.
    run(&["p99 < 10"]).ended(1).says(&["10 could be seconds or milliseconds"]);
    run(&["payment p99 < 10ms"]).ended(1).says(&["'payment' is not one of noop"]);
    assert_eq!(home.runs().len(), 2);
}

#[test]
fn the_fourth_run_of_a_plan_says_how_much_its_runs_differ() {
    let home = Home::new();
    let args = ["run", "select-only", "--target", "null", "-c", "2", "-t", "300", "--ramp=0"];
    for _ in 0..3 {
        assert!(!home.run(&args).ok().stdout.contains("earlier runs"));
    }
    // Another plan is no earlier run.
    home.run(&["run", "select-only", "--target", "null", "-c", "1", "-t", "300", "--ramp=0"]).ok();
    let fourth = home.run(&args).ok().prints(&["% against the mean of 3 earlier runs of this plan, "]);
    let run = home.runs().pop().unwrap();
    assert_eq!(run.number("/earlier_runs/runs"), 3.0);
    let error_share = run.number("/earlier_runs/error_share");
    assert!(error_share > 0.0);
    // Runs this short differ by any factor on a busy machine; an error as large as the figure is not printed.
    assert_eq!(fourth.stdout.contains(" TPS ± "), error_share < 1.0, "{error_share}: {}", fourth.stdout);
}

#[test]
fn several_values_of_an_option_are_several_runs_with_a_table_of_how_the_figures_grow() {
    let home = Home::new();
    let ran =
        home.run(&["run", "noop", "-c", "1,2,4", "-j", "1", "-t", "20000", "--ramp=0", "--label", "sweep=yes"]).ok();
    let ran = ran.prints(&["TPS by clients", "linear  efficiency", "/scaling.html"]);
    assert_eq!(
        ran.stdout.lines().last().map(|line| line.starts_with("open pgdyno-results/suites/noop-by-clients-")),
        Some(true)
    );
    let clients: Vec<_> = home.runs().iter().map(|run| run.number("/plan/clients")).collect();
    assert_eq!(clients, [1.0, 2.0, 4.0]);
    assert!(
        home.runs()
            .iter()
            .all(|run| run.text("/labels/sweep") == "yes" && run.text("/plan/suite/suite") == "noop-by-clients")
    );
    // It is a suite like any other.
    home.run(&["suite", "status"]).ok().prints(&["noop-by-clients", "3 of 3"]);
    let refused = |args: &[&str], why: &str| {
        home.run(&[&["run", "noop", "-t", "100"], args].concat()).ended(1).says(&[why]);
    };
    refused(&["-c", "1,x"], "invalid value '1,x' for '--clients <N>'");
    refused(&["-c", "1,0"], "invalid value '0' for --clients");
    refused(&["-c", "2,2"], "2 is there twice");
    refused(&["-c", "1,2", "--slo", "p99 < 1s"], "--slo is for one run, and these are several");
    refused(&["-c", "1,2", "--json", "x.json"], "--json is for one run");
    refused(&["-c", "1,2", "--again", "last"], "--again is for one run");
    assert_eq!(home.runs().len(), 3);
    // Where no axis has the option, the table of the suite is all.
    let ran = home.run(&["run", "noop", "--max-tries", "1,2", "-t", "100", "--ramp=0"]).ok();
    assert!(!ran.stdout.contains("to the first") && ran.stdout.contains("noop.max_tries=2@none"), "{}", ran.stdout);
    assert_eq!(home.runs().len(), 5);
    let password = "host=localhost password=secret";
    let ran = home.run(&["run", "tpcb-like", "-c", "1,2", "-t", "1", "--target", password]).ended(1);
    ran.says(&["the connection string of its target holds a password"]);
    assert!(
        !home
            .path()
            .join("pgdyno-results/suites")
            .read_dir()
            .unwrap()
            .any(|suite| { suite.unwrap().file_name().to_string_lossy().starts_with("tpcb-like") })
    );
    // Several values in two options are every combination, with a table for each value of the second.
    let ran = home.run(&["run", "select-only", "--target", "null", "-c1,2", "-j=1,2", "-t", "2000", "--ramp=0"]).ok();
    ran.prints(&["threads=1: TPS by clients", "threads=2: TPS by clients", "threads=2: p99 ms by clients"]);
    assert_eq!(home.runs().len(), 9);
}

#[test]
fn a_run_leaves_a_directory_of_plain_files_and_a_line_in_the_list() {
    let home = Home::new();
    let ran = home.run(&["run", "noop", "-c", "3", "-t", "100"]).ok();
    let run = home.the_run();
    assert_eq!((run.number("/summary/committed"), run.text("/status")), (300.0, "complete"));
    assert_eq!((run.number("/format_version"), run.number("/exit_code")), (1.0, 0.0));
    let id = run.path.file_name().unwrap().to_str().unwrap();
    assert_eq!(run.text("/id"), id);
    let ran = ran.prints(&["noop", "TPS", &format!("  open pgdyno-results/{id}/report.html")]);
    assert_eq!(run.committed_by_intervals(), 300);
    let hlog = std::fs::read_to_string(run.path.join("latency.hlog")).unwrap();
    assert!(hlog.starts_with("#[") && hlog.contains("Tag=noop"), "{hlog}");
    let files = std::fs::read_dir(&run.path).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let files: std::collections::BTreeSet<_> = files.collect();
    let known = ["intervals.csv", "latency.hlog", "report.html", "run.json"].map(str::to_owned);
    assert_eq!(files, known.into(), "nothing temporary is left");
    assert_eq!(results(&home, "pgdyno-results/results.csv").len(), 1);

    // Its report is what the run printed.
    let report = home.run(&["report", "last"]).ok().stdout;
    assert!(ran.stdout.contains(&report), "{}\nis not in\n{}", report, ran.stdout);

    home.run(&["run", "noop", "-t", "1", "-q", "--out", "else/where"]).ok();
    assert_eq!(results(&home, "else/where/results.csv").len(), 1);
    home.run(&["list", "runs"]).ok().prints(&[id, "complete", "3 clients"]);
}

#[test]
fn runs_side_by_side_share_the_list() {
    let home = Home::new();
    let running: Vec<_> = (0..6).map(|_| home.start(&["run", "noop", "-t", "10", "-q"])).collect();
    for run in running {
        run.end().ok();
    }
    let ids: std::collections::BTreeSet<_> = results(&home, "pgdyno-results/results.csv")
        .iter()
        .map(|line| line.split(',').next().unwrap().to_owned())
        .collect();
    assert_eq!((ids.len(), home.runs().len()), (6, 6));
}

#[test]
fn the_record_goes_where_it_is_wanted() {
    let home = Home::new();
    home.run(&["run", "noop", "-t", "5", "--json", "out.json"]).ok();
    assert_eq!(json(&home.join("out.json")), home.the_run().record);

    // That it cannot be written there is reported before anything is measured.
    let ran = home.run(&["run", "noop", "-t", "5", "--json", "/nowhere/out.json"]).ended(1);
    ran.says(&["failed to write /nowhere/out.json", "--json"]);
    assert_eq!(home.runs().len(), 1);

    // Nor is a record of a newer pgdyno written over.
    let newer = r#"{"format_version": 999}"#;
    std::fs::write(home.join("newer.json"), newer).unwrap();
    home.run(&["run", "noop", "-t", "5", "--json", "newer.json"]).ended(1).says(&["newer.json", "999"]);
    assert_eq!(std::fs::read_to_string(home.join("newer.json")).unwrap(), newer);
}

#[test]
fn quiet_is_quiet_and_a_pipe_gets_a_line_a_second() {
    let home = Home::new();
    let args = ["run", "noop", "-T", "2.2", "--ramp", "0", "-R", "100"];
    let ran = home.run(&args).ok().says(&["progress: 1.0 s, ", "progress: 2.0 s, "]);
    assert!(!ran.stderr.contains('\r') && !ran.stderr.contains('\x1b'), "{:?}", ran.stderr);
    assert!(!ran.stdout.contains('\x1b') && !ran.stdout.contains("progress"), "{:?}", ran.stdout);
    let quiet: Vec<_> = args.iter().chain(&["-q"]).copied().collect();
    assert_eq!(home.run(&quiet).ok().stderr, "");
}

#[test]
fn a_reader_that_has_gone_is_no_error() {
    let home = Home::new();
    for args in
        [&["run", "noop", "-T", "1.5", "--ramp", "0"][..], &["list", "workloads"], &["--help"], &["report", "last"]]
    {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = home.command(args);
        command.stdout(writer.try_clone().unwrap()).stderr(writer);
        assert_eq!(command.status().unwrap().code(), Some(0), "{args:?}");
    }
    assert_eq!(home.the_run().text("/status"), "complete");
    let ran: Ran = finish(home.shell("\"$0\" list workloads | head -1"));
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
}

#[test]
fn results_that_cannot_be_written_are_refused_before_anything_is_done() {
    let home = Home::new();
    std::fs::write(home.join("file"), "").unwrap();
    for out in ["file", "file/below", "/proc/nowhere"] {
        // The target is not even looked for.
        let ran = home.run(&["run", "--target", "host=/nonexistent", "--out", out]).ended(1);
        assert_eq!(ran.stdout, "");
        ran.says(&["failed to write to the results directory", out, "--out"]);
    }
    let ran = home.run(&["run", "--target", "host=/nonexistent"]).ended(1);
    ran.says(&["cannot connect to /nonexistent/.s.PGSQL.5432", "start the server"]);
    assert!(!home.join("pgdyno-results").exists(), "a run that cannot start leaves no directory");
}

#[test]
fn an_interrupted_run_keeps_what_it_measured() {
    let home = Home::new();
    for signal in [rustix::process::Signal::INT, rustix::process::Signal::TERM] {
        let mut running: Running = home.start(&["run", "noop", "-T", "1h", "--ramp", "0", "-R", "1000"]);
        running.until_it_says("progress:", 2);
        running.signal(signal);
        running.end().ended(130).prints(&["! interrupted", "TPS", "  open "]);
        let run: Run = home.runs().pop().unwrap();
        assert_eq!((run.text("/status"), run.number("/exit_code")), ("interrupted", 130.0));
        assert!(run.number("/summary/committed") > 500.0);
        assert_eq!(run.number("/summary/committed") as u64, run.committed_by_intervals());
    }
    assert_eq!(results(&home, "pgdyno-results/results.csv").len(), 2);
}

#[test]
fn a_killed_run_leaves_a_record_that_says_so() {
    let home = Home::new();
    let mut running = home.start(&["run", "noop", "-T", "1h", "--ramp", "0", "-R", "1000"]);
    running.until_it_says("progress:", 2);
    running.signal(rustix::process::Signal::KILL);
    drop(running);
    let run = home.the_run();
    assert_eq!(run.text("/status"), "interrupted");
    assert!(run.text("/reason").contains("killed"), "{}", run.text("/reason"));
    assert!(run.committed_by_intervals() > 500);
    // Tools can go on with it.
    home.run(&["report", "last"]).ok().prints(&["! interrupted", "intervals.csv"]);
    home.run(&["list", "runs"]).ok().prints(&["interrupted"]);
    home.run(&["run", "noop", "-t", "1"]).ok();
}
