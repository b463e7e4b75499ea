//! Options of tproc-ds, beside those of all sets of queries.

use pgdyno_workload::{OptionSpec, ValueKind, WorkloadOption};

/// The options.
pub(crate) const OPTIONS: &[WorkloadOption] = &[WorkloadOption::of(
    OptionSpec {
        details: "A directory has one file for each query, such as q01.sql, query1.sql or 1.sql; duckdb takes the 99 texts of its extension \
                  tpcds, which the python3 on PATH must have. Such texts have the same parameters in all streams, and no known answers",
        ..OptionSpec::value(
            "queries-from",
            ValueKind::Text,
            "SOURCE",
            "Texts of tproc-ds's queries: duckdb, or a directory of files [default: pgdyno's own]",
        )
    },
    ("../../fixtures/workloads/questions", "tproc-ds"),
)];
