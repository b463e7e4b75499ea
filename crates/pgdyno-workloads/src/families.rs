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
    /// Their names, in the order of lists, and what each does in one line below the title.
    pub members: &'static [(&'static str, &'static str)],
}

impl Family {
    /// Returns their names, in the order of lists.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.members.iter().map(|(name, _)| *name)
    }
}

/// All families, in the order of lists.
pub static FAMILIES: &[Family] = &[
    Family {
        title: "pgbench's transactions",
        collective: "pgbench's workloads",
        members: &[
            ("tpcb-like", "three updates, a select, an insert (TPC-B, sort of)"),
            ("simple-update", "the same without tellers and branches (-N)"),
            ("select-only", "one account by its key (-S)"),
        ],
    },
    Family {
        title: "derived from TPC-C, TPC-H and TPC-DS",
        collective: "",
        members: &[
            ("tproc-c", "order entry: five transactions derived from TPC-C"),
            ("ch-benchmark", "tproc-c's transactions beside 22 analytical queries"),
            ("tproc-h", "22 analytical queries derived from TPC-H"),
            ("tproc-ds", "99 analytical queries derived from TPC-DS"),
        ],
    },
    Family {
        title: "YCSB",
        collective: "ycsb-a to ycsb-f",
        members: &[
            ("ycsb-a", "50 % reads, 50 % updates of one field"),
            ("ycsb-b", "95 % reads, 5 % updates of one field"),
            ("ycsb-c", "reads only"),
            ("ycsb-d", "95 % reads of the latest records, 5 % inserts"),
            ("ycsb-e", "95 % scans of up to 100 rows, 5 % inserts"),
            ("ycsb-f", "50 % reads, 50 % reads with an update"),
        ],
    },
    Family {
        title: "sysbench's tests",
        collective: "sysbench's workloads",
        members: &[
            ("oltp-read-write", "14 selects, 2 updates, a delete and an insert"),
            ("oltp-read-only", "14 selects"),
            ("oltp-write-only", "2 updates, a delete and an insert"),
            ("oltp-point-select", "one row by its key"),
            ("oltp-update-index", "an update of the indexed column"),
            ("oltp-update-non-index", "an update of a column without an index"),
            ("oltp-insert", "one new row"),
            ("oltp-delete", "one row is deleted, if it exists"),
            ("select-random-points", "the rows with ten values of k"),
            ("select-random-ranges", "the number of rows in ten ranges of k"),
        ],
    },
    Family {
        title: "directories of scripts that pgdyno contains",
        collective: "",
        members: &[
            ("index-insert", "insertions into a table with five indexes"),
            ("mixed", "writers beside readers with a rate, then queries"),
            ("polardb-ro", "one account of a hot range: PolarDB's read-only test"),
            ("polardb-rw", "tpcb-like in a hot range: PolarDB's read-write test"),
            ("sensor-1", "sensors updated in place; triggers log each change"),
            ("sensor-2", "the same sensors as a log only"),
        ],
    },
    Family { title: "outages", collective: "", members: &[("ledger", "which commits a crash or a failover keeps")] },
    Family {
        title: "without a server",
        collective: "",
        members: &[("noop", "no statement: the cost of pgdyno per transaction")],
    },
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
    let has_it = |name: &&str| match meta(name) {
        Some(Ok(meta)) => meta.params.iter().any(&is_wanted),
        _ => false,
    };
    let named = |family: &Family| -> Vec<&'static str> {
        let names: Vec<_> = family.names().filter(has_it).collect();
        let are_all = names.len() == family.members.len() && !family.collective.is_empty();
        if are_all { vec![family.collective] } else { names }
    };
    FAMILIES.iter().flat_map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_workload_is_in_one_family() {
        let mut in_families: Vec<_> = FAMILIES.iter().flat_map(Family::names).collect();
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
        assert_eq!(having(|param| param.name == "tables"), ["sysbench's workloads", "ledger"]);
        assert_eq!(having(|param| param.name == "orders"), [""; 0]);
    }
}
