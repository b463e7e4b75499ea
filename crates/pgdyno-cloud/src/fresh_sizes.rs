//! The sizes of a new lab's file: those of its module that its recipe has numbers for.

use pgdyno_plan::recipe::{self, Size};
use toml::{Table, Value};

use crate::lab_file::name_of_size;
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
    let with = |size: &Table| size_of(size, known).map(|of| with_numbers_of(size, of));
    let matched: Vec<Table> = module.sizes.iter().filter_map(with).collect();
    let clusters: Vec<Table> = match module.sizes.iter().any(|size| size.contains_key(CLUSTER[2])) {
        true => known.iter().filter_map(cluster).collect(),
        false => Vec::new(),
    };
    match (has_all, matched.is_empty(), clusters.is_empty()) {
        (false, false, _) => matched,
        (false, true, false) => clusters,
        _ => {
            let nearest = |size: &Table| size_of(size, known).or_else(|| nearest(size, known));
            module.sizes.iter().map(|size| nearest(size).map_or(size.clone(), |of| with_numbers_of(size, of))).collect()
        }
    }
}

/// Returns the recipe's size that a size of a module is: by its name, or by one of its values, such as a class.
fn size_of<'a>(size: &Table, known: &'a [Size]) -> Option<&'a Size> {
    known.iter().find(|of| {
        size.values().any(|value| value.as_str().is_some_and(|text| text == of.name || text == name_of_size(&of.name)))
    })
}

/// Returns the recipe's size with the number of CPUs that is the nearest.
fn nearest<'a>(size: &Table, known: &'a [Size]) -> Option<&'a Size> {
    let cpus = size.get(CLUSTER[0]).and_then(Value::as_integer).unwrap_or(1);
    known.iter().min_by_key(|of| (i64::from(of.vcpus.get()) - cpus).abs())
}

/// Returns a size that says whose numbers it takes, unless its name does.
fn with_numbers_of(size: &Table, of: &Size) -> Table {
    let mut size = size.clone();
    if size.get("name").and_then(Value::as_str) != Some(name_of_size(&of.name).as_str()) {
        size.insert(RECIPE_SIZE.to_owned(), Value::String(of.name.clone()));
    }
    size
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
        assert!(polar.contains(&own("x8-2xlarge", Some("polar.o.x8.2xlarge"))), "{polar:?}");
        assert_eq!(names("azure-flexible", "citus/tproc-c-250", false)[0], own("2n8", Some("c4+2w8")));
    }
}
