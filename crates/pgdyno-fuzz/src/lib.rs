//! Fuzz targets: one for each reader of bytes that others send or write.
//!
//! A target is a function of bytes that panics when a property does not hold. `fuzz/` runs targets under libFuzzer for any
//! time; `cargo test` runs each over its seeds and a few thousand mutations of them, the same each time. Every target also
//! has a bound on its peak memory, in proportion to its input.

mod auth;
mod capture;
mod conninfo;
mod eval;
mod hlog;
mod http;
mod log;
mod meeting;
mod memory;
mod null;
mod parse;
mod proc;
mod record;
mod rows;
mod seeds;
mod session;
mod tables;
mod text;
mod toml;
mod workload;
mod x509;

pub use seeds::{Seed, seeds};

/// A reader and its properties.
#[derive(Clone, Copy, Debug)]
pub struct FuzzTarget {
    /// Name of the target.
    pub name: &'static str,
    /// Panics when a property does not hold.
    run: fn(&[u8]),
    /// Directories of its seeds, relative to the root of the repository.
    pub seeds: &'static [&'static str],
    /// Bytes that it may hold per byte of input, in addition to [`MEMORY_BASE`].
    memory_per_byte: usize,
}

/// Bytes that any target may hold, independent of its input.
const MEMORY_BASE: usize = 4 << 20;

/// All targets.
pub const TARGETS: &[FuzzTarget] = &[
    FuzzTarget { name: "auth", run: auth::run, seeds: &["fuzz/seeds/auth"], memory_per_byte: 100 },
    FuzzTarget { name: "capture", run: capture::run, seeds: &["fuzz/seeds/capture"], memory_per_byte: 1000 },
    FuzzTarget { name: "conninfo", run: conninfo::run, seeds: &["fuzz/seeds/conninfo"], memory_per_byte: 1000 },
    FuzzTarget { name: "eval", run: eval::run, seeds: &["fuzz/seeds/eval"], memory_per_byte: 1000 },
    FuzzTarget { name: "hlog", run: hlog::run, seeds: &["fuzz/seeds/hlog"], memory_per_byte: 4000 },
    FuzzTarget { name: "http", run: http::run, seeds: &["fuzz/seeds/http"], memory_per_byte: 1000 },
    FuzzTarget { name: "log", run: log::run, seeds: &["fuzz/seeds/log"], memory_per_byte: 1000 },
    FuzzTarget { name: "meeting", run: meeting::run, seeds: &["fuzz/seeds/meeting"], memory_per_byte: 4000 },
    FuzzTarget { name: "null", run: null::run, seeds: &["fuzz/seeds/null"], memory_per_byte: 1000 },
    FuzzTarget { name: "parse", run: parse::run, seeds: &["fuzz/seeds/parse", "workloads"], memory_per_byte: 1000 },
    FuzzTarget { name: "proc", run: proc::run, seeds: &["fuzz/seeds/proc"], memory_per_byte: 1000 },
    FuzzTarget { name: "record", run: record::run, seeds: &["fuzz/seeds/record", "fixtures"], memory_per_byte: 1000 },
    FuzzTarget { name: "rows", run: rows::run, seeds: &["fuzz/seeds/rows"], memory_per_byte: 1000 },
    FuzzTarget { name: "session", run: session::run, seeds: &["fuzz/seeds/session"], memory_per_byte: 1000 },
    FuzzTarget { name: "tables", run: tables::run, seeds: &["fuzz/seeds/tables"], memory_per_byte: 1000 },
    FuzzTarget { name: "text", run: text::run, seeds: &["fuzz/seeds/text"], memory_per_byte: 1000 },
    FuzzTarget {
        name: "toml",
        run: toml::run,
        seeds: &["fuzz/seeds/toml", "recipes", "examples"],
        memory_per_byte: 30_000,
    },
    FuzzTarget { name: "workload", run: workload::run, seeds: &["fuzz/seeds/workload"], memory_per_byte: 1000 },
    FuzzTarget { name: "x509", run: x509::run, seeds: &["fuzz/seeds/x509"], memory_per_byte: 100 },
];

impl FuzzTarget {
    /// Returns the target of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        TARGETS.iter().find(|target| target.name == name)
    }

    /// Runs the target on `input`.
    ///
    /// # Panics
    /// When a property does not hold or the target holds too much memory.
    pub fn run(&self, input: &[u8]) {
        let most = MEMORY_BASE + self.memory_per_byte * input.len();
        let held = memory::peak(|| (self.run)(input));
        assert!(held <= most, "{} held {held} bytes for an input of {}; {most} are its bound", self.name, input.len());
    }
}
