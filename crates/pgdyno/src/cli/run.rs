//! What is run, and how it is driven.

use std::path::PathBuf;

use clap::Args;

use super::TargetArgs;

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) workload: WorkloadArgs,
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    #[command(flatten)]
    pub(crate) drive: DriveArgs,
    #[command(flatten)]
    pub(crate) out: OutArgs,
    /// Connections that load [default: the CPUs of this machine, at most 8]
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=512))]
    pub(crate) loaders: Option<u16>,
    /// Do not load: the data must be there
    #[arg(long, conflicts_with = "replace")]
    pub(crate) no_load: bool,
    /// Replace other data that pgdyno loaded
    #[arg(long)]
    pub(crate) replace: bool,
    /// Do not check the data before and after
    #[arg(long)]
    pub(crate) no_check: bool,
    /// Also write the record to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// No progress
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WorkloadArgs {
    /// The workload; `pgdyno list workloads` names them [default: tpcb-like]
    pub(crate) workload: Option<String>,
    /// Warehouses, for tproc-c [default: what is loaded, else one for each client, at most 10]
    #[arg(short, long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) warehouses: Option<String>,
    /// Scale, for pgbench's workloads [default: what is loaded, else one for each client, at most 10]
    #[arg(short, long, value_name = "N", allow_negative_numbers = true, conflicts_with = "warehouses")]
    pub(crate) scale: Option<String>,
    /// Each client works on its share of all warehouses instead of one home warehouse
    #[arg(long)]
    pub(crate) all_warehouses: bool,
    /// Send a whole transaction as one pipeline
    #[arg(long)]
    pub(crate) pipeline: bool,
    /// How the server does a transaction of tproc-c
    #[arg(long, value_name = "HOW")]
    pub(crate) call: Option<String>,
    /// Any parameter of the workload, as NAME=VALUE
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = super::target::setting)]
    pub(crate) params: Vec<(String, String)>,
}

impl WorkloadArgs {
    /// The workload as named, or the one that counts where none is.
    pub(crate) fn id(&self) -> &str {
        self.workload.as_deref().unwrap_or("tpcb-like")
    }
}

#[derive(Debug, Args)]
pub(crate) struct DriveArgs {
    /// Clients, or virtual users [default: two for each CPU of this machine, at least 4]
    #[arg(short, long, visible_alias = "vu", allow_negative_numbers = true, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) clients: Option<u32>,
    /// Engine threads [default: what the machine can spare]
    #[arg(short = 'j', long, allow_negative_numbers = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Length of the measured window: seconds, or with a unit: 90s, 10min, 1h [default: 30]
    #[arg(short = 'T', long, allow_negative_numbers = true, value_name = "TIME", value_parser = duration)]
    pub(crate) time: Option<f64>,
    /// Transactions of each client, instead of a time
    #[arg(short = 't', long, allow_negative_numbers = true, value_name = "N", conflicts_with = "time", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) transactions: Option<u64>,
    /// Warm-up before the measured window [default: 5, none with -t]
    #[arg(long, allow_negative_numbers = true, value_name = "TIME", value_parser = duration)]
    pub(crate) ramp: Option<f64>,
    /// Transactions a second over all clients, on a schedule (open loop)
    #[arg(short = 'R', long, allow_negative_numbers = true, value_name = "PER_S", value_parser = positive)]
    pub(crate) rate: Option<f64>,
    /// How the arrivals of --rate are spread
    #[arg(long, value_name = "HOW", default_value = "poisson", value_parser = ["poisson", "uniform"], requires = "rate")]
    pub(crate) arrivals: String,
    /// Query mode: simple, extended or prepared
    #[arg(short = 'M', long, value_name = "MODE", default_value = "prepared")]
    pub(crate) mode: pgdyno_wire::QueryMode,
    /// Tries of a transaction that meets a serialization failure or a deadlock; 0 is no limit
    #[arg(long, allow_negative_numbers = true, value_name = "N", default_value_t = 1)]
    pub(crate) max_tries: u32,
    /// Milliseconds above which a transaction counts as late; with --rate, later ones are skipped
    #[arg(short = 'L', long, allow_negative_numbers = true, value_name = "MS", value_parser = positive)]
    pub(crate) latency_limit: Option<f64>,
    /// How long a lost connection is tried again before the run gives up
    #[arg(long, allow_negative_numbers = true, value_name = "TIME", default_value = "0", value_parser = duration)]
    pub(crate) reconnect: f64,
    /// The seed of all random choices of the run [default: a new one each time]
    #[arg(long, allow_negative_numbers = true, value_name = "N")]
    pub(crate) random_seed: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct OutArgs {
    /// Where run directories and results.csv are
    #[arg(long, value_name = "DIR", default_value = "pgdyno-results")]
    pub(crate) out: PathBuf,
}

/// Seconds, plain or with a unit.
fn duration(text: &str) -> Result<f64, String> {
    if text.starts_with('-') {
        return Err("it cannot be negative".to_owned());
    }
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor = match unit.trim() {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "min" => 60.0,
        "h" => 3600.0,
        "m" => return Err("'m' could be minutes or milliseconds: write min or ms".to_owned()),
        unit => return Err(format!("unknown unit '{unit}'; known are ms, s, min, h")),
    };
    match number.parse::<f64>() {
        Ok(n) if n.is_finite() && n * factor <= 1e8 => Ok(n * factor),
        _ => Err("write a number of seconds, or a number with a unit: 90s, 10min, 1h".to_owned()),
    }
}

/// A number above zero.
fn positive(text: &str) -> Result<f64, String> {
    text.parse::<f64>().ok().filter(|n| *n > 0.0 && n.is_finite()).ok_or_else(|| "write a number above 0".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_take_units_and_refuse_what_could_be_two_things() {
        assert_eq!(
            ["90", "90s", "1.5min", "2h", "250ms"].map(|t| duration(t).unwrap()),
            [90.0, 90.0, 90.0, 7200.0, 0.25]
        );
        assert_eq!(duration("5m").unwrap_err(), "'m' could be minutes or milliseconds: write min or ms");
        for wrong in ["", "s", "-5", "1e3", "five", "1 day", "99999999999"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
