//! How a recipe is followed.

use pgdyno_text::parse::positive;
use pgdyno_workload::{Commands, Omitted, OptionSpec, ValueKind};

use super::access::{flag, given, text};
use super::{KeptOption, OptionGroup, RunOption};

/// The options.
pub(super) const GROUP: OptionGroup = OptionGroup {
    heading: "Recipe",
    options: &[
        RunOption {
            spec: OptionSpec {
                conflicts: &["fit"],
                ..OptionSpec::value(
                    "size",
                    ValueKind::Text,
                    "SIZE",
                    "Take the recipe's numbers for this size unchanged, such as 16vcpu; `pgdyno show RECIPE` lists the sizes",
                )
            },
            commands: Commands::Run,
            suite: Some("size"),
            access: given!(recipe.size, text),
            kept: KeptOption::Nothing,
            sample: "16vcpu",
            beside: "alloydb/tpcc-full --target embedded",
        },
        RunOption {
            spec: OptionSpec::value(
                "variant",
                ValueKind::Text,
                "NAME",
                "Take this variant of the recipe's size; `pgdyno show RECIPE` lists them",
            ),
            commands: Commands::Run,
            suite: Some("variant"),
            access: given!(recipe.variant, text),
            kept: KeptOption::Nothing,
            sample: "100M",
            beside: "alloydb/tpcc-full --target embedded",
        },
        RunOption {
            spec: OptionSpec::flag(
                "fit",
                "Scale a recipe's numbers to this server's CPUs and memory, by the recipe's rule",
            ),
            commands: Commands::Run,
            suite: Some("fit"),
            access: flag!(recipe.fit),
            kept: KeptOption::Nothing,
            sample: "",
            beside: "alloydb/tpcc-full --target embedded",
        },
        RunOption {
            spec: OptionSpec {
                omitted: Omitted::WithEquals("20"),
                ..OptionSpec::value(
                    "short",
                    ValueKind::Number,
                    "BY",
                    "Divide a recipe's times [default: by 20]; record and reports say so",
                )
            },
            commands: Commands::Run,
            suite: Some("short"),
            access: given!(recipe.short, positive),
            kept: KeptOption::Nothing,
            sample: "5",
            beside: "alloydb/tpcc-full --target embedded",
        },
    ],
};
