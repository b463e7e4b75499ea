//! How server and machines are watched while a run goes on.

use pgdyno_workload::{Commands, OptionSpec, ValueKind};

use super::access::{flag, given, text, whole};
use super::kept::{self, Reported, figures, none, one_of, values};
use super::{KeptOption, OptionGroup, RunOption};

/// The options.
pub(super) const GROUP: OptionGroup = OptionGroup {
    heading: "Observation",
    options: &[
        RunOption {
            spec: OptionSpec::flag(
                "no-samples",
                "Do not sample the server's statistics and the machines during the run",
            ),
            commands: Commands::Run,
            suite: Some("no_samples"),
            access: flag!(watch.no_samples),
            kept: kept::flag("no samples", |plan| plan.watch.off),
            sample: "",
            beside: "tpcb-like --target embedded",
        },
        RunOption {
            spec: OptionSpec {
                conflicts: &["no-samples"],
                ..OptionSpec::value(
                    "os-metrics",
                    ValueKind::Text,
                    "HOW",
                    "How OS metrics of the server's machine are collected: `ssh user@host`, or a command that prints CSV [default: /proc, if the server runs on this machine]",
                )
            },
            commands: Commands::Run,
            suite: Some("os_metrics"),
            access: given!(watch.os_metrics, text),
            kept: values("the server's machine is read by", figures, |plan| one_of(plan.watch.os.as_ref())),
            sample: "ssh me@db1",
            beside: "tpcb-like --target embedded",
        },
        RunOption {
            spec: OptionSpec {
                conflicts: &["no-samples"],
                ..OptionSpec::value(
                    "statement-plans",
                    ValueKind::Whole,
                    "N",
                    "Keep the plans of the N statements with most execution time [default: 0]",
                )
            },
            commands: Commands::Run,
            suite: Some("statement_plans"),
            access: given!(watch.statement_plans, |text| whole(text, 0..=u64::from(u32::MAX))),
            kept: values("plans of statements kept", figures, |plan| {
                one_of(Some(plan.watch.statement_plans).filter(|n| *n > 0))
            }),
            sample: "5",
            beside: "tpcb-like --target embedded",
        },
        RunOption {
            spec: OptionSpec::flag(
                "plans",
                "After the measured window, execute each query of tproc-h, tproc-ds or ch-benchmark once by EXPLAIN ANALYZE, and keep its plan",
            ),
            commands: Commands::Run,
            suite: Some("plans"),
            access: flag!(watch.plans),
            kept: KeptOption::Flag(Reported { title: "plans of queries kept", bearing: none }, |plan| plan.watch.plans),
            sample: "",
            beside: "tproc-h --target embedded",
        },
        RunOption {
            spec: OptionSpec {
                details: "The page has a flame graph, and the run directory perf.svg and perf.folded. Profiling takes CPU time of the server's machine",
                conflicts: &["no-samples"],
                ..OptionSpec::flag("perf", "Profile a private server in the measured window by Linux perf")
            },
            commands: Commands::Run,
            suite: Some("perf"),
            access: flag!(watch.perf),
            kept: kept::flag("profiled by perf", |plan| plan.watch.perf),
            sample: "",
            beside: "tpcb-like --target embedded",
        },
    ],
};
