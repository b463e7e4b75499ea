//! Returns one run of a recipe.

use std::collections::BTreeMap;

use super::fit::{fit, nearest};
use super::numbers::Numbers;
use pgdyno_wire::QueryMode;

use super::{Machine, Recipe, Size, Variant};
use crate::mistake;
use crate::{Cycle, Fitted, Published, RecipePlan, Shortened};

/// Times are not shortened below this, unless the recipe's own is below it.
const LEAST_TIME_S: f64 = 10.0;
/// The same for a warm-up.
const LEAST_RAMP_S: f64 = 1.0;

/// The requested run of a recipe.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RecipeRun<'a> {
    /// The size whose numbers are used unchanged.
    pub size: Option<&'a str>,
    /// The variant; by default the first.
    pub variant: Option<&'a str>,
    /// The machine that the numbers are scaled to.
    pub fit: Option<Machine>,
    /// The divisor of the times.
    pub short: Option<f64>,
}

/// Why a run does not exist.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RecipeError {
    /// No size was given.
    #[error("recipe {recipe} has different numbers for each machine: choose one with --size; its sizes are {sizes}")]
    NoSize {
        /// The recipe.
        recipe: String,
        /// Names and machines of its sizes.
        sizes: String,
    },
    /// Both a size and `fit` were given.
    #[error("--size takes the numbers of recipe {recipe} as they are, --fit scales them: give one of the two")]
    SizeAndFit {
        /// The recipe.
        recipe: String,
    },
    /// No size or variant of this name.
    #[error("recipe {recipe} has no {what} '{given}'{}; it has {known}", did_you_mean(.nearest.as_deref()))]
    Unknown {
        /// The recipe, and for a variant its size.
        recipe: String,
        /// `size` or `variant`.
        what: &'static str,
        /// The given name.
        given: String,
        /// The most similar name.
        nearest: Option<String>,
        /// The known names.
        known: String,
    },
    /// The recipe has no rule for other machines.
    #[error(
        "recipe {recipe} has no rule to scale its numbers (--fit): choose a size with --size; its sizes are {sizes}"
    )]
    NoRule {
        /// The recipe.
        recipe: String,
        /// Names and machines of its sizes.
        sizes: String,
    },
    /// `short` would make times longer.
    #[error("the times of recipe {recipe} cannot be divided by {by}: give a number of at least 1")]
    Short {
        /// The recipe.
        recipe: String,
        /// The given divisor.
        by: f64,
    },
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |nearest| format!(" (did you mean {nearest}?)"))
}

/// Everything that a recipe says about one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Expanded {
    /// The recipe as the plan stores it, without departures.
    pub recipe: RecipePlan,
    /// The workload.
    pub workload: String,
    /// Its parameters.
    pub params: BTreeMap<String, String>,
    /// Settings of the server.
    pub settings: BTreeMap<String, String>,
    /// Steps on the server.
    pub cycle: Cycle,
    /// Whether existing data is replaced.
    pub fresh: bool,
    /// The database of which the run uses a fresh copy; empty for the target's own.
    pub from_template: Option<String>,
    /// Clients.
    pub clients: Option<u32>,
    /// Threads.
    pub threads: Option<u16>,
    /// Connections that load.
    pub loaders: Option<u16>,
    /// Whether the statements before a run (VACUUM, TRUNCATE) are skipped.
    pub no_vacuum: bool,
    /// The query mode.
    pub mode: Option<QueryMode>,
    /// The measured window; `None` for a workload that ends when its work is done.
    pub time_s: Option<f64>,
    /// The warm-up.
    pub ramp_s: f64,
    /// Notes for a reader.
    pub notes: Vec<String>,
}

/// Returns the numbers of one run.
///
/// # Errors
/// When the request does not select exactly one size, or uses a name that the recipe does not have.
pub fn expand(recipe: &Recipe, request: &RecipeRun<'_>) -> Result<Expanded, RecipeError> {
    let (size, machine) = select_size(recipe, request)?;
    let variant = variant(recipe, size, request.variant)?;
    let mut numbers = Numbers::of(recipe, size, variant);
    let fitted = machine.zip(recipe.fit.as_ref()).map(|(machine, rule)| Fitted {
        vcpus: machine.vcpus,
        memory_bytes: machine.memory_bytes,
        rule: fit(&mut numbers, rule, size, machine),
    });
    let (of, published) = published(recipe, size, variant);
    let (time_s, ramp_s) = (recipe.time.map(|time| time.seconds()), recipe.ramp.seconds());
    let by = request.short.unwrap_or(1.0);
    if by.is_nan() || by < 1.0 {
        return Err(RecipeError::Short { recipe: recipe.name.clone(), by });
    }
    let cut = |own: f64, least: f64| (own / by).max(own.min(least));
    Ok(Expanded {
        recipe: RecipePlan {
            name: recipe.name.clone(),
            source: recipe.source.words(),
            size: size.name.clone(),
            variant: variant.map_or_else(String::new, |variant| variant.name.clone()),
            machine: of.words(),
            published,
            cached: size.cached.or(recipe.cached).map(|share| share.0),
            fitted,
            // Work cannot be shortened.
            shortened: request.short.zip(time_s).map(|(by, time_s)| Shortened { by, time_s, ramp_s }),
            departures: Vec::new(),
        },
        workload: recipe.workload.clone(),
        params: numbers.params,
        settings: recipe.settings.iter().map(|(name, value)| (name.clone(), value.0.clone())).collect(),
        cycle: recipe.steps.cycle(),
        fresh: recipe.steps.fresh,
        from_template: recipe.steps.from_template.clone(),
        clients: numbers.clients,
        threads: numbers.threads,
        loaders: numbers.loaders,
        no_vacuum: variant.and_then(|variant| variant.no_vacuum).unwrap_or(recipe.no_vacuum),
        mode: recipe.mode,
        time_s: time_s.map(|time_s| cut(time_s, LEAST_TIME_S)),
        ramp_s: cut(ramp_s, LEAST_RAMP_S),
        notes: recipe.notes.iter().chain(&size.notes).cloned().collect(),
    })
}

impl Recipe {
    /// Returns the size with exactly this machine.
    #[must_use]
    pub fn size_of(&self, machine: Machine) -> Option<&Size> {
        self.sizes.iter().find(|size| {
            size.vcpus.get() == machine.vcpus && size.memory.is_some_and(|memory| memory.0 == machine.memory_bytes)
        })
    }

    /// Returns names and machines of its sizes.
    #[must_use]
    pub fn sizes_in_words(&self) -> String {
        self.sizes.iter().map(|size| format!("{} ({})", size.name, size.words())).collect::<Vec<_>>().join(", ")
    }
}

/// Returns the size whose numbers are used, and the machine that they are scaled to.
fn select_size<'a>(recipe: &'a Recipe, request: &RecipeRun<'_>) -> Result<(&'a Size, Option<Machine>), RecipeError> {
    let name = || recipe.name.clone();
    match (request.size, request.fit) {
        (Some(_), Some(_)) => Err(RecipeError::SizeAndFit { recipe: name() }),
        (None, None) => Err(RecipeError::NoSize { recipe: name(), sizes: recipe.sizes_in_words() }),
        (Some(given), None) => match recipe.sizes.iter().find(|size| size.name == given) {
            Some(size) => Ok((size, None)),
            None => Err(unknown(name(), "size", given, recipe.sizes.iter().map(|size| size.name.as_str()))),
        },
        (None, Some(machine)) => {
            let size = nearest(recipe.sizes.iter(), machine.vcpus, Some(machine.memory_bytes));
            size.filter(|_| recipe.fit.is_some())
                .map(|size| (size, Some(machine)))
                .ok_or_else(|| RecipeError::NoRule { recipe: name(), sizes: recipe.sizes_in_words() })
        }
    }
}

fn variant<'a>(recipe: &Recipe, size: &'a Size, given: Option<&str>) -> Result<Option<&'a Variant>, RecipeError> {
    let Some(given) = given else { return Ok(size.variants.first()) };
    let known = size.variants.iter().map(|variant| variant.name.as_str());
    let of = || format!("{} of size {}", recipe.name, size.name);
    size.variants
        .iter()
        .find(|variant| variant.name == given)
        .map(Some)
        .ok_or_else(|| unknown(of(), "variant", given, known))
}

/// Returns the figures of the run, and the size that they are for: if the size has none, those of the most similar
/// size.
fn published<'a>(recipe: &'a Recipe, size: &'a Size, variant: Option<&Variant>) -> (&'a Size, Vec<Published>) {
    let own = variant.map_or(&size.published, |variant| &variant.published).list();
    let other = || recipe.sizes.iter().filter(|other| !other.published.list().is_empty());
    match nearest(other(), size.vcpus.get(), size.memory.map(|memory| memory.0)).filter(|_| own.is_empty()) {
        Some(other) => (other, other.published.list()),
        None => (size, own),
    }
}

fn unknown<'a>(
    recipe: String,
    what: &'static str,
    given: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> RecipeError {
    let nearest = mistake::nearest(given, known.clone()).map(str::to_owned);
    let known = known.collect::<Vec<_>>().join(", ");
    let known = if known.is_empty() { "none".to_owned() } else { known };
    RecipeError::Unknown { recipe, what, given: given.to_owned(), nearest, known }
}
