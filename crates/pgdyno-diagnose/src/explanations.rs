//! The causes of the parts of the clients' time, and the findings between them: data for [`crate::chains`].

use crate::explained::Explained;
use crate::facts::Facts;
use crate::parts::Part;
use crate::rules::{
    checkpoints, dead_rows, displaced_cache, full_pages, jit, old_snapshot, reads, seq_scans, temp_files,
};

/// A cause of a part of the clients' time.
pub(crate) struct Explanation {
    /// Its rule.
    pub(crate) cause: &'static str,
    pub(crate) part: Part,
    /// Returns the share of the part that the cause explains.
    pub(crate) explained: fn(&Facts<'_>) -> Option<Explained>,
}

const fn explains(cause: &'static str, part: Part, explained: fn(&Facts<'_>) -> Option<Explained>) -> Explanation {
    Explanation { cause, part, explained }
}

pub(crate) const EXPLANATIONS: [Explanation; 18] = [
    explains("checkpoints", Part::Cpu, checkpoints::of_cpu),
    explains("checkpoints", Part::WalBuffers, checkpoints::of_wal),
    explains("checkpoints", Part::WalFlush, checkpoints::of_wal),
    explains("dead-rows", Part::Cpu, dead_rows::of_cpu),
    explains("dead-rows", Part::DataRead, dead_rows::of_reads),
    explains("displaced-cache", Part::DataRead, displaced_cache::of_reads),
    explains("full-pages", Part::Cpu, full_pages::of_cpu),
    explains("full-pages", Part::WalBuffers, full_pages::of_wal),
    explains("full-pages", Part::WalFlush, full_pages::of_wal),
    explains("jit", Part::Cpu, jit::of_cpu),
    explains("old-snapshot", Part::Cpu, old_snapshot::of_cpu),
    explains("reads", Part::Cpu, reads::of_cpu),
    explains("reads", Part::DataWrite, reads::of_writes),
    explains("reads", Part::InternalLocks, reads::of_internal_locks),
    explains("seq-scans", Part::Cpu, seq_scans::of_cpu),
    explains("seq-scans", Part::DataRead, seq_scans::of_reads),
    explains("seq-scans", Part::InternalLocks, seq_scans::of_internal_locks),
    explains("temp-files", Part::Cpu, temp_files::of_cpu),
];

/// A finding that another one is the cause of.
pub(crate) struct Link {
    /// Its rule.
    pub(crate) cause: &'static str,
    /// The rule of the finding between the cause and a part.
    pub(crate) effect: &'static str,
    /// Returns true if the figures of this run show it.
    pub(crate) holds: fn(&Facts<'_>) -> bool,
}

const fn makes(cause: &'static str, effect: &'static str, holds: fn(&Facts<'_>) -> bool) -> Link {
    Link { cause, effect, holds }
}

pub(crate) const LINKS: [Link; 4] = [
    makes("checkpoints", "full-pages", checkpoints::are_forced),
    makes("dead-rows", "reads", dead_rows::read_most_blocks),
    makes("old-snapshot", "dead-rows", always),
    makes("seq-scans", "reads", seq_scans::read_most_blocks),
];

/// Both rules find the effect of the same snapshots.
const fn always(_: &Facts<'_>) -> bool {
    true
}
