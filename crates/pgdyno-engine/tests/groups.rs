//! Groups of clients side by side on one thread, in virtual time.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::sync::Arc;

use pgdyno_engine::fleet::{Fleet, numbered};
use pgdyno_engine::pacer::Pacer;
use pgdyno_engine::sim::{SimAnswer, SimRequest, Simulation};
use pgdyno_engine::{Arrivals, ClientRules, GroupNumbers, Rate, Tick};
use pgdyno_measure::{Interval, Phase, ThreadCounts, Totals, broken_identities, broken_schedule};
use pgdyno_wire::{QueryMode, Statement, StmtId};
use pgdyno_workload::{Batch, Begin, ClientScript, Next, Reply, Rng, TxnId, Verdict};
use proptest::prelude::*;

const MS: u64 = 1_000_000;
const S: u64 = 1_000 * MS;

/// Transactions of one statement. Scripts of each group number both from 0.
#[derive(Clone)]
struct Script {
    think_ns: u64,
    /// Transactions that are left, where they have an end.
    left: Option<u32>,
}

impl ClientScript for Script {
    fn begin(&mut self) -> Option<Begin> {
        if let Some(left) = &mut self.left {
            *left = left.checked_sub(1)?;
        }
        Some(Begin { wait_ns: self.think_ns, ..Begin::now(TxnId(0)) })
    }

    fn step(&mut self, _: Reply<'_>, batch: &mut Batch<'_>) -> Next {
        batch.execute(StmtId(0), &[]);
        Next::Finish(Verdict::Committed)
    }

    fn restart(&mut self) {}
}

#[derive(Clone, Debug)]
struct Group {
    clients: usize,
    mode: QueryMode,
    rate: Option<Rate>,
    think_ns: u64,
    left: Option<u32>,
    rules: ClientRules,
}

impl Group {
    fn of(clients: usize) -> Self {
        Self { clients, mode: QueryMode::Prepared, rate: None, think_ns: 0, left: None, rules: ClientRules::default() }
    }

    fn with_rate(clients: usize, per_s: f64) -> Self {
        Self { rate: Some(Rate { per_s, arrivals: Arrivals::Uniform }), ..Self::of(clients) }
    }

    fn add_to(&self, number: usize, first: u32, fleet: Option<Fleet>, statements: &Arc<[Statement]>) -> Fleet {
        let script = Script { think_ns: self.think_ns, left: self.left };
        let scripts = (0..self.clients).map(|_| Box::new(script.clone()) as Box<dyn ClientScript>).collect();
        let pacer = Pacer::new(self.rate, 0, 1, Rng::new(number as u64));
        match fleet {
            Some(fleet) => fleet.with_group(first, scripts, self.mode, self.rules, pacer),
            None => {
                let (of_run, txns) = (Arc::clone(statements), statements.len());
                Fleet::new(first, scripts, self.mode, of_run, txns, self.rules, pacer)
            }
        }
    }
}

/// What came of a simulated run.
struct Outcome {
    /// By group.
    totals: Vec<Totals>,
    /// Requests, by client.
    requests: BTreeMap<usize, u64>,
    end: Tick,
}

impl Outcome {
    fn part(&self, group: usize) -> &ThreadCounts {
        &self.totals[group].part
    }

    fn broken(&self) -> Vec<String> {
        let of_group = |totals: &Totals| {
            let broken = broken_identities(totals, &[]).into_iter().chain(broken_schedule(&[totals]));
            broken.map(|broken| broken.to_string()).collect::<Vec<_>>()
        };
        self.totals.iter().flat_map(of_group).collect()
    }
}

fn run(
    groups: &[Group],
    shared: Option<usize>,
    seconds: u64,
    mut behave: impl FnMut(&SimRequest<'_>) -> SimAnswer,
) -> Outcome {
    let statements = numbered((0..groups.len()).map(|n| Statement::new(format!("SELECT {n}"), &[])).collect());
    let (mut fleet, mut first) = (None, 0);
    for (number, group) in groups.iter().enumerate() {
        fleet = Some(group.add_to(number, first, fleet, &statements));
        first += group.clients as u32;
    }
    let numbers = |nth: usize| GroupNumbers {
        statements: statements[nth..=nth].into(),
        first_txn: nth,
        first_statement: nth as u32,
        tallies: 0..0,
    };
    let mut fleet = fleet.unwrap().scheduled().numbering((0..groups.len()).map(numbers));
    if let Some(lines) = shared {
        fleet = fleet.sharing(lines);
    }
    let mut requests = BTreeMap::new();
    let mut simulation = Simulation::new(fleet, |request| {
        *requests.entry(request.client).or_insert(0) += 1;
        behave(request)
    });
    simulation.run(Tick(seconds * S));
    let end = simulation.now();
    let totals = (0..groups.len()).map(|group| {
        let recorder = simulation.fleet().recorder(group);
        let (in_flight, part) = (recorder.in_flight(), recorder.take());
        let mut totals = Totals::default();
        let interval = Interval {
            index: 0,
            stage: 0,
            phase: Phase::Measure,
            start_ns: 0,
            end_ns: end.0,
            part,
            in_flight,
            workers: vec![],
            groups: vec![],
        };
        totals.add(&interval, 0);
        totals
    });
    let totals = totals.collect();
    drop(simulation);
    Outcome { totals, requests, end }
}

fn steady(service_ns: u64) -> impl FnMut(&SimRequest<'_>) -> SimAnswer {
    move |_| SimAnswer::Complete { service_ns }
}

#[test]
fn each_group_has_its_own_pace() {
    let thinkers = Group { think_ns: 99 * MS, ..Group::of(5) };
    let groups = [Group::of(4), Group::with_rate(3, 100.0), Group::with_rate(2, 250.0), thinkers];
    let outcome = run(&groups, None, 10, steady(MS));
    let committed: Vec<u64> = (0..4).map(|group| outcome.part(group).txns[group].committed).collect();
    assert_eq!(committed, [40_000, 1_000, 2_500, 500]);
    let scheduled: Vec<_> = outcome.totals.iter().map(|totals| totals.part.scheduled).collect();
    // The arrival at the very end is due, too.
    assert_eq!(scheduled, [None, Some(1_001), Some(2_501), None]);
    assert_eq!(outcome.broken(), Vec::<String>::new());
}

#[test]
fn each_group_has_its_own_rules_and_query_mode() {
    let tried =
        Group { rules: ClientRules { max_tries: 3, transactions: Some(10), ..ClientRules::default() }, ..Group::of(2) };
    let simple = Group { mode: QueryMode::Simple, left: Some(10), ..Group::of(1) };
    let strict = ClientRules { latency_limit_ns: Some(MS / 2), transactions: Some(10), ..ClientRules::default() };
    let late = Group { rules: strict, ..Group::of(1) };
    let mut simple_sent = 0;
    let outcome = run(&[tried, simple, late], None, 100, |request| {
        simple_sent += u32::from(request.client == 2 && request.sql == "SELECT 1");
        match request.client {
            0 | 1 => SimAnswer::Fail { service_ns: MS, code: "40001" },
            _ => SimAnswer::Complete { service_ns: MS },
        }
    });
    let [tried, simple, late] = [0, 1, 2].map(|group| outcome.part(group).txns[group].clone());
    assert_eq!((tried.failures(), tried.retries, tried.late), (20, 40, 0));
    // A simple query has its text each time.
    assert_eq!((simple.committed, simple.late, simple_sent), (10, 0, 10));
    assert_eq!((late.committed, late.late), (10, 10));
    assert_eq!(outcome.broken(), Vec::<String>::new());
}

#[test]
fn a_group_ends_while_another_goes_on() {
    let short = Group { left: Some(22), ..Group::with_rate(2, 10.0) };
    let outcome = run(&[Group::of(1), short], None, 60, steady(MS));
    assert_eq!(outcome.part(0).txns[0].committed, 60_000);
    let short = outcome.part(1);
    assert_eq!((short.txns[1].committed, short.scheduled, short.still_waiting), (44, Some(44), 0));
    assert_eq!(outcome.end, Tick(60 * S));
    assert_eq!(outcome.broken(), Vec::<String>::new());
}

#[test]
fn groups_that_share_connections_are_counted_apart() {
    let groups = [Group::of(6), Group::with_rate(2, 50.0)];
    let outcome = run(&groups, Some(2), 10, steady(MS));
    let (closed, open) = (outcome.part(0).txns[0].committed, outcome.part(1).txns[1].committed);
    assert_eq!(closed + open, 20_000);
    assert!((499..=501).contains(&open), "{open}");
    assert_eq!(outcome.requests.values().sum::<u64>(), 20_000);
    assert_eq!(outcome.broken(), Vec::<String>::new());
}

fn group() -> impl Strategy<Value = Group> {
    let rate = proptest::option::of(1u32..2_000).prop_map(|rate| rate.map(f64::from));
    (0usize..5, rate, 0u64..20 * MS, proptest::option::of(0u32..50), proptest::option::of(1u64..30)).prop_map(
        |(clients, per_s, think_ns, left, limit_ms)| {
            let rules =
                ClientRules { latency_limit_ns: limit_ms.map(|ms| ms * MS), max_tries: 2, ..ClientRules::default() };
            // A group without clients has no schedule, as the run deals them.
            let per_s = per_s.filter(|_| clients > 0);
            let rate = per_s.map(|per_s| Rate { per_s, arrivals: Arrivals::Poisson });
            Group { rate, think_ns, left, rules, ..Group::of(clients) }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// What a group counts is what its own clients asked the server: nothing is missing, nothing counted twice.
    #[test]
    fn every_request_is_counted_once_in_its_group(
        groups in proptest::collection::vec(group(), 1..5),
        service_ns in 1u64..30 * MS,
        seed in any::<u64>(),
    ) {
        let mut rng = Rng::new(seed);
        let outcome = run(&groups, None, 3, |_| match rng.uniform(0, 9) {
            0 => SimAnswer::Fail { service_ns, code: "40P01" },
            1 => SimAnswer::Fail { service_ns, code: "42P01" },
            _ => SimAnswer::Complete { service_ns },
        });
        prop_assert_eq!(outcome.broken(), Vec::<String>::new());
        let mut first = 0;
        for (number, group) in groups.iter().enumerate() {
            let asked: u64 = (first..first + group.clients).filter_map(|client| outcome.requests.get(&client)).sum();
            let part = outcome.part(number);
            let statement = &part.stmts[number];
            prop_assert_eq!(statement.latency.count() + statement.failed, asked);
            let txn = &part.txns[number];
            prop_assert_eq!(txn.started + txn.retries, asked);
            for other in (0..groups.len()).filter(|other| *other != number) {
                prop_assert_eq!(part.txns[other].started + part.stmts[other].latency.count(), 0);
            }
            first += group.clients;
        }
    }
}
