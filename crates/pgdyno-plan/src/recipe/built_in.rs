//! The recipes that are part of pgdyno.

use std::sync::LazyLock;

use super::{Recipe, read};
use crate::mistake;

/// Returns name and text of each file below `recipes`.
macro_rules! files {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../recipes/", $name, ".toml")))),*]
    };
}

const FILES: &[(&str, &str)] = files! {
    "alloydb/tpcc-full"
    "alloydb/tpcc-full-2023"
    "alloydb/tpcc-partial"
    "alloydb/tpcc-partial-2023"
    "alloydb/tpcb-full"
    "alloydb/tpcb-full-2023"
    "alloydb/tpcb-partial"
    "alloydb/tpcb-partial-2023"
    "alloydb/index-insert"
    "alloydb/index-insert-2023"
    "alloydb/select-only"
    "cloudsql/tpcc-full"
    "cloudsql/tpcc-partial"
    "cloudsql/tpcb-full"
    "cloudsql/tpcb-partial"
    "cloudsql/index-insert"
    "cloudsql/select-only"
    "polardb/ro"
    "polardb/rw"
    "pgphriday/sensor-1"
    "pgphriday/sensor-2"
    "citus/tproc-c-250"
    "citus/tproc-c-5000"
    "citus/ch-250"
    "citus/ch-queries"
    "citus/ycsb-a"
    "citus/ycsb-b"
    "citus/ycsb-c"
    "citus/ycsb-d"
    "citus/ycsb-e"
    "citus/ycsb-f"
    "hammerdb/tproc-h-1"
    "apsaradb/oltp-read-write"
    "planetscale/oltp-read-only"
};

static ALL: LazyLock<Vec<Recipe>> = LazyLock::new(|| {
    // A test reads every recipe, so none has errors.
    FILES.iter().map(|(name, text)| read(name, text).unwrap_or_else(|mistake| panic!("{mistake}"))).collect()
});

/// Returns all recipes, in the order of listings.
#[must_use]
pub fn all() -> &'static [Recipe] {
    &ALL
}

/// Returns the recipe of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Recipe> {
    all().iter().find(|recipe| recipe.name == name)
}

/// Returns the name that is most similar to this one.
#[must_use]
pub fn nearest(name: &str) -> Option<&'static str> {
    mistake::nearest(name, FILES.iter().map(|(name, _)| *name))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::recipe::{Machine, RecipeRun, expand};

    #[test]
    fn every_file_is_one_of_them() {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../recipes");
        let mut found = Vec::new();
        for vendor in std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
            for file in std::fs::read_dir(&vendor).unwrap().map(|entry| entry.unwrap().path()) {
                let name = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
                found.push(format!("{}/{}", name(&vendor), name(&file)));
            }
        }
        let mut known: Vec<_> = FILES.iter().map(|(name, _)| (*name).to_owned()).collect();
        found.sort_unstable();
        known.sort_unstable();
        assert_eq!(found, known);
    }

    #[test]
    fn each_expands_at_every_size_and_variant_and_fits_any_machine() {
        let mut runs = 0;
        for recipe in all() {
            for size in &recipe.sizes {
                let variants: Vec<_> = size.variants.iter().map(|variant| Some(variant.name.as_str())).collect();
                for variant in if variants.is_empty() { vec![None] } else { variants } {
                    let request = RecipeRun { size: Some(&size.name), variant, ..RecipeRun::default() };
                    let run = expand(recipe, &request).unwrap();
                    let ends_with_its_work = run.clients.is_none() && run.time_s.is_none();
                    let is_timed = run.clients.is_some() && run.time_s.is_some_and(|seconds| seconds >= 30.0);
                    assert!(ends_with_its_work || is_timed, "{}", recipe.name);
                    assert!(run.recipe.fitted.is_none() && run.recipe.shortened.is_none());
                    runs += 1;
                }
            }
            for (vcpus, memory_bytes) in [(1, 1 << 26), (2, 1 << 30), (24, 200 << 30), (4096, 1 << 46)] {
                let fit = Some(Machine { vcpus, memory_bytes });
                let run = expand(recipe, &RecipeRun { fit, short: Some(20.0), ..RecipeRun::default() }).unwrap();
                assert!(run.clients.is_none_or(|clients| clients >= 1), "{}", recipe.name);
                assert!(run.time_s.is_none_or(|seconds| seconds >= 10.0), "{}", recipe.name);
                assert!(run.recipe.fitted.unwrap().rule.contains(&run.recipe.size));
            }
        }
        assert_eq!(runs, 91);
    }

    #[test]
    fn a_slip_in_a_name_is_seen() {
        assert_eq!(find("alloydb/tpcc-full").unwrap().workload, "tproc-c");
        assert!(find("alloydb/tpcc-ful").is_none());
        assert_eq!(nearest("alloydb/tpcc-ful"), Some("alloydb/tpcc-full"));
        assert_eq!(nearest("examples/mine"), None);
    }
}
