//! The sizes of a new lab's file: those of its module that its recipe has numbers for.

use pgdyno_plan::recipe::{self, Size};
use toml::{Table, Value};

use crate::lab_file::{is_size, name_of_size};
use crate::module::Module;

/// The variables of a module whose sizes are clusters: as `c4+2w8`, a coordinator of 4 CPUs and 2 workers of 8.
const CLUSTER: [&str; 3] = ["cpu", "workers", "worker_cpu"];
/// The key whose value is a size of the recipe.
const RECIPE_SIZE: &str = "recipe_size";

/// Returns the sizes for a recipe, each with the recipe's size whose numbers are taken. With `has_all`, sizes of the module that the
/// recipe does not know are there, too.
pub(crate) fn sizes(module: &Module, recipe: Option<&str>, has_all: bool) -> Vec<Table> {
    let known = recipe.and_then(recipe::find).map(|recipe| recipe.sizes.as_slice()).unwrap_or_default();
    if known.is_empty() || module.is_local() {
        return module.sizes.clone();
    }
    let matched: Vec<Table> = module.sizes.iter().filter(|size| is_known(size, known)).cloned().collect();
    let clusters: Vec<Table> = match module.sizes.iter().any(|size| size.contains_key(CLUSTER[2])) {
        true => known.iter().filter_map(cluster).collect(),
        false => Vec::new(),
    };
    match (has_all, matched.is_empty(), clusters.is_empty()) {
        (false, false, _) => matched,
        (false, true, false) => clusters,
        _ => module.sizes.iter().map(|size| with_numbers(size, known)).collect(),
    }
}

/// Returns true if a size of a module is one of the recipe's.
fn is_known(size: &Table, known: &[Size]) -> bool {
    let name = size.get("name").and_then(Value::as_str).unwrap_or_default();
    known.iter().any(|of| is_size(&of.name, name, size))
}

/// Returns a size that says whose numbers it takes, unless it is one of the recipe's.
fn with_numbers(size: &Table, known: &[Size]) -> Table {
    let mut size = size.clone();
    if let Some(of) = nearest(&size, known).filter(|_| !is_known(&size, known)) {
        size.insert(RECIPE_SIZE.to_owned(), Value::String(of.name.clone()));
    }
    size
}

/// Returns the recipe's size with the number of CPUs that is the nearest.
fn nearest<'a>(size: &Table, known: &'a [Size]) -> Option<&'a Size> {
    let cpus = size.get(CLUSTER[0]).and_then(Value::as_integer).unwrap_or(1);
    known.iter().min_by_key(|of| (i64::from(of.vcpus.get()) - cpus).abs())
}

/// Returns the cluster that a size of a recipe names, as `c4+2w8`.
fn cluster(of: &Size) -> Option<Table> {
    let (coordinator, workers) = of.name.strip_prefix('c')?.split_once('+')?;
    let (workers, worker_cpu) = workers.split_once('w')?;
    let mut size = Table::new();
    size.insert("name".to_owned(), Value::String(name_of_size(&of.name)));
    for (key, number) in CLUSTER.into_iter().zip([coordinator, workers, worker_cpu]) {
        size.insert(key.to_owned(), Value::Integer(number.parse().ok()?));
    }
    Some(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(module: &str, recipe: &str, has_all: bool) -> Vec<(String, Option<String>)> {
        let text = |size: &Table, key: &str| size.get(key).and_then(Value::as_str).map(str::to_owned);
        let sizes = sizes(Module::named(module).unwrap(), Some(recipe), has_all);
        sizes.iter().map(|size| (text(size, "name").unwrap(), text(size, RECIPE_SIZE))).collect()
    }

    #[test]
    fn a_lab_has_the_sizes_that_its_recipe_has_numbers_for() {
        let own = |name: &str, of: Option<&str>| (name.to_owned(), of.map(str::to_owned));
        assert_eq!(names("alloydb", "alloydb/select-only", false), [own("64vcpu", None)]);
        assert_eq!(names("azure-citus-vms", "citus/tproc-c-250", false), [own("c4-2w8", None)]);
        assert_eq!(names("azure-citus-vms", "citus/tproc-c-5000", false), [own("c64-20w32", None)]);
        let all = names("azure-citus-vms", "citus/tproc-c-250", true);
        assert_eq!((all.len(), &all[0], &all[3]), (4, &own("c4-2w8", None), &own("c8-8w16", Some("c4+2w8"))));
        let polar = names("polardb", "polardb/ro", false);
        assert!(polar.contains(&own("x8-2xlarge", None)), "{polar:?}");
        assert_eq!(names("azure-flexible", "citus/tproc-c-250", false)[0], own("2n8", Some("c4+2w8")));
    }
}
