//! The workload and its parameters.

use pgdyno_workload::{Commands, OptionSpec, ValueKind};

use super::access::pairs;
use super::kept::{values, work};
use super::{OptionGroup, RunOption};

/// The options.
pub(super) const GROUP: OptionGroup = OptionGroup {
    heading: "Workload",
    options: &[RunOption {
        spec: OptionSpec {
            short: Some('D'),
            aliases: &["define"],
            ..OptionSpec::value(
                "param",
                ValueKind::Pairs,
                "NAME=VALUE",
                "Set any parameter of the workload, or a variable of scripts; `pgdyno show WORKLOAD` lists parameters",
            )
        },
        commands: Commands::Data,
        suite: Some("params"),
        access: pairs!(workload.params),
        kept: values("parameters", work, |plan| {
            plan.params.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
        }),
        sample: "seed=5",
        beside: "tproc-c --target embedded",
    }],
};

/// Help of the workload itself.
pub const HELP: &str = "A workload of `pgdyno list workloads`, your own script files (FILE or FILE@WEIGHT), or a directory with \
                        workload.toml. run and plan also take a recipe of `pgdyno list recipes`, or a recipe file that ends \
                        in .toml [default: tpcb-like]";
