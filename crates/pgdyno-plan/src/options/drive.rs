//! Clients, pace and length.

use pgdyno_text::parse::{duration, positive};
use pgdyno_workload::{Commands, Omitted, OptionSpec, ValueKind};

use super::Bearing;
use super::access::{flag, given, texts, whole};
use super::kept::{self, Reported, figures, none, one, one_of, values, work};
use super::{KeptOption, OptionGroup, RunOption};
use crate::rate_steps_order::OWN;
use crate::{
    Arrivals, DrivePlan, LedgerPlan, Pace, Plan, QueryMode, Rate, RateOrder, RateSteps, RateStepsOrder, Wire, cpus,
};

/// The options.
pub(super) const GROUP: OptionGroup = OptionGroup {
    heading: "Clients and pace",
    options: &[
        RunOption {
            spec: OptionSpec {
                short: Some('c'),
                aliases: &["vu"],
                ..OptionSpec::value(
                    "clients",
                    ValueKind::Whole,
                    "N",
                    "Clients, or virtual users [default: two for each CPU of this machine, at least 4; ten for each warehouse in the spec profile]",
                )
            },
            commands: Commands::Run,
            suite: Some("clients"),
            access: given!(drive.clients, |text| whole(text, 1..=1_000_000)),
            kept: values("clients", work, |plan| one(plan.drive.clients)),
            sample: "70",
            beside: "tpcb-like --target embedded",
        },
        RunOption {
            spec: OptionSpec::value(
                "connections",
                ValueKind::Whole,
                "N",
                "Connections that all clients share, each for the time of a transaction [default: each client has its own; with keying and think times at most 64]",
            ),
            commands: Commands::Run,
            suite: Some("connections"),
            access: given!(drive.connections, |text| whole(text, 1..=1_000_000)),
            kept: values("connections", work, |plan| one_of(plan.drive.connections)),
            sample: "10",
            beside: "tpcb-like --target embedded -c 70",
        },
        RunOption {
            spec: OptionSpec {
                details: "Each client has a connection to the target and one to a reader: Order-Status, Stock-Level, reads of YCSB, select-only, \
                          oltp-read-only and your own scripts that only read go to the reader. `standby` is the standby of --target embedded:ha",
                ..OptionSpec::value(
                    "reader",
                    ValueKind::Texts,
                    "TARGET",
                    "Send transactions that only read to this server, as for --target; several readers share the clients",
                )
            },
            commands: Commands::Run,
            suite: Some("reader"),
            access: texts!(drive.readers),
            kept: values("reader", work, |plan| {
                plan.drive.readers.iter().zip(1..).map(|(reader, n)| (format!("reader {n}"), reader.clone())).collect()
            }),
            sample: "host=db2",
            beside: "tproc-c --target embedded",
        },
        RunOption {
            spec: OptionSpec {
                short: Some('j'),
                ..OptionSpec::value(
                    "threads",
                    ValueKind::Whole,
                    "N",
                    "Engine threads, of all agents together [default: one for each of up to 8 clients, else by the CPUs]",
                )
            },
            commands: Commands::Run,
            suite: Some("threads"),
            access: given!(drive.threads, |text| whole(text, 1..=1024)),
            kept: values("threads", figures, |plan| one(plan.drive.threads)),
            sample: "2",
            beside: "tpcb-like --target embedded -c 70",
        },
        RunOption {
            spec: OptionSpec {
                omitted: Omitted::WithEquals(cpus::ALL),
                ..OptionSpec::value(
                    "pin",
                    ValueKind::Text,
                    "CPUS",
                    "Pin each engine thread to a CPU: to the first ones that this process may use, or to those of a list as in --pin=0,2-4",
                )
            },
            commands: Commands::Run,
            suite: Some("pin"),
            access: given!(drive.pin, cpus::pin),
            kept: values("pinned to CPUs", figures, |plan| one_of(plan.drive.pin.as_ref())),
            sample: "all",
            beside: "tpcb-like --target embedded -j 1",
        },
        RunOption {
            spec: OptionSpec {
                short: Some('T'),
                ..OptionSpec::value(
                    "time",
                    ValueKind::Time,
                    "TIME",
                    "Length of the measured window: seconds, or with a unit: 90s, 10min, 1h [default: 30]",
                )
            },
            commands: Commands::Run,
            suite: Some("time"),
            access: given!(drive.time, duration),
            kept: values("length", figures, length),
            sample: "90s",
            beside: "tpcb-like --target embedded",
        },
        RunOption {
            spec: OptionSpec {
                short: Some('t'),
                conflicts: &["time"],
                ..OptionSpec::value(
                    "transactions",
                    ValueKind::Whole,
                    "N",
                    "Transactions of each client, instead of a time",
                )
            },
            commands: Commands::Run,
            suite: Some("transactions"),
            access: given!(drive.transactions, |text| whole(text, 1..=u64::MAX)),
            kept: KeptOption::With("time"),
            sample: "100",
            beside: "tpcb-like --target embedded",
        },
        RunOption {
            spec: OptionSpec::value(
                "ramp",
                ValueKind::Time,
                "TIME",
                "Warm-up before the measured window [default: 5, none with -t]",
            ),
            commands: Commands::Run,
            suite: Some("ramp"),
            access: given!(drive.ramp, duration),
            kept: values("ramp", figures, |plan| one(format!("{} s", plan.drive.ramp_s))),
            sample: "7s",
            beside: "tpcb-like --target embedded",
        },
        RunOption {
            spec: OptionSpec::value(
                "grace",
                ValueKind::Time,
                "TIME",
                "How long transactions in flight at the end may take before they are cancelled [default: 5]",
            ),
            commands: Commands::Run,
            suite: Some("grace"),
            access: given!(drive.grace, duration),
            kept: values("grace", figures, |plan| {
                one_of(Some(plan.drive.grace_s).filter(|s| *s != DrivePlan::USUAL_GRACE_S).map(|s| format!("{s} s")))
            }),
            sample: "9s",
            beside: "tpcb-like --target embedded",
        },
        RunOption {
            spec: OptionSpec {
                short: Some('R'),
                ..OptionSpec::value(
                    "rate",
                    ValueKind::Rate,
                    "PER_S",
                    "Transactions a second of all clients together, on a schedule (open loop); 3x is three times the workload's own rate, none a closed loop",
                )
            },
            commands: Commands::Run,
            suite: Some("rate"),
            access: given!(drive.rate, word::<RateOrder>),
            kept: values("pace", work, pace),
            sample: "100",
            beside: "tpcb-like --target embedded",
        },
        RunOption {
            spec: OptionSpec {
                omitted: Omitted::WithEquals(OWN),
                ..OptionSpec::value(
                    "rate-steps",
                    ValueKind::Text,
                    "STEP",
                    "Change the rate in the steps that the workload defines; --rate-steps=10s sets the length of each step, none keeps one rate [default: as the workload defines]. Without -T the run has each step once",
                )
            },
            commands: Commands::Run,
            suite: Some("rate_steps"),
            access: given!(drive.rate_steps, word::<RateStepsOrder>),
            kept: values("steps of the rate", work, |plan| one_of(plan.drive.rate_steps.as_ref().map(steps))),
            sample: "10s",
            beside: "../../fixtures/workloads/steps --target host=/tmp",
        },
        RunOption {
            spec: OptionSpec::value(
                "arrivals",
                ValueKind::Choice(&["poisson", "uniform"]),
                "HOW",
                "Distribution of the arrivals of --rate, or of the workload's own rate [default: poisson]",
            ),
            commands: Commands::Run,
            suite: Some("arrivals"),
            access: given!(drive.arrivals, word::<Arrivals>, |arrivals| arrivals.name().to_owned()),
            kept: KeptOption::With("rate"),
            sample: "uniform",
            beside: "tpcb-like --target embedded -R 100",
        },
        RunOption {
            spec: OptionSpec {
                short: Some('M'),
                ..OptionSpec::value(
                    "mode",
                    ValueKind::Choice(&["simple", "extended", "prepared"]),
                    "MODE",
                    "Query mode [default: prepared; simple for scripts]",
                )
            },
            commands: Commands::Run,
            suite: Some("mode"),
            access: given!(drive.mode, word::<QueryMode>, |mode| mode.name().to_owned()),
            kept: values("query mode", work, |plan| one(plan.drive.mode.name())),
            sample: "extended",
            beside: "tpcb-like --target embedded",
        },
        RunOption {
            spec: OptionSpec::value(
                "wire",
                ValueKind::Choice(&["native", "libpq"]),
                "FORM",
                "How statements are sent: native (parameters in binary, no Describe), or libpq (as pgbench and other programs with libpq send them) [default: native]",
            ),
            commands: Commands::Run,
            suite: Some("wire"),
            access: given!(drive.wire, word::<Wire>, |wire| wire.name().to_owned()),
            kept: values("wire", work, |plan| {
                one_of(Some(plan.drive.wire).filter(|wire| !wire.is_native()).map(Wire::name))
            }),
            sample: "libpq",
            beside: "tpcb-like --target embedded",
        },
        RunOption {
            spec: OptionSpec::value(
                "max-tries",
                ValueKind::Whole,
                "N",
                "Tries of a transaction that fails by serialization or deadlock; 0 is no limit [default: 1000 for built-in workloads, 1 for your own scripts]",
            ),
            commands: Commands::Run,
            suite: Some("max_tries"),
            access: given!(drive.max_tries, |text| whole(text, 0..=u64::from(u32::MAX))),
            kept: values("max tries", figures, |plan| one(plan.drive.max_tries)),
            sample: "5",
            beside: "tpcb-like --target embedded",
        },
        RunOption {
            spec: OptionSpec {
                short: Some('L'),
                ..OptionSpec::value(
                    "latency-limit",
                    ValueKind::Milliseconds,
                    "MS",
                    "Latency above which a transaction counts as late, in milliseconds or with a unit; with --rate, transactions that are this late before they begin are skipped",
                )
            },
            commands: Commands::Run,
            suite: Some("latency_limit"),
            access: given!(drive.latency_limit, milliseconds),
            kept: KeptOption::Values(Reported { title: "latency limit", bearing: limit }, |plan| {
                one_of(plan.drive.latency_limit_ms.map(|ms| format!("{ms} ms")))
            }),
            sample: "50ms",
            beside: "tpcb-like --target embedded",
        },
        RunOption {
            spec: OptionSpec::value(
                "reconnect",
                ValueKind::Time,
                "TIME",
                "How long a client tries to reopen a lost connection before the run ends [default: 0; 10 with --reader or --analytics-target, 60 with --fault, 600 with a ledger]",
            ),
            commands: Commands::Run,
            suite: Some("reconnect"),
            access: given!(drive.reconnect, duration),
            kept: values("reconnect", figures, |plan| {
                one_of(Some(plan.drive.reconnect_s).filter(|s| *s > 0.0).map(|s| format!("{s} s")))
            }),
            sample: "10s",
            beside: "tpcb-like --target embedded",
        },
        RunOption {
            spec: OptionSpec::flag(
                "ledger",
                "Record each commit, and check at the end which commits the server has: New-Orders of tproc-c, or rows that your scripts name. The workload ledger always does this",
            ),
            commands: Commands::Run,
            suite: Some("ledger"),
            access: flag!(drive.ledger),
            kept: kept::flag("ledger", |plan| plan.drive.ledger.is_some()),
            sample: "",
            beside: "tproc-c --target embedded",
        },
        RunOption {
            spec: OptionSpec::value(
                "commit-timeout",
                ValueKind::Time,
                "TIME",
                "With a ledger: how long a client waits for a reply; then it counts the commit as unknown, and reconnects [default: 10]",
            ),
            commands: Commands::Run,
            suite: Some("commit_timeout"),
            access: given!(drive.commit_timeout, duration),
            kept: values("commit timeout", figures, |plan| {
                let timeout_s = plan.drive.ledger.map(|ledger| ledger.commit_timeout_s);
                one_of(timeout_s.filter(|s| *s != LedgerPlan::USUAL_TIMEOUT_S).map(|s| format!("{s} s")))
            }),
            sample: "3s",
            beside: "ledger --target embedded",
        },
        RunOption {
            spec: OptionSpec::value(
                "coalesce",
                ValueKind::Time,
                "TIME",
                "How long a thread may leave replies unread, to read several at once; saves client CPU, and latencies include the delay",
            ),
            commands: Commands::Run,
            suite: Some("coalesce"),
            access: given!(drive.coalesce, coalescing, |us| format!("{us}us")),
            kept: values("coalesce", figures, |plan| one_of(plan.drive.coalesce_us.map(|us| format!("{us} us")))),
            sample: "50us",
            beside: "tpcb-like --target embedded",
        },
        RunOption {
            spec: OptionSpec::value(
                "random-seed",
                ValueKind::Whole,
                "N",
                "The seed of all random numbers of the run [default: a new one each time]",
            ),
            commands: Commands::Run,
            suite: Some("random_seed"),
            access: given!(drive.random_seed, |text| whole(text, 0..=u64::MAX)),
            kept: values("seed", none, |plan| one(plan.seed)),
            sample: "77",
            beside: "tpcb-like --target embedded",
        },
    ],
};

fn length(plan: &Plan) -> Vec<(String, String)> {
    match (plan.drive.time_s, plan.drive.transactions) {
        (Some(seconds), _) => one(format!("{seconds} s")),
        (None, Some(n)) => one(format!("{n} transactions of each client")),
        (None, None) => Vec::new(),
    }
}

fn pace(plan: &Plan) -> Vec<(String, String)> {
    match plan.drive.pace {
        Pace::ClosedLoop => one("closed loop"),
        Pace::Rate(Rate { per_s, arrivals: Arrivals::Poisson }) => one(format!("{per_s}/s, Poisson")),
        Pace::Rate(Rate { per_s, arrivals: Arrivals::Uniform }) => one(format!("{per_s}/s, uniform")),
    }
}

/// Returns the steps of a rate as text.
fn steps(steps: &RateSteps) -> String {
    format!("{} of {} s, each times {}/s", steps.steps.len(), steps.step_s, steps.per_s)
}

/// With a rate, a limit decides which transactions are skipped; without one it only counts late ones.
fn limit(plan: &Plan) -> Bearing {
    if plan.drive.pace == Pace::ClosedLoop { Bearing::Figures } else { Bearing::Work }
}

/// Parses one of some words.
fn word<T: std::str::FromStr<Err: ToString>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}

/// Parses a length of time above zero: milliseconds, as in pgbench, or a number with its unit.
fn milliseconds(text: &str) -> Result<f64, String> {
    let has_unit = text.ends_with(|last: char| last.is_ascii_alphabetic());
    let ms = if has_unit { duration(text)? * 1e3 } else { positive(text)? };
    if ms > 0.0 { Ok(ms) } else { Err("write a time above 0".to_owned()) }
}

/// Parses the time for which replies may lie unread, and returns it in microseconds.
fn coalescing(text: &str) -> Result<f64, String> {
    match (duration(text)? * 1e9).round() / 1e3 {
        us if us == 0.0 || (1.0..=10_000.0).contains(&us) => Ok(us),
        _ => Err("write 1us to 10ms, or 0 for not at all".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_latency_limit_is_in_milliseconds_or_has_a_unit() {
        assert_eq!(["100", "0.5", "5ms", "2s"].map(milliseconds), [100.0, 0.5, 5.0, 2000.0].map(Ok));
        for wrong in ["0", "-1", "0ms", "5 parsecs", "5m", ""] {
            assert!(milliseconds(wrong).is_err(), "{wrong}");
        }
    }
}
