//! The workloads of this program by family, directories included.

use pgdyno_workload::{Meta, Param};

use crate::own::{OwnError, embedded};
use crate::registry;

/// Workloads that belong together.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// A heading for them.
    pub title: &'static str,
    /// All of them in a sentence; empty if they are only named one by one.
    collective: &'static str,
    /// Their names, in the order of lists.
    pub names: &'static [&'static str],
}

/// All families, in the order of lists.
pub static FAMILIES: &[Family] = &[
    Family {
        title: "pgbench's transactions",
        collective: "pgbench's workloads",
        names: &["tpcb-like", "simple-update", "select-only"],
    },
    Family { title: "derived from TPC-C and TPC-H", collective: "", names: &["tproc-c", "ch-benchmark", "tproc-h"] },
    Family {
        title: "YCSB",
        collective: "ycsb-a to ycsb-f",
        names: &["ycsb-a", "ycsb-b", "ycsb-c", "ycsb-d", "ycsb-e", "ycsb-f"],
    },
    Family {
        title: "sysbench's tests",
        collective: "sysbench's workloads",
        names: &[
            "oltp-read-write",
            "oltp-read-only",
            "oltp-write-only",
            "oltp-point-select",
            "oltp-update-index",
            "oltp-update-non-index",
            "oltp-insert",
            "oltp-delete",
            "select-random-points",
            "select-random-ranges",
        ],
    },
    Family {
        title: "directories of scripts that pgdyno contains",
        collective: "",
        names: &["index-insert", "mixed", "polardb-ro", "polardb-rw", "sensor-1", "sensor-2"],
    },
    Family { title: "without a server", collective: "", names: &["noop"] },
];

/// Returns the name and parameters of a workload of this program; `None` if it has none of this name.
///
/// # Errors
/// When a file of a directory is wrong.
#[must_use]
pub fn meta(name: &str) -> Option<Result<&'static Meta, OwnError>> {
    match registry::find(name) {
        Ok(entry) => Some(Ok(entry.meta)),
        Err(_) => embedded::find(name).map(|directory| directory.map(|directory| directory.meta())),
    }
}

/// Returns the workloads with a parameter for which `is_wanted` returns true, as a sentence lists them: families as a whole
/// where all have it.
pub fn having(is_wanted: impl Fn(&Param) -> bool) -> Vec<&'static str> {
    let has_it = |name: &&&str| match meta(name) {
        Some(Ok(meta)) => meta.params.iter().any(&is_wanted),
        _ => false,
    };
    let named = |family: &Family| -> Vec<&'static str> {
        let names: Vec<_> = family.names.iter().filter(has_it).copied().collect();
        let are_all = names.len() == family.names.len() && !family.collective.is_empty();
        if are_all { vec![family.collective] } else { names }
    };
    FAMILIES.iter().flat_map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_workload_is_in_one_family() {
        let mut in_families: Vec<_> = FAMILIES.iter().flat_map(|family| family.names).copied().collect();
        let mut all: Vec<_> = registry::all().iter().map(|entry| entry.meta.id).chain(embedded::names()).collect();
        in_families.sort_unstable();
        all.sort_unstable();
        assert_eq!(in_families, all);
        assert!(meta("orders").is_none() && meta("sensor-1").unwrap().is_ok());
    }

    #[test]
    fn workloads_with_a_parameter_are_listed_by_family() {
        assert_eq!(having(|param| param.name == "warehouses"), ["tproc-c", "ch-benchmark"]);
        assert_eq!(having(|param| param.name == "records"), ["ycsb-a to ycsb-f"]);
        assert_eq!(having(|param| param.name == "tables"), ["sysbench's workloads"]);
        assert_eq!(having(|param| param.name == "orders"), [""; 0]);
    }
}
