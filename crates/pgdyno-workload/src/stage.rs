//! Stages of a run in order, each with groups of clients side by side.

use pgdyno_wire::{Capture, QueryMode};

use crate::Pace;

/// A part of a run. Stages run one after the other; each opens its clients' connections anew.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// Its name: `power`, `throughput`.
    pub name: &'static str,
    /// Groups that run side by side, at least one.
    pub groups: Vec<Group>,
    /// When it ends.
    pub ends: Ends,
    /// Time that transactions in flight at its end have before they are cancelled; `None`: the run's (`--grace`).
    pub grace_ns: Option<u64>,
}

/// Clients with their own scripts, pace and rules. `None` leaves a rule to the run, and so to the user.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Its name, unique within its stage: `terminals`, `readers`.
    pub name: &'static str,
    /// Number of clients.
    pub clients: Clients,
    /// When transactions start (`-R`). Think time is part of the script ([`crate::Begin::wait_ns`]).
    pub pace: Option<Pace>,
    /// The query mode (`-M`).
    pub mode: Option<QueryMode>,
    /// Tries of a transaction that meets 40001 or 40P01, the first included; 0 is no limit (`--max-tries`).
    pub max_tries: Option<u32>,
    /// A transaction that takes longer counts as late (`-L`).
    pub latency_limit_ns: Option<u64>,
    /// Transactions of each client (`-t`).
    pub transactions: Option<u64>,
    /// Treatment of the rows that its statements return.
    pub results: Results,
    /// Kind of its transactions.
    pub work: GroupWork,
}

/// Kind of a group's transactions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GroupWork {
    /// Many short ones.
    #[default]
    Transactions,
    /// Few large queries: each execution is kept.
    Queries,
}

impl GroupWork {
    /// Returns for each group of a stage whether the figures of the stage include it. Where large queries run beside
    /// transactions, they are those of the transactions: a sum of both would say nothing about either.
    pub fn headline(of_groups: impl Iterator<Item = Self> + Clone) -> Vec<bool> {
        let is_mix = of_groups.clone().any(|work| work == Self::Transactions);
        of_groups.map(|work| !is_mix || work == Self::Transactions).collect()
    }
}

/// Treatment of rows. A script can read those of any statement by [`crate::Batch::fetch`] in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Results {
    /// Discards them.
    #[default]
    Discard,
    /// Counts them, by statement.
    Count,
    /// Counts and hashes them, by statement.
    Digest,
    /// Counts them, and keeps them for the script's next step. A statement that returns more rows than the limit
    /// fails.
    Rows {
        /// Limit of rows of one statement.
        cap: u32,
    },
}

/// Number of clients of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clients {
    /// The run's number of clients (`-c`).
    Given,
    /// This number.
    Number(u32),
}

impl Results {
    /// Returns how rows are received that a script does not ask for.
    #[must_use]
    pub fn unread(self) -> Capture {
        match self {
            Self::Discard => Capture::Nothing,
            Self::Count | Self::Digest => Capture::Count,
            Self::Rows { .. } => Capture::Rows,
        }
    }
}

impl Clients {
    /// Returns the number of clients; `given` is the run's.
    #[must_use]
    pub fn number(self, given: u32) -> u32 {
        match self {
            Self::Given => given,
            Self::Number(number) => number,
        }
    }
}

/// The end of a stage. A stage whose clients have all finished ends in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// After the run's warm-up and time (`--ramp`, `-T`).
    After,
    /// When every client of this group has finished: its script has ended, or it has run its number of transactions.
    /// There is no warm-up.
    WhenDone(&'static str),
    /// When every client of every group has finished. There is no warm-up.
    WhenAllDone,
}

/// Returns true if there is more than one stage or group, or one with rules of its own: then figures are kept by
/// group, too.
#[must_use]
pub fn has_groups(stages: &[Stage]) -> bool {
    stages != [Stage::new(Stage::ONLY, vec![Group::new(Group::ONLY)])]
}

impl Stage {
    /// Name of the stage of a workload with a single one.
    pub const ONLY: &'static str = "run";

    /// Returns a stage that lasts for the run's time.
    #[must_use]
    pub fn new(name: &'static str, groups: Vec<Group>) -> Self {
        Self { name, groups, ends: Ends::After, grace_ns: None }
    }

    /// Returns the number of clients in all groups; `given` is the run's number.
    #[must_use]
    pub fn clients(&self, given: u32) -> u32 {
        self.groups.iter().map(|group| group.clients.number(given)).sum()
    }
}

impl Group {
    /// Name of the group of a workload with a single one.
    pub const ONLY: &'static str = "clients";

    /// Returns a group that leaves everything to the run.
    #[must_use]
    pub fn new(name: &'static str) -> Self {
        Self {
            name,
            clients: Clients::Given,
            pace: None,
            mode: None,
            max_tries: None,
            latency_limit_ns: None,
            transactions: None,
            results: Results::Discard,
            work: GroupWork::Transactions,
        }
    }
}
