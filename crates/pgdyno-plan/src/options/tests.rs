//! What holds for every option.

use super::*;
use crate::plan::example;
use crate::{Arrivals, Pace, Rate};

#[test]
fn names_and_letters_are_used_once() {
    let mut names: Vec<_> = of_any_run().flat_map(|o| o.spec.aliases.iter().copied().chain([o.spec.name])).collect();
    let mut letters: Vec<_> = of_any_run().filter_map(|option| option.spec.short).collect();
    let all = (names.len(), letters.len());
    names.sort_unstable();
    names.dedup();
    letters.sort_unstable();
    letters.dedup();
    assert_eq!((names.len(), letters.len()), all);
}

#[test]
fn other_options_that_one_names_exist() {
    for option in of_any_run() {
        let with = match option.kept {
            KeptOption::With(other) => Some(other),
            _ => None,
        };
        for other in option.spec.conflicts.iter().copied().chain(option.spec.requires).chain(with) {
            assert!(find(other).is_some(), "--{} names --{other}", option.spec.name);
        }
    }
}

#[test]
fn a_value_that_is_set_is_read_back_and_again_the_same() {
    for option in of_any_run().map(AnyOption::Run) {
        let AnyOption::Run(RunOption { sample, .. }) = option else { continue };
        let name = option.spec().name;
        let mut order = Order::default();
        assert_eq!(option.get(&order), [""; 0], "--{name}");
        option.set(&mut order, sample).unwrap_or_else(|error| panic!("--{name}: {error}"));
        assert_ne!(order, Order::default(), "--{name}");
        let (values, mut again) = (option.get(&order), Order::default());
        for value in &values {
            option.set(&mut again, value).unwrap_or_else(|error| panic!("--{name}: {error}"));
        }
        assert_eq!(again, order, "--{name}: {values:?}");
    }
}

#[test]
fn plans_differ_in_what_bears_on_figures() {
    let first = example();
    let mut second = example();
    (second.seed, second.percentiles) = (7, vec![50.0]);
    assert_eq!(differences(&first, &second), []);
    second.drive.clients = 3;
    second.settings.insert("jit".to_owned(), "on".to_owned());
    second.params.remove("warehouses");
    (second.drive.time_s, second.drive.transactions) = (None, Some(7));
    let reported: Vec<_> = differences(&first, &second)
        .into_iter()
        .map(|d| format!("{}: {} / {}", d.name, d.first.unwrap_or_default(), d.second.unwrap_or_default()))
        .collect();
    assert_eq!(
        reported,
        ["warehouses: 10 / ", "jit:  / on", "clients: 16 / 3", "length: 30 s / 7 transactions of each client"]
    );
}

#[test]
fn a_limit_of_latency_is_work_where_it_skips_transactions() {
    let bearing = find("latency-limit").unwrap().kept.reported().unwrap().bearing;
    let mut plan = example();
    assert_eq!(bearing(&plan), Bearing::Figures);
    plan.drive.pace = Pace::Rate(Rate { per_s: 9.0, arrivals: Arrivals::Poisson });
    assert_eq!(bearing(&plan), Bearing::Work);
}
