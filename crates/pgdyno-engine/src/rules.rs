//! What a run is told.

use pgdyno_wire::{QueryMode, Wire};

use crate::Rate;
use pgdyno_workload::Results;

/// What every client obeys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// Tries of a transaction that meets 40001 or 40P01, the first included; 0 is no limit. pgbench's
    /// `--max-tries`.
    pub max_tries: u32,
    /// A transaction that takes longer is counted as late; with a rate, one that would start later than
    /// this is skipped. pgbench's `--latency-limit`.
    pub latency_limit_ns: Option<u64>,
    /// Transactions of each client; `None` is no limit. pgbench's `-t`.
    pub transactions: Option<u64>,
    /// Whether every transaction has a connection of its own. pgbench's `-C`.
    pub connect_each: bool,
    /// Whether senseless work ends by itself: a client that only fails, a run against a full disk.
    pub give_up: bool,
    /// Whether the run ends with the first client that is given up. pgbench's `--exit-on-abort`.
    pub stop_on_abort: bool,
    /// Whether statements are measured one by one.
    pub statements: bool,
    /// What becomes of the rows that statements bring. They are counted where statements are measured.
    pub results: Results,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            max_tries: 1,
            latency_limit_ns: None,
            transactions: None,
            connect_each: false,
            give_up: true,
            stop_on_abort: false,
            statements: true,
            results: Results::Discard,
        }
    }
}

/// A run, as far as the stages of its workload leave it open.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSpec {
    /// Clients of a group that does not say how many it has, over all threads; at least 1.
    pub clients: u32,
    /// Connections that the clients share, each for the time of a transaction; `None`: each client has its own. Not
    /// together with [`Rules::connect_each`].
    pub connections: Option<u32>,
    /// Engine threads, at least 1; cut to the number of clients, or of shared connections.
    pub threads: usize,
    /// How statements are sent, where a group does not say.
    pub mode: QueryMode,
    /// In what form they are sent.
    pub wire: Wire,
    /// The CPU of each engine thread; empty leaves them to the system.
    pub pin: Vec<usize>,
    /// The open loop's rate of a group that does not say; `None` is a closed loop.
    pub rate: Option<Rate>,
    /// What every client obeys, where its group does not say.
    pub rules: Rules,
    /// Warm-up before the measured window of each stage that lasts for a time.
    pub ramp_ns: u64,
    /// Length of the measured window of such a stage; `None` with a number of transactions instead.
    pub measure_ns: Option<u64>,
    /// Length of an interval.
    pub interval_ns: u64,
    /// How long transactions in flight at the end of a stage that does not say may take before they are cancelled.
    pub grace_ns: u64,
    /// How long a lost connection is tried again; 0 is never.
    pub reconnect_ns: u64,
    /// The seed of all random streams of the run.
    pub seed: u64,
}

impl Default for RunSpec {
    fn default() -> Self {
        Self {
            clients: 1,
            connections: None,
            threads: 1,
            mode: QueryMode::Prepared,
            wire: Wire::Native,
            pin: Vec::new(),
            rate: None,
            rules: Rules::default(),
            ramp_ns: 0,
            measure_ns: Some(10_000_000_000),
            interval_ns: 1_000_000_000,
            grace_ns: 5_000_000_000,
            reconnect_ns: 0,
            seed: 1,
        }
    }
}
