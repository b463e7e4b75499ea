//! Clients with a reader each: what only reads goes there, in virtual time.

use std::collections::BTreeMap;

use pgdyno_engine::fleet::{Fleet, numbered};
use pgdyno_engine::pacer::Pacer;
use pgdyno_engine::sim::{SimAnswer, SimRequest, Simulation};
use pgdyno_engine::{Arrivals, ClientRules, EndpointWork, Rate, Tick};
use pgdyno_measure::{Interval, Phase, Totals, broken_identities, broken_schedule};
use pgdyno_wire::{ErrorClass, QueryMode, Statement, StmtId};
use pgdyno_workload::{Batch, Begin, ClientScript, Next, Reply, Rng, TxnId, Verdict};

const MS: u64 = 1_000_000;
const S: u64 = 1_000 * MS;
const CLIENTS: usize = 3;
/// The lines to readers of clients 0, 1 and 2; the readers are 0, 1 and 0.
const READERS: [usize; CLIENTS] = [3, 4, 5];

/// Writes and reads in turn.
#[derive(Default)]
struct Script {
    reads: bool,
}

impl ClientScript for Script {
    fn begin(&mut self) -> Option<Begin> {
        self.reads = !self.reads;
        Some(Begin::now(TxnId(u8::from(self.reads))))
    }

    fn step(&mut self, _: Reply<'_>, batch: &mut Batch<'_>) -> Next {
        batch.execute(StmtId(u32::from(self.reads)), &[]);
        Next::Finish(Verdict::Committed)
    }

    fn restart(&mut self) {}
}

struct Outcome {
    totals: Totals,
    endpoints: Vec<EndpointWork>,
    /// Statements that the servers prepared, by line.
    prepared: BTreeMap<usize, Vec<String>>,
    end: Tick,
    lost: usize,
}

fn fleet(rate: Option<Rate>) -> Fleet {
    let statements = numbered(["UPDATE t SET a = 1", "SELECT 1"].map(|sql| Statement::new(sql, &[])).into());
    let scripts = (0..CLIENTS).map(|_| Box::<Script>::default() as Box<dyn ClientScript>).collect();
    let pacer = Pacer::new(rate, 0, 1, Rng::new(1));
    let fleet = Fleet::new(0, scripts, QueryMode::Prepared, statements, 2, ClientRules::default(), pacer);
    fleet.routing([false, true].into(), &[Some(0), Some(1), Some(0)])
}

fn run(rate: Option<Rate>, reconnect_ns: Option<u64>, mut behave: impl FnMut(&SimRequest<'_>) -> SimAnswer) -> Outcome {
    let mut prepared: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    let mut simulation = Simulation::new(fleet(rate), |request| {
        if !request.sql.is_empty() {
            prepared.entry(request.client).or_default().push(request.sql.to_owned());
        }
        behave(request)
    });
    if let Some(after) = reconnect_ns {
        simulation = simulation.reconnecting(after);
    }
    simulation.run(Tick(10 * S));
    let end = simulation.now();
    if end < Tick(10 * S) {
        simulation.fleet().close_window(end);
    }
    let recorder = simulation.fleet().recorder(0);
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
        workers: Vec::new(),
        groups: Vec::new(),
    };
    totals.add(&interval, 0);
    let endpoints = simulation.fleet().take_work_by_endpoint();
    let lost = simulation.fleet().lost();
    drop(simulation);
    Outcome { totals, endpoints, prepared, end, lost }
}

fn answer(_: &SimRequest<'_>) -> SimAnswer {
    SimAnswer::Complete { service_ns: 2 * MS }
}

#[track_caller]
fn assert_sound(outcome: &Outcome) {
    let broken = broken_identities(&outcome.totals, &[]).into_iter().chain(broken_schedule(&[&outcome.totals]));
    assert_eq!(broken.map(|broken| broken.to_string()).collect::<Vec<_>>(), [""; 0]);
    // Each transaction is counted once, at its endpoint. Those that end after the window are not.
    let by_txn: u64 = outcome.totals.part.txns.iter().map(|txn| txn.committed + txn.failed.iter().sum::<u64>()).sum();
    let by_endpoint: u64 =
        outcome.endpoints.iter().map(|work| work.completed + work.failed.values().sum::<u64>()).sum();
    assert!(by_txn - by_endpoint <= CLIENTS as u64, "{by_txn} {by_endpoint}");
}

#[test]
fn writes_go_to_the_target_and_reads_to_the_reader_of_each_client() {
    let outcome = run(None, None, answer);
    assert_sound(&outcome);
    for line in 0..CLIENTS {
        assert_eq!(outcome.prepared[&line], ["UPDATE t SET a = 1"], "the target, client {line}");
    }
    for line in READERS {
        assert_eq!(outcome.prepared[&line], ["SELECT 1"], "a reader, line {line}");
    }
    let completed: Vec<_> = outcome.endpoints.iter().map(|work| work.completed).collect();
    // 10 s of 2 ms each: half of 15,000 are writes, and two of three clients read from the first reader.
    assert!(completed[0].abs_diff(7_500) <= 3 && completed[1].abs_diff(5_000) <= 3, "{completed:?}");
    assert!(completed[2].abs_diff(2_500) <= 3, "{completed:?}");
    let latencies = outcome.endpoints.iter().map(|work| (work.service.min_ns(), work.service.max_ns()));
    assert!(latencies.into_iter().all(|ns| ns == (2 * MS, 2 * MS)));
}

#[test]
fn a_rate_is_kept_over_both_connections() {
    let rate = Rate { per_s: 100.0, arrivals: Arrivals::Uniform };
    let outcome = run(Some(rate), None, answer);
    assert_sound(&outcome);
    let completed: u64 = outcome.endpoints.iter().map(|work| work.completed).sum();
    assert!(completed.abs_diff(1_000) <= 3, "{completed}");
}

#[test]
fn a_client_waits_for_its_reader_and_goes_on_when_that_is_back() {
    let mut requests = 0;
    let outcome = run(None, Some(S), |request| {
        requests += u32::from(request.client == READERS[1]);
        match requests {
            5 if request.client == READERS[1] => SimAnswer::Disconnect,
            _ => answer(request),
        }
    });
    assert_sound(&outcome);
    assert_eq!((outcome.lost, outcome.end >= Tick(10 * S)), (0, true));
    let second = &outcome.endpoints[2];
    assert_eq!(second.failed, [(ErrorClass::Connection, 1)].into());
    assert_eq!((second.lost, outcome.endpoints[1].lost), (1, 0));
    // A second without the reader, and one write in it.
    assert!(second.completed.abs_diff(2_250) <= 4, "{}", second.completed);
    assert_eq!(outcome.prepared[&READERS[1]].len(), 2, "prepared anew");
    assert_eq!(outcome.totals.part.reconnected, 1);
}

#[test]
fn without_its_reader_a_client_ends_at_its_next_read_and_the_others_go_on() {
    let mut requests = 0;
    let outcome = run(None, None, |request| {
        requests += u32::from(request.client == READERS[1]);
        match requests {
            5 if request.client == READERS[1] => SimAnswer::Disconnect,
            _ => answer(request),
        }
    });
    assert_sound(&outcome);
    assert_eq!(outcome.lost, 1);
    assert_eq!(outcome.endpoints[2].completed, 4);
    assert!(outcome.endpoints[1].completed.abs_diff(5_000) <= 3);
}

#[test]
fn a_target_that_is_lost_for_good_ends_the_run() {
    let outcome = run(None, None, |request| match request.client {
        0..CLIENTS => SimAnswer::Disconnect,
        _ => answer(request),
    });
    assert_sound(&outcome);
    assert!(outcome.end < Tick(S), "{:?}", outcome.end);
    assert_eq!(outcome.lost, CLIENTS);
    assert_eq!(outcome.endpoints.iter().skip(1).map(|work| work.failed.len()).sum::<usize>(), 0);
}
