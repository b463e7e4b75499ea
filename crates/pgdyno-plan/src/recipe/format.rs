//! The format of a recipe file.

use std::collections::BTreeMap;
use std::num::{NonZeroU16, NonZeroU32};

use pgdyno_text::parse::{Bytes, Duration, Share};
use pgdyno_wire::QueryMode;
use serde::Deserialize;

use super::RecipeText;
use crate::{Cycle, Published};

/// A scenario of a guide, for every machine in the guide.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// `alloydb/tpcc-full`, or the path of its file.
    #[serde(skip)]
    pub name: String,
    /// Its description, in one line.
    pub title: String,
    /// A built-in workload; in a file of the user's also a script or a directory, relative to that file.
    pub workload: String,
    /// The measured window; absent where the workload ends when its work is done.
    pub time: Option<Duration>,
    /// The warm-up before it.
    #[serde(default)]
    pub ramp: Duration,
    /// The query mode, if it matters.
    pub mode: Option<QueryMode>,
    /// Clients, unless a size has another number.
    pub clients: Option<NonZeroU32>,
    /// Threads, or jobs, unless a size has another number.
    pub threads: Option<NonZeroU16>,
    /// Connections that load, unless a size has another number.
    pub loaders: Option<NonZeroU16>,
    /// The share of the data that is to fit in the cache, unless a size has another one.
    pub cached: Option<Share>,
    /// Parameters of the workload.
    #[serde(default)]
    pub params: BTreeMap<String, RecipeText>,
    /// Settings of the server.
    #[serde(default)]
    pub settings: BTreeMap<String, RecipeText>,
    /// Notes for a reader, such as errors in the document.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Whether the statements before a run (VACUUM, TRUNCATE) are skipped, unless a variant differs.
    #[serde(default)]
    pub no_vacuum: bool,
    /// The document that it is from.
    pub source: SourceDocument,
    /// Steps on the server and its data around a run.
    #[serde(default)]
    pub steps: Steps,
    /// How its numbers are scaled to another machine; absent if they cannot be.
    pub fit: Option<Fit>,
    /// The machines for which it has numbers.
    #[serde(default, rename = "size")]
    pub sizes: Vec<Size>,
}

/// A document.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceDocument {
    /// The publisher.
    pub publisher: String,
    /// The title.
    pub title: String,
    /// The edition, if there are several.
    pub edition: Option<String>,
    /// The date, as precise as the document gives it.
    pub date: String,
    /// The address.
    pub url: Option<String>,
}

impl SourceDocument {
    /// Returns the document in one line, without the address.
    #[must_use]
    pub fn words(&self) -> String {
        let edition = self.edition.as_ref().map_or_else(String::new, |edition| format!(", {edition}"));
        format!("{}, \"{}\"{edition}, {}", self.publisher, self.title, self.date)
    }
}

/// Steps around a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Steps {
    /// Drop what pgdyno loaded, and load it again.
    pub fresh: bool,
    /// Run on a fresh copy of this database; an empty name is the target's own.
    pub from_template: Option<String>,
    /// Restart the server before the load.
    pub restart: bool,
    /// Drop its files from the operating system's cache.
    pub drop_caches: bool,
    /// Read tables and indexes into the caches before the warm-up.
    pub prewarm: bool,
    /// CHECKPOINT before the warm-up.
    pub checkpoint: bool,
}

impl Steps {
    /// Returns those steps that are done to the server.
    #[must_use]
    pub fn cycle(&self) -> Cycle {
        let Self { restart, drop_caches, prewarm, checkpoint, .. } = *self;
        Cycle { restart, drop_caches, prewarm, checkpoint, provision: false }
    }
}

/// How the numbers of a size are scaled to another machine.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fit {
    /// The origin of the rule, as text.
    pub rule: String,
    /// The machine that the numbers were made for, if that is not the size's own.
    pub made_for: Option<MadeFor>,
    /// Which number grows with what: `clients`, `threads`, `loaders` or a parameter with `vcpus`, `memory` or another of
    /// these numbers.
    #[serde(default)]
    pub grows: BTreeMap<String, String>,
}

/// A machine that numbers were made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MadeFor {
    /// Its CPUs.
    pub vcpus: NonZeroU32,
    /// Its memory.
    pub memory: Bytes,
}

/// The numbers for one machine.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Size {
    /// What `--size` takes.
    pub name: String,
    /// The name of the machine, in addition to its CPUs and its memory.
    #[serde(default)]
    pub machine: String,
    /// CPUs of the database server.
    pub vcpus: NonZeroU32,
    /// Its memory, if the document gives it.
    pub memory: Option<Bytes>,
    /// Clients.
    pub clients: Option<NonZeroU32>,
    /// Threads, or jobs.
    pub threads: Option<NonZeroU16>,
    /// Connections that load.
    pub loaders: Option<NonZeroU16>,
    /// The share of the data that is to fit in the cache.
    pub cached: Option<Share>,
    /// Parameters of the workload, in addition to the recipe's.
    #[serde(default)]
    pub params: BTreeMap<String, RecipeText>,
    /// Figures of the document.
    #[serde(default)]
    pub published: PublishedFigures,
    /// Notes for a reader about this size.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Runs of this size that differ in some numbers. The first is the default.
    #[serde(default, rename = "variant")]
    pub variants: Vec<Variant>,
}

impl Size {
    /// Returns the machine as text.
    #[must_use]
    pub fn words(&self) -> String {
        let memory = self.memory.map_or_else(String::new, |memory| format!(", {}", super::fit::gigabytes(memory.0)));
        let name = if self.machine.is_empty() { String::new() } else { format!("{}, ", self.machine) };
        format!("{name}{} vCPU{memory}", self.vcpus)
    }
}

/// A run of a size that differs from its other runs.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// What `--variant` takes.
    pub name: String,
    /// Clients.
    pub clients: Option<NonZeroU32>,
    /// Threads, or jobs.
    pub threads: Option<NonZeroU16>,
    /// Whether the statements before a run (VACUUM, TRUNCATE) are skipped, if that differs from the recipe.
    pub no_vacuum: Option<bool>,
    /// Parameters of the workload, in addition to the size's.
    #[serde(default)]
    pub params: BTreeMap<String, RecipeText>,
    /// Figures of the document.
    #[serde(default)]
    pub published: PublishedFigures,
}

/// Figures that a document published.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PublishedFigures {
    /// New-Orders a minute.
    pub nopm: Option<f64>,
    /// Transactions a minute, as the server counts them.
    pub tpm: Option<f64>,
    /// Transactions a second.
    pub tps: Option<f64>,
    /// Statements a second.
    pub qps: Option<f64>,
    /// The mean latency.
    pub latency_ms_mean: Option<f64>,
    /// Its standard deviation.
    pub latency_ms_stddev: Option<f64>,
    /// CPU use of the server, 0 to 100.
    pub server_cpu_percent: Option<f64>,
    /// What the document says about them.
    pub note: String,
}

impl PublishedFigures {
    /// Returns the figures that are present; the note is with the first.
    #[must_use]
    pub fn list(&self) -> Vec<Published> {
        let all = [
            ("nopm", self.nopm),
            ("tpm", self.tpm),
            ("tps", self.tps),
            ("qps", self.qps),
            ("latency_ms_mean", self.latency_ms_mean),
            ("latency_ms_stddev", self.latency_ms_stddev),
            ("server_cpu_percent", self.server_cpu_percent),
        ];
        let figure = |(metric, value): (&str, Option<f64>)| {
            value.map(|value| Published { metric: metric.to_owned(), value, note: String::new() })
        };
        let mut list: Vec<_> = all.into_iter().filter_map(figure).collect();
        if let Some(first) = list.first_mut() {
            first.note.clone_from(&self.note);
        }
        list
    }
}
