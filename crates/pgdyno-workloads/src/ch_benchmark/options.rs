//! Options of ch-benchmark, beside tproc-c's and those of all sets of queries.

use pgdyno_workload::{OptionSpec, ValueKind, WorkloadOption};

/// The options.
pub(crate) const OPTIONS: &[WorkloadOption] = &[
    WorkloadOption::of(
        OptionSpec::value(
            "query-form",
            ValueKind::Text,
            "FORM",
            "Queries of ch-benchmark: full, or citus (those of Citus's kit: LIMIT 10, no dates in eight queries) [default: full]",
        ),
        ("citus", "ch-benchmark"),
    ),
    WorkloadOption::flag(
        OptionSpec::flag(
            "alone",
            "Also run transactions alone and queries alone, in two more stages of the same length",
        ),
        "ch-benchmark",
    ),
];
