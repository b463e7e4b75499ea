//! Clients that think between their transactions and share connections, in virtual time.

use pgdyno_engine::client::ClientState;
use pgdyno_engine::pacer::Pacer;
use pgdyno_engine::sim::{SimAnswer, SimRequest, Simulation, fleet};
use pgdyno_engine::{ClientRules, Tick};
use pgdyno_measure::{ThreadCounts, Totals};
use pgdyno_wire::{QueryMode, Statement, StmtId};
use pgdyno_workload::{
    Batch, Begin, ClientScript, Failure, FailureAction, Next, Note, Reply, Rng, Since, TxnId, Verdict,
};

const MS: u64 = 1_000_000;
const S: u64 = 1_000 * MS;

/// One statement each, after a wait.
#[derive(Clone, Copy)]
struct Thinker {
    wait_ns: u64,
    since: Since,
    /// Whether an error is what it wants.
    wants_errors: bool,
    block: bool,
    /// Whether its block is never ended.
    left_open: bool,
    /// Whether an error ends its client.
    aborts: bool,
    step: u8,
}

impl Thinker {
    fn new(wait_ns: u64) -> Self {
        Self { wait_ns, since: Since::End, wants_errors: false, block: false, left_open: false, aborts: false, step: 0 }
    }
}

impl ClientScript for Thinker {
    fn begin(&mut self) -> Option<Begin> {
        self.step = 0;
        Some(Begin { txn: TxnId(0), wait_ns: self.wait_ns, since: self.since })
    }

    fn step(&mut self, _: Reply<'_>, batch: &mut Batch<'_>) -> Next {
        self.step += 1;
        if self.block && self.step == 1 {
            batch.execute(StmtId(1), &[]);
            return Next::Await;
        }
        batch.execute(StmtId(0), &[]);
        if self.block && !self.left_open {
            batch.execute(StmtId(2), &[]);
        }
        Next::Finish(Verdict::Committed)
    }

    fn restart(&mut self) {
        self.step = 0;
    }

    fn tally(&self, verdict: Verdict, counts: &mut [u64]) {
        counts[usize::from(verdict == Verdict::RolledBack)] += 3;
    }

    fn on_failure(&mut self, failure: &Failure<'_>, _: &mut Vec<Note>) -> FailureAction {
        match failure {
            Failure::Server { .. } if self.aborts => FailureAction::Abort,
            Failure::Server { .. } if self.wants_errors => FailureAction::Finish(Verdict::RolledBack),
            _ => FailureAction::Count,
        }
    }
}

fn statements() -> Vec<Statement> {
    vec![Statement::new("SELECT 1", &[]), Statement::new("BEGIN", &[]), Statement::new("END", &[])]
}

struct Outcome {
    part: ThreadCounts,
    states: Vec<ClientState>,
    in_flight: u64,
    errors: usize,
    lost: usize,
}

/// So many terminals over so many connections, 0 for one each.
fn run(
    script: Thinker,
    terminals: usize,
    connections: usize,
    seconds: u64,
    reconnect_ns: Option<u64>,
    behave: impl FnMut(&SimRequest<'_>) -> SimAnswer,
) -> Outcome {
    let scripts = (0..terminals).map(|_| Box::new(script) as Box<dyn ClientScript>).collect();
    let pacer = Pacer::new(None, 0, 1, Rng::new(1));
    let mut fleet = fleet(scripts, statements(), QueryMode::Prepared, ClientRules::default(), pacer).tallying(2);
    if connections > 0 {
        fleet = fleet.sharing(connections);
    }
    let mut simulation = Simulation::new(fleet, behave);
    if let Some(after) = reconnect_ns {
        simulation = simulation.reconnecting(after);
    }
    simulation.run(Tick(seconds * S));
    let fleet = simulation.fleet();
    Outcome {
        states: (0..terminals).map(|i| fleet.state(i)).collect(),
        in_flight: fleet.recorder(0).in_flight(),
        errors: fleet.errors().len(),
        lost: fleet.lost(),
        part: fleet.recorder(0).take(),
    }
}

fn in_ms(service: u64) -> impl FnMut(&SimRequest<'_>) -> SimAnswer {
    move |_| SimAnswer::Complete { service_ns: service * MS }
}

#[test]
fn ten_thousand_terminals_think_over_a_few_connections() {
    // Each thinks for 10 s and asks for 5 ms: 1,000 a second keep five connections busy, and eight serve them.
    let outcome = run(Thinker::new(10 * S), 10_000, 8, 60, None, in_ms(5));
    let txn = &outcome.part.txns[0];
    // All are due at 10 s for the first time; from then on they keep apart, and none waits.
    assert_eq!(txn.committed, 50_000);
    assert_eq!((outcome.in_flight, outcome.lost), (0, 0));
    assert!(outcome.states.iter().all(|state| *state == ClientState::Finished));
    assert_eq!(txn.started, txn.committed);
    assert_eq!(outcome.part.tallies, [3 * txn.committed, 0]);
}

#[test]
fn the_wait_for_a_connection_is_part_of_the_response_time() {
    // Ten are due at the same time; the last one waits for nine others.
    let outcome = run(Thinker::new(10 * S), 10, 1, 11, None, in_ms(100));
    let txn = &outcome.part.txns[0];
    let response = txn.response.as_ref().unwrap();
    assert_eq!(txn.committed, 10);
    let close = |found: u64, wanted_ms: u64| found.abs_diff(wanted_ms * MS) < wanted_ms * MS / 100;
    assert!(close(response.max_ns(), 1000) && close(response.min_ns(), 100), "{}", response.max_ns());
    assert!(close(txn.service.max_ns(), 100), "{}", txn.service.max_ns());
    assert!(close(txn.lag.as_ref().unwrap().max_ns(), 900));
    // With a connection each, nobody waits.
    let alone = run(Thinker::new(10 * S), 10, 0, 11, None, in_ms(100));
    assert!(close(alone.part.txns[0].service.max_ns(), 100));
}

#[test]
fn a_lost_connection_costs_one_transaction_and_the_others_go_on() {
    let mut asked = 0;
    let behave = |_: &SimRequest<'_>| {
        asked += 1;
        if asked == 50 { SimAnswer::Disconnect } else { SimAnswer::Complete { service_ns: MS } }
    };
    let outcome = run(Thinker::new(S), 20, 2, 10, None, behave);
    let txn = &outcome.part.txns[0];
    assert_eq!((txn.failures(), outcome.lost, outcome.part.lost), (1, 1, 1));
    assert_eq!(txn.started, txn.committed + 1);
    assert!(txn.committed >= 170 && outcome.states.iter().all(|state| *state == ClientState::Finished));
}

#[test]
fn when_the_last_shared_connection_is_lost_the_run_ends_unless_it_comes_back() {
    let once = || {
        let mut asked = 0;
        move |_: &SimRequest<'_>| {
            asked += 1;
            if asked == 5 { SimAnswer::Disconnect } else { SimAnswer::Complete { service_ns: MS } }
        }
    };
    let gone = run(Thinker::new(S), 20, 1, 10, None, once());
    assert_eq!((gone.part.txns[0].committed, gone.lost), (4, 1));
    let back = run(Thinker::new(S), 20, 1, 10, Some(2 * S), once());
    assert_eq!((back.lost, back.part.reconnected, back.part.outage_ns_max), (0, 1, 2 * S));
    assert!(back.part.txns[0].committed > 100, "{}", back.part.txns[0].committed);
}

#[test]
fn a_transaction_block_keeps_its_connection_to_the_end() {
    // Prepared statements have a text only once; each line must see BEGIN, SELECT and END in turn from the first on.
    let mut seen = [const { Vec::new() }; 3];
    let behave = |request: &SimRequest<'_>| {
        let line: &mut Vec<String> = &mut seen[request.client];
        if !request.sql.is_empty() {
            line.push(request.sql.to_owned());
        }
        SimAnswer::Complete { service_ns: MS }
    };
    let outcome = run(Thinker { block: true, ..Thinker::new(S) }, 10, 3, 20, None, behave);
    assert!(outcome.part.txns[0].committed > 150);
    assert_eq!(outcome.part.txns[0].failures(), 0);
    assert!(seen.iter().all(|line| *line == ["BEGIN", "SELECT 1", "END"]), "{seen:?}");
}

/// Its connection is of no use to others, in the middle of a block: where lost ones are made anew, so is this.
#[test]
fn a_connection_that_a_client_leaves_in_the_middle_of_a_block_comes_back() {
    let once = || {
        let mut asked = 0;
        move |_: &SimRequest<'_>| {
            asked += 1;
            // BEGIN is the first statement.
            if asked == 2 {
                SimAnswer::Fail { service_ns: MS, code: "42P01" }
            } else {
                SimAnswer::Complete { service_ns: MS }
            }
        }
    };
    let script = Thinker { block: true, aborts: true, ..Thinker::new(S) };
    let gone = run(script, 20, 1, 10, None, once());
    assert_eq!(gone.part.txns[0].committed, 0);
    let back = run(script, 20, 1, 10, Some(2 * S), once());
    assert_eq!((back.lost, back.part.reconnected, back.part.outage_ns_max), (0, 1, 2 * S));
    assert_eq!(back.states.iter().filter(|state| **state == ClientState::Aborted).count(), 1);
    assert!(back.part.txns[0].committed > 100, "{}", back.part.txns[0].committed);
}

/// Who is done leaves nobody waiting, not even where its line is of no use to others.
#[test]
fn a_client_that_is_done_gives_its_connection_back_or_has_it_closed() {
    let done = |left_open, connections| {
        let script = Thinker { block: true, left_open, ..Thinker::new(S) };
        let rules = ClientRules { transactions: Some(2), ..ClientRules::default() };
        let scripts = (0..3).map(|_| Box::new(script) as Box<dyn ClientScript>).collect();
        let pacer = Pacer::new(None, 0, 1, Rng::new(1));
        let fleet = fleet(scripts, statements(), QueryMode::Prepared, rules, pacer).tallying(2).sharing(connections);
        let mut simulation = Simulation::new(fleet, in_ms(1));
        simulation.run(Tick(3600 * S));
        (simulation.fleet().recorder(0).take().txns[0].committed, simulation.closed(), simulation.now().0 / S)
    };
    assert_eq!(done(false, 1), (6, 0, 2));
    let (committed, closed, seconds) = done(true, 3);
    assert_eq!((committed, closed), (6, 3));
    assert!(seconds < 10, "{seconds}");
    // With the only connection gone, the others cannot go on, and the run ends.
    let (committed, closed, seconds) = done(true, 1);
    assert_eq!((committed, closed), (2, 1));
    assert!(seconds < 10, "{seconds}");
}

#[test]
fn a_deferred_transaction_does_not_hold_its_terminal_up() {
    // The server takes 2 s, the wait is 3 s: since the end every 5 s, since the start every 3 s.
    let from =
        |since| run(Thinker { since, ..Thinker::new(3 * S) }, 1, 0, 61, None, in_ms(2000)).part.txns[0].committed;
    assert_eq!((from(Since::End), from(Since::Start)), (12, 20));
    // Where it takes longer than the wait, the next one starts late and its response time says so.
    let late = run(Thinker { since: Since::Start, ..Thinker::new(S) }, 1, 1, 20, None, in_ms(2000));
    assert!(late.part.txns[0].response.as_ref().unwrap().max_ns() > 9 * S);
}

#[test]
fn an_error_that_the_workload_wants_is_a_rollback() {
    let fail = |_: &SimRequest<'_>| SimAnswer::Fail { service_ns: MS, code: "PD001" };
    for connections in [0, 2] {
        let script = Thinker { wants_errors: true, ..Thinker::new(S) };
        let outcome = run(script, 4, connections, 10, None, fail);
        let txn = &outcome.part.txns[0];
        assert!(txn.rolled_back > 30 && txn.failures() == 0 && outcome.errors == 0);
        assert_eq!(outcome.part.tallies, [0, 3 * txn.rolled_back]);
        // Within a transaction block the server is asked to roll back.
        let block = run(Thinker { block: true, ..script }, 4, connections, 10, None, |request| match request.sql {
            "SELECT 1" => SimAnswer::Fail { service_ns: MS, code: "PD001" },
            _ => SimAnswer::Complete { service_ns: MS },
        });
        assert!(block.part.txns[0].rolled_back > 0, "{connections}");
        // The ROLLBACK is none of the script's statements.
        assert_eq!(block.part.stmts[0].latency.count(), block.part.txns[0].committed, "{connections}");
    }
}

#[test]
fn totals_add_tallies_up() {
    let outcome = run(Thinker::new(S), 3, 1, 5, None, in_ms(1));
    let mut totals = Totals::default();
    totals.part.merge(&outcome.part);
    totals.part.merge(&outcome.part);
    assert_eq!(totals.part.tallies[0], 2 * outcome.part.tallies[0]);
}
