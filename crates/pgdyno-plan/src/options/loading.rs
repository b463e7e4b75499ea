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
                "Connections that load, of each machine [default: the CPUs of this machine, at most 8]",
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
                "Load so that an interrupted load can be resumed; always so above 10 GiB",
            ),
            commands: Commands::Load,
            suite: Some("resumable"),
            access: flag!(loading.resumable),
            kept: kept::flag("resumable load", |plan| plan.load.resumable),
            sample: "",
            beside: "tpcb-like --target embedded",
        },
        RunOption {
            spec: OptionSpec::flag("unlogged", "Fill unlogged tables, and set them logged before their indexes"),
            commands: Commands::Load,
            suite: Some("unlogged"),
            access: flag!(loading.unlogged),
            kept: kept::flag("unlogged load", |plan| plan.load.unlogged),
            sample: "",
            beside: "tpcb-like --target embedded",
        },
    ],
};
