//! What a run does: stages in order, each with groups of clients side by side.

use pgdyno_wire::{Capture, QueryMode};

use crate::Pace;

/// A part of a run with an end of its own. Stages run one after the other; each opens its clients' connections anew.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// `power`, `throughput`.
    pub name: &'static str,
    /// Groups that run side by side, at least one.
    pub groups: Vec<Group>,
    /// When it ends.
    pub ends: Ends,
    /// How long transactions in flight at its end may take before they are cancelled; `None`: as long as the run says.
    pub grace_ns: Option<u64>,
}

/// Clients with their own scripts, pace and rules. `None` leaves a rule to the run, and so to the user.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// `terminals`, `readers`: unique within its stage.
    pub name: &'static str,
    /// How many clients it has.
    pub clients: Clients,
    /// When transactions start (`--rate`). Think time is the script's ([`crate::Begin::wait_ns`]).
    pub pace: Option<Pace>,
    /// How statements are sent (`-M`).
    pub mode: Option<QueryMode>,
    /// Tries of a transaction that meets 40001 or 40P01, the first included; 0 is no limit (`--max-tries`).
    pub max_tries: Option<u32>,
    /// A transaction that takes longer counts as late (`-L`).
    pub latency_limit_ns: Option<u64>,
    /// Transactions of each client (`-t`).
    pub transactions: Option<u64>,
    /// What becomes of the rows that its statements bring.
    pub results: Results,
}

/// What becomes of rows. A script can read those of any statement by [`crate::Batch::fetch`], whatever this says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Results {
    /// They are passed over.
    #[default]
    Discard,
    /// They are counted, by statement.
    Count,
    /// They are counted and hashed, by statement.
    Digest,
    /// They are counted, and kept for the script's next step. A statement that brings more than so many rows fails.
    Rows {
        /// How many rows of one statement are kept.
        cap: u32,
    },
}

/// How many clients a group has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clients {
    /// As many as the run is given (`-c`).
    Given,
    /// So many.
    Number(u32),
}

impl Results {
    /// What becomes of rows that a script does not ask for.
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
    /// Returns the number of clients, where the run is given so many.
    #[must_use]
    pub fn number(self, given: u32) -> u32 {
        match self {
            Self::Given => given,
            Self::Number(number) => number,
        }
    }
}

/// When a stage ends. One whose clients are all done ends in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// After the run's warm-up and time (`--ramp`, `-T`).
    After,
    /// When every client of this group is done: its script has ended, or it has done its number of transactions. There is
    /// no warm-up.
    WhenDone(&'static str),
}

/// Returns true if there is more than one stage or group, or one with rules of its own: then figures are kept by group, too.
#[must_use]
pub fn has_groups(stages: &[Stage]) -> bool {
    stages != [Stage::new(Stage::ONLY, vec![Group::new(Group::ONLY)])]
}

impl Stage {
    /// The name of the stage of a workload that has only one.
    pub const ONLY: &'static str = "run";

    /// A stage that lasts for the run's time.
    #[must_use]
    pub fn new(name: &'static str, groups: Vec<Group>) -> Self {
        Self { name, groups, ends: Ends::After, grace_ns: None }
    }

    /// Returns the number of clients in all groups, where the run is given so many.
    #[must_use]
    pub fn clients(&self, given: u32) -> u32 {
        self.groups.iter().map(|group| group.clients.number(given)).sum()
    }
}

impl Group {
    /// The name of the group of a workload that has only one.
    pub const ONLY: &'static str = "clients";

    /// A group for which everything is as the run says.
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
        }
    }
}
