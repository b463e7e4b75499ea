//! Whole transactions: the reply comes in, it is recorded, the next transaction is drawn and goes out.

use std::hint::black_box;
use std::sync::Arc;

use pgdyno_engine::fleet::{Fleet, numbered};
use pgdyno_engine::pacer::Pacer;
use pgdyno_engine::{ClientRules, Tick};
use pgdyno_measure::Recorder;
use pgdyno_wire::QueryMode;
use pgdyno_workload::{Capabilities, ClientContext, ClientId, Drive, Group, Rng, Stage};
use pgdyno_workloads::registry;
use pgdyno_workloads::scripted::{self, ErrorHandling, Spec, WeightedScript};

use super::Path;
use super::server::answer;

const UNITS: u64 = 2_000;

/// Lets the fleet's clients come to their turn one after the other.
struct Exchange {
    fleet: Fleet,
    now: Tick,
    line: usize,
}

impl Exchange {
    fn new(drive: &Drive, clients: u32) -> Self {
        let caps = Capabilities::default();
        let scripts = drive.numbered(&caps).scripts.remove(0);
        let client = |id| {
            let rng = Rng::derive(1, "client", &[u64::from(id)]);
            (scripts.client)(&ClientContext {
                stage: Stage::ONLY,
                group: Group::ONLY,
                id: ClientId(id),
                clients,
                rng,
                seed: 1,
                has_ledger: false,
            })
        };
        let statements = numbered(drive.statements(&caps));
        let fleet = Fleet::new(
            0,
            (0..clients).map(client).collect(),
            QueryMode::Prepared,
            statements,
            drive.txns().len(),
            ClientRules::default(),
            Pacer::Closed,
        );
        let mut exchange = Self { fleet, now: Tick(0), line: 0 };
        (0..clients as usize).for_each(|i| exchange.fleet.advance(i, Tick(0)));
        // Until everything is prepared on all connections.
        for _ in 0..32 * clients {
            let reply = answer(exchange.fleet.output(exchange.line));
            exchange.turn(&reply);
        }
        exchange
    }

    fn turn(&mut self, reply: &[u8]) {
        self.fleet.output(self.line).clear();
        self.now = self.now.after(1_234);
        self.fleet.receive(self.line, self.now, reply).expect("an answer that makes sense");
        self.line += 1;
        if self.line == self.fleet.lines() {
            self.line = 0;
        }
    }
}

/// A workload whose replies are the same each time.
fn transactions(name: &'static str, drive: &Drive, clients: u32) -> Path {
    let mut exchange = Exchange::new(drive, clients);
    let line = exchange.line;
    let reply = answer(exchange.fleet.output(line));
    let run = move || (0..UNITS).for_each(|_| exchange.turn(black_box(&reply)));
    Path { name, units: UNITS, run: Box::new(run) }
}

fn built_in(id: &str, params: &[(&str, &str)]) -> Arc<Drive> {
    registry::build(id, params.iter().copied()).expect("a built-in workload").drive
}

/// The drop-in's form of select-only: interpreted, with parameters in text and a Describe.
fn script() -> scripted::Scripted {
    let text = "\\set aid random(1, 100000 * :scale)\nSELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n";
    scripted::build(Spec {
        id: "select-only".to_owned(),
        summary: String::new(),
        scripts: vec![WeightedScript { name: "select-only".to_owned(), text: text.into(), weight: 1, read_only: None }],
        defines: Vec::new(),
        scale: 1,
        seed: 1,
        clients: 16,
        threads: 1,
        groups: None,
        errors: ErrorHandling::Pgdyno,
    })
    .expect("a script without mistakes")
}

fn record() -> Path {
    let mut recorder = Recorder::new(1, 1, false);
    let run = move || {
        for ns in 0..UNITS {
            recorder.started(0);
            recorder.statement(0, black_box(90_000 + ns * 17));
            recorder.completed(0, true, black_box(90_000 + ns * 17), 90_000, false);
        }
    };
    Path { name: "record", units: UNITS, run: Box::new(run) }
}

pub(super) fn paths() -> Vec<Path> {
    vec![
        record(),
        transactions("select-only-16-clients", &built_in("select-only", &[]), 16),
        transactions("select-only-1000-clients", &built_in("select-only", &[]), 1_000),
        transactions("select-only-script", &script().drive(), 16),
        transactions("tpcb-like-pipeline", &built_in("tpcb-like", &[("pipeline", "true")]), 16),
        transactions("tpcb-like-statement", &built_in("tpcb-like", &[]), 16),
    ]
}
