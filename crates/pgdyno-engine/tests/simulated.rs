//! The whole engine but for its sockets, against scripted servers in virtual time.

use pgdyno_engine::client::ClientState;
use pgdyno_engine::pacer::Pacer;
use pgdyno_engine::sim::{SimAnswer, SimRequest, Simulation, fleet};
use pgdyno_engine::{Arrivals, ClientRules, Rate, Tick};
use pgdyno_measure::{Interval, Phase, ThreadCounts, Totals, broken_identities};
use pgdyno_wire::{ParamType, ParamValue, QueryMode, Statement, StmtId};
use pgdyno_workload::{Batch, Begin, ClientScript, Next, Reply, Rng, Since, TxnId, Verdict};
use proptest::prelude::*;

const MS: u64 = 1_000_000;
const S: u64 = 1_000 * MS;

const BEGIN: StmtId = StmtId(0);
const SELECT: StmtId = StmtId(1);
const END: StmtId = StmtId(2);

fn statements() -> Vec<Statement> {
    vec![Statement::new("BEGIN", &[]), Statement::new("SELECT $1", &[ParamType::Int4]), Statement::new("END", &[])]
}

/// One SELECT, or BEGIN, SELECT, END in three steps or one batch; a think time before each.
#[derive(Clone)]
struct Script {
    shape: Shape,
    think_ns: u64,
    /// Transactions that are left, where they have an end.
    left: Option<u32>,
    step: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Shape {
    Single,
    Block,
    Pipeline,
    Nap(u64),
}

impl Script {
    fn new(shape: Shape) -> Self {
        Self { shape, think_ns: 0, left: None, step: 0 }
    }

    fn boxed(self, n: usize) -> Vec<Box<dyn ClientScript>> {
        (0..n).map(|_| Box::new(self.clone()) as Box<dyn ClientScript>).collect()
    }
}

impl ClientScript for Script {
    fn begin(&mut self) -> Option<Begin> {
        self.step = 0;
        if let Some(left) = &mut self.left {
            *left = left.checked_sub(1)?;
        }
        Some(Begin { txn: TxnId(0), wait_ns: self.think_ns, since: Since::End })
    }

    fn step(&mut self, _: Reply<'_>, batch: &mut Batch<'_>) -> Next {
        self.step += 1;
        let last = Next::Finish(Verdict::Committed);
        match (self.shape, self.step) {
            (Shape::Single, _) | (Shape::Nap(_), 2) => {
                batch.execute(SELECT, &[ParamValue::Int4(1)]);
                last
            }
            (Shape::Nap(ns), _) => Next::Sleep(ns),
            (Shape::Pipeline, _) => {
                batch.execute(BEGIN, &[]);
                batch.execute(SELECT, &[ParamValue::Int4(1)]);
                batch.execute(END, &[]);
                last
            }
            (Shape::Block, 1) => {
                batch.execute(BEGIN, &[]);
                Next::Await
            }
            (Shape::Block, 2) => {
                batch.execute(SELECT, &[ParamValue::Int4(1)]);
                Next::Await
            }
            (Shape::Block, _) => {
                batch.execute(END, &[]);
                last
            }
        }
    }

    fn restart(&mut self) {
        self.step = 0;
    }
}

struct Sim {
    script: Script,
    clients: usize,
    mode: QueryMode,
    rules: ClientRules,
    rate: Option<Rate>,
    read_bytes: usize,
}

impl Sim {
    fn new(shape: Shape) -> Self {
        Self {
            script: Script::new(shape),
            clients: 1,
            mode: QueryMode::Prepared,
            rules: ClientRules::default(),
            rate: None,
            read_bytes: usize::MAX,
        }
    }

    fn run(self, seconds: u64, behave: impl FnMut(&SimRequest<'_>) -> SimAnswer) -> Outcome {
        let pacer = Pacer::new(self.rate, 0, 1, Rng::new(1));
        let fleet = fleet(self.script.boxed(self.clients), statements(), self.mode, self.rules, pacer);
        let mut simulation = Simulation::new(fleet, behave).reads_of(self.read_bytes);
        simulation.run(Tick(seconds * S));
        let states = (0..self.clients).map(|i| simulation.fleet().state(i)).collect();
        let in_flight = simulation.fleet().recorder(0).in_flight();
        Outcome { part: simulation.fleet().recorder(0).take(), states, in_flight, end: simulation.now() }
    }
}

struct Outcome {
    part: ThreadCounts,
    states: Vec<ClientState>,
    in_flight: u64,
    end: Tick,
}

impl Outcome {
    fn broken(&self) -> Vec<String> {
        let mut totals = Totals::default();
        let interval = Interval {
            index: 0,
            stage: 0,
            phase: Phase::Measure,
            start_ns: 0,
            end_ns: self.end.0,
            part: self.part.clone(),
            in_flight: self.in_flight,
            workers: vec![],
            groups: vec![],
        };
        totals.add(&interval, 0);
        broken_identities(&totals, &["test"]).iter().map(ToString::to_string).collect()
    }
}

fn steady(service_ns: u64) -> impl FnMut(&SimRequest<'_>) -> SimAnswer {
    move |_| SimAnswer::Complete { service_ns }
}

/// All requests between 1 s and 2 s are answered at 2 s.
fn stalling(service_ns: u64) -> impl FnMut(&SimRequest<'_>) -> SimAnswer {
    move |request| {
        let stall = if (S..2 * S).contains(&request.at.0) { 2 * S - request.at.0 } else { 0 };
        SimAnswer::Complete { service_ns: service_ns + stall }
    }
}

#[test]
fn a_closed_loop_does_as_much_as_latency_and_clients_allow() {
    let outcome = Sim { clients: 10, ..Sim::new(Shape::Single) }.run(10, steady(MS));
    let txn = &outcome.part.txns[0];
    assert_eq!(txn.committed, 10 * 10_000);
    let p = txn.service.percentiles().unwrap();
    assert_eq!((p.min, p.p50, p.max), (MS, MS, MS), "{p:?}");
    assert_eq!(outcome.broken(), Vec::<String>::new());
    assert!(outcome.states.iter().all(|s| *s == ClientState::Finished));
}

#[test]
fn a_run_ends_when_the_scripts_of_all_clients_are_done() {
    let script = Script { left: Some(22), ..Script::new(Shape::Block) };
    let outcome = Sim { script: script.clone(), clients: 3, ..Sim::new(Shape::Block) }.run(3_600, steady(MS));
    assert_eq!((outcome.part.txns[0].committed, outcome.end), (66, Tick(66 * MS)));
    assert_eq!(outcome.states, [ClientState::Finished; 3]);
    assert_eq!(outcome.broken(), Vec::<String>::new());
    // With a rate the schedule ends with the last of them: no arrival after it waits for anybody.
    let rate = Some(Rate { per_s: 10.0, arrivals: Arrivals::Uniform });
    let outcome = Sim { script, clients: 3, rate, ..Sim::new(Shape::Block) }.run(3_600, steady(MS));
    assert_eq!((outcome.part.scheduled, outcome.part.txns[0].committed, outcome.part.still_waiting), (Some(66), 66, 0));
    assert_eq!(outcome.end, Tick(6_503 * MS));
}

#[test]
fn every_shape_and_mode_commits_the_same_number() {
    for mode in [QueryMode::Simple, QueryMode::Extended, QueryMode::Prepared] {
        for (shape, statements) in [(Shape::Single, 1), (Shape::Block, 3), (Shape::Pipeline, 3)] {
            let outcome = Sim { mode, ..Sim::new(shape) }.run(3, steady(MS));
            let committed = outcome.part.txns[0].committed;
            assert_eq!(committed, 3000 / statements, "{mode:?} {shape:?}");
            assert_eq!(outcome.part.stmts[1].latency.count(), committed, "{mode:?} {shape:?}");
            assert_eq!(outcome.broken(), Vec::<String>::new(), "{mode:?} {shape:?}");
        }
    }
}

#[test]
fn arrivals_later_than_the_limit_are_skipped() {
    let rate = Some(Rate { per_s: 500.0, arrivals: Arrivals::Uniform });
    let rules = ClientRules { latency_limit_ns: Some(100 * MS), ..ClientRules::default() };
    let outcome = Sim { rate, rules, ..Sim::new(Shape::Single) }.run(10, stalling(MS));
    let txn = &outcome.part.txns[0];
    assert!((440..=460).contains(&txn.skipped), "{}", txn.skipped);
    assert_eq!(txn.skipped + txn.started, 5_000, "scheduled = skipped + started");
    assert!(txn.late >= 1, "the one that hung in the stall");
}

#[test]
fn serialization_failures_are_tried_again_after_a_rollback() {
    let mut rollbacks = 0;
    let mut selects = 0;
    let rules = ClientRules { max_tries: 3, transactions: Some(100), ..ClientRules::default() };
    let outcome = Sim { rules, mode: QueryMode::Extended, ..Sim::new(Shape::Block) }.run(1000, |request| {
        rollbacks += u32::from(request.sql == "ROLLBACK");
        selects += u32::from(request.sql.starts_with("SELECT"));
        if request.sql.starts_with("SELECT") && selects % 2 == 1 {
            SimAnswer::Fail { service_ns: MS, code: "40001" }
        } else {
            SimAnswer::Complete { service_ns: MS }
        }
    });
    let txn = &outcome.part.txns[0];
    assert_eq!((txn.committed, txn.failures(), txn.retried, txn.retries), (100, 0, 100, 100));
    assert_eq!(rollbacks, 100);
    // BEGIN, failed SELECT, ROLLBACK, BEGIN, SELECT, END: the latency holds all of it.
    assert_eq!(txn.service.percentiles().unwrap().p50, 6 * MS);
    assert_eq!(outcome.broken(), Vec::<String>::new());
}

#[test]
fn tries_end_at_the_limit_and_the_failure_is_counted() {
    let rules = ClientRules { max_tries: 4, transactions: Some(5), ..ClientRules::default() };
    let outcome =
        Sim { rules, ..Sim::new(Shape::Single) }.run(1000, |_| SimAnswer::Fail { service_ns: MS, code: "40P01" });
    let txn = &outcome.part.txns[0];
    assert_eq!((txn.committed, txn.failed[1], txn.retried, txn.retries), (0, 5, 5, 15));
    assert_eq!(outcome.states, [ClientState::Finished], "deadlocks are no reason to give up a client");
}

#[test]
fn a_client_whose_every_transaction_fails_is_given_up() {
    let outcome = Sim { clients: 2, ..Sim::new(Shape::Single) }.run(1000, |request| {
        if request.client == 0 {
            SimAnswer::Fail { service_ns: MS, code: "42P01" }
        } else {
            SimAnswer::Complete { service_ns: S }
        }
    });
    assert_eq!(outcome.states, [ClientState::Aborted, ClientState::Finished]);
    assert_eq!(outcome.part.txns[0].failures(), 10);
    assert_eq!(outcome.part.txns[0].committed, 1000);
    assert_eq!(outcome.broken(), Vec::<String>::new());
}

#[test]
fn a_lost_connection_is_a_failed_transaction_and_a_lost_client() {
    let outcome = Sim { clients: 3, ..Sim::new(Shape::Block) }.run(10, |request| {
        if request.client == 1 && request.at.0 > 5 * S {
            SimAnswer::Disconnect
        } else {
            SimAnswer::Complete { service_ns: MS }
        }
    });
    assert!(matches!(outcome.states[1], ClientState::Lost(_)), "{:?}", outcome.states);
    assert_eq!((outcome.part.lost, outcome.part.txns[0].failed[5]), (1, 1));
    assert_eq!(outcome.in_flight, 0);
    assert_eq!(outcome.broken(), Vec::<String>::new());
}

#[test]
fn think_time_is_no_latency_and_a_nap_within_the_transaction_is() {
    let mut sim = Sim::new(Shape::Single);
    sim.script.think_ns = 99 * MS;
    let outcome = sim.run(10, steady(MS));
    let txn = &outcome.part.txns[0];
    assert_eq!(txn.committed, 100);
    assert_eq!(txn.service.percentiles().unwrap().max, MS);

    let outcome = Sim::new(Shape::Nap(9 * MS)).run(10, steady(MS));
    assert_eq!(outcome.part.txns[0].committed, 1000);
    assert_eq!(outcome.part.txns[0].service.percentiles().unwrap().max, 10 * MS);
}

#[test]
fn a_number_of_transactions_ends_the_run_by_itself() {
    let rules = ClientRules { transactions: Some(7), ..ClientRules::default() };
    let outcome = Sim { clients: 3, rules, ..Sim::new(Shape::Pipeline) }.run(1_000_000, steady(MS));
    assert_eq!(outcome.part.txns[0].committed, 21);
    assert!(outcome.end < Tick(S), "{:?}", outcome.end);
}

#[test]
fn ten_simulated_minutes_of_a_thousand_clients_add_up() {
    let outcome = Sim { clients: 1000, ..Sim::new(Shape::Single) }.run(600, steady(S));
    assert_eq!(outcome.part.txns[0].committed, 600_000);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever the servers do, and however the bytes are cut: the identities hold, and the same seed
    /// gives the same record.
    #[test]
    fn identities_hold_and_runs_repeat(seed in any::<u64>(), clients in 1usize..6, shape in 0usize..3, mode in 0usize..3, rated in any::<bool>(), cut in 1usize..20) {
        let run = |read_bytes| {
            let shape = [Shape::Single, Shape::Block, Shape::Pipeline][shape];
            let mode = [QueryMode::Simple, QueryMode::Extended, QueryMode::Prepared][mode];
            let rate = rated.then_some(Rate { per_s: 300.0, arrivals: Arrivals::Poisson });
            let rules = ClientRules { max_tries: 2, ..ClientRules::default() };
            let mut rng = Rng::new(seed);
            Sim { clients, mode, rate, rules, read_bytes, ..Sim::new(shape) }.run(2, move |_| match rng.uniform(0, 200) {
                0 => SimAnswer::Disconnect,
                1..=9 => SimAnswer::Fail { service_ns: 2 * MS, code: "40001" },
                10..=12 => SimAnswer::Fail { service_ns: 2 * MS, code: "23505" },
                ms => SimAnswer::Complete { service_ns: ms as u64 * MS / 40 },
            })
        };
        let (whole, again, cut) = (run(usize::MAX), run(usize::MAX), run(cut));
        prop_assert_eq!(whole.broken(), Vec::<String>::new());
        prop_assert_eq!(whole.in_flight, 0);
        prop_assert!(whole.part == again.part, "the same seed, another record");
        prop_assert!(whole.part == cut.part, "cut reads, another record");
    }
}

/// As many as several driver machines would have between them: docs/scaling.md. Each client has a service time of its own,
/// so that replies come one by one and in no order of the clients.
#[test]
fn fifty_thousand_clients_lose_nothing_and_each_gets_its_turn() {
    const CLIENTS: usize = 50_000;
    const SECONDS: u64 = 5;
    let service_ns = |client: usize| S / 2 + client as u64 * 7_919 % CLIENTS as u64 * (S / 2 / CLIENTS as u64);
    let mut done = vec![0u64; CLIENTS];
    let outcome = Sim { clients: CLIENTS, ..Sim::new(Shape::Single) }.run(SECONDS, |request| {
        done[request.client] += 1;
        SimAnswer::Complete { service_ns: service_ns(request.client) }
    });
    // A client that begins at once when it is answered does so many in that time; what hung at the end is waited for.
    let owed: Vec<u64> = (0..CLIENTS).map(|client| (SECONDS * S).div_ceil(service_ns(client))).collect();
    let wrong = (0..CLIENTS).find(|client| done[*client] != owed[*client]);
    assert_eq!(wrong, None, "{:?}", wrong.map(|client| (done[client], owed[client])));
    let txn = &outcome.part.txns[0];
    assert_eq!(txn.committed, owed.iter().sum::<u64>());
    assert_eq!((outcome.in_flight, txn.failures()), (0, 0));
    assert_eq!(outcome.broken(), Vec::<String>::new());
    assert!(outcome.states.iter().all(|s| *s == ClientState::Finished));
    let p = txn.service.percentiles().unwrap();
    let close = |found: u64, wanted: u64| found.abs_diff(wanted) < wanted / 100;
    assert!(close(p.min, S / 2) && close(p.max, S), "{p:?}");
}
