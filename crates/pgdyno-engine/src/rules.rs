//! Input of a run: the rules that clients follow, and everything else that a workload leaves open.

use pgdyno_wire::{QueryMode, Wire};

use crate::{Rate, RateSteps, RunShare};
use pgdyno_workload::Results;

/// Rules that every client follows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClientRules {
    /// Tries of a transaction that meets 40001 or 40P01, the first included; 0 is no limit. pgbench's
    /// `--max-tries`.
    pub max_tries: u32,
    /// A transaction that takes longer counts as late; with a rate, one that would start later than this is skipped.
    /// pgbench's `--latency-limit`.
    pub latency_limit_ns: Option<u64>,
    /// Transactions of each client; `None` is no limit. pgbench's `-t`.
    pub transactions: Option<u64>,
    /// Whether each transaction opens a connection of its own. pgbench's `-C`.
    pub connect_each: bool,
    /// Whether a client that only fails is given up, and a full disk ends the run.
    pub give_up: bool,
    /// Whether a client goes on that only fails: its work ends by itself, and each part of it is tried once.
    pub tries_all: bool,
    /// Whether the run ends when the first client aborts. pgbench's `--exit-on-abort`.
    pub stop_on_abort: bool,
    /// Whether each statement is measured by itself.
    pub statements: bool,
    /// What happens to the rows that statements return. They are counted if statements are measured.
    pub results: Results,
    /// Whether a client whose lost connection is still being replaced at the end counts as one that lasted.
    pub lasts_while_replaced: bool,
    /// How long a client waits for a reply, in a run with a ledger. Then it closes its connection: a commit that waits for a
    /// standby must not stop the client. `None`: there is no ledger, and no limit.
    pub commit_timeout_ns: Option<u64>,
}

impl Default for ClientRules {
    fn default() -> Self {
        Self {
            max_tries: 1,
            latency_limit_ns: None,
            transactions: None,
            connect_each: false,
            give_up: true,
            tries_all: false,
            stop_on_abort: false,
            statements: true,
            results: Results::Discard,
            lasts_while_replaced: false,
            commit_timeout_ns: None,
        }
    }
}

/// Input of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSpec {
    /// Clients of a group that does not say how many it has, over all threads; at least 1.
    pub clients: u32,
    /// Connections that the clients share, each for the time of a transaction; `None`: each client has its own.
    /// Cannot be combined with [`ClientRules::connect_each`].
    pub connections: Option<u32>,
    /// Engine threads of the run, at least 1. Limited to the number of clients, or of shared connections.
    pub threads: usize,
    /// The threads that this process runs, if it is one of several drivers; clients, connections, rates and random
    /// streams are those of the same threads in one process.
    pub share: Option<RunShare>,
    /// The only stage of the drive that is run, from 0: then its time begins with it, and its random streams are those that
    /// it has in the whole run. `None`: all stages, one after the other.
    pub stage: Option<usize>,
    /// Query mode of a group that does not say.
    pub mode: QueryMode,
    /// Form in which statements are sent.
    pub wire: Wire,
    /// CPU of each engine thread of this process; empty leaves the threads to the system.
    pub pin: Vec<usize>,
    /// Rate of a group that does not say; `None` is a closed loop.
    pub rate: Option<Rate>,
    /// How this rate changes over the measured window of each timed stage; `None`: not at all.
    pub rate_steps: Option<RateSteps>,
    /// Rules of a group that does not say.
    pub rules: ClientRules,
    /// Warm-up before the measured window of each timed stage.
    pub ramp_ns: u64,
    /// Length of the measured window of a timed stage; `None` with a number of transactions instead.
    pub measure_ns: Option<u64>,
    /// Length of an interval.
    pub interval_ns: u64,
    /// Time after the end of a stage before transactions in flight are cancelled, for a stage that does not say.
    pub grace_ns: u64,
    /// Time for which a lost connection is retried; 0 is never.
    pub reconnect_ns: u64,
    /// A query that each client's connection is asked once when it is open, before the clients begin; it is to take a server
    /// milliseconds. Connections of groups of queries that connect in another way are not asked.
    pub probe: Option<&'static str>,
    /// How long a thread that could sleep may leave replies unread, to read several by one wake-up; 0 is not at all.
    pub coalesce_ns: u64,
    /// The seed of all random streams of the run.
    pub seed: u64,
}

impl RunSpec {
    /// Returns the number of connections of a stage with so many clients.
    #[must_use]
    pub fn links_of(&self, clients: u32) -> usize {
        let clients = clients as usize;
        self.connections.map_or(clients, |shared| (shared as usize).clamp(1, clients.max(1)))
    }

    /// Returns the number of engine threads of a stage with so many clients, over all drivers.
    #[must_use]
    pub fn threads_of(&self, clients: u32) -> usize {
        self.threads.clamp(1, self.links_of(clients).max(1))
    }
}

impl Default for RunSpec {
    fn default() -> Self {
        Self {
            clients: 1,
            connections: None,
            threads: 1,
            share: None,
            stage: None,
            mode: QueryMode::Prepared,
            wire: Wire::Native,
            pin: Vec::new(),
            rate: None,
            rate_steps: None,
            rules: ClientRules::default(),
            ramp_ns: 0,
            measure_ns: Some(10_000_000_000),
            interval_ns: 1_000_000_000,
            grace_ns: 5_000_000_000,
            reconnect_ns: 0,
            probe: None,
            coalesce_ns: 0,
            seed: 1,
        }
    }
}
