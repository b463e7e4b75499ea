//! Steps on the server around a run.

use pgdyno_workload::{Commands, OptionSpec};

use super::access::flag;
use super::kept::{self};
use super::{OptionGroup, RunOption};

/// The options.
pub(super) const GROUP: OptionGroup = OptionGroup {
    heading: "Preparing the server",
    options: &[
        RunOption {
            spec: OptionSpec {
                details: "pgdyno restarts a private server itself; any other server needs the hook restart of its target",
                ..OptionSpec::flag(
                    "restart",
                    "Restart the server before the data is loaded, so that its caches are cold",
                )
            },
            commands: Commands::Run,
            suite: Some("restart"),
            access: flag!(cycle.restart),
            kept: kept::flag("restart", |plan| plan.cycle.restart),
            sample: "",
            beside: "tpcb-like --target embedded",
        },
        RunOption {
            spec: OptionSpec::flag(
                "drop-caches",
                "Drop the operating system's file cache, on this machine or by the target's hook",
            ),
            commands: Commands::Run,
            suite: Some("drop_caches"),
            access: flag!(cycle.drop_caches),
            kept: kept::flag("drop caches", |plan| plan.cycle.drop_caches),
            sample: "",
            beside: "tpcb-like --target embedded",
        },
        RunOption {
            spec: OptionSpec::flag("prewarm", "Read tables and indexes into the caches before the warm-up"),
            commands: Commands::Run,
            suite: Some("prewarm"),
            access: flag!(cycle.prewarm),
            kept: kept::flag("prewarm", |plan| plan.cycle.prewarm),
            sample: "",
            beside: "tpcb-like --target embedded",
        },
        RunOption {
            spec: OptionSpec::flag("checkpoint", "CHECKPOINT before the warm-up"),
            commands: Commands::Run,
            suite: Some("checkpoint"),
            access: flag!(cycle.checkpoint),
            kept: kept::flag("checkpoint", |plan| plan.cycle.checkpoint),
            sample: "",
            beside: "tpcb-like --target embedded",
        },
        RunOption {
            spec: OptionSpec::flag(
                "provision",
                "Run the target's hooks provision before the run and teardown after it",
            ),
            commands: Commands::Run,
            suite: None,
            access: flag!(cycle.provision),
            kept: kept::flag("provision", |plan| plan.cycle.provision),
            sample: "",
            beside: "tpcb-like --target embedded",
        },
    ],
};
