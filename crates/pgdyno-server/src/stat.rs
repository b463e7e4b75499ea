//! Samples of the server's statistics during a run, over a session of their own.
//!
//! A source is a module of the catalogue (`pgdyno-samples`), which has its columns with their expressions by version,
//! and a file here and a line in [`SOURCES`]: its interval, and where it is queried from. All sources that are due
//! are sent as one text: one transaction and, before PostgreSQL 15, one read of the statistics collector's files.
//! Sources that the server lacks, or that its role may not see, are left out with a note.

mod asked;
mod bgwriter;
mod blockers;
mod checkpointer;
mod citus;
mod clock;
pub(crate) mod database;
mod horizon;
mod io;
mod keyed_tables;
mod locks;
mod plans;
mod redacted;
mod replication;
mod row_locks;
mod sampled;
mod sampler;
mod session;
mod slru;
pub(crate) mod source;
mod statements;
mod tables;
mod traits;
mod vacuum;
mod waits;
mod wal;

pub use sampled::{SampleEvent, Sampled, UnsampledSource};
pub use sampler::{Sampler, SamplerOptions};
use source::Source;
pub use waits::name_of_streams;

/// Marks the sampler's own statements.
pub(crate) const MARK: &str = "/* pgdyno sampler */";

/// Sources that are queried repeatedly, without the waits of sessions.
const SOURCES: &[Source] = &[
    database::SOURCE,
    bgwriter::SOURCE,
    checkpointer::SOURCE,
    wal::SOURCE,
    io::SOURCE,
    locks::SOURCE,
    blockers::SOURCE,
    row_locks::SOURCE,
    horizon::SOURCE,
    slru::SOURCE,
    tables::SOURCE,
    vacuum::SOURCE,
    replication::SOURCE,
    citus::SOURCE,
];
