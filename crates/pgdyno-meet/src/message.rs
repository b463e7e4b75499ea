//! What coordinator and agents say to each other.

use std::sync::Arc;

/// Time of the local clock, which is never set: nanoseconds since some moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalTime(pub u64);

impl LocalTime {
    /// Returns the time so many nanoseconds later.
    #[must_use]
    pub fn after(self, ns: u64) -> Self {
        Self(self.0.saturating_add(ns))
    }

    /// Returns the nanoseconds since `earlier`; 0 if that is later.
    #[must_use]
    pub fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// A run at a meeting. The run that was announced first has the lowest number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(pub u64);

/// An agent process: one that is started again is another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AgentId(pub u64);

/// What a coordinator wants of one agent now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// The run.
    pub run: RunId,
    /// Rises with each order of the run to the agent.
    pub number: u64,
    /// What the agent is to do.
    pub step: AgentStep,
    /// Batches up to this number have arrived.
    pub acked: u64,
}

/// What an agent is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentStep {
    /// Serve no other run.
    Claim,
    /// Do a task.
    Do {
        /// Number of the task within the run, from 1.
        nth: u32,
        /// What to do, which the protocol does not read.
        task: Arc<[u8]>,
    },
    /// Begin the task that is ready.
    Go {
        /// Its number.
        nth: u32,
        /// When, by the meeting server's clock, in nanoseconds since 1970.
        at_ns: u64,
    },
    /// End the task.
    Stop {
        /// Its number.
        nth: u32,
        /// Whether work in progress is given up.
        at_once: bool,
    },
    /// Be free again.
    Release,
}

/// What an agent says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The agent.
    pub agent: AgentId,
    /// Rises with each report.
    pub number: u64,
    /// The run that it serves.
    pub run: Option<RunId>,
    /// What it does.
    pub state: AgentState,
    /// Batches that it has made for the run.
    pub batches: u64,
}

/// What an agent does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentState {
    /// Nothing: it waits for work, or, if it has a run, for the next task.
    Idle,
    /// A task, before its common start if it has one.
    Doing {
        /// Number of the task.
        nth: u32,
    },
    /// It waits for the common start.
    Ready {
        /// Number of the task.
        nth: u32,
    },
    /// It knows the common start, or has begun.
    Started {
        /// Number of the task.
        nth: u32,
    },
    /// The task has ended.
    Did {
        /// Number of the task.
        nth: u32,
        /// Its result, or why there is none.
        result: Result<Vec<u8>, String>,
    },
}

impl AgentState {
    /// Returns the number of the task that it is about.
    #[must_use]
    pub fn nth(&self) -> Option<u32> {
        match self {
            Self::Idle => None,
            Self::Doing { nth } | Self::Ready { nth } | Self::Started { nth } | Self::Did { nth, .. } => Some(*nth),
        }
    }

    /// Returns a word for lists.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Doing { .. } => "preparing",
            Self::Ready { .. } => "ready",
            Self::Started { .. } => "running",
            Self::Did { result: Ok(_), .. } => "done",
            Self::Did { result: Err(_), .. } => "failed",
        }
    }
}
