//! How data is loaded.

use pgdyno_workload::{Commands, OptionSpec, ValueKind};

use super::access::{flag, given, whole};
use super::kept::{self, figures, has_data, one_of, values};
use super::{OptionGroup, RunOption};

/// The options.
pub(super) const GROUP: OptionGroup = OptionGroup {
    heading: "Loading",
    options: &[
        RunOption {
            spec: OptionSpec::value(
                "loaders",
                ValueKind::Whole,
                "N",
                "Connections that load, on each machine [default: number of CPUs of this machine, at most 8]",
            ),
            commands: Commands::Load,
            suite: Some("loaders"),
            access: given!(loading.loaders, |text| whole(text, 1..=512)),
            kept: values("loaders", figures, |plan| one_of(Some(plan.load.loaders).filter(|_| has_data(plan)))),
            sample: "3",
            beside: "tpcb-like --target embedded",
        },
        RunOption {
            spec: OptionSpec::flag(
                "resumable",
                "Make an interrupted load resumable, at the cost of WAL; always on above 10 GiB",
            ),
            commands: Commands::Load,
            suite: Some("resumable"),
            access: flag!(loading.resumable),
            kept: kept::flag("resumable load", |plan| plan.load.resumable),
            sample: "",
            beside: "tpcb-like --target embedded",
        },
        RunOption {
            spec: OptionSpec::flag(
                "unlogged",
                "Load into unlogged tables, and set them logged before their indexes are built",
            ),
            commands: Commands::Load,
            suite: Some("unlogged"),
            access: flag!(loading.unlogged),
            kept: kept::flag("unlogged load", |plan| plan.load.unlogged),
            sample: "",
            beside: "tpcb-like --target embedded",
        },
    ],
};
