//! The options of a run that a plan stores, each declared once.
//!
//! Derived from this table: the command line that makes a plan again ([`arguments`]) and the options in which two plans
//! differ ([`differences`]: the departures from a recipe, and the first lines of a comparison). Tests compare it with
//! the flags of the command line and of suite files.

use crate::{Arrivals, LoadChoice, Pace, Plan, Rate};

/// How much an option affects figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bearing {
    /// Not at all: it decides what is shown, or which random choices are made.
    None,
    /// Figures may differ with it, but measure the same work.
    Figures,
    /// Figures of plans that differ in it measure different work.
    Work,
}

/// An option of a run.
pub struct RunOption {
    /// The names of its long flags, without dashes. Suite files write `_` instead of `-`.
    pub flags: &'static [&'static str],
    /// Its name in reports.
    pub title: &'static str,
    bearing: fn(&Plan) -> Bearing,
    kind: Kind,
}

/// How an option is given.
enum Kind {
    /// By its name alone.
    Flag(fn(&Plan) -> bool),
    /// With values: `values` returns those of a plan, with names if there may be several; `arguments` returns the
    /// arguments that set them again.
    Values { values: fn(&Plan) -> Vec<(String, String)>, arguments: fn(&Plan) -> Vec<String> },
}

/// A value of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// The name of the parameter or setting; the option's title if it has only one value.
    pub name: String,
    /// The value as people read it.
    pub text: String,
}

impl RunOption {
    /// Returns how much it affects the figures of a run of `plan`.
    #[must_use]
    pub fn bearing(&self, plan: &Plan) -> Bearing {
        (self.bearing)(plan)
    }

    /// Returns the values in `plan`: none if it is off, several for parameters and settings.
    #[must_use]
    pub fn values(&self, plan: &Plan) -> Vec<Value> {
        let values = match self.kind {
            Kind::Flag(is_given) if is_given(plan) => one("yes"),
            Kind::Flag(_) => Vec::new(),
            Kind::Values { values, .. } => values(plan),
        };
        let named = |(name, text): (String, String)| Value {
            name: if name.is_empty() { self.title.to_owned() } else { name },
            text,
        };
        values.into_iter().filter(|(_, text)| !text.is_empty()).map(named).collect()
    }

    /// Returns the arguments of `pgdyno run` that set these values. Leaves out what arguments cannot say again, such as
    /// a command whose text is not stored.
    #[must_use]
    pub fn arguments(&self, plan: &Plan) -> Vec<String> {
        match self.kind {
            Kind::Flag(is_given) => {
                self.flags.iter().filter(|_| is_given(plan)).map(|name| format!("--{name}")).collect()
            }
            Kind::Values { arguments, .. } => arguments(plan),
        }
    }
}

/// A value in which two plans differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The option's title, or the name of the parameter or setting.
    pub name: String,
    /// The value in the first plan, if it has one.
    pub first: Option<String>,
    /// The value in the second plan.
    pub second: Option<String>,
    /// Whether the option has a name only, so that the values say no more than that.
    pub is_flag: bool,
}

/// Returns the values that affect figures and in which two plans differ, in the order of the table.
#[must_use]
pub fn differences(first: &Plan, second: &Plan) -> Vec<Difference> {
    let mut found = Vec::new();
    for option in OPTIONS.iter().filter(|option| option.bearing(first).max(option.bearing(second)) > Bearing::None) {
        let (mine, theirs) = (option.values(first), option.values(second));
        let of = |values: &[Value], name: &str| {
            values.iter().find(|value| value.name == name).map(|value| value.text.clone())
        };
        let only_theirs = theirs.iter().filter(|value| of(&mine, &value.name).is_none());
        for value in mine.iter().chain(only_theirs) {
            let (first, second) = (of(&mine, &value.name), of(&theirs, &value.name));
            if first != second {
                let is_flag = matches!(option.kind, Kind::Flag(_));
                found.push(Difference { name: value.name.clone(), first, second, is_flag });
            }
        }
    }
    found
}

/// Returns the arguments of all options of the plan for which `wanted` returns true, in the order of the table.
#[must_use]
pub fn arguments(plan: &Plan, wanted: impl Fn(&RunOption) -> bool) -> Vec<String> {
    OPTIONS.iter().filter(|option| wanted(option)).flat_map(|option| option.arguments(plan)).collect()
}

/// The options, in the order of a command line.
pub static OPTIONS: &[RunOption] = &[
    RunOption {
        flags: &[
            "param",
            "warehouses",
            "scale",
            "all-warehouses",
            "pipeline",
            "call",
            "profile",
            "keying-time",
            "no-think",
            "partitions",
            "foreign-keys",
            "shard-count",
            "indexes",
            "records",
            "fields",
            "field-bytes",
            "schema",
            "distribution",
            "tables",
            "streams",
            "repeat",
            "queries",
            "timeout",
            "no-refresh",
            "validation",
            "query-form",
            "alone",
        ],
        title: "parameters",
        bearing: work,
        kind: Kind::Values {
            values: |plan| plan.params.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
            arguments: |plan| {
                let argument = |(name, value): (&String, &String)| match name.as_str() {
                    "warehouses" => ["-w".to_owned(), value.clone()],
                    "scale" => ["-s".to_owned(), value.clone()],
                    _ => ["-D".to_owned(), format!("{name}={value}")],
                };
                plan.params.iter().flat_map(argument).collect()
            },
        },
    },
    RunOption {
        flags: &["clients"],
        title: "clients",
        bearing: work,
        kind: Kind::Values { values: |plan| one(plan.clients), arguments: |plan| option("-c", plan.clients) },
    },
    RunOption {
        flags: &["connections"],
        title: "connections",
        bearing: work,
        kind: Kind::Values {
            values: |plan| plan.connections.map(one).unwrap_or_default(),
            arguments: |plan| given("--connections", plan.connections),
        },
    },
    RunOption {
        flags: &["analytics-target"],
        title: "server of queries",
        bearing: work,
        kind: Kind::Values {
            values: |plan| plan.analytics.target.as_ref().map(one).unwrap_or_default(),
            arguments: |plan| plan.analytics.target.iter().flat_map(|to| option("--analytics-target", to)).collect(),
        },
    },
    RunOption {
        flags: &["analytics-set"],
        title: "settings of queries",
        bearing: figures,
        kind: Kind::Values {
            values: |plan| {
                let named = |(name, value): (&String, &String)| (format!("{name} of queries"), value.clone());
                plan.analytics.settings.iter().map(named).collect()
            },
            arguments: |plan| {
                let set = |(name, value): (&String, &String)| option("--analytics-set", format!("{name}={value}"));
                plan.analytics.settings.iter().flat_map(set).collect()
            },
        },
    },
    RunOption {
        flags: &["threads"],
        title: "threads",
        bearing: figures,
        kind: Kind::Values { values: |plan| one(plan.threads), arguments: |plan| option("-j", plan.threads) },
    },
    RunOption {
        flags: &["agents"],
        title: "agents",
        bearing: figures,
        kind: Kind::Values {
            values: |plan| plan.agents.map(one).unwrap_or_default(),
            arguments: |plan| given("--agents", plan.agents),
        },
    },
    RunOption {
        flags: &["time", "transactions"],
        title: "length",
        bearing: figures,
        kind: Kind::Values {
            values: |plan| match (plan.time_s, plan.transactions) {
                (Some(seconds), _) => one(format!("{seconds} s")),
                (None, Some(n)) => one(format!("{n} transactions of each client")),
                (None, None) => Vec::new(),
            },
            arguments: |plan| [given("-T", plan.time_s), given("-t", plan.transactions)].concat(),
        },
    },
    RunOption {
        flags: &["ramp"],
        title: "ramp",
        bearing: figures,
        kind: Kind::Values {
            values: |plan| one(format!("{} s", plan.ramp_s)),
            arguments: |plan| option("--ramp", plan.ramp_s),
        },
    },
    RunOption {
        flags: &["grace"],
        title: "grace",
        bearing: figures,
        kind: Kind::Values {
            values: |plan| {
                if plan.grace_s == Plan::USUAL_GRACE_S { Vec::new() } else { one(format!("{} s", plan.grace_s)) }
            },
            arguments: |plan| {
                if plan.grace_s == Plan::USUAL_GRACE_S { Vec::new() } else { option("--grace", plan.grace_s) }
            },
        },
    },
    RunOption {
        flags: &["mode"],
        title: "query mode",
        bearing: work,
        kind: Kind::Values { values: |plan| one(plan.mode.name()), arguments: |plan| option("-M", plan.mode.name()) },
    },
    RunOption {
        flags: &["wire"],
        title: "wire",
        bearing: work,
        kind: Kind::Values {
            values: |plan| if plan.wire.is_native() { Vec::new() } else { one(plan.wire.name()) },
            arguments: |plan| if plan.wire.is_native() { Vec::new() } else { option("--wire", plan.wire.name()) },
        },
    },
    RunOption {
        flags: &["pin"],
        title: "pinned to CPUs",
        bearing: figures,
        kind: Kind::Values {
            values: |plan| plan.pin.as_ref().map(one).unwrap_or_default(),
            arguments: |plan| plan.pin.iter().map(|cpus| format!("--pin={cpus}")).collect(),
        },
    },
    RunOption {
        flags: &["rate", "arrivals"],
        title: "pace",
        bearing: work,
        kind: Kind::Values {
            values: |plan| match plan.pace {
                Pace::ClosedLoop => one("closed loop"),
                Pace::Rate(Rate { per_s, arrivals: Arrivals::Poisson }) => one(format!("{per_s}/s, Poisson")),
                Pace::Rate(Rate { per_s, arrivals: Arrivals::Uniform }) => one(format!("{per_s}/s, uniform")),
            },
            arguments: |plan| match plan.pace {
                Pace::ClosedLoop => Vec::new(),
                Pace::Rate(Rate { per_s, arrivals: Arrivals::Poisson }) => option("-R", per_s),
                Pace::Rate(Rate { per_s, arrivals: Arrivals::Uniform }) => {
                    [option("-R", per_s), option("--arrivals", "uniform")].concat()
                }
            },
        },
    },
    RunOption {
        flags: &["max-tries"],
        title: "max tries",
        bearing: figures,
        kind: Kind::Values {
            values: |plan| one(plan.max_tries),
            arguments: |plan| option("--max-tries", plan.max_tries),
        },
    },
    RunOption {
        flags: &["latency-limit"],
        title: "latency limit",
        // With a rate it decides which transactions are skipped; without one it only counts late ones.
        bearing: |plan| if plan.pace == Pace::ClosedLoop { Bearing::Figures } else { Bearing::Work },
        kind: Kind::Values {
            values: |plan| plan.latency_limit_ms.map(|ms| one(format!("{ms} ms"))).unwrap_or_default(),
            arguments: |plan| given("-L", plan.latency_limit_ms),
        },
    },
    RunOption {
        flags: &["reconnect"],
        title: "reconnect",
        bearing: figures,
        kind: Kind::Values {
            values: |plan| if plan.reconnect_s > 0.0 { one(format!("{} s", plan.reconnect_s)) } else { Vec::new() },
            arguments: |plan| if plan.reconnect_s > 0.0 { option("--reconnect", plan.reconnect_s) } else { Vec::new() },
        },
    },
    RunOption {
        flags: &["coalesce"],
        title: "coalesce",
        bearing: figures,
        kind: Kind::Values {
            values: |plan| plan.coalesce_us.map(|us| one(format!("{us} us"))).unwrap_or_default(),
            arguments: |plan| plan.coalesce_us.map(|us| option("--coalesce", format!("{us}us"))).unwrap_or_default(),
        },
    },
    flag(&["tcp"], "private server by TCP", |plan| plan.tcp),
    flag(&["restart"], "restart", |plan| plan.cycle.restart),
    flag(&["drop-caches"], "drop caches", |plan| plan.cycle.drop_caches),
    flag(&["prewarm"], "prewarm", |plan| plan.cycle.prewarm),
    flag(&["checkpoint"], "checkpoint", |plan| plan.cycle.checkpoint),
    flag(&["provision"], "provision", |plan| plan.cycle.provision),
    RunOption {
        flags: &["set"],
        title: "settings",
        bearing: figures,
        kind: Kind::Values {
            values: |plan| plan.settings.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
            arguments: |plan| {
                plan.settings.iter().flat_map(|(name, value)| option("--set", format!("{name}={value}"))).collect()
            },
        },
    },
    RunOption {
        flags: &["loaders"],
        title: "loaders",
        bearing: figures,
        kind: Kind::Values {
            values: |plan| if has_data(plan) { one(plan.loaders) } else { Vec::new() },
            arguments: |plan| if has_data(plan) { option("--loaders", plan.loaders) } else { Vec::new() },
        },
    },
    flag(&["resumable"], "resumable load", |plan| plan.resumable),
    flag(&["unlogged"], "unlogged load", |plan| plan.unlogged),
    RunOption {
        flags: &["replace", "no-load"],
        title: "data",
        bearing: figures,
        kind: Kind::Values {
            values: |plan| match plan.load {
                LoadChoice::IfMissing => Vec::new(),
                LoadChoice::Always => one("loaded anew"),
                LoadChoice::Never => one("as it is there"),
            },
            arguments: |plan| match plan.load {
                LoadChoice::IfMissing => Vec::new(),
                LoadChoice::Always => vec!["--replace".to_owned()],
                LoadChoice::Never => vec!["--no-load".to_owned()],
            },
        },
    },
    RunOption {
        flags: &["from-template"],
        title: "template",
        bearing: figures,
        kind: Kind::Values {
            values: |plan| plan.from_template.as_ref().map(one).unwrap_or_default(),
            arguments: |plan| given("--from-template", plan.from_template.as_ref()),
        },
    },
    flag(&["no-check"], "no check", |plan| has_data(plan) && !plan.checks),
    flag(&["no-vacuum"], "no vacuum", |plan| plan.no_vacuum),
    flag(&["allow-schema-changes"], "schema changes allowed", |plan| plan.allow_schema_changes),
    RunOption {
        flags: &["latency-percentiles"],
        title: "percentiles",
        bearing: none,
        kind: Kind::Values {
            values: |plan| one(percentiles(plan)),
            arguments: |plan| match plan.percentiles.is_empty() {
                true => Vec::new(),
                false => vec![format!("--latency-percentiles={}", percentiles(plan))],
            },
        },
    },
    flag(&["log"], "log of every transaction", |plan| plan.log),
    flag(&["no-samples"], "no samples", |plan| plan.watch.off),
    RunOption {
        flags: &["os-metrics"],
        title: "the server's machine is read by",
        bearing: figures,
        kind: Kind::Values {
            values: |plan| plan.watch.os.as_ref().map(one).unwrap_or_default(),
            // The text of a command is not stored: it may contain a password.
            arguments: |plan| given("--os-metrics", plan.watch.os.as_ref().filter(|how| how.starts_with("ssh "))),
        },
    },
    RunOption {
        flags: &["statement-plans"],
        title: "plans of statements kept",
        bearing: figures,
        kind: Kind::Values {
            values: |plan| if plan.watch.statement_plans > 0 { one(plan.watch.statement_plans) } else { Vec::new() },
            arguments: |plan| match plan.watch.statement_plans {
                0 => Vec::new(),
                n => option("--statement-plans", n),
            },
        },
    },
    RunOption {
        flags: &["plans"],
        title: "plans of queries kept",
        // After the measured time.
        bearing: none,
        kind: Kind::Flag(|plan| plan.watch.plans),
    },
    // It takes CPU time of the server's machine.
    flag(&["perf"], "profiled by perf", |plan| plan.watch.perf),
    RunOption {
        flags: &["random-seed"],
        title: "seed",
        bearing: none,
        kind: Kind::Values { values: |plan| one(plan.seed), arguments: |plan| option("--random-seed", plan.seed) },
    },
];

/// Returns an option that has a name only.
const fn flag(flags: &'static [&'static str], title: &'static str, is_given: fn(&Plan) -> bool) -> RunOption {
    RunOption { flags, title, bearing: figures, kind: Kind::Flag(is_given) }
}

fn none(_: &Plan) -> Bearing {
    Bearing::None
}

fn figures(_: &Plan) -> Bearing {
    Bearing::Figures
}

fn work(_: &Plan) -> Bearing {
    Bearing::Work
}

fn has_data(plan: &Plan) -> bool {
    !plan.scale_name.is_empty()
}

fn percentiles(plan: &Plan) -> String {
    plan.percentiles.iter().map(f64::to_string).collect::<Vec<_>>().join(",")
}

/// Returns the only value of an option.
fn one(value: impl ToString) -> Vec<(String, String)> {
    vec![(String::new(), value.to_string())]
}

fn option(name: &str, value: impl ToString) -> Vec<String> {
    vec![name.to_owned(), value.to_string()]
}

fn given(name: &str, value: Option<impl ToString>) -> Vec<String> {
    value.map(|value| option(name, value)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::example;

    #[test]
    fn each_flag_belongs_to_one_option() {
        let mut flags: Vec<_> = OPTIONS.iter().flat_map(|option| option.flags).collect();
        let all = flags.len();
        flags.sort();
        flags.dedup();
        assert_eq!(flags.len(), all);
    }

    #[test]
    fn plans_differ_in_what_bears_on_figures() {
        let first = example();
        let mut second = example();
        (second.seed, second.percentiles) = (7, vec![50.0]);
        assert_eq!(differences(&first, &second), []);
        second.clients = 3;
        second.settings.insert("jit".to_owned(), "on".to_owned());
        second.params.remove("warehouses");
        (second.time_s, second.transactions) = (None, Some(7));
        let reported: Vec<_> = differences(&first, &second)
            .into_iter()
            .map(|d| format!("{}: {} / {}", d.name, d.first.unwrap_or_default(), d.second.unwrap_or_default()))
            .collect();
        assert_eq!(
            reported,
            ["warehouses: 10 / ", "clients: 16 / 3", "length: 30 s / 7 transactions of each client", "jit:  / on"]
        );
    }

    #[test]
    fn a_limit_of_latency_is_work_where_it_skips_transactions() {
        let limit = OPTIONS.iter().find(|option| option.flags == ["latency-limit"]).unwrap();
        let mut plan = example();
        assert_eq!(limit.bearing(&plan), Bearing::Figures);
        plan.pace = Pace::Rate(Rate { per_s: 9.0, arrivals: Arrivals::Poisson });
        assert_eq!(limit.bearing(&plan), Bearing::Work);
    }
}
