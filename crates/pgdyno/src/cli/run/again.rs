//! Returns the command line that makes a plan again.

use std::path::Path;

use clap::{Args as _, Parser as _};
use pgdyno_life::plan::resolve::Request;
use pgdyno_plan::options::{OPTIONS, Value};
use pgdyno_plan::{Facts, Loaded, Order, Plan};
use pgdyno_report::html::command_line;

use crate::cli::{Cli, Command, RunArgs};

/// Arguments of `pgdyno run` that plans do not store: they name the server, select the recipe's numbers, label the run, or
/// name output files.
const NOT_KEPT: [&str; 22] = [
    "target",
    "config",
    "size",
    "variant",
    "fit",
    "short",
    "out",
    "store",
    "cache-size",
    "label",
    "json",
    "quiet",
    "verbose",
    "yes",
    "no-live",
    "until-eof",
    "suite-run",
    "again",
    "order",
    "meet",
    "wait",
    "help",
];

fn parsed<S: AsRef<str>>(words: &[S]) -> Order {
    match Cli::try_parse_from(words.iter().map(AsRef::as_ref)).map(|cli| cli.command) {
        Ok(Command::Run(command)) => command.run.order(),
        Ok(_) => panic!("no arguments of a run"),
        Err(error) => panic!("{error}"),
    }
}

fn request<S: AsRef<str>>(words: &[S]) -> Request {
    Request::read(parsed(words)).unwrap_or_else(|failure| panic!("{}", failure.text()))
}

fn plan_of<S: AsRef<str>>(words: &[S]) -> Plan {
    request(words).draft().unwrap_or_else(|failure| panic!("{}", failure.text())).resolved.plan
}

/// Returns the arguments that the record of such a run suggests.
fn again(plan: &Plan) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/v1/run.json");
    let mut record = pgdyno_results::read_record(&path).unwrap();
    record.plan = plan.clone();
    record.target = None;
    command_line(&record)
}

/// Returns command lines that set every option to a value other than its default.
fn everything_else() -> Vec<Vec<String>> {
    let cpu = pgdyno_engine::allowed_cpus().unwrap()[0];
    let workloads = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workloads").display().to_string();
    let line = |words: &str| {
        ["pgdyno", "run"].into_iter().chain(words.split(' ')).map(|word| word.replace('~', " ")).collect::<Vec<_>>()
    };
    vec![
        line(
            "tproc-c --target embedded -w 7 --all-warehouses --call client --keying-time --partitions 2 --foreign-keys \
             --shard-count 16 -D seed=5 -c 70 --connections 10 -j 2 -T 90s --ramp 7 --grace 9 -M extended --wire libpq -R 100 \
             --arrivals uniform --max-tries 5 -L 50 --reconnect 10s --coalesce 50us --restart --drop-caches --prewarm --checkpoint \
             --set jit=on --loaders 3 --resumable --unlogged --replace --from-template base --no-check \
             --allow-schema-changes --latency-percentiles=50,99.9 --log --os-metrics ssh~me@db1 --statement-plans 5 \
             --random-seed 77",
        ),
        line("tproc-c --target embedded --tcp --profile spec --no-think -w 3 --provision"),
        line(&format!(
            "simple-update --target embedded --pipeline -s 5 -t 100 --no-load -n --no-samples -j 1 --pin={cpu}"
        )),
        line(
            "tproc-h --target embedded -s 0.25 --indexes dates --streams 3 --repeat 2 --queries 1,6 --timeout 5min --no-refresh --validation --plans --perf",
        ),
        line(
            "ch-benchmark --target embedded -w 2 --streams 3 --queries 1,6 --query-form citus --alone --timeout 5min -c 3 \
             --analytics-target host=db2 --analytics-set work_mem=1GB",
        ),
        line(
            "ycsb-e --target embedded --records 5000 --fields 3 --field-bytes 40 --schema jsonb --distribution zipf -D scan-length=7",
        ),
        line("oltp-read-write --target embedded -s 5000 --tables 3 -D range_size=7 -D rand-type=pareto"),
        line("noop -c 9 -R 1000 -T 3s --agents 3"),
        line("polardb-ro --target embedded -c 3"),
        line("mixed --target embedded -c 6"),
        line(&format!("{workloads}/sensor-1 --target embedded -t 10")),
        line(&format!(
            "{workloads}/polardb-ro/select.sql@3 {workloads}/polardb-ro/select.sql -s 7 -D range=9 --target embedded"
        )),
    ]
}

#[test]
fn every_argument_of_a_run_is_kept_by_its_plan_or_known_not_to_be() {
    let command = RunArgs::augment_args(clap::Command::new("run"));
    let flags: Vec<_> = command.get_arguments().filter_map(clap::Arg::get_long).collect();
    let kept: Vec<_> = OPTIONS.iter().flat_map(|option| option.flags).copied().collect();
    for flag in &flags {
        assert!(kept.contains(flag) != NOT_KEPT.contains(flag), "--{flag} belongs into one of the two lists");
    }
    for flag in kept {
        assert!(flags.contains(&flag), "there is no --{flag}");
    }
}

#[test]
fn a_plan_becomes_a_command_line_that_makes_the_same_plan() {
    let usual = plan_of(&["pgdyno", "run", "tpcb-like", "--target", "embedded", "--random-seed", "1"]);
    let plans: Vec<_> = everything_else().iter().map(|line| plan_of(line)).collect();
    for plan in plans.iter().chain([&usual]) {
        let line = again(plan);
        assert_eq!(plan_of(&line), *plan, "{line:?}");
    }
    let values = |plan: &Plan, n: usize| OPTIONS[n].values(plan).into_iter().map(|Value { text, .. }| text);
    for (n, option) in OPTIONS.iter().enumerate() {
        let differs = plans.iter().any(|plan| !values(plan, n).eq(values(&usual, n)));
        assert!(differs, "no command line of this test gives {} another value", option.title);
    }
}

#[test]
fn what_the_user_says_beside_a_recipe_is_a_departure_and_said_again() {
    let recipe =
        ["pgdyno", "run", "alloydb/tpcc-full", "--size", "16vcpu", "--target", "embedded", "--random-seed", "9"];
    let plan = plan_of(&recipe);
    assert_eq!(plan.recipe.as_ref().unwrap().departures, [""; 0]);
    let line = again(&plan);
    assert!(line.contains(&"alloydb/tpcc-full".to_owned()), "{line:?}");
    assert_eq!(plan_of(&line), plan);

    let own = "--wire libpq --max-tries 5 -L 100 --reconnect 10 --no-samples --prewarm --set jit=off -c 3";
    let plan = plan_of(&recipe.into_iter().chain(own.split(' ')).collect::<Vec<_>>());
    let departures = plan.recipe.as_ref().unwrap().departures.join("; ");
    for word in ["clients 3 (the recipe: ", "wire libpq", "max tries 5 (the recipe: 1000)", "latency limit 100 ms"] {
        assert!(departures.contains(word), "{word}: {departures}");
    }
    for word in ["reconnect 10 s", "prewarm", "jit off", "no samples"] {
        assert!(departures.contains(word), "{word}: {departures}");
    }
    let line = again(&plan);
    assert_eq!(plan_of(&line), Plan { recipe: None, ..plan }, "{line:?}");
}

#[test]
fn a_stored_plan_makes_the_same_plan_again_whatever_is_known_of_driver_and_data() {
    let recipe = "alloydb/tpcc-full --size 16vcpu --target embedded -c 3 --wire libpq";
    let recipe = ["pgdyno", "run"].into_iter().chain(recipe.split(' ')).map(str::to_owned).collect();
    for line in everything_else().into_iter().chain([recipe]) {
        let plan = plan_of(&line);
        let text = serde_json::to_string(&plan).unwrap();
        let stored: Plan = serde_json::from_str(&text).unwrap();
        let request = Request::of_plan(&stored, Path::new("")).unwrap_or_else(|failure| panic!("{}", failure.text()));
        let draft = request.draft().unwrap_or_else(|failure| panic!("{line:?}: {}", failure.text()));
        assert_eq!(draft.resolved.plan, plan, "{line:?}");
        let params = vec![("partitions".to_owned(), "9".to_owned())];
        let loaded = Some(Loaded { size: 99, complete: true, params, ..Loaded::default() });
        let facts = Facts { driver_cpus: 200, loaded, ..draft.facts };
        let resolved = request.resolve(&facts).unwrap_or_else(|failure| panic!("{line:?}: {}", failure.text()));
        assert_eq!((resolved.plan, resolved.notes), (plan, Vec::new()), "{line:?}");
    }
}
