//! Options of tproc-h, and of tproc-ds where they are the same, beside those of all sets of queries.

use pgdyno_workload::{Commands, OptionSpec, ValueKind, WorkloadOption};

/// The options.
pub(crate) const OPTIONS: &[WorkloadOption] = &[
    WorkloadOption {
        commands: Commands::Data,
        ..WorkloadOption::of(
            OptionSpec::value(
                "indexes",
                ValueKind::Text,
                "WHICH",
                "Indexes of tproc-h: keys, dates (keys and dates), hammerdb (as HammerDB has them), or none [default: keys]; of tproc-ds: \
                 fks, keys or none [default: fks]",
            ),
            ("dates", "tproc-h"),
        )
    },
    WorkloadOption {
        param: "refresh",
        parse: |_| Ok("false".to_owned()),
        ..WorkloadOption::flag(
            OptionSpec::flag(
                "no-refresh",
                "Leave out the refresh functions of tproc-h; the data stays as it was loaded",
            ),
            "tproc-h",
        )
    },
    WorkloadOption::flag(
        OptionSpec::flag(
            "validation",
            "Use the query parameters for which the answers of tproc-h or tproc-ds are known",
        ),
        "tproc-h",
    ),
];
