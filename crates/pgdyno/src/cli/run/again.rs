//! Returns the command line that makes a plan again.

use std::path::Path;

use clap::Parser as _;
use pgdyno_life::plan::resolve::RunRequest;
use pgdyno_plan::options::{AnyOption, KeptOption, RunOption, all};
use pgdyno_plan::suite::{Cell, Suite};
use pgdyno_plan::{Facts, Loaded, Order, Plan};
use pgdyno_report::html::command_line;
use pgdyno_workload::ValueKind;
use pgdyno_workloads::options::Options;

use crate::cli::{Cli, Command};

fn parsed<S: AsRef<str>>(words: &[S]) -> Order {
    match Cli::try_parse_from(words.iter().map(AsRef::as_ref)).map(|cli| cli.command) {
        Ok(Command::Run(command)) => command.run.order(),
        Ok(_) => panic!("no arguments of a run"),
        Err(error) => panic!("{error}"),
    }
}

fn request<S: AsRef<str>>(words: &[S]) -> RunRequest {
    RunRequest::read(parsed(words)).unwrap_or_else(|failure| panic!("{}", failure.text()))
}

fn plan_of<S: AsRef<str>>(words: &[S]) -> Plan {
    let line = || words.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(" ");
    request(words).draft().unwrap_or_else(|failure| panic!("{}: {}", line(), failure.text())).resolved.plan
}

/// Returns the arguments that the record of such a run suggests.
fn again(plan: &Plan) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/v1/run.json");
    let mut record = pgdyno_results::read_record(&path).unwrap();
    record.plan = plan.clone();
    record.target = None;
    command_line(&record)
}

/// Returns the command line of an option's sample, and that of the same run without it.
fn sample(option: AnyOption) -> [Vec<String>; 2] {
    let (value, beside) = match option {
        AnyOption::Run(RunOption { sample, beside, .. }) => (*sample, (*beside).to_owned()),
        AnyOption::Workload(option) => (option.sample.0, format!("{} --target embedded", option.sample.1)),
    };
    let without: Vec<_> = format!("pgdyno run {beside} --random-seed 1").split(' ').map(str::to_owned).collect();
    // A seed replaces the one of all others.
    let rest = if option.spec().name == "random-seed" { &without[..without.len() - 2] } else { &without };
    [[rest, &option.arguments(value)].concat(), without.clone()]
}

/// Returns command lines of other kinds of workloads.
fn other_workloads() -> Vec<Vec<String>> {
    let workloads = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workloads").display().to_string();
    let line = |words: &str| ["pgdyno", "run"].into_iter().chain(words.split(' ')).map(str::to_owned).collect();
    vec![
        line("tproc-c --target embedded --profile spec --no-think -w 3 -D seed=7 -R 100 --arrivals uniform -L 50"),
        line("ycsb-e --target embedded -D scan-length=7"),
        line("oltp-read-write --target embedded -D range_size=7 -D rand-type=pareto"),
        line("polardb-ro --target embedded -c 3"),
        line("mixed --target embedded -c 6"),
        line(&format!("{workloads}/sensor-1 --target embedded -t 10")),
        line(&format!(
            "{workloads}/polardb-ro/select.sql@3 {workloads}/polardb-ro/select.sql -s 7 -D range=9 -D warehouses=3 --target embedded"
        )),
    ]
}

fn samples() -> impl Iterator<Item = (AnyOption, [Vec<String>; 2])> {
    all::<Options>().map(|(_, option)| (option, sample(option)))
}

#[test]
fn each_option_is_an_argument_a_key_of_suites_and_a_part_of_its_plan() {
    for (option, [with, without]) in samples() {
        let name = option.spec().name;
        let order = parsed(&with);
        assert_ne!(order, parsed(&without), "--{name}");
        if let Some(key) = option.suite_key() {
            let cell = cell(option, &key);
            assert_eq!(option.get(&cell.order), option.get(&order), "{key}");
            let line = [&["pgdyno".to_owned(), "run".to_owned()], cell.args.as_slice()].concat();
            assert_eq!(Order { out: None, ..parsed(&line) }, cell.order, "{line:?}");
        }
        let is_kept = match option {
            AnyOption::Run(option) => !matches!(option.kept, KeptOption::Nothing),
            AnyOption::Workload(_) => true,
        };
        if is_kept {
            let plan = plan_of(&with);
            assert_ne!(plan, plan_of(&without), "--{name}");
            let line = again(&plan);
            assert_eq!(plan_of(&line), plan, "{line:?}");
        }
    }
}

/// Returns the cell of a suite that has the sample of `option` by its key.
fn cell(option: AnyOption, key: &str) -> Cell {
    let spec = option.spec();
    let value = |text: &str| match spec.value {
        ValueKind::Flag => "true".to_owned(),
        ValueKind::Whole | ValueKind::Number | ValueKind::Rate => text.to_owned(),
        // Samples have their unit.
        ValueKind::Text | ValueKind::Texts | ValueKind::Choice(_) | ValueKind::Time | ValueKind::Milliseconds => {
            format!("'{text}'")
        }
        ValueKind::Pairs => {
            text.split_once('=').map(|(name, value)| format!("{{ {name} = '{value}' }}")).unwrap_or_default()
        }
    };
    let given = match option {
        AnyOption::Run(RunOption { sample, .. }) => sample,
        AnyOption::Workload(option) => &option.sample.0,
    };
    let beside = spec.requires.map(|other| format!("{other} = 100\n")).unwrap_or_default();
    let text =
        format!("name = 's'\ntargets = ['embedded']\n[[run]]\nwhat = 'noop'\n{beside}{key} = {}\n", value(given));
    let suite = Suite::read::<Options>("s.toml", &text, "", &|_| false);
    suite.unwrap_or_else(|error| panic!("{text}: {error}")).cells.remove(0)
}

#[test]
fn a_plan_becomes_a_command_line_that_makes_the_same_plan() {
    for line in other_workloads() {
        let plan = plan_of(&line);
        let line = again(&plan);
        assert_eq!(plan_of(&line), plan, "{line:?}");
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
    let kept =
        samples().filter(|(option, _)| !matches!(option, AnyOption::Run(RunOption { kept: KeptOption::Nothing, .. })));
    let kept = kept.map(|(_, [line, _])| line);
    for line in other_workloads().into_iter().chain(kept).chain([recipe]) {
        let plan = plan_of(&line);
        let text = serde_json::to_string(&plan).unwrap();
        let stored: Plan = serde_json::from_str(&text).unwrap();
        let request =
            RunRequest::of_plan(&stored, Path::new("")).unwrap_or_else(|failure| panic!("{}", failure.text()));
        let draft = request.draft().unwrap_or_else(|failure| panic!("{line:?}: {}", failure.text()));
        assert_eq!(draft.resolved.plan, plan, "{line:?}");
        let params = vec![("partitions".to_owned(), "9".to_owned())];
        let loaded = Some(Loaded { size: 99, complete: true, params, ..Loaded::default() });
        let facts = Facts { driver_cpus: 200, loaded, ..draft.facts };
        let resolved = request.resolve(&facts).unwrap_or_else(|failure| panic!("{line:?}: {}", failure.text()));
        assert_eq!((resolved.plan, resolved.notes), (plan, Vec::new()), "{line:?}");
    }
}
