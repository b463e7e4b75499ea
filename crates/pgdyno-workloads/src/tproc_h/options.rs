//! Options of tproc-h, beside those of all sets of queries.

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
                "Indexes of tproc-h: keys, dates (keys and dates), hammerdb (as HammerDB has them), or none [default: keys]",
            ),
            ("dates", "tproc-h"),
        )
    },
    WorkloadOption {
        param: "refresh",
        parse: |_| Ok("false".to_owned()),
        ..WorkloadOption::flag(
            OptionSpec::flag("no-refresh", "No refresh functions of tproc-h: the data stays as it was loaded"),
            "tproc-h",
        )
    },
    WorkloadOption::flag(
        OptionSpec::flag("validation", "Use the parameters for which TPC-H has answers in tproc-h's queries"),
        "tproc-h",
    ),
];
