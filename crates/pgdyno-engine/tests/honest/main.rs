//! Latency honest by construction: what is reported against the truth of servers whose every delay is known.
//!
//! In virtual time the truth is exact, and so must the report be: [`closed`] and [`open`] hold the engine against
//! [`model`], which computes the same queues in a few lines and without the engine. Over real sockets a busy machine adds
//! what it likes; there [`sockets`] asserts what no machine can break, only a lie: causes come before effects.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod closed;
mod frozen;
mod model;
mod open;
mod server;
mod sockets;
mod truth;
mod waiting;
mod watch;

use pgdyno_engine::fleet::Fleet;
use pgdyno_engine::pacer::Pacer;
use pgdyno_engine::sim::{SimAnswer, SimRequest, Simulation, fleet};
use pgdyno_engine::{ClientRules, Rate, Tick};
use pgdyno_measure::ThreadCounts;
use pgdyno_wire::{QueryMode, Statement, StmtId};
use pgdyno_workload::{Batch, Begin, ClientScript, Next, Reply, Rng, Since, TxnId, Verdict};

const US: u64 = 1_000;
const MS: u64 = 1_000 * US;
const S: u64 = 1_000 * MS;

/// A transaction of so many statements, each in a round trip of its own, after a think time.
#[derive(Clone)]
struct Script {
    statements: usize,
    think_ns: u64,
    step: usize,
}

impl ClientScript for Script {
    fn begin(&mut self) -> Option<Begin> {
        self.step = 0;
        Some(Begin { txn: TxnId(0), wait_ns: self.think_ns, since: Since::End })
    }

    fn step(&mut self, _: Reply<'_>, batch: &mut Batch<'_>) -> Next {
        batch.execute(StmtId(self.step as u32), &[]);
        self.step += 1;
        if self.step == self.statements { Next::Finish(Verdict::Committed) } else { Next::Await }
    }

    fn restart(&mut self) {
        self.step = 0;
    }
}

/// A simulated run of clients that all do the same.
struct Run {
    clients: usize,
    statements: usize,
    think_ns: u64,
    rate: Option<Rate>,
    limit_ns: Option<u64>,
    /// Connections that they share; a connection each where there is none.
    lines: Option<usize>,
}

impl Run {
    fn of(clients: usize) -> Self {
        Self { clients, statements: 1, think_ns: 0, rate: None, limit_ns: None, lines: None }
    }

    fn fleet(&self) -> Fleet {
        let script = Script { statements: self.statements, think_ns: self.think_ns, step: 0 };
        let scripts = (0..self.clients).map(|_| Box::new(script.clone()) as Box<dyn ClientScript>).collect();
        let statements = (0..self.statements).map(|nth| Statement::new(format!("SELECT {nth}"), &[])).collect();
        let rules = ClientRules { latency_limit_ns: self.limit_ns, ..ClientRules::default() };
        let fleet = fleet(scripts, statements, QueryMode::Prepared, rules, self.pacer());
        match self.lines {
            Some(lines) => fleet.sharing(lines),
            None => fleet,
        }
    }

    fn pacer(&self) -> Pacer {
        Pacer::new(self.rate, 0, 1, Rng::new(7))
    }

    /// Every arrival of its schedule before `end`.
    fn arrivals(&self, end: u64) -> Vec<u64> {
        let mut pacer = self.pacer();
        std::iter::repeat_with(|| pacer.intended(Tick(0)).0).take_while(|at| *at < end).collect()
    }

    /// Lets it run until `end`, and to the end of what is under way then. `service_ns` is asked for each statement, in the
    /// order in which servers begin them, with the connection and the time.
    fn simulate(&self, end: u64, mut service_ns: impl FnMut(usize, u64) -> u64) -> ThreadCounts {
        let behave =
            |request: &SimRequest<'_>| SimAnswer::Complete { service_ns: service_ns(request.client, request.at.0) };
        let mut simulation = Simulation::new(self.fleet(), behave);
        simulation.run(Tick(end));
        simulation.fleet().recorder(0).take()
    }
}

/// What servers are like.
#[derive(Clone, Copy, Debug)]
enum Delays {
    Constant,
    /// One of fifty takes a hundred times as long.
    Bimodal,
    /// Anything from a tenth of a millisecond to a hundred, small ones most often.
    Jitter,
    /// As [`Delays::Constant`], but whatever begins in the third second ends after it.
    Stall,
}

impl Delays {
    const ALL: [Self; 4] = [Self::Constant, Self::Bimodal, Self::Jitter, Self::Stall];

    /// Service times one after the other, given the begin of each.
    fn service(self) -> impl FnMut(u64) -> u64 {
        let mut rng = Rng::new(11);
        move |at| match self {
            Self::Constant => MS,
            Self::Bimodal => [MS, 100 * MS][usize::from(rng.uniform(1, 50) == 1)],
            Self::Jitter => (100.0 * US as f64 + rng.exponential(3.0 * MS as f64)) as u64,
            Self::Stall if (2 * S..3 * S).contains(&at) => 3 * S - at + MS,
            Self::Stall => MS,
        }
    }
}
