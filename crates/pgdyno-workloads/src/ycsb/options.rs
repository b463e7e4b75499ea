//! Options of YCSB.

use pgdyno_workload::{Commands, OptionSpec, ValueKind, WorkloadOption};

/// The options.
pub(crate) const OPTIONS: &[WorkloadOption] = &[
    WorkloadOption {
        commands: Commands::Data,
        ..WorkloadOption::of(
            OptionSpec::value(
                "records",
                ValueKind::Whole,
                "N",
                "Records of ycsb [default: what is loaded, else 100000]",
            ),
            ("5000", "ycsb-e"),
        )
    },
    WorkloadOption {
        commands: Commands::Data,
        ..WorkloadOption::of(
            OptionSpec::value("fields", ValueKind::Whole, "N", "Fields of a record of ycsb [default: 10]"),
            ("3", "ycsb-e"),
        )
    },
    WorkloadOption {
        commands: Commands::Data,
        ..WorkloadOption::of(
            OptionSpec::value("field-bytes", ValueKind::Whole, "N", "Bytes of a field of ycsb [default: 100]"),
            ("40", "ycsb-e"),
        )
    },
    WorkloadOption {
        commands: Commands::Data,
        ..WorkloadOption::of(
            OptionSpec::value(
                "schema",
                ValueKind::Text,
                "WHICH",
                "Table of ycsb: jdbc (a column for each field) or jsonb [default: jdbc]",
            ),
            ("jsonb", "ycsb-e"),
        )
    },
    WorkloadOption::of(
        OptionSpec::value(
            "distribution",
            ValueKind::Text,
            "HOW",
            "Distribution of the keys of ycsb: zipfian, uniform, latest, hotspot, exponential (YCSB's), or zipf (a true Zipf over the records) [default: zipfian; latest for ycsb-d]",
        ),
        ("zipf", "ycsb-e"),
    ),
];
