//! Options of sysbench's workloads.

use pgdyno_workload::{Commands, OptionSpec, ValueKind, WorkloadOption};

/// The options.
pub(crate) const OPTIONS: &[WorkloadOption] = &[WorkloadOption {
    commands: Commands::Data,
    ..WorkloadOption::of(
        OptionSpec::value(
            "tables",
            ValueKind::Whole,
            "N",
            "Tables of sysbench's workloads [default: what is loaded, else 1]",
        ),
        ("3", "oltp-read-write"),
    )
}];
