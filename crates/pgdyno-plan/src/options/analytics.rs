//! How streams of queries connect, where they run beside transactions.

use pgdyno_workload::{Commands, OptionSpec, ValueKind};

use super::access::{given, pairs, text};
use super::kept::{figures, one_of, values, work};
use super::{OptionGroup, RunOption};

/// The options.
pub(super) const GROUP: OptionGroup = OptionGroup {
    heading: "Queries beside transactions",
    options: &[
        RunOption {
            spec: OptionSpec::value(
                "analytics-target",
                ValueKind::Text,
                "TARGET",
                "Run the queries of ch-benchmark on this server, such as a standby of the target; as for --target",
            ),
            commands: Commands::Run,
            suite: Some("analytics_target"),
            access: given!(analytics.target, text),
            kept: values("server of queries", work, |plan| one_of(plan.drive.analytics.target.as_ref())),
            sample: "host=db2",
            beside: "ch-benchmark --target embedded -w 2 -c 3",
        },
        RunOption {
            spec: OptionSpec::value(
                "analytics-set",
                ValueKind::Pairs,
                "NAME=VALUE",
                "A setting of the queries' sessions, as NAME=VALUE, such as work_mem=64MB or role=analyst",
            ),
            commands: Commands::Run,
            suite: Some("analytics_set"),
            access: pairs!(analytics.settings),
            kept: values("settings of queries", figures, |plan| {
                plan.drive
                    .analytics
                    .settings
                    .iter()
                    .map(|(name, value)| (format!("{name} of queries"), value.clone()))
                    .collect()
            }),
            sample: "work_mem=1GB",
            beside: "ch-benchmark --target embedded -w 2 -c 3",
        },
    ],
};
