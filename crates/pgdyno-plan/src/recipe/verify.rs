//! Checks whether the parts of a recipe fit together.

use std::collections::BTreeSet;

use super::fit::{MEMORY, NUMBERS, VCPUS};
use super::numbers::Numbers;
use super::{Recipe, Size};
use crate::mistake::nearest;

/// The workloads that have no time.
const WITHOUT_TIME: [&str; 2] = ["tproc-h", "tproc-ds"];

/// Checks a recipe; the error is a message.
pub(super) fn verify(recipe: &Recipe) -> Result<(), String> {
    if recipe.time.is_none() && !WITHOUT_TIME.contains(&recipe.workload.as_str()) {
        return Err(format!("time is missing: only {} end when their work is done", WITHOUT_TIME.join(" and ")));
    }
    if recipe.time.is_some_and(|time| time.seconds() <= 0.0) {
        return Err("time must be above 0".to_owned());
    }
    if recipe.sizes.is_empty() {
        return Err(
            "it has no size: write [[size]] with name, vcpus, memory and the numbers for that machine".to_owned()
        );
    }
    unique("sizes", recipe.sizes.iter().map(|size| size.name.as_str()))?;
    for size in &recipe.sizes {
        let named = |error: String| format!("size {}: {error}", size.name);
        unique("variants", size.variants.iter().map(|variant| variant.name.as_str())).map_err(named)?;
        if size.memory.is_some_and(|memory| memory.0 == 0) {
            return Err(named("memory must be above 0".to_owned()));
        }
    }
    match &recipe.fit {
        Some(fit) => fit.grows.iter().try_for_each(|(name, by)| grows(recipe, name, by)),
        None => Ok(()),
    }
}

fn unique<'a>(what: &str, names: impl Iterator<Item = &'a str>) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for name in names {
        if name.is_empty() {
            return Err(format!("one of the {what} has an empty name"));
        }
        if !seen.insert(name) {
            return Err(format!("two {what} are called {name}"));
        }
    }
    Ok(())
}

/// Checks that `name` is a number of every size, and that it can grow with `by`.
fn grows(recipe: &Recipe, name: &str, by: &str) -> Result<(), String> {
    let fit = recipe.fit.iter().flat_map(|fit| &fit.grows);
    let others: Vec<&str> = fit
        .filter(|(other, by)| *other != name && [VCPUS, MEMORY].contains(&by.as_str()))
        .map(|(n, _)| n.as_str())
        .collect();
    let known = || [VCPUS, MEMORY].into_iter().chain(others.iter().copied());
    if !known().any(|known| known == by) {
        return Err(format!(
            "fit: {name} cannot grow with '{by}'{}: it grows with vcpus, memory, or another number that grows with these",
            did_you_mean(by, known())
        ));
    }
    if let (MEMORY, Some(size)) = (by, recipe.sizes.iter().find(|size| size.memory.is_none())) {
        return Err(format!("fit: {name} grows with memory, and size {} does not say its memory", size.name));
    }
    match recipe.sizes.iter().find(|size| !has(recipe, size, name)) {
        None => Ok(()),
        Some(size) => {
            let params = recipe.params.keys().chain(size.params.keys()).map(String::as_str);
            let hint = did_you_mean(name, NUMBERS.into_iter().chain(params));
            Err(format!("fit: '{name}' cannot grow: it is not a number of size {}{hint}", size.name))
        }
    }
}

fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, known).map_or_else(String::new, |known| format!(" (did you mean {known}?)"))
}

/// Returns true if every run of this size has the number, above 0.
fn has(recipe: &Recipe, size: &Size, name: &str) -> bool {
    let run = |variant| Numbers::of(recipe, size, variant).get(name).is_some_and(|number| number > 0);
    if size.variants.is_empty() { run(None) } else { size.variants.iter().all(|variant| run(Some(variant))) }
}
