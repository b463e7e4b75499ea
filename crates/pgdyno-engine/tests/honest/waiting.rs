//! What a schedule asked for: skipped, begun, or still waiting when the run ended. Nothing of it vanishes.

use pgdyno_engine::pacer::Pacer;
use pgdyno_engine::sim::{SimAnswer, Simulation, fleet};
use pgdyno_engine::{Arrivals, ClientRules, Rate, Tick};
use pgdyno_measure::{Interval, Phase, ThreadCounts, Totals, broken_identities, broken_schedule};
use pgdyno_wire::{QueryMode, Statement};
use pgdyno_workload::{ClientScript, Rng};
use proptest::prelude::*;

use crate::{MS, Run, S, Script};

/// A run of which anything may go wrong.
#[derive(Clone, Debug)]
struct Trial {
    seed: u64,
    clients: usize,
    lines: Option<usize>,
    statements: usize,
    rate: Rate,
    limit_ms: Option<u64>,
    max_tries: u32,
    transactions: Option<u64>,
    connect_each: bool,
    reconnect_ms: Option<u64>,
    /// Of a thousand requests, so many lose the connection, and so many more fail with a serialization failure.
    failures: (i64, i64),
    end_ms: u64,
}

impl Trial {
    fn pacer(&self) -> Pacer {
        Pacer::new(Some(self.rate), 0, 1, Rng::new(self.seed))
    }

    /// What was counted, and when the last transaction may have begun.
    fn run(&self) -> (Totals, Tick) {
        let script = Script { statements: self.statements, think_ns: 0, step: 0 };
        let scripts = (0..self.clients).map(|_| Box::new(script.clone()) as Box<dyn ClientScript>).collect();
        let statements = (0..self.statements).map(|nth| Statement::new(format!("SELECT {nth}"), &[])).collect();
        let rules = ClientRules {
            latency_limit_ns: self.limit_ms.map(|ms| ms * MS),
            max_tries: self.max_tries,
            transactions: self.transactions,
            connect_each: self.connect_each && self.lines.is_none(),
            ..ClientRules::default()
        };
        let mut fleet = fleet(scripts, statements, QueryMode::Extended, rules, self.pacer());
        if let Some(lines) = self.lines {
            fleet = fleet.sharing(lines);
        }
        let (mut rng, mut connecting) = (Rng::new(self.seed ^ 1), Rng::new(self.seed ^ 2));
        let (lost, failed) = self.failures;
        let mut simulation = Simulation::new(fleet, move |_| match rng.uniform(1, 1_000) {
            draw if draw <= lost => SimAnswer::Disconnect,
            draw if draw <= lost + failed => SimAnswer::Fail { service_ns: MS, code: "40001" },
            draw => SimAnswer::Complete { service_ns: draw as u64 * MS / 20 },
        })
        .connecting(move |_| (connecting.uniform(1, 200) > 1).then_some(2 * MS));
        if let Some(ms) = self.reconnect_ms {
            simulation = simulation.reconnecting(ms * MS);
        }
        let end = Tick(self.end_ms * MS);
        simulation.run(end);
        let stopped = end.min(simulation.now());
        let in_flight = simulation.fleet().recorder(0).in_flight();
        let part = simulation.fleet().recorder(0).take();
        let mut totals = Totals::default();
        let phase = Phase::Measure;
        let end_ns = simulation.now().0;
        totals.add(
            &Interval {
                index: 0,
                stage: 0,
                phase,
                start_ns: 0,
                end_ns,
                part,
                in_flight,
                workers: vec![],
                groups: vec![],
            },
            0,
        );
        (totals, stopped)
    }
}

fn trial() -> impl Strategy<Value = Trial> {
    let rate = (20u32..400, any::<bool>()).prop_map(|(per_s, uniform)| Rate {
        per_s: f64::from(per_s),
        arrivals: if uniform { Arrivals::Uniform } else { Arrivals::Poisson },
    });
    let shape = (any::<u64>(), 1usize..9, proptest::option::of(1usize..4), 1usize..4);
    let rules = (proptest::option::of(5u64..500), 1u32..4, proptest::option::weighted(0.2, 1u64..60), any::<bool>());
    let failures = (proptest::option::of(1u64..700), (0i64..60, 0i64..200), 300u64..4_000);
    (shape, rate, rules, failures).prop_map(|(shape, rate, rules, failures)| Trial {
        seed: shape.0,
        clients: shape.1,
        lines: shape.2,
        statements: shape.3,
        rate,
        limit_ms: rules.0,
        max_tries: rules.1,
        transactions: rules.2,
        connect_each: rules.3,
        reconnect_ms: failures.0,
        failures: failures.1,
        end_ms: failures.2,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn every_arrival_is_skipped_or_begun_or_still_waits(trial in trial()) {
        let (totals, stopped) = trial.run();
        prop_assert_eq!(broken_identities(&totals, &["test"]), []);
        prop_assert_eq!(broken_schedule(&[&totals]), None);
        prop_assert_eq!(totals.in_flight_at_end, 0);
        let part = &totals.part;
        let scheduled = part.scheduled.unwrap();
        if trial.transactions.is_none() {
            // The same schedule once more, without any client.
            let mut pacer = trial.pacer();
            let due = std::iter::repeat_with(|| pacer.intended(Tick(0))).take_while(|at| *at <= stopped).count();
            prop_assert_eq!(scheduled, due as u64);
        } else {
            prop_assert!(scheduled <= trial.clients as u64 * trial.transactions.unwrap());
        }
        prop_assert!(part.still_waiting_ns_max <= stopped.0);
        let lag = part.txns[0].lag.as_ref().unwrap();
        if let Some(limit) = trial.limit_ms.filter(|_| trial.reconnect_ms.is_none() && !trial.connect_each) {
            // A retry is no begin: the lag is from the intended start to the first byte.
            prop_assert!(lag.max_ns() <= limit * MS, "began {} ns after its time", lag.max_ns());
        }
    }
}

/// One connection does 20 a second, and 100 come.
fn overloaded(limit_ns: Option<u64>) -> ThreadCounts {
    let rate = Some(Rate { per_s: 100.0, arrivals: Arrivals::Uniform });
    Run { lines: Some(1), rate, limit_ns, ..Run::of(50) }.simulate(10 * S, |_, _| 50 * MS)
}

#[test]
fn the_limit_counts_when_a_shared_connection_is_free_as_well() {
    let part = overloaded(Some(200 * MS));
    let txn = &part.txns[0];
    assert!(txn.lag.as_ref().unwrap().max_ns() <= 200 * MS, "{}", txn.lag.as_ref().unwrap().max_ns());
    assert!(txn.late <= txn.completed() && txn.response.as_ref().unwrap().max_ns() <= 250 * MS);
    assert!((195..=200).contains(&txn.started), "the connection is never idle: {}", txn.started);
    assert_eq!(txn.skipped + txn.started + part.still_waiting, 1_001);
    assert!(part.still_waiting_ns_max <= 250 * MS, "{}", part.still_waiting_ns_max);
}

#[test]
fn who_waits_to_the_end_is_counted_with_the_longest_wait() {
    let part = overloaded(None);
    let txn = &part.txns[0];
    assert_eq!((txn.skipped, txn.started + part.still_waiting), (0, 1_001));
    // The 200 that began came in the first two seconds: the next one waited for the other eight.
    assert!(part.still_waiting_ns_max >= 79 * S / 10, "{}", part.still_waiting_ns_max);
    // Without a schedule, a client that is due and has no connection: of ten all but the one that has it.
    let closed = Run { lines: Some(1), ..Run::of(10) }.simulate(S / 2, |_, _| S);
    assert_eq!((closed.still_waiting, closed.still_waiting_ns_max, closed.scheduled), (9, S / 2, None));
}
