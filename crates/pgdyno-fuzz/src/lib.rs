//! What must hold for any bytes that others send or write: a target for each reader.
//!
//! A target is a function of bytes that panics where something does not hold. `fuzz/` runs them under libFuzzer, as long as
//! one likes; `cargo test` runs each over its seeds and a few thousand mutations of them, the same ones each time. Every
//! target also has a bound on the memory that it may hold at once, in proportion to its input.

mod auth;
mod conninfo;
mod eval;
mod hlog;
mod http;
mod memory;
mod null;
mod parse;
mod proc;
mod record;
mod seeds;
mod session;
mod tables;
mod toml;
mod workload;
mod x509;

pub use seeds::{Seed, seeds};

/// A reader, and what must hold for it.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// Panics where something does not hold.
    run: fn(&[u8]),
    /// Where its seeds are, from the root of the repository.
    pub seeds: &'static [&'static str],
    /// Bytes that it may hold for each byte of its input, beside [`MEMORY_BASE`].
    memory_per_byte: usize,
}

/// Bytes that any target may hold, whatever its input: what it makes of nothing.
const MEMORY_BASE: usize = 4 << 20;

/// All targets.
pub const TARGETS: &[Target] = &[
    Target { name: "auth", run: auth::run, seeds: &["fuzz/seeds/auth"], memory_per_byte: 100 },
    Target { name: "conninfo", run: conninfo::run, seeds: &["fuzz/seeds/conninfo"], memory_per_byte: 1000 },
    Target { name: "eval", run: eval::run, seeds: &["fuzz/seeds/eval"], memory_per_byte: 1000 },
    Target { name: "hlog", run: hlog::run, seeds: &["fuzz/seeds/hlog"], memory_per_byte: 4000 },
    Target { name: "http", run: http::run, seeds: &["fuzz/seeds/http"], memory_per_byte: 1000 },
    Target { name: "null", run: null::run, seeds: &["fuzz/seeds/null"], memory_per_byte: 1000 },
    Target { name: "parse", run: parse::run, seeds: &["fuzz/seeds/parse", "workloads"], memory_per_byte: 1000 },
    Target { name: "proc", run: proc::run, seeds: &["fuzz/seeds/proc"], memory_per_byte: 1000 },
    Target { name: "record", run: record::run, seeds: &["fuzz/seeds/record", "fixtures"], memory_per_byte: 1000 },
    Target { name: "session", run: session::run, seeds: &["fuzz/seeds/session"], memory_per_byte: 1000 },
    Target { name: "tables", run: tables::run, seeds: &["fuzz/seeds/tables"], memory_per_byte: 1000 },
    Target {
        name: "toml",
        run: toml::run,
        seeds: &["fuzz/seeds/toml", "recipes", "examples"],
        memory_per_byte: 30_000,
    },
    Target { name: "workload", run: workload::run, seeds: &["fuzz/seeds/workload"], memory_per_byte: 1000 },
    Target { name: "x509", run: x509::run, seeds: &["fuzz/seeds/x509"], memory_per_byte: 100 },
];

impl Target {
    /// The target of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        TARGETS.iter().find(|target| target.name == name)
    }

    /// Runs it on `input`.
    ///
    /// # Panics
    /// Where something does not hold.
    pub fn run(&self, input: &[u8]) {
        let most = MEMORY_BASE + self.memory_per_byte * input.len();
        let held = memory::peak(|| (self.run)(input));
        assert!(held <= most, "{} held {held} bytes for an input of {}; {most} are its bound", self.name, input.len());
    }
}
