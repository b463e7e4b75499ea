//! What pgbench's options ask of the engine, against scripted servers in virtual time: connections of a transaction
//! each, clients that are given up, pipelines held open, shell commands, COPY, notices, reconnecting, observers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use pgdyno_engine::client::ClientState;
use pgdyno_engine::fleet::Fleet;
use pgdyno_engine::pacer::Pacer;
use pgdyno_engine::sim::{SimAnswer, SimRequest, Simulation, fleet};
use pgdyno_engine::{Arrivals, ClientRules, Observer, Rate, Tick, TxEnd, TxOutcome};
use pgdyno_measure::{Interval, Phase, ThreadCounts, Totals, broken_identities};
use pgdyno_wire::{ErrorClass, QueryMode, Statement, StmtId};
use pgdyno_workload::{
    Batch, Begin, ClientScript, Failure, FailureAction, Next, Note, Reply, Rng, ShellOutcome, TxnId, Verdict,
};
use proptest::prelude::*;

const MS: u64 = 1_000_000;
const S: u64 = 1_000 * MS;
const MODES: [QueryMode; 3] = [QueryMode::Simple, QueryMode::Extended, QueryMode::Prepared];

const BEGIN: StmtId = StmtId(0);
const SELECT: StmtId = StmtId(1);
const END: StmtId = StmtId(2);

fn statements() -> Vec<Statement> {
    ["BEGIN", "SELECT 1", "END"].map(|sql| Statement::new(sql, &[])).into()
}

/// One step of a transaction.
#[derive(Clone, Debug)]
enum Act {
    /// Sends these, and awaits the reply.
    Send(Vec<StmtId>),
    /// Sends one that must find a row, and awaits the reply.
    Find(StmtId),
    /// Sends these, leaves the pipeline open, and sleeps.
    Hold(Vec<StmtId>, u64),
    /// Sends these with a Sync, and sleeps: the reply comes meanwhile.
    Meanwhile(Vec<StmtId>, u64),
    Nap(u64),
    Shell,
    Abort,
}

/// The results that the scripts of one test received, in order.
type Notices = Arc<Mutex<Vec<String>>>;

#[derive(Clone)]
struct Script {
    acts: Vec<Act>,
    next: usize,
    on_failure: FailureAction,
    received: Notices,
}

impl ClientScript for Script {
    fn begin(&mut self) -> Option<Begin> {
        self.next = 0;
        Some(Begin::now(TxnId(0)))
    }

    fn step(&mut self, _: Reply<'_>, batch: &mut Batch<'_>) -> Next {
        let Some(act) = self.acts.get(self.next) else { return Next::Finish(Verdict::Committed) };
        self.next += 1;
        let mut send = |statements: &[StmtId]| statements.iter().for_each(|stmt| batch.execute(*stmt, &[]));
        match act {
            Act::Send(statements) => {
                send(statements);
                Next::Await
            }
            Act::Find(statement) => {
                batch.find(*statement, &[]);
                Next::Await
            }
            Act::Hold(statements, ns) => {
                send(statements);
                batch.hold();
                Next::Sleep(*ns)
            }
            Act::Meanwhile(statements, ns) => {
                send(statements);
                Next::Sleep(*ns)
            }
            Act::Nap(ns) => Next::Sleep(*ns),
            Act::Shell => Next::Shell { capture: true },
            Act::Abort => {
                batch.note(Note::Error("cannot go on".to_owned()));
                Next::Abort
            }
        }
    }

    fn restart(&mut self) {
        self.next = 0;
    }

    fn shell(&self) -> &[u8] {
        b"a command"
    }

    fn shell_done(&mut self, outcome: ShellOutcome) {
        let output = String::from_utf8(outcome.output.unwrap_or_default()).unwrap_or_default();
        self.note(format!("shell {} {output}", outcome.success));
    }

    fn waiting(&self) -> Option<StmtId> {
        matches!(self.acts.get(self.next - 1), Some(Act::Shell)).then_some(SELECT)
    }

    fn on_failure(&mut self, failure: &Failure<'_>, _: &mut Vec<Note>) -> FailureAction {
        match failure {
            Failure::Server { message, .. } => self.note(format!("server {}: {}", message.severity, message.message)),
            Failure::Lost { .. } => self.note("lost".to_owned()),
            Failure::NotConnected => self.note("not connected".to_owned()),
            Failure::LeftOpen => self.note("left open".to_owned()),
            Failure::Decided { .. } => return FailureAction::Count,
        }
        self.on_failure
    }
}

impl Script {
    fn note(&self, what: String) {
        if let Ok(mut received) = self.received.lock() {
            received.push(what);
        }
    }
}

/// A fleet of clients, each with acts of its own.
struct Play {
    acts: Vec<Vec<Act>>,
    on_failure: FailureAction,
    mode: QueryMode,
    rules: ClientRules,
    rate: Option<Rate>,
    statements: Vec<Statement>,
    received: Notices,
    ends: Arc<Mutex<Vec<TxEnd>>>,
}

struct Log(Arc<Mutex<Vec<TxEnd>>>);

impl Observer for Log {
    fn transaction(&mut self, end: &TxEnd) {
        if let Ok(mut ends) = self.0.lock() {
            ends.push(*end);
        }
    }
}

impl Play {
    /// Clients that do these acts, under rules that give up nobody.
    fn of(acts: impl IntoIterator<Item = Vec<Act>>) -> Self {
        Self {
            acts: acts.into_iter().collect(),
            on_failure: FailureAction::Count,
            mode: QueryMode::Extended,
            rules: ClientRules { give_up: false, ..ClientRules::default() },
            rate: None,
            statements: statements(),
            received: Arc::default(),
            ends: Arc::default(),
        }
    }

    fn transactions(mut self, n: u64) -> Self {
        self.rules.transactions = Some(n);
        self
    }

    fn simulation<'a>(&self, behave: impl FnMut(&SimRequest<'_>) -> SimAnswer + 'a) -> Simulation<'a> {
        Simulation::new(self.fleet().observed_by(Some(Box::new(Log(Arc::clone(&self.ends))))), behave)
    }

    fn fleet(&self) -> Fleet {
        let script = |acts: &Vec<Act>| -> Box<dyn ClientScript> {
            let received = Arc::clone(&self.received);
            Box::new(Script { acts: acts.clone(), next: 0, on_failure: self.on_failure, received })
        };
        let pacer = Pacer::new(self.rate, 0, 1, Rng::new(1));
        let scripts = self.acts.iter().map(script).collect();
        fleet(scripts, self.statements.clone(), self.mode, self.rules, pacer)
    }

    fn run(&self, behave: impl FnMut(&SimRequest<'_>) -> SimAnswer) -> Outcome {
        Outcome::of(self.simulation(behave), 1000)
    }

    fn received(&self) -> Vec<String> {
        self.received.lock().map(|received| received.clone()).unwrap_or_default()
    }

    fn ends(&self) -> Vec<TxEnd> {
        self.ends.lock().map(|ends| ends.clone()).unwrap_or_default()
    }
}

struct Outcome {
    part: ThreadCounts,
    states: Vec<ClientState>,
    notes: Vec<Note>,
    closed: u64,
    end: Tick,
}

impl Outcome {
    /// Runs a simulation for so many seconds. Whatever happens, the identities hold and nothing is left in flight.
    #[track_caller]
    fn of(mut simulation: Simulation<'_>, seconds: u64) -> Self {
        simulation.run(Tick(seconds * S));
        let (closed, end) = (simulation.closed(), simulation.now());
        let fleet = simulation.fleet();
        let states = (0..fleet.len()).map(|i| fleet.state(i)).collect();
        let (in_flight, notes) = (fleet.recorder(0).in_flight(), fleet.take_notes());
        let part = fleet.recorder(0).take();
        let interval = Interval {
            index: 0,
            stage: 0,
            phase: Phase::Measure,
            start_ns: 0,
            end_ns: end.0,
            part: part.clone(),
            in_flight,
            workers: vec![],
            groups: vec![],
        };
        let mut totals = Totals::default();
        totals.add(&interval, 0);
        assert_eq!((broken_identities(&totals, &["test"]), in_flight), (Vec::new(), 0));
        Self { part, states, notes, closed, end }
    }

    fn failed(&self, class: ErrorClass) -> u64 {
        self.part.txns[0].failed[class as usize]
    }
}

fn send(stmt: StmtId) -> Act {
    Act::Send(vec![stmt])
}

fn complete(_: &SimRequest<'_>) -> SimAnswer {
    SimAnswer::Complete { service_ns: MS }
}

fn fail(code: &'static str) -> SimAnswer {
    SimAnswer::Fail { service_ns: MS, code }
}

#[test]
fn with_a_connection_each_transactions_begin_when_theirs_is_open() {
    for rate in [None, Some(Rate { per_s: 1.0, arrivals: Arrivals::Uniform })] {
        let mut play = Play::of([vec![send(SELECT)], vec![send(SELECT), send(SELECT)]]).transactions(20);
        play.rules.connect_each = true;
        play.rate = rate;
        let outcome = Outcome::of(play.simulation(complete).connecting(|_| Some(9 * MS)), 1000);
        let txn = &outcome.part.txns[0];
        assert_eq!((txn.committed, outcome.part.connected, outcome.closed), (40, 40, 40));
        assert_eq!(outcome.part.connecting_ns, 40 * 9 * MS);
        assert_eq!(outcome.states, [ClientState::Finished; 2]);
        let service = txn.service.percentiles().map(|p| (p.min, p.max));
        assert_eq!(service, Some((MS, 2 * MS)), "connecting is not in it");
        match &txn.response {
            None => assert_eq!(outcome.end, Tick(20 * 11 * MS)),
            // A schedule does not wait for connections: their time is lag.
            Some(response) => assert_eq!(
                (response.max_ns(), txn.lag.as_ref().map(|lag| (lag.min_ns(), lag.max_ns()))),
                (11 * MS, Some((9 * MS, 9 * MS)))
            ),
        }
    }
}

#[test]
fn a_refused_connection_costs_its_client_and_no_other() {
    let mut play = Play::of([vec![send(SELECT)], vec![send(SELECT)]]).transactions(20);
    play.rules.connect_each = true;
    let mut asked = 0;
    let simulation = play.simulation(complete).connecting(|client| {
        asked += u32::from(client == 0);
        (client == 1 || asked <= 3).then_some(MS)
    });
    let outcome = Outcome::of(simulation, 1000);
    assert_eq!(outcome.states, [ClientState::Aborted, ClientState::Finished]);
    assert_eq!((outcome.part.txns[0].started, outcome.part.connected), (23, 23), "it had begun nothing");
    assert_eq!(play.received(), ["not connected"]);
}

#[test]
fn a_connection_that_comes_after_the_end_is_not_waited_for_and_begins_no_transaction() {
    let mut play = Play::of([vec![send(SELECT)], vec![Act::Nap(30 * S)]]);
    play.rules.connect_each = true;
    let simulation = play.simulation(complete).connecting(|client| Some(if client == 0 { 10 * S } else { MS }));
    let outcome = Outcome::of(simulation, 1);
    assert_eq!((outcome.part.txns[0].started, outcome.states), (1, vec![ClientState::Finished; 2]));
    assert!(outcome.end > Tick(30 * S), "the other one's transaction ends, long after the connection came");
    let alone = Play { acts: vec![vec![send(SELECT)]], ..play };
    let outcome = Outcome::of(alone.simulation(complete).connecting(|_| Some(10 * S)), 1);
    assert_eq!((outcome.part.txns[0].started, outcome.end), (0, Tick(S)));
}

#[test]
fn the_script_decides_what_becomes_of_a_client_that_met_an_error() {
    let mut selects = 0;
    let mut run = |on_failure| {
        let acts = vec![send(BEGIN), send(SELECT), send(SELECT), send(END)];
        let mut play = Play::of([acts]).transactions(5);
        play.rules.max_tries = 0;
        play.on_failure = on_failure;
        let outcome = play.run(|request| match request.sql {
            "SELECT 1" => {
                selects += 1;
                if selects % 3 == 1 { fail("42P01") } else { SimAnswer::Complete { service_ns: MS } }
            }
            _ => SimAnswer::Complete { service_ns: MS },
        });
        selects = 0;
        let received = play.received();
        assert!(received.iter().all(|what| what == "server ERROR: simulated"), "{received:?}");
        let txn = &outcome.part.txns[0];
        (txn.committed, txn.failures(), received.len(), outcome.part.stmts[1].failed, outcome.states[0])
    };
    // Every third SELECT fails, from the first one on: of ten, or of seven where a failure is a transaction's end.
    assert_eq!(run(FailureAction::Ignore), (5, 0, 4, 4, ClientState::Finished));
    assert_eq!(run(FailureAction::Count), (2, 3, 3, 3, ClientState::Finished));
    assert_eq!(run(FailureAction::Abort), (0, 1, 1, 1, ClientState::Aborted));
    // Tried again until both SELECTs succeed.
    assert_eq!(run(FailureAction::Retry), (5, 0, 5, 5, ClientState::Finished));
}

#[test]
fn a_statement_that_must_find_a_row_and_finds_none_has_failed() {
    for mode in MODES {
        for (finding, committed) in [(false, 6), (true, 3)] {
            let mut play = Play::of([vec![send(SELECT)]]).transactions(6);
            play.mode = mode;
            if finding {
                play.acts = vec![vec![Act::Find(SELECT)]];
            }
            let mut requests = 0;
            let outcome = play.run(|_| {
                requests += 1;
                if requests % 2 == 0 {
                    SimAnswer::Empty { service_ns: MS }
                } else {
                    SimAnswer::Complete { service_ns: MS }
                }
            });
            let txn = &outcome.part.txns[0];
            assert_eq!((txn.committed, outcome.failed(ErrorClass::Data)), (committed, 6 - committed), "{mode:?}");
            assert_eq!(outcome.part.stmts[1].failed, 6 - committed, "{mode:?}");
            let received = if finding { vec!["server : no row has this key"; 3] } else { Vec::new() };
            assert_eq!(play.received(), received);
        }
    }
}

#[test]
fn a_script_that_cannot_go_on_gives_its_client_up() {
    let play = Play::of([vec![send(BEGIN), Act::Abort], vec![send(SELECT)]]).transactions(3);
    let outcome = play.run(complete);
    assert_eq!(outcome.states, [ClientState::Aborted, ClientState::Finished]);
    assert_eq!((outcome.failed(ErrorClass::Script), outcome.part.txns[0].committed, outcome.closed), (1, 3, 1));
    assert_eq!(outcome.notes, [Note::Error("cannot go on".to_owned())]);
    assert_eq!(play.ends().len(), 3, "who is given up has no end of its transaction");
}

#[test]
fn a_transaction_left_open_counts_and_is_the_last_one_if_the_script_wants_it() {
    for (on_failure, expected) in
        [(FailureAction::Abort, (1, ClientState::Aborted)), (FailureAction::Count, (3, ClientState::Finished))]
    {
        let mut play = Play::of([vec![send(BEGIN)]]).transactions(3);
        play.on_failure = on_failure;
        let outcome = play.run(complete);
        assert_eq!((outcome.part.txns[0].committed, outcome.states[0]), expected);
        assert_eq!(play.received().len() as u64, expected.0);
    }
}

#[test]
fn a_shell_command_takes_its_time_and_nobody_elses() {
    let play = Play::of([vec![Act::Shell, send(SELECT)], vec![send(SELECT)]]).transactions(100);
    let simulation = play.simulation(complete).running(|client, command| {
        assert_eq!((client, command), (0, &b"a command"[..]));
        (99 * MS, ShellOutcome { success: true, output: Some(b"42".to_vec()) })
    });
    let outcome = Outcome::of(simulation, 1000);
    assert_eq!(outcome.part.txns[0].committed, 200);
    assert_eq!(outcome.part.txns[0].service.max_ns(), 100 * MS);
    let of_second = play.ends().iter().filter(|end| end.client == 1).map(|end| end.end).max();
    assert_eq!(of_second, Some(Tick(100 * MS)), "it was not held up");
    assert_eq!(play.received(), vec!["shell true 42"; 100]);
    // The command's time is that of the statement which the script says.
    assert_eq!((outcome.part.stmts[1].latency.count(), outcome.part.stmts[1].latency.max_ns()), (300, 99 * MS));
}

#[test]
fn what_comes_of_a_command_is_nothing_to_a_later_one() {
    // The connection breaks while the first command runs, and is there again before it ends.
    let play = Play::of([vec![Act::Meanwhile(vec![SELECT], 0), Act::Shell]]).transactions(3);
    let mut selects = 0;
    let simulation = play.simulation(|_| {
        selects += 1;
        if selects == 1 { SimAnswer::Disconnect } else { SimAnswer::Complete { service_ns: 0 } }
    });
    let mut commands = 0u64;
    let simulation = simulation.reconnecting(MS).running(|_, _| {
        commands += 1;
        let took_ns = if commands == 1 { 20 * MS } else { 50 * MS };
        (took_ns, ShellOutcome { success: true, output: Some(commands.to_string().into_bytes()) })
    });
    let outcome = Outcome::of(simulation, 1);
    assert_eq!((outcome.part.lost, outcome.part.reconnected, outcome.part.txns[0].committed), (1, 1, 2));
    assert_eq!(play.received(), ["lost", "shell true 2", "shell true 3"]);
}

#[test]
fn a_pipeline_that_is_held_is_answered_as_a_whole() {
    for mode in [QueryMode::Extended, QueryMode::Prepared] {
        let mut play = Play::of([vec![Act::Hold(vec![BEGIN], 5 * MS), Act::Send(vec![SELECT, END])]]).transactions(4);
        play.mode = mode;
        let outcome = play.run(complete);
        assert_eq!(outcome.part.txns[0].committed, 4, "{mode:?}");
        // BEGIN is done with when the rest of its pipeline is sent.
        assert_eq!(outcome.part.txns[0].service.percentiles().map(|p| (p.min, p.max)), Some((7 * MS, 7 * MS)));
        let counts: Vec<_> = outcome.part.stmts.iter().map(|s| s.latency.count()).collect();
        assert_eq!(counts, [4, 4, 4]);
    }
}

#[test]
fn an_error_that_came_while_the_script_slept_is_an_error() {
    for (code, committed, retries) in [("42P01", 0, 0), ("40001", 3, 3)] {
        let mut play = Play::of([vec![Act::Meanwhile(vec![BEGIN, SELECT, END], 5 * MS)]]).transactions(3);
        play.rules.max_tries = 2;
        let mut selects = 0;
        let outcome = play.run(|request| {
            selects += u32::from(request.sql == "SELECT 1");
            if request.sql == "SELECT 1" && selects % 2 == 1 {
                fail(code)
            } else {
                SimAnswer::Complete { service_ns: MS }
            }
        });
        let txn = &outcome.part.txns[0];
        if code == "40001" {
            assert_eq!((txn.committed, txn.failures(), txn.retries), (committed, 0, retries));
        } else {
            assert_eq!(
                (txn.failures(), play.received().len()),
                (2, 2),
                "of three the first and, by its SELECT, the third"
            );
        }
    }
}

#[test]
fn notices_are_passed_on() {
    let outcome = Play::of([vec![send(SELECT)]]).transactions(2).run(|_| SimAnswer::Notice { service_ns: MS });
    assert_eq!(outcome.part.txns[0].committed, 2);
    let words: Vec<_> = outcome.notes.iter().map(Note::text).collect();
    assert_eq!(words, ["NOTICE:  ready, ready"; 2]);
}

#[test]
fn copy_is_refused_in_both_directions_and_the_client_goes_on() {
    for mode in MODES {
        for answer in [SimAnswer::CopyIn { service_ns: MS }, SimAnswer::CopyOut { service_ns: MS }] {
            for (on_failure, committed, failed) in
                [(FailureAction::Count, 2, 3), (FailureAction::Ignore, 5, 0), (FailureAction::Abort, 0, 1)]
            {
                let mut play = Play::of([vec![send(BEGIN), send(SELECT), send(END)]]).transactions(5);
                (play.mode, play.on_failure) = (mode, on_failure);
                let mut requests = 0;
                let mut after_begin = false;
                let outcome = play.run(|request| {
                    let is_select = std::mem::replace(&mut after_begin, request.sql == "BEGIN");
                    // Prepared ones have no text: count them.
                    let is_select = if mode == QueryMode::Prepared { requests % 3 == 1 } else { is_select };
                    requests += u32::from(request.sql != "ROLLBACK");
                    let nth = if is_select { play.received().len() } else { usize::MAX };
                    if is_select && nth < 3 { answer.clone() } else { SimAnswer::Complete { service_ns: MS } }
                });
                let case = format!("{mode:?} {answer:?} {on_failure:?}");
                if mode != QueryMode::Prepared {
                    assert_eq!(
                        (outcome.part.txns[0].committed, outcome.failed(ErrorClass::Script)),
                        (committed, failed),
                        "{case}"
                    );
                    let executed = outcome.part.stmts[1].latency.count();
                    assert_eq!(
                        executed,
                        if on_failure == FailureAction::Abort { 0 } else { 2 },
                        "no COPY among them: {case}"
                    );
                }
                let reported = play.received();
                let expected = if on_failure == FailureAction::Abort { 1 } else { 3 };
                assert_eq!(
                    reported,
                    vec!["server : COPY is not possible in a measured transaction"; expected],
                    "{case}"
                );
                let failed: u64 = outcome.part.stmts.iter().map(|s| s.failed).sum();
                assert_eq!(failed, expected as u64, "each is counted once: {case}");
            }
        }
    }
}

#[test]
fn without_statements_only_transactions_are_measured() {
    let mut play = Play::of([vec![Act::Send(vec![BEGIN, SELECT, END])]]).transactions(10);
    play.rules.statements = false;
    let mut n = 0;
    let outcome = play.run(|_| {
        n += 1;
        if n == 2 { fail("22012") } else { SimAnswer::Complete { service_ns: MS } }
    });
    let txn = &outcome.part.txns[0];
    assert_eq!((outcome.part.stmts.len(), txn.committed, txn.failures()), (0, 9, 1));
}

#[test]
fn a_lost_connection_is_made_anew_or_not() {
    let lose_third = || {
        let mut n = 0;
        move |_: &SimRequest<'_>| {
            n += 1;
            if n == 3 { SimAnswer::Disconnect } else { SimAnswer::Complete { service_ns: MS } }
        }
    };
    let play = Play::of([vec![send(SELECT)]]).transactions(10);
    let outcome = Outcome::of(play.simulation(lose_third()).reconnecting(200 * MS), 5);
    assert_eq!((outcome.part.lost, outcome.part.reconnected, outcome.part.outage_ns_max), (1, 1, 200 * MS));
    assert_eq!((outcome.part.txns[0].committed, outcome.failed(ErrorClass::Connection)), (9, 1));
    assert_eq!(outcome.states, [ClientState::Finished]);

    for (on_failure, is_lost) in [(FailureAction::Count, true), (FailureAction::Abort, false)] {
        let mut play = Play::of([vec![send(SELECT)]]).transactions(10);
        play.on_failure = on_failure;
        let outcome = play.run(lose_third());
        assert_eq!((outcome.part.lost, outcome.part.reconnected), (1, 0));
        assert_eq!((outcome.part.txns[0].committed, outcome.failed(ErrorClass::Connection)), (2, 1));
        assert_eq!(matches!(outcome.states[0], ClientState::Lost(_)), is_lost, "{:?}", outcome.states);
        assert_eq!(outcome.states[0] == ClientState::Aborted, !is_lost);
        assert_eq!(play.received(), ["lost"]);
    }
}

#[test]
fn very_many_statements_take_no_histograms() {
    for mode in MODES {
        let all: Vec<_> = (0..60_000).map(|n| Statement::new(format!("SELECT {n}"), &[])).collect();
        let acts = (0..60_000).step_by(1000).map(|n| send(StmtId(n))).collect();
        let mut play = Play::of([acts]).transactions(2);
        (play.mode, play.statements) = (mode, all);
        let outcome = play.run(complete);
        assert_eq!(outcome.part.txns[0].committed, 2);
        assert_eq!(outcome.part.stmts.iter().map(|s| s.latency.count()).sum::<u64>(), 120);
        assert!(outcome.part.stmts.iter().all(|s| !s.latency.has_histogram()), "290 kB each");
        assert_eq!(outcome.part.stmts[59_000].latency.mean_ns(), MS as f64);
    }
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let stmts = || prop::sample::select(vec![vec![SELECT], vec![BEGIN, SELECT, END], vec![BEGIN, END]]);
    let act = prop_oneof![
        4 => stmts().prop_map(Act::Send),
        1 => stmts().prop_map(|s| Act::Hold(s, 2 * MS)),
        1 => stmts().prop_map(|s| Act::Meanwhile(s, 3 * MS)),
        1 => Just(Act::Nap(MS)),
        1 => Just(Act::Shell),
    ];
    // A last batch awaits what is still held.
    prop::collection::vec(act, 0..4).prop_map(|mut acts| {
        acts.push(send(SELECT));
        acts
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Whatever the scripts do and the servers answer: an observer receives each transaction once, by its number, with
    /// its outcome and its tries; only of those in which a client was given up it is not informed.
    #[test]
    fn an_observer_receives_every_transaction_once(
        clients in prop::collection::vec(acts(), 1..5),
        seed in any::<u64>(),
        mode in 0usize..3,
        connect_each in any::<bool>(),
        rated in any::<bool>(),
        limited in any::<bool>(),
        reconnect in any::<bool>(),
        aborts in any::<bool>(),
        cut in 1usize..40,
    ) {
        // A simple query cannot be part of a pipeline.
        let simple = mode == 0;
        let clients = clients.into_iter().map(|acts| {
            acts.into_iter().map(|act| match act {
                Act::Hold(s, _) if simple => Act::Send(s),
                act => act,
            }).collect()
        }).collect::<Vec<Vec<Act>>>();
        let mut play = Play::of(clients);
        play.mode = MODES[mode];
        play.rate = rated.then_some(Rate { per_s: 300.0, arrivals: Arrivals::Poisson });
        play.rules = ClientRules {
            max_tries: 3,
            latency_limit_ns: limited.then_some(30 * MS),
            connect_each,
            give_up: false,
            ..ClientRules::default()
        };
        play.on_failure = if aborts { FailureAction::Abort } else { FailureAction::Count };
        let mut rng = Rng::new(seed);
        let simulation = play.simulation(move |_| match rng.uniform(0, 300) {
            0 => SimAnswer::Disconnect,
            1..=12 => fail("40001"),
            13 => fail("23505"),
            14 => SimAnswer::CopyIn { service_ns: MS },
            15 => SimAnswer::CopyOut { service_ns: MS },
            16 => SimAnswer::Notice { service_ns: MS },
            ms => SimAnswer::Complete { service_ns: ms as u64 * MS / 60 },
        });
        let simulation = if reconnect { simulation.reconnecting(7 * MS) } else { simulation };
        let simulation = simulation.reads_of(cut).connecting(|_| Some(2 * MS));
        let outcome = Outcome::of(simulation.running(|_, _| (4 * MS, ShellOutcome::default())), 1);

        let (ends, txn) = (play.ends(), &outcome.part.txns[0]);
        let mut numbers = BTreeMap::<u32, u64>::new();
        for end in &ends {
            let number = numbers.entry(end.client).or_default();
            *number += 1;
            prop_assert_eq!(end.number, *number, "in order, none twice, none missing: {:?}", end);
            if end.outcome != TxOutcome::Skipped {
                prop_assert!(end.intended <= end.begun && end.begun <= end.end && (1..=3).contains(&end.tries), "{end:?}");
            }
        }
        let count = |wanted: &dyn Fn(&TxEnd) -> bool| ends.iter().filter(|end| wanted(end)).count() as u64;
        prop_assert_eq!(count(&|end| end.outcome == TxOutcome::Completed), txn.completed());
        prop_assert_eq!(count(&|end| end.outcome == TxOutcome::Skipped), txn.skipped);
        let given_up = outcome.states.iter().filter(|state| **state == ClientState::Aborted).count() as u64;
        prop_assert_eq!(count(&|end| matches!(end.outcome, TxOutcome::Failed(_))) + given_up, txn.failures());
        prop_assert_eq!(txn.skipped + txn.started, ends.len() as u64 + given_up);
        let begun = ends.iter().filter(|end| end.outcome != TxOutcome::Skipped);
        let retries: u64 = begun.clone().map(|end| u64::from(end.tries) - 1).sum();
        let retried = begun.filter(|end| end.tries > 1).count() as u64;
        prop_assert!(retries <= txn.retries && retried <= txn.retried && txn.retried <= retried + given_up);
        if given_up == 0 {
            prop_assert_eq!((retries, retried), (txn.retries, txn.retried));
        }
        let retried_by_statement: u64 = outcome.part.stmts.iter().map(|s| s.retried).sum();
        prop_assert!(retried_by_statement <= txn.retries);
        prop_assert!(outcome.part.stmts.iter().all(|s| s.retried <= s.failed), "{:?}", outcome.part.stmts);
        if connect_each && !reconnect {
            prop_assert_eq!(outcome.part.connected, txn.started);
        }
    }
}

/// Naps of no time, or nothing at all: all that such a script takes is its turn.
#[test]
fn a_script_that_never_talks_ends_with_its_window_and_starves_nobody() {
    let mute = [vec![Act::Nap(0)], vec![Act::Nap(0), Act::Nap(0)], vec![]];
    let play = Play::of(mute.into_iter().chain([vec![send(SELECT)]]));
    let outcome = Outcome::of(play.simulation(complete), 1);
    assert!(outcome.states.iter().all(|state| *state == ClientState::Finished), "{:?}", outcome.states);
    assert!(outcome.end < Tick(2 * S), "{:?}", outcome.end);
    let of_client = |client| play.ends().iter().filter(|end| end.client == client).count();
    assert!((900..=1000).contains(&of_client(3)), "{}", of_client(3));
    assert!((0..3).all(|client| of_client(client) > 10_000), "each of the others has its turns, too");
}

#[test]
fn arrivals_faster_than_they_can_be_drawn_are_skipped_by_the_number() {
    for (arrivals, transactions) in
        [(Arrivals::Uniform, None), (Arrivals::Poisson, None), (Arrivals::Poisson, Some(1 << 20))]
    {
        let rate = Rate { per_s: 1e9, arrivals };
        let rules = ClientRules { latency_limit_ns: Some(MS), transactions, give_up: false, ..ClientRules::default() };
        let play = Play { rules, rate: Some(rate), ..Play::of([vec![send(SELECT)], vec![send(SELECT)]]) };
        // No observer takes each transaction.
        let mut simulation = Simulation::new(play.fleet(), complete);
        simulation.run(Tick(S));
        let (end, in_flight) = (simulation.now(), simulation.fleet().recorder(0).in_flight());
        let txn = simulation.fleet().recorder(0).take().txns[0].clone();
        assert!(end <= Tick(2 * S) && in_flight == 0, "{end:?} {in_flight}");
        match transactions {
            // What came in the last millisecond was not late yet.
            None => assert!((998_000_000..1_001_000_000).contains(&(txn.skipped + txn.started)), "{}", txn.skipped),
            Some(each) => assert_eq!(txn.skipped + txn.started, 2 * each),
        }
        assert!(txn.committed > 100 || transactions.is_some(), "{}", txn.committed);
    }
}
