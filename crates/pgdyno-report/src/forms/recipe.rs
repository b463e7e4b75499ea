//! A recipe.

use std::collections::BTreeMap;
use std::num::{NonZeroU16, NonZeroU32};

use pgdyno_plan::recipe::{Fit, Recipe, RecipeText, Size, SourceDocument, Steps, Variant};
use pgdyno_plan::{Published, QueryMode};
use serde::Serialize;

/// A recipe, as `pgdyno show RECIPE --format json` prints it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecipeForm {
    /// [`super::FORMAT_VERSION`].
    format_version: u32,
    /// Its name.
    name: String,
    /// One line about it.
    title: String,
    /// The document that it is from.
    source: SourceForm,
    /// Its workload.
    workload: String,
    /// The measured window in seconds; null where the workload ends when its work is done.
    time_s: Option<f64>,
    /// The warm-up in seconds.
    ramp_s: f64,
    /// The query mode; null if it does not matter.
    mode: Option<QueryMode>,
    /// Whether the statements before a run (VACUUM, TRUNCATE) are skipped.
    no_vacuum: bool,
    /// Clients, threads and the like, unless a size has others.
    numbers: NumbersForm,
    /// Settings of the server.
    settings: BTreeMap<String, String>,
    /// Notes for a reader, such as errors in the document.
    notes: Vec<String>,
    /// Steps on the server and its data around a run.
    steps: StepsForm,
    /// How its numbers are scaled to another machine; null if they cannot be.
    fit: Option<FitForm>,
    /// The machines for which it has numbers.
    sizes: Vec<SizeForm>,
}

/// A document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct SourceForm {
    publisher: String,
    title: String,
    edition: Option<String>,
    /// As precise as the document gives it.
    date: String,
    url: Option<String>,
}

/// Numbers of a recipe, a size or a variant; null where another level has them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct NumbersForm {
    clients: Option<u32>,
    /// Threads, or jobs.
    threads: Option<u16>,
    /// Connections that load.
    loaders: Option<u16>,
    /// The share of the data that is to fit in the cache, 0 to 1.
    cached: Option<f64>,
    /// Parameters of the workload.
    params: BTreeMap<String, String>,
}

/// Steps around a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct StepsForm {
    /// Drop what pgdyno loaded, and load it again.
    fresh: bool,
    /// Run on a fresh copy of this database; an empty name is the target's own.
    from_template: Option<String>,
    restart: bool,
    drop_caches: bool,
    prewarm: bool,
    checkpoint: bool,
}

/// How numbers are scaled to another machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct FitForm {
    /// The origin of the rule.
    rule: String,
    /// Which number grows with what.
    grows: BTreeMap<String, String>,
}

/// The numbers for one machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct SizeForm {
    /// What `--size` takes.
    name: String,
    /// Name of the machine, in addition to its CPUs and its memory.
    machine: String,
    /// CPUs of the database server.
    vcpus: u32,
    /// Its memory; null if the document does not give it.
    memory_bytes: Option<u64>,
    numbers: NumbersForm,
    /// Figures of the document.
    published: Vec<Published>,
    notes: Vec<String>,
    /// Runs of this size that differ in some numbers. The first is the default.
    variants: Vec<VariantForm>,
}

/// A run of a size that differs from its other runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct VariantForm {
    /// What `--variant` takes.
    name: String,
    /// Whether the statements before a run are skipped; null if that is as in the recipe.
    no_vacuum: Option<bool>,
    numbers: NumbersForm,
    /// Figures of the document.
    published: Vec<Published>,
}

fn words(values: &BTreeMap<String, RecipeText>) -> BTreeMap<String, String> {
    values.iter().map(|(name, value)| (name.clone(), value.to_string())).collect()
}

impl From<&Recipe> for RecipeForm {
    fn from(recipe: &Recipe) -> Self {
        Self {
            format_version: super::FORMAT_VERSION,
            name: recipe.name.clone(),
            title: recipe.title.clone(),
            source: source(&recipe.source),
            workload: recipe.workload.clone(),
            time_s: recipe.time.map(|time| time.seconds()),
            ramp_s: recipe.ramp.seconds(),
            mode: recipe.mode,
            no_vacuum: recipe.no_vacuum,
            numbers: NumbersForm {
                clients: recipe.clients.map(NonZeroU32::get),
                threads: recipe.threads.map(NonZeroU16::get),
                loaders: recipe.loaders.map(NonZeroU16::get),
                cached: recipe.cached.map(|share| share.0),
                params: words(&recipe.params),
            },
            settings: words(&recipe.settings),
            notes: recipe.notes.clone(),
            steps: steps(&recipe.steps),
            fit: recipe.fit.as_ref().map(fit),
            sizes: recipe.sizes.iter().map(size).collect(),
        }
    }
}

fn source(source: &SourceDocument) -> SourceForm {
    let SourceDocument { publisher, title, edition, date, url } = source.clone();
    SourceForm { publisher, title, edition, date, url }
}

fn steps(steps: &Steps) -> StepsForm {
    let Steps { fresh, from_template, restart, drop_caches, prewarm, checkpoint } = steps.clone();
    StepsForm { fresh, from_template, restart, drop_caches, prewarm, checkpoint }
}

fn fit(fit: &Fit) -> FitForm {
    FitForm { rule: fit.rule.clone(), grows: fit.grows.clone() }
}

fn size(size: &Size) -> SizeForm {
    SizeForm {
        name: size.name.clone(),
        machine: size.machine.clone(),
        vcpus: size.vcpus.get(),
        memory_bytes: size.memory.map(|memory| memory.0),
        numbers: NumbersForm {
            clients: size.clients.map(NonZeroU32::get),
            threads: size.threads.map(NonZeroU16::get),
            loaders: size.loaders.map(NonZeroU16::get),
            cached: size.cached.map(|share| share.0),
            params: words(&size.params),
        },
        published: size.published.list(),
        notes: size.notes.clone(),
        variants: size.variants.iter().map(variant).collect(),
    }
}

fn variant(variant: &Variant) -> VariantForm {
    VariantForm {
        name: variant.name.clone(),
        no_vacuum: variant.no_vacuum,
        numbers: NumbersForm {
            clients: variant.clients.map(NonZeroU32::get),
            threads: variant.threads.map(NonZeroU16::get),
            loaders: None,
            cached: None,
            params: words(&variant.params),
        },
        published: variant.published.list(),
    }
}
