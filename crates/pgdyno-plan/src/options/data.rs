//! Which data a run has, and how it is checked.

use pgdyno_workload::{Commands, Omitted, OptionSpec, ValueKind};

use super::access::{flag, given, text};
use super::kept::{self, figures, has_data, one, one_of, values};
use super::{KeptOption, OptionGroup, RunOption};
use crate::LoadWhen;

/// The options.
pub(super) const GROUP: OptionGroup = OptionGroup {
    heading: "Data",
    options: &[
        RunOption {
            spec: OptionSpec {
                conflicts: &["replace"],
                ..OptionSpec::flag("no-load", "Do not load; fail if the data is missing")
            },
            commands: Commands::Run,
            suite: Some("no_load"),
            access: flag!(no_load),
            kept: KeptOption::With("replace"),
            sample: "",
            beside: "tpcb-like --target embedded",
        },
        RunOption {
            spec: OptionSpec::flag("replace", "Load the data again, and replace what pgdyno loaded before"),
            commands: Commands::Load,
            suite: Some("replace"),
            access: flag!(replace),
            kept: values("data", figures, |plan| match plan.load.choice {
                LoadWhen::IfMissing => Vec::new(),
                LoadWhen::Always => one("loaded anew"),
                LoadWhen::Never => one("as it is there"),
            }),
            sample: "",
            beside: "tpcb-like --target embedded",
        },
        RunOption {
            spec: OptionSpec::value(
                "cache-size",
                ValueKind::Text,
                "SIZE",
                "Keep at most SIZE of data that private servers have loaded, for later runs with the same data (`pgdyno cache`); 0 keeps none and uses none [default: 20GB]",
            ),
            commands: Commands::Run,
            suite: None,
            access: given!(target.cache_bytes, cache_size, size),
            kept: KeptOption::Nothing,
            sample: "5GB",
            beside: "tpcb-like --target embedded",
        },
        RunOption {
            spec: OptionSpec {
                omitted: Omitted::WithWord(""),
                ..OptionSpec::value(
                    "from-template",
                    ValueKind::Text,
                    "DB",
                    "Work on a fresh copy of this database, which is dropped afterwards [without DB: the target's own database]",
                )
            },
            commands: Commands::Run,
            suite: Some("from_template"),
            access: given!(from_template, text),
            kept: values("template", figures, |plan| one_of(plan.from_template.as_ref())),
            sample: "base",
            beside: "tpcb-like --target embedded",
        },
        RunOption {
            spec: OptionSpec::flag("no-check", "Do not check the data before and after"),
            commands: Commands::Run,
            suite: Some("no_check"),
            access: flag!(no_check),
            kept: kept::flag("no check", |plan| has_data(plan) && !plan.load.checks),
            sample: "",
            beside: "tpcb-like --target embedded",
        },
        RunOption {
            spec: OptionSpec {
                short: Some('n'),
                ..OptionSpec::flag(
                    "no-vacuum",
                    "Leave out the VACUUM, and the TRUNCATE of the history, before a run of pgbench's workloads",
                )
            },
            commands: Commands::Run,
            suite: Some("no_vacuum"),
            access: flag!(no_vacuum),
            kept: kept::flag("no vacuum", |plan| plan.load.no_vacuum),
            sample: "",
            beside: "tpcb-like --target embedded",
        },
        RunOption {
            spec: OptionSpec::flag(
                "allow-schema-changes",
                "Run even if indexes, keys, routines or the like differ from what was loaded: the record and the report list the differences",
            ),
            commands: Commands::Run,
            suite: Some("allow_schema_changes"),
            access: flag!(allow_schema_changes),
            kept: kept::flag("schema changes allowed", |plan| plan.load.allow_schema_changes),
            sample: "",
            beside: "tpcb-like --target embedded",
        },
    ],
};

/// Returns a size as [`cache_size`] takes it: in the largest unit of which it is a whole number.
fn size(bytes: &u64) -> String {
    let units = [("TB", 40), ("GB", 30), ("MB", 20), ("kB", 10)];
    let whole = units.into_iter().find(|(_, power)| bytes.trailing_zeros() >= *power && *bytes > 0);
    whole.map_or_else(|| format!("{bytes}B"), |(unit, power)| format!("{}{unit}", bytes >> power))
}

/// Parses the size of a cache, which may be 0.
fn cache_size(text: &str) -> Result<u64, String> {
    if text.trim() == "0" { Ok(0) } else { pgdyno_text::parse::bytes(text) }
}
