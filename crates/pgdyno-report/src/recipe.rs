//! A recipe as text.

use std::num::{NonZeroU16, NonZeroU32};

use pgdyno_plan::recipe::{Recipe, RecipeText, Size, Steps};

use crate::guide::{figures, share, time};

/// Returns the list of recipes.
#[must_use]
pub fn recipes(recipes: &[Recipe]) -> String {
    let mut text = String::new();
    for recipe in recipes {
        let sizes: Vec<_> = recipe.sizes.iter().map(|size| size.name.as_str()).collect();
        text += &format!("{:<26} {}\n{:<26} sizes: {}\n", recipe.name, recipe.title, "", sizes.join(", "));
    }
    text
}

/// Returns the whole recipe.
#[must_use]
pub fn recipe(recipe: &Recipe) -> String {
    let mut text = format!("{}: {}\n", recipe.name, recipe.title);
    let mut line = |name: &str, what: &str| text += &format!("{name:<10}{what}\n");
    line("source", &recipe.source.words());
    if let Some(url) = &recipe.source.url {
        line("", url);
    }
    line("workload", &[vec![recipe.workload.clone()], params(recipe.params.iter())].concat().join(", "));
    let ramp = match recipe.ramp.seconds() {
        0.0 => String::new(),
        seconds => format!(" after {} of warm-up", time(seconds)),
    };
    let mode = recipe.mode.map_or_else(String::new, |mode| format!(", query mode {}", mode.name()));
    let vacuum = vacuum(recipe.no_vacuum.then_some(true)).map_or_else(String::new, |words| format!(", {words}"));
    let length = recipe.time.map_or_else(|| "until its work is done".to_owned(), |length| time(length.seconds()));
    line("run", &format!("{length}{ramp}{mode}{vacuum}"));
    line("steps", &steps(&recipe.steps));
    for (name, value) in &recipe.settings {
        line("setting", &format!("{name} = {value}"));
    }
    let numbers = clients_and_threads(recipe.clients, recipe.threads, recipe.loaders);
    if !numbers.is_empty() {
        line("numbers", &numbers.join(", "));
    }
    if let Some(cached) = recipe.cached {
        line("cached", &format!("{} of the data is to fit in the cache", share(cached.0)));
    }
    for note in &recipe.notes {
        line("note", note);
    }
    match &recipe.fit {
        None => line("fit", "none: it has no rule for other machines"),
        Some(fit) => {
            line("fit", &fit.rule);
            let grows: Vec<_> = fit.grows.iter().map(|(name, by)| format!("{name} with {by}")).collect();
            if !grows.is_empty() {
                line("", &format!("grow: {}", grows.join(", ")));
            }
        }
    }
    for one in &recipe.sizes {
        size(one, &mut line);
    }
    text
}

fn size(size: &Size, line: &mut impl FnMut(&str, &str)) {
    line("size", &format!("{}: {}", size.name, size.words()));
    let mut numbers = clients_and_threads(size.clients, size.threads, size.loaders);
    numbers.extend(params(size.params.iter()));
    numbers.extend(size.cached.map(|cached| format!("{} cached", share(cached.0))));
    if !numbers.is_empty() {
        line("", &format!("  {}", numbers.join(", ")));
    }
    let published = figures(&size.published.list());
    if !published.is_empty() {
        line("", &format!("  published: {published}"));
    }
    for note in &size.notes {
        line("", &format!("  note: {note}"));
    }
    for variant in &size.variants {
        let mut numbers = clients_and_threads(variant.clients, variant.threads, None);
        numbers.extend(params(variant.params.iter()));
        numbers.extend(vacuum(variant.no_vacuum).map(str::to_owned));
        numbers.extend(
            Some(figures(&variant.published.list())).filter(|f| !f.is_empty()).map(|f| format!("published {f}")),
        );
        line("", &format!("  variant {}: {}", variant.name, numbers.join(", ")));
    }
}

/// Returns what happens to the statements before a run, if the recipe says that.
fn vacuum(none: Option<bool>) -> Option<&'static str> {
    none.map(|none| if none { "no VACUUM before it" } else { "VACUUM before it" })
}

/// Returns those numbers that are given.
fn clients_and_threads(
    clients: Option<NonZeroU32>,
    threads: Option<NonZeroU16>,
    loaders: Option<NonZeroU16>,
) -> Vec<String> {
    let [threads, loaders] = [threads, loaders].map(|number| number.map(NonZeroU32::from));
    let all = [("clients", clients), ("threads", threads), ("loaders", loaders)];
    all.into_iter().filter_map(|(name, number)| number.map(|number| format!("{name} {number}"))).collect()
}

fn params<'a>(params: impl Iterator<Item = (&'a String, &'a RecipeText)>) -> Vec<String> {
    params.map(|(name, value)| format!("{name} {value}")).collect()
}

fn steps(steps: &Steps) -> String {
    let copy = match steps.from_template.as_deref() {
        None => None,
        Some("") => Some("work on a fresh copy of the database".to_owned()),
        Some(name) => Some(format!("work on a fresh copy of database {name}")),
    };
    let words = |done: bool, what: &str| done.then(|| what.to_owned());
    let list: Vec<_> = [
        words(steps.fresh, "drop what was loaded"),
        words(steps.restart, "restart the server"),
        words(steps.drop_caches, "drop the caches of its operating system"),
        Some("load".to_owned() + if steps.fresh { "" } else { " unless the same data is there" }),
        copy,
        words(steps.prewarm, "read the data into the caches"),
        words(steps.checkpoint, "checkpoint"),
        Some("run".to_owned()),
    ]
    .into_iter()
    .flatten()
    .collect();
    list.join(", ")
}

#[cfg(test)]
mod tests {
    use pgdyno_plan::recipe::find;

    fn shown(name: &str) -> String {
        super::recipe(find(name).unwrap())
    }

    #[test]
    fn a_recipe_shows_its_source_sizes_and_figures() {
        insta::assert_snapshot!("tpcc_full", shown("alloydb/tpcc-full"));
        insta::assert_snapshot!("polardb_ro", shown("polardb/ro"));
        insta::assert_snapshot!("sensor_1", shown("pgphriday/sensor-1"));
        insta::assert_snapshot!("tproc_c_5000", shown("citus/tproc-c-5000"));
    }
}
