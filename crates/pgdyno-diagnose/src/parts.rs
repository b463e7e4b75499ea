//! The parts of the clients' time that causes explain.

use pgdyno_text::brief::percent;

use crate::facts::Facts;
use crate::rules::{by_event, cpu};
use crate::waits::Class;

/// A part of the clients' time that causes explain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Work on a CPU of the server, and the queue for one.
    Cpu,
    /// Waits until WAL is on its disk.
    WalFlush,
    /// Waits to insert WAL into its buffers.
    WalBuffers,
    /// Waits for blocks of tables and indexes to be read.
    DataRead,
    /// Waits for such blocks to be written.
    DataWrite,
    /// Waits for the server's internal locks.
    InternalLocks,
    /// Waits for a client that is free, or for one of the shared connections.
    Queue,
}

impl Part {
    pub(crate) const ALL: [Self; 7] = [
        Self::Cpu,
        Self::WalFlush,
        Self::WalBuffers,
        Self::DataRead,
        Self::DataWrite,
        Self::InternalLocks,
        // Its causes are those of the other parts.
        Self::Queue,
    ];

    /// Returns its share of the clients' time.
    pub(crate) fn share(self, facts: &Facts<'_>) -> f64 {
        let sessions = match self {
            Self::Cpu if cpu::is_saturated(facts) == Some(true) => cpu::queue(facts),
            Self::Cpu => facts.account.cpu,
            Self::Queue => facts.account.connection,
            _ => self.class().map_or(0.0, |class| facts.waits.sessions(class)),
        };
        facts.account.share(sessions)
    }

    /// Returns the class of the waits that it is sampled by.
    fn class(self) -> Option<Class> {
        match self {
            Self::Cpu => Some(Class::Cpu),
            Self::WalFlush => Some(Class::WalFlush),
            Self::WalBuffers => Some(Class::WalBuffers),
            Self::DataRead => Some(Class::DataRead),
            Self::DataWrite => Some(Class::DataWrite),
            Self::InternalLocks => Some(Class::Internal),
            Self::Queue => None,
        }
    }

    /// Returns the rules whose findings have this time.
    pub(crate) fn rules(self) -> &'static [&'static str] {
        match self {
            Self::Cpu => &["cpu", "other-programs", "load"],
            Self::WalFlush => &["wal-flush"],
            Self::WalBuffers => &["wal-buffers"],
            Self::DataRead => &["reads"],
            Self::DataWrite => &["backend-writes"],
            Self::InternalLocks => &["internal-locks"],
            Self::Queue => &["backlog", "connections"],
        }
    }

    /// Returns a sentence for the end of a chain.
    pub(crate) fn text(self, facts: &Facts<'_>) -> String {
        let what = match self {
            Self::Cpu => "work on a CPU of the server, or the queue for one",
            Self::WalFlush => "waiting for WAL flush",
            Self::WalBuffers => "waiting to insert WAL into its buffers",
            Self::DataRead => "waiting for blocks that were not in shared buffers",
            Self::DataWrite => "writing or extending tables in the clients' own sessions",
            Self::InternalLocks => "waiting for the server's internal locks (LWLocks)",
            Self::Queue => "waiting for a client or connection, which were busy with the rest",
        };
        format!("{} {} was {what}", percent(self.share(facts)), facts.of_what())
    }

    /// Returns the figures behind that sentence.
    pub(crate) fn evidence(self, facts: &Facts<'_>) -> Vec<String> {
        self.class().map(|class| by_event(facts, class)).into_iter().collect()
    }
}
