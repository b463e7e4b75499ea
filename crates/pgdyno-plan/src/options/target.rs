//! The server.

use pgdyno_workload::{Commands, OptionSpec, ValueKind};

use super::access::{flag, given, pairs, text};
use super::kept::{self, figures, values};
use super::{KeptOption, OptionGroup, RunOption};

/// The options.
pub(super) const GROUP: OptionGroup = OptionGroup {
    heading: "Target",
    options: &[
        RunOption {
            spec: OptionSpec {
                details: "`embedded`, `embedded:18` or `embedded:/path/to/bin` is a private server; `null` is a server that answers every query at once",
                ..OptionSpec::value(
                    "target",
                    ValueKind::Text,
                    "TARGET",
                    "The server: a libpq URI or key=value string, a name in pgdyno.toml, `embedded` or `null` [default: the PG* environment, else a private server]",
                )
            },
            commands: Commands::Data,
            suite: None,
            access: given!(target.target, text),
            kept: KeptOption::Nothing,
            sample: "host=db1",
            beside: "tpcb-like",
        },
        RunOption {
            spec: OptionSpec::value(
                "config",
                ValueKind::Text,
                "FILE",
                "The file with the named targets [default: pgdyno.toml]",
            ),
            commands: Commands::Data,
            suite: None,
            access: given!(target.config, text, |file| file.display().to_string()),
            kept: KeptOption::Nothing,
            sample: "mine.toml",
            beside: "tpcb-like --target embedded",
        },
        RunOption {
            spec: OptionSpec {
                details: "A private server has it from its start. On your own server it is set in the clients' sessions if they may set it, else for the whole server until the run ends",
                ..OptionSpec::value(
                    "set",
                    ValueKind::Pairs,
                    "NAME=VALUE",
                    "A setting of the server for the run, as NAME=VALUE",
                )
            },
            commands: Commands::Data,
            suite: Some("settings"),
            access: pairs!(target.settings),
            kept: values("settings", figures, |plan| {
                plan.settings.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
            }),
            sample: "jit=on",
            beside: "tpcb-like --target embedded",
        },
        RunOption {
            spec: OptionSpec::flag("tcp", "Reach the private server by TCP on 127.0.0.1 instead of its socket"),
            commands: Commands::Data,
            suite: None,
            access: flag!(target.tcp),
            kept: kept::flag("private server by TCP", |plan| plan.tcp),
            sample: "",
            beside: "tpcb-like --target embedded",
        },
    ],
};
