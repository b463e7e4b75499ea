//! Options of tproc-c, most of which ch-benchmark has, too.

use pgdyno_workload::{Commands, OptionSpec, ValueKind, WorkloadOption};

/// The options.
pub(crate) const OPTIONS: &[WorkloadOption] = &[
    WorkloadOption {
        commands: Commands::Data,
        ..WorkloadOption::of(
            OptionSpec::value(
                "call",
                ValueKind::Text,
                "HOW",
                "How transactions of tproc-c are issued: procedure, function, or client (plain SQL)",
            ),
            ("client", "tproc-c"),
        )
    },
    WorkloadOption {
        commands: Commands::Data,
        ..WorkloadOption::of(
            OptionSpec::value(
                "profile",
                ValueKind::Text,
                "WHOSE",
                "TPROC-C rule set: hammerdb, or spec (the TPC-C clauses)",
            ),
            ("spec", "tproc-c"),
        )
    },
    WorkloadOption {
        commands: Commands::Data,
        ..WorkloadOption::flag(OptionSpec::flag("foreign-keys", "Declare tproc-c's foreign keys"), "tproc-c")
    },
    WorkloadOption {
        commands: Commands::Data,
        ..WorkloadOption::of(
            OptionSpec::value(
                "shard-count",
                ValueKind::Whole,
                "N",
                "Shards of a table, on a server that distributes tables (Citus) [default: 48]",
            ),
            ("16", "tproc-c"),
        )
    },
    WorkloadOption::flag(
        OptionSpec::flag(
            "all-warehouses",
            "Each client works on its share of all warehouses instead of one home warehouse",
        ),
        "tproc-c",
    ),
    WorkloadOption {
        param: "think",
        parse: |_| Ok("on".to_owned()),
        ..WorkloadOption::flag(
            OptionSpec {
                conflicts: &["no-think"],
                ..OptionSpec::flag("keying-time", "Use keying and think times, even if the profile has none")
            },
            "tproc-c",
        )
    },
    WorkloadOption {
        param: "think",
        parse: |_| Ok("off".to_owned()),
        ..WorkloadOption::flag(
            OptionSpec::flag("no-think", "Leave out keying and think times, even if the profile has them"),
            "tproc-c",
        )
    },
];
