//! Tests of parsed command lines; other tests compare errors with the installed pgbench.

use std::ffi::OsStr;

use super::*;
use crate::messages::Said;

struct Three;

impl ScriptReader for Three {
    fn all(&self) -> Vec<BuiltinChoice> {
        ["tpcb-like", "simple-update", "select-only"]
            .map(|name| BuiltinChoice {
                name: name.into(),
                description: format!("<{name}>"),
                text: "SELECT 1;\n".into(),
            })
            .into()
    }

    fn find(&self, prefix: &str) -> Result<BuiltinChoice, String> {
        self.all().into_iter().find(|script| script.name.starts_with(prefix)).ok_or_else(|| format!("no \"{prefix}\""))
    }

    fn file(&mut self, path: &OsStr) -> Result<(), ExitReason> {
        if path == "absent" { Err(ExitReason::error("could not open")) } else { Ok(()) }
    }
}

/// Returns the result, and the messages.
fn read(args: &[&str], vars: &[(&str, &str)]) -> (Result<Parsed, ExitReason>, String) {
    let args: Vec<OsString> = ["pgbench"].iter().chain(args).map(OsString::from).collect();
    let env = Env::new(vars.iter().copied(), None, Some("os"));
    let surroundings = Surroundings { env: &env, time_seed: 11, strong_seed: &|| Ok(22), max_open_files: Some(1003) };
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let parsed = parse(&args, &surroundings, &mut Three, &mut Io::new(&args[0], &mut out, &mut err));
    assert!(out.is_empty());
    (parsed, String::from_utf8(err).unwrap())
}

fn run(args: &[&str]) -> RunOptions {
    match read(args, &[]).0 {
        Ok(Parsed::Run(run)) => *run,
        other => panic!("{args:?}: {other:?}"),
    }
}

fn init(args: &[&str]) -> InitOptions {
    match read(args, &[]).0 {
        Ok(Parsed::Init(init)) => *init,
        other => panic!("{args:?}: {other:?}"),
    }
}

fn refused(args: &[&str]) -> String {
    match read(args, &[]).0 {
        Err(ExitReason { said, exit_code: 1 }) => match &said[0] {
            Said::Error(text) | Said::Raw(text) => text.clone(),
            other => panic!("{other:?}"),
        },
        other => panic!("{args:?}: {other:?}"),
    }
}

#[test]
fn without_options_pgbenchs_defaults_hold() {
    let run = run(&[]);
    assert_eq!(run.target, ConnectionTarget { dbname: "os".into(), ..ConnectionTarget::default() });
    let tpcb = ScriptChoice { source: ScriptSource::Builtin("tpcb-like".into()), weight: 1 };
    assert_eq!(run.scripts, [tpcb]);
    assert!(run.uses_builtin() && run.vacuum && !run.vacuum_all && !run.debug && !run.connect_per_transaction);
    assert_eq!((run.clients, run.threads, run.limit), (1, 1, BenchmarkEnd::Transactions(10)));
    assert_eq!((run.protocol, run.max_tries, run.random_seed), (QueryMode::Simple, Some(1), 11));
    assert_eq!((run.log, run.scale, run.rate_tps, run.latency_limit_us), (None, None, None, None));
    assert_eq!(
        (run.latency_percentiles, run.warmup_s, run.reconnect_s, run.json, run.csv),
        (None, None, None, None, None)
    );

    let init = init(&["-i"]);
    assert_eq!((init.scale, init.fillfactor, init.quiet, init.jobs, init.partitioning), (1, 100, false, 1, None));
    use InitStep::{CreateTables, DropTables, GenerateHere, PrimaryKeys, Vacuum};
    assert_eq!(init.steps, [DropTables, CreateTables, GenerateHere, Vacuum, PrimaryKeys]);
}

#[test]
fn a_benchmark_is_what_its_options_say() {
    let run = run(&[
        "-nSvrCc8",
        "-j16",
        "-T",
        "60",
        "-M",
        "prepared",
        "-R100.5",
        "-L",
        "2.5",
        "-P5",
        "-s",
        "7",
        "-l",
        "-b",
        "si@3",
        "-f",
        "a@b@0",
        "-D",
        "x=1",
        "-D",
        "y=2",
        "-D",
        "x=3",
        "--max-tries=0",
        "--aggregate-interval=2",
        "--log-prefix=p",
        "--log-merge",
        "--failures-detailed",
        "--verbose-errors",
        "--exit-on-abort",
        "--continue-on-error",
        "--debug",
        "--random-seed=rand",
        "--progress-timestamp",
        "--latency-percentiles",
        "--warmup-time=1.5",
        "--reconnect=30",
        "--json=j",
        "--csv=c",
        "-h",
        "h",
        "-p1",
        "-U",
        "u",
        "db",
    ]);
    let script = |name: &str, weight| ScriptChoice { source: ScriptSource::Builtin(name.into()), weight };
    let file = ScriptChoice { source: ScriptSource::File("a@b".into()), weight: 0 };
    assert_eq!(
        run,
        RunOptions {
            target: ConnectionTarget {
                dbname: "db".into(),
                host: Some("h".into()),
                port: Some("1".into()),
                user: Some("u".into())
            },
            debug: true,
            scripts: vec![script("select-only", 1), script("simple-update", 3), file],
            clients: 8,
            threads: 8,
            connect_per_transaction: true,
            definitions: vec![("x".into(), b"3".to_vec()), ("y".into(), b"2".to_vec())],
            protocol: QueryMode::Prepared,
            vacuum: false,
            vacuum_all: true,
            limit: BenchmarkEnd::Seconds(60),
            rate_tps: Some(100.5),
            latency_limit_us: Some(2500),
            progress_s: Some(5),
            progress_timestamp: true,
            report_per_command: true,
            scale: Some(7),
            log: Some(LogOptions {
                prefix: "p".into(),
                sampling_rate: None,
                aggregate_interval_s: Some(2),
                merge: true
            }),
            max_tries: None,
            failures_detailed: true,
            verbose_errors: true,
            exit_on_abort: true,
            continue_on_error: true,
            random_seed: 22,
            latency_percentiles: Some(vec![50.0, 95.0, 99.0]),
            warmup_s: Some(1.5),
            reconnect_s: Some(30.0),
            json: Some("j".into()),
            csv: Some("c".into()),
        }
    );
}

#[test]
fn an_initialization_is_what_its_options_say() {
    use InitStep::{CreateTables, DropTables, ForeignKeys, GenerateHere, GenerateOnServer, PrimaryKeys};
    let full = init(&[
        "-i",
        "-q",
        "-s20",
        "-F",
        "90",
        "-I",
        " d tGv v",
        "-n",
        "--foreign-keys",
        "--tablespace=a",
        "--index-tablespace=b",
        "--partitions=3",
        "--partition-method=Hash",
        "--unlogged-tables",
        "--init-jobs=4",
        "-d",
        "db",
    ]);
    assert_eq!(
        full,
        InitOptions {
            target: ConnectionTarget { dbname: "db".into(), ..ConnectionTarget::default() },
            debug: false,
            steps: vec![DropTables, CreateTables, GenerateOnServer, ForeignKeys],
            scale: 20,
            fillfactor: 90,
            quiet: true,
            tablespace: Some("a".into()),
            index_tablespace: Some("b".into()),
            partitioning: Some(Partitioning { method: PartitionMethod::Hash, partitions: 3 }),
            unlogged: true,
            jobs: 4,
        }
    );
    assert_eq!(init(&["-i", "--foreign-keys", "-I", "fgp"]).steps, [ForeignKeys, GenerateHere, PrimaryKeys]);
    let ranges = init(&["-i", "--partitions=2"]).partitioning.unwrap();
    assert_eq!(ranges.method, PartitionMethod::Range);
}

#[test]
fn what_ends_early_ends_before_the_rest_is_looked_at() {
    assert_eq!(read(&["--help", "-Z"], &[]).0, Ok(Parsed::Help));
    assert_eq!(read(&["-?"], &[]).0, Ok(Parsed::Help));
    assert_eq!(read(&["-V", "-Z"], &[]).0, Ok(Parsed::Version));
    assert_eq!(read(&["-c2", "-b", "list", "-Z"], &[]).0, Ok(Parsed::ListBuiltins));
    assert!(
        matches!(read(&["--show-script=se", "-Z"], &[]).0, Ok(Parsed::ShowScript(found)) if found.name == "select-only")
    );
    assert_eq!(
        listing(&Three),
        "Available builtin scripts:\n      tpcb-like: <tpcb-like>\n  simple-update: <simple-update>\n    \
         select-only: <select-only>\n\n"
    );
    assert_eq!(shown(&Three.find("se").unwrap()), "-- select-only: <select-only>\nSELECT 1;\n\n");
}

#[test]
fn the_database_is_named_by_whatever_names_it_first() {
    let dbname = |args: &[&str], vars: &[(&str, &str)]| match read(args, vars).0 {
        Ok(Parsed::Run(run)) => run.target.dbname,
        other => panic!("{other:?}"),
    };
    let vars = [("PGDATABASE", "a"), ("PGUSER", "b")];
    assert_eq!(dbname(&["-d", "c"], &vars), "c");
    assert_eq!(dbname(&["c"], &vars), "c");
    assert_eq!(dbname(&[""], &vars), "");
    assert_eq!(dbname(&["-U", "u"], &vars), "a");
    assert_eq!(dbname(&[], &[("PGDATABASE", ""), ("PGUSER", "b")]), "b");
    assert_eq!(dbname(&[], &[]), "os");
}

#[test]
fn a_seed_that_was_asked_for_is_reported_at_once() {
    let (result, said) = read(&["--random-seed=time", "-c", "0"], &[("PGBENCH_RANDOM_SEED", "5")]);
    assert!(result.is_err());
    assert_eq!(said, "pgbench: setting random seed to 5\npgbench: setting random seed to 11\n");
}

#[test]
fn the_first_thing_wrong_is_the_one_that_is_reported() {
    for (args, text) in [
        (&["-c", "0", "-f", "absent"][..], "-c/--client must be in range 1..2147483647"),
        (&["-f", "absent", "-c", "0"], "could not open"),
        (&["-c", "1001"], "need at least 1004 open files, but system limit is 1003"),
        (&["-Z", "-c", "0"], "pgbench: invalid option -- 'Z'\n"),
        (&["a", "b", "-i", "-S"], "too many command-line arguments (first is \"b\")"),
        (
            &["-S", "-i", "--partition-method=hash"],
            "some of the specified options cannot be used in initialization (-i) mode",
        ),
        (&["-t1", "-T1", "-q"], "some of the specified options cannot be used in benchmarking mode"),
        (&["-b", "se@0", "a", "b"], "total script weight must not be zero"),
        // pgdyno's own options.
        (&["--init-jobs=2"], "some of the specified options cannot be used in benchmarking mode"),
        (&["-i", "--json=x"], "some of the specified options cannot be used in initialization (-i) mode"),
        (&["-i", "--init-jobs=513"], "--init-jobs must be in range 1..512"),
        (&["--log-merge"], "log merging (--log-merge) is allowed only when logging transactions (-l)"),
        (&["--latency-percentiles=0"], "invalid latency percentile: \"0\""),
        (&["--warmup-time=-1"], "invalid warmup time: \"-1\""),
        (&["--reconnect=x"], "invalid reconnect time: \"x\""),
        (&["--log-merge=x"], "pgbench: option '--log-merge' doesn't allow an argument\n"),
    ] {
        assert_eq!(refused(args), text, "{args:?}");
    }
    let many: Vec<&str> = std::iter::repeat_n("-S", 129).collect();
    assert_eq!(run(&many[1..]).scripts.len(), 128);
    assert_eq!(refused(&many), "at most 128 SQL scripts are allowed");
}
