//! Faults that a run causes.

use pgdyno_text::parse::duration;
use pgdyno_workload::{Commands, OptionSpec, ValueKind};

use super::access::{given, whole};
use super::kept::{figures, one_of, values, work};
use super::{OptionGroup, RunOption};
use crate::{FaultName, FaultPlan, Plan};

/// The options.
pub(super) const GROUP: OptionGroup = OptionGroup {
    heading: "Faults",
    options: &[
        RunOption {
            spec: OptionSpec {
                details: "`pgdyno fault list` shows the names and what each needs. A program gets the server's address in PG* \
                          variables, and PGDYNO_TARGET and PGDYNO_RUN_DIR",
                ..OptionSpec::value(
                    "fault",
                    ValueKind::Text,
                    "NAME|FILE",
                    "Cause a fault while the clients run: kill-9, promote, network-drop:10s, patroni:switchover …, or run a program of yours",
                )
            },
            commands: Commands::Run,
            suite: Some("fault"),
            access: given!(fault.kind, str::parse::<FaultName>),
            kept: values("fault", work, |plan| one_of(plan.fault.as_ref().map(|fault| &fault.kind))),
            sample: "kill-9",
            beside: "tpcb-like --target embedded",
        },
        RunOption {
            spec: OptionSpec::value(
                "fault-at",
                ValueKind::Time,
                "TIME",
                "When the fault is caused, from the start of the measured window [default: in its middle]",
            ),
            commands: Commands::Run,
            suite: Some("fault_at"),
            access: given!(fault.at, duration),
            kept: values("fault at", figures, |plan| seconds(plan, |fault| Some(fault.at_s))),
            sample: "7s",
            beside: "tpcb-like --target embedded --fault kill-9",
        },
        RunOption {
            spec: OptionSpec::value(
                "fault-every",
                ValueKind::Time,
                "TIME",
                "Repeat the fault: time from the start of one fault to the start of the next",
            ),
            commands: Commands::Run,
            suite: Some("fault_every"),
            access: given!(fault.every, duration),
            kept: values("fault every", figures, |plan| seconds(plan, |fault| fault.every_s)),
            sample: "4s",
            beside: "tpcb-like --target embedded --fault kill-9 --fault-at 5s",
        },
        RunOption {
            spec: OptionSpec::value(
                "repeat",
                ValueKind::Whole,
                "N",
                "Number of faults, with --fault-every [default: as many as fit into the window]. For tproc-h and tproc-ds: number of query sets in the power stage, so that each \
                 query's time has an interval [default: 1]",
            ),
            commands: Commands::Run,
            suite: Some("repeat"),
            access: given!(fault.repeat, |text| whole(text, 1..=1000)),
            kept: values("faults", figures, |plan| {
                one_of(plan.fault.as_ref().filter(|fault| fault.every_s.is_some()).map(|fault| fault.repeat))
            }),
            sample: "3",
            beside: "tpcb-like --target embedded --fault kill-9 --fault-at 5s --fault-every 4s",
        },
    ],
};

/// Returns a time of the plan's faults.
fn seconds(plan: &Plan, of: fn(&FaultPlan) -> Option<f64>) -> Vec<(String, String)> {
    one_of(plan.fault.as_ref().and_then(of).map(|seconds| format!("{seconds} s")))
}
