//! The server's statistics, looked at while a run goes on, over a session of its own.
//!
//! A source is a module of the catalogue (`pgdyno-samples`), which has its columns with the expressions that ask for them by
//! version, and a file here and a line in [`SOURCES`]: how often it is looked at, and where it is asked from. All that are due are sent as one text, which is one transaction and, before PostgreSQL 15, one
//! look at the files of the statistics collector. What the server does not have, or does not let its role see, is left out
//! with a word.

mod asked;
mod bgwriter;
mod checkpointer;
mod citus;
mod clock;
pub(crate) mod database;
mod io;
mod locks;
mod plans;
mod replication;
mod sampled;
mod sampler;
mod scene;
mod session;
pub(crate) mod source;
mod statements;
mod tables;
mod vacuum;
mod waits;
mod wal;

pub use sampled::{LeftOut, Notice, Sampled};
pub use sampler::{Sampler, Wishes};
use source::Source;

/// Marks the sampler's own statements, which are none of the workload.
pub(crate) const MARK: &str = "/* pgdyno sampler */";

/// All that is asked again and again, but for what sessions wait for.
const SOURCES: &[Source] = &[
    database::SOURCE,
    bgwriter::SOURCE,
    checkpointer::SOURCE,
    wal::SOURCE,
    io::SOURCE,
    locks::SOURCE,
    tables::SOURCE,
    vacuum::SOURCE,
    replication::SOURCE,
    citus::SOURCE,
];
