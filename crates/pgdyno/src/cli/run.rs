//! What is run, and how it is driven.

#[cfg(test)]
mod again;

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use pgdyno_engine::RATE_MAX_PER_S;
use pgdyno_plan::{
    AnalyticsOrder, Arrivals, DriveOrder, LoadingOrder, Order, RESULTS, SuitePlan, TargetOrder, WorkloadOrder,
};
use pgdyno_text::parse;

use super::{ConsentArgs, CycleArgs, MeetingArgs, PushArgs, RecipeArgs, TargetArgs, WatchArgs};

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) workload: WorkloadArgs,
    #[command(flatten)]
    pub(crate) issue: IssueArgs,
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    #[command(flatten)]
    pub(crate) drive: DriveArgs,
    #[command(flatten)]
    pub(crate) analytics: AnalyticsArgs,
    #[command(flatten, next_help_heading = "Output")]
    pub(crate) out: OutArgs,
    #[command(flatten)]
    pub(crate) store: PushArgs,
    #[command(flatten)]
    pub(crate) loading: LoadingArgs,
    #[command(flatten)]
    pub(crate) recipe: RecipeArgs,
    #[command(flatten)]
    pub(crate) cycle: CycleArgs,
    #[command(flatten)]
    pub(crate) watch: WatchArgs,
    #[command(flatten)]
    pub(crate) meeting: MeetingArgs,
    /// The place of the run in a suite
    #[arg(long, hide = true, value_name = "SUITE:ID:RUN:REPETITION", value_parser = super::suite::suite_run)]
    pub(crate) suite_run: Option<SuitePlan>,
    /// The order is the first line of standard input, as JSON; of the arguments count the place in a suite and --out
    #[arg(long, hide = true)]
    pub(crate) order: bool,
    /// End cleanly when standard input ends: the program that started the run is gone then
    #[arg(long, hide = true)]
    pub(crate) until_eof: bool,
    /// Run the plan of this record again, with its seed and the stored texts of its scripts: a run
    /// directory, a run.json, the beginning or end of a run's name, or `last`. Beside it only --target, --config,
    /// --os-metrics, --random-seed, --cache-size, --meet, --agents (as many as the run had), --wait, --label, --out,
    /// --json and --store count
    #[arg(help_heading = "Workload", long, value_name = "RUN")]
    pub(crate) again: Option<String>,
    /// Do not load: the data must be there
    #[arg(help_heading = "Data", long, conflicts_with = "replace")]
    pub(crate) no_load: bool,
    /// Replace other data that pgdyno loaded
    #[arg(help_heading = "Data", long)]
    pub(crate) replace: bool,
    /// Keep at most SIZE of data that private servers have loaded, for later runs that want the same (`pgdyno cache`);
    /// 0 keeps and uses none [default: 20GB]
    #[arg(help_heading = "Data", long, value_name = "SIZE", value_parser = cache_size)]
    pub(crate) cache_size: Option<u64>,
    /// Work on a fresh copy of this database, which is dropped afterwards [without DB: the target's own database]
    #[arg(help_heading = "Data", long, value_name = "DB", num_args = 0..=1, default_missing_value = "")]
    pub(crate) from_template: Option<String>,
    /// Do not check the data before and after
    #[arg(help_heading = "Data", long)]
    pub(crate) no_check: bool,
    /// No VACUUM and no TRUNCATE of the history before the run (pgbench's workloads)
    #[arg(help_heading = "Data", short = 'n', long)]
    pub(crate) no_vacuum: bool,
    /// Run even if indexes, keys, routines or the like differ from what was loaded: the record and the report list the
    /// differences
    #[arg(help_heading = "Data", long)]
    pub(crate) allow_schema_changes: bool,
    /// Further latency percentiles in reports, up to ten, above 0 up to 100
    #[arg(help_heading = "Output", long, value_name = "LIST", num_args = 0..=1, require_equals = true, default_missing_value = "50,95,99", value_parser = percentiles)]
    pub(crate) latency_percentiles: Option<Percentiles>,
    /// Log every transaction to transactions.log in the run directory, in the format of pgbench's -l
    #[arg(help_heading = "Output", long)]
    pub(crate) log: bool,
    /// Label the run, as in commit=abc123: the record has it, lists show it and select by it; may be given several
    /// times
    #[arg(help_heading = "Output", long = "label", value_name = "NAME=VALUE", value_parser = super::target::setting)]
    pub(crate) labels: Vec<(String, String)>,
    /// Also write the record to this file
    #[arg(help_heading = "Output", long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// No progress
    #[arg(help_heading = "Output", short, long)]
    pub(crate) quiet: bool,
    /// Everything that is known about the run below its summary
    #[arg(help_heading = "Output", short, long)]
    pub(crate) verbose: bool,
    #[command(flatten)]
    pub(crate) consent: ConsentArgs,
}

impl RunArgs {
    /// Returns the order of the run, without its view, its end with the input, and the record whose plan it repeats.
    pub(crate) fn order(self) -> Order {
        let Self {
            workload,
            issue:
                IssueArgs {
                    all_warehouses,
                    pipeline,
                    keying_time,
                    no_think,
                    distribution,
                    streams,
                    repeat,
                    queries,
                    timeout,
                    no_refresh,
                    validation,
                    query_form,
                    alone,
                },
            target,
            drive,
            analytics,
            out,
            store: _,
            loading,
            recipe,
            cycle,
            watch,
            meeting,
            suite_run,
            until_eof: _,
            again: _,
            order: _,
            no_load,
            replace,
            cache_size,
            from_template,
            no_check,
            no_vacuum,
            allow_schema_changes,
            latency_percentiles,
            log,
            labels,
            json,
            quiet: _,
            verbose: _,
            consent: _,
        } = self;
        Order {
            workload: WorkloadOrder {
                all_warehouses,
                pipeline,
                keying_time,
                no_think,
                distribution,
                streams,
                repeat,
                queries,
                timeout,
                no_refresh,
                validation,
                query_form,
                alone,
                ..workload.order()
            },
            target: TargetOrder { cache_bytes: cache_size, ..target.order() },
            drive: drive.order(),
            analytics: analytics.order(),
            loading: loading.order(),
            recipe: recipe.order(),
            cycle: cycle.order(),
            watch: watch.order(),
            meeting: meeting.order(),
            suite: suite_run,
            no_load,
            replace,
            from_template,
            no_check,
            no_vacuum,
            allow_schema_changes,
            latency_percentiles: latency_percentiles.map(|list| list.0),
            log,
            labels,
            json,
            out: Some(out.out),
        }
    }
}

/// Parses the size of a cache, which may be 0.
fn cache_size(text: &str) -> Result<u64, String> {
    if text.trim() == "0" { Ok(0) } else { parse::bytes(text) }
}

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Workload")]
pub(crate) struct WorkloadArgs {
    /// A workload of `pgdyno list workloads`; or your own script files, FILE or FILE@WEIGHT; or a directory with
    /// workload.toml; for run and plan also a recipe of `pgdyno list recipes`, or a recipe file that ends in .toml
    /// [default: tpcb-like]
    #[arg(help_heading = "Arguments")]
    pub(crate) workload: Vec<String>,
    /// Warehouses, for tproc-c and ch-benchmark [default: what is loaded, else one for each client, at most 10]
    #[arg(short, long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) warehouses: Option<String>,
    /// Scale, for pgbench's workloads [default: what is loaded, else one for each client, at most 10]; scale factor of
    /// tproc-h, which may be a fraction [default: what is loaded, else 1]; rows of each table of sysbench's workloads
    /// [default: what is loaded, else 100000]; for scripts the value of :scale [default: 1]
    #[arg(short, long, value_name = "N", allow_negative_numbers = true, conflicts_with = "warehouses")]
    pub(crate) scale: Option<String>,
    /// How transactions of tproc-c are issued: procedure, function, or client (plain SQL)
    #[arg(long, value_name = "HOW")]
    pub(crate) call: Option<String>,
    /// TPROC-C rule set: hammerdb, or spec (the TPC-C clauses)
    #[arg(long, value_name = "WHOSE")]
    pub(crate) profile: Option<String>,
    /// Hash partitions of tproc-c's order_line, or partitions of pgbench_accounts; 0 is none. Of tproc-h's orders and
    /// lineitem: month, or none
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) partitions: Option<String>,
    /// Declare tproc-c's foreign keys
    #[arg(long)]
    pub(crate) foreign_keys: bool,
    /// Shards of a table, on a server that distributes tables (Citus) [default: 48]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) shard_count: Option<String>,
    /// Indexes of tproc-h: keys, dates (keys and dates), hammerdb (as HammerDB has them), or none [default: keys]
    #[arg(long, value_name = "WHICH")]
    pub(crate) indexes: Option<String>,
    /// Records of ycsb [default: what is loaded, else 100000]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) records: Option<String>,
    /// Fields of a record of ycsb [default: 10]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) fields: Option<String>,
    /// Bytes of a field of ycsb [default: 100]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) field_bytes: Option<String>,
    /// Table of ycsb: jdbc (a column for each field) or jsonb [default: jdbc]
    #[arg(long, value_name = "WHICH")]
    pub(crate) schema: Option<String>,
    /// Tables of sysbench's workloads [default: what is loaded, else 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) tables: Option<String>,
    /// Any parameter of the workload, or a variable of scripts, as NAME=VALUE
    #[arg(short = 'D', long = "param", visible_alias = "define", value_name = "NAME=VALUE", value_parser = super::target::setting)]
    pub(crate) params: Vec<(String, String)>,
}

impl WorkloadArgs {
    /// Returns the workload and its parameters.
    pub(crate) fn order(&self) -> WorkloadOrder {
        let Self {
            workload,
            warehouses,
            scale,
            call,
            profile,
            partitions,
            foreign_keys,
            shard_count,
            indexes,
            records,
            fields,
            field_bytes,
            schema,
            tables,
            params,
        } = self.clone();
        WorkloadOrder {
            names: workload,
            warehouses,
            scale,
            call,
            profile,
            partitions,
            foreign_keys,
            shard_count,
            indexes,
            records,
            fields,
            field_bytes,
            schema,
            tables,
            params,
            ..WorkloadOrder::default()
        }
    }
}

/// What matters only while clients are at work.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Workload")]
pub(crate) struct IssueArgs {
    /// Each client works on its share of all warehouses instead of one home warehouse
    #[arg(long)]
    pub(crate) all_warehouses: bool,
    /// Send a whole transaction as one pipeline
    #[arg(long)]
    pub(crate) pipeline: bool,
    /// Clients wait before and after transactions, as terminals do, even if the profile does not
    #[arg(long, conflicts_with = "no_think")]
    pub(crate) keying_time: bool,
    /// Clients do not wait, even if the profile does
    #[arg(long)]
    pub(crate) no_think: bool,
    /// How keys of ycsb are drawn: zipfian, uniform, latest, hotspot, exponential (YCSB's), or zipf (a true Zipf over the
    /// records) [default: zipfian; latest for ycsb-d]
    #[arg(long, value_name = "HOW")]
    pub(crate) distribution: Option<String>,
    /// Streams of queries: of tproc-h's throughput stage [default: 0], of ch-benchmark [default: 1]; 0 is none
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) streams: Option<String>,
    /// Sets of queries that tproc-h's power stage runs one after the other: each query's time has an interval [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) repeat: Option<String>,
    /// Queries of tproc-h or ch-benchmark to run, as in 1,6,17 [default: all]
    #[arg(long, value_name = "LIST")]
    pub(crate) queries: Option<String>,
    /// Time that a query of tproc-h or ch-benchmark may take: seconds, or with a unit [default: 1 day]
    #[arg(long, allow_negative_numbers = true, value_name = "TIME", value_parser = time_limit)]
    pub(crate) timeout: Option<f64>,
    /// No refresh functions of tproc-h: the data stays as it was loaded
    #[arg(long)]
    pub(crate) no_refresh: bool,
    /// Use the parameters for which TPC-H has answers in tproc-h's queries
    #[arg(long)]
    pub(crate) validation: bool,
    /// Queries of ch-benchmark: full, or citus (as its kit has them: LIMIT 10, no dates in eight queries) [default: full]
    #[arg(long, value_name = "FORM")]
    pub(crate) query_form: Option<String>,
    /// Run each side of ch-benchmark also alone, in two more stages of the same length
    #[arg(long)]
    pub(crate) alone: bool,
}

/// How streams of queries connect, where they run beside transactions.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Queries beside transactions")]
pub(crate) struct AnalyticsArgs {
    /// Run the queries of ch-benchmark on this server, such as a standby of the target: as --target takes it
    #[arg(long, value_name = "TARGET")]
    pub(crate) analytics_target: Option<String>,
    /// A setting of the queries' sessions, as NAME=VALUE, such as work_mem=64MB or role=analyst
    #[arg(long, value_name = "NAME=VALUE", value_parser = super::target::setting)]
    pub(crate) analytics_set: Vec<(String, String)>,
}

impl AnalyticsArgs {
    /// Returns how they connect.
    pub(crate) fn order(self) -> AnalyticsOrder {
        AnalyticsOrder { target: self.analytics_target, settings: self.analytics_set }
    }
}

/// How data is loaded, where it is.
#[derive(Debug, Args)]
#[command(next_help_heading = "Loading")]
pub(crate) struct LoadingArgs {
    /// Connections that load, of each machine [default: the CPUs of this machine, at most 8]
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=512))]
    pub(crate) loaders: Option<u16>,
    /// Load so that an interrupted load can be resumed; always so above 10 GiB
    #[arg(long)]
    pub(crate) resumable: bool,
    /// Fill unlogged tables, and set them logged before their indexes
    #[arg(long)]
    pub(crate) unlogged: bool,
}

impl LoadingArgs {
    /// Returns how data is loaded.
    pub(crate) fn order(&self) -> LoadingOrder {
        let Self { loaders, resumable, unlogged } = *self;
        LoadingOrder { loaders, resumable, unlogged }
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Clients and pace")]
pub(crate) struct DriveArgs {
    /// Clients, or virtual users [default: two for each CPU of this machine, at least 4; ten for each warehouse in the
    /// spec profile]
    #[arg(short, long, visible_alias = "vu", allow_negative_numbers = true, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) clients: Option<u32>,
    /// Connections that all clients share, each for the time of a transaction [default: each client has its own]
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) connections: Option<u32>,
    /// Engine threads, of all agents together [default: what the machine can spare]
    #[arg(short = 'j', long, allow_negative_numbers = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Pin engine threads to CPUs, one each: the first ones that this process may use, or a list as in --pin=0,2-4
    #[arg(long, value_name = "CPUS", num_args = 0..=1, require_equals = true, default_missing_value = pgdyno_plan::cpus::ALL, value_parser = pgdyno_plan::cpus::pin)]
    pub(crate) pin: Option<String>,
    /// Length of the measured window: seconds, or with a unit: 90s, 10min, 1h [default: 30]
    #[arg(short = 'T', long, allow_negative_numbers = true, value_name = "TIME", value_parser = parse::duration)]
    pub(crate) time: Option<f64>,
    /// Transactions of each client, instead of a time
    #[arg(short = 't', long, allow_negative_numbers = true, value_name = "N", conflicts_with = "time", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) transactions: Option<u64>,
    /// Warm-up before the measured window [default: 5, none with -t]
    #[arg(long, allow_negative_numbers = true, value_name = "TIME", value_parser = parse::duration)]
    pub(crate) ramp: Option<f64>,
    /// How long transactions in flight at the end may take before they are cancelled [default: 5]
    #[arg(long, allow_negative_numbers = true, value_name = "TIME", value_parser = parse::duration)]
    pub(crate) grace: Option<f64>,
    /// Transactions a second over all clients, on a schedule (open loop)
    #[arg(short = 'R', long, allow_negative_numbers = true, value_name = "PER_S", value_parser = rate)]
    pub(crate) rate: Option<f64>,
    /// How the arrivals of --rate are spread [default: poisson]
    #[arg(long, value_name = "HOW", value_parser = arrivals(), requires = "rate")]
    pub(crate) arrivals: Option<Arrivals>,
    /// Query mode: simple, extended or prepared [default: prepared; simple for scripts]
    #[arg(short = 'M', long, value_name = "MODE")]
    pub(crate) mode: Option<pgdyno_wire::QueryMode>,
    /// How statements are sent: native (parameters in binary, no Describe), or libpq, as pgbench and programs
    /// with libpq send them [default: native]
    #[arg(long, value_name = "FORM")]
    pub(crate) wire: Option<pgdyno_wire::Wire>,
    /// Tries of a transaction that meets a serialization failure or a deadlock; 0 is no limit [default: 1000 for
    /// built-in workloads, 1 for your own scripts]
    #[arg(long, allow_negative_numbers = true, value_name = "N")]
    pub(crate) max_tries: Option<u32>,
    /// Latency above which a transaction counts as late, in milliseconds or with a unit; with --rate, later ones are skipped
    #[arg(short = 'L', long, allow_negative_numbers = true, value_name = "MS", value_parser = milliseconds)]
    pub(crate) latency_limit: Option<f64>,
    /// How long to retry a lost connection before the run ends [default: 0]
    #[arg(long, allow_negative_numbers = true, value_name = "TIME", value_parser = parse::duration)]
    pub(crate) reconnect: Option<f64>,
    /// How long a thread may leave replies unread, to read several at once: saves client CPU; latencies include it
    #[arg(long, allow_negative_numbers = true, value_name = "TIME", value_parser = coalescing)]
    pub(crate) coalesce: Option<f64>,
    /// The seed of all random numbers of the run [default: a new one each time]
    #[arg(long, allow_negative_numbers = true, value_name = "N")]
    pub(crate) random_seed: Option<u64>,
}

impl DriveArgs {
    /// Returns how the run is driven.
    fn order(self) -> DriveOrder {
        let Self {
            clients,
            connections,
            threads,
            pin,
            time,
            transactions,
            ramp,
            grace,
            rate,
            arrivals,
            mode,
            wire,
            max_tries,
            latency_limit,
            reconnect,
            coalesce,
            random_seed,
        } = self;
        DriveOrder {
            clients,
            connections,
            threads,
            pin,
            time,
            transactions,
            ramp,
            grace,
            rate,
            arrivals,
            mode,
            wire,
            max_tries,
            latency_limit,
            reconnect,
            coalesce,
            random_seed,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct OutArgs {
    /// Where run directories and results.csv are
    #[arg(long, value_name = "DIR", default_value = RESULTS)]
    pub(crate) out: PathBuf,
}

/// What `--latency-percentiles` lists.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Percentiles(pub(crate) Vec<f64>);

/// The maximum of pgbench's proposed option.
const MAX_PERCENTILES: usize = 10;

/// Parses `50,95,99.9`; returns each once, in ascending order.
fn percentiles(list: &str) -> Result<Percentiles, String> {
    let one = |text: &str| {
        let number = text.trim().parse::<f64>().ok().filter(|p| *p > 0.0 && *p <= 100.0);
        number.ok_or_else(|| format!("'{text}' is no percentile: write numbers above 0 up to 100, as in 50,95,99.9"))
    };
    let mut found = list.split(',').map(one).collect::<Result<Vec<_>, _>>()?;
    found.sort_by(f64::total_cmp);
    found.dedup();
    if found.len() > MAX_PERCENTILES {
        return Err(format!("{} percentiles are given, and at most {MAX_PERCENTILES} are shown", found.len()));
    }
    Ok(Percentiles(found))
}

/// Parses a number above zero.
pub(super) fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(n) if n > 0.0 && n.is_finite() => Ok(n),
        Ok(n) if n > 0.0 => Err("it is too large".to_owned()),
        _ => Err("write a number above 0".to_owned()),
    }
}

/// Parses a length of time above zero: milliseconds, as in pgbench, or a number with its unit.
fn milliseconds(text: &str) -> Result<f64, String> {
    let has_unit = text.ends_with(|last: char| last.is_ascii_alphabetic());
    let ms = if has_unit { parse::duration(text)? * 1e3 } else { positive(text)? };
    if ms > 0.0 { Ok(ms) } else { Err("write a time above 0".to_owned()) }
}

/// Parses the time for which replies may lie unread, and returns it in microseconds.
fn coalescing(text: &str) -> Result<f64, String> {
    match (parse::duration(text)? * 1e9).round() / 1e3 {
        us if us == 0.0 || (1.0..=10_000.0).contains(&us) => Ok(us),
        _ => Err("write 1us to 10ms, or 0 for not at all".to_owned()),
    }
}

/// Parses `--arrivals`; help and completion list its values.
fn arrivals() -> impl TypedValueParser<Value = Arrivals> {
    PossibleValuesParser::new(Arrivals::ALL.map(Arrivals::name)).try_map(|name| name.parse::<Arrivals>())
}

/// Parses the time that a query may take, in seconds.
fn time_limit(text: &str) -> Result<f64, String> {
    match parse::duration(text)? {
        seconds if seconds < 1e-3 => {
            Err("it would cancel every query: write at least 1ms, or leave it out for no limit".to_owned())
        }
        seconds => Ok(seconds),
    }
}

/// Parses a rate in transactions per second.
fn rate(text: &str) -> Result<f64, String> {
    let per_s = positive(text)?;
    match per_s > RATE_MAX_PER_S {
        true => {
            Err("write a rate of at most 1e9: the schedule has room for one transaction in each nanosecond".to_owned())
        }
        false => Ok(per_s),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_above_0_and_fits_into_the_schedule() {
        assert_eq!((rate("0.5"), rate("1e9")), (Ok(0.5), Ok(1e9)));
        assert!(["0", "-1", "inf", "nan", "1e99"].iter().all(|wrong| rate(wrong).is_err()));
        assert!(rate("1e10").unwrap_err().contains("at most 1e9"));
    }

    #[test]
    fn a_time_limit_is_not_zero() {
        assert_eq!(["1ms", "5min", "0.5"].map(time_limit), [0.001, 300.0, 0.5].map(Ok));
        for wrong in ["0", "0s", "0.0001", "-1", "2d"] {
            assert!(time_limit(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn percentiles_are_numbers_up_to_100_and_at_most_ten() {
        assert_eq!(percentiles("99.9, 50,99,50,100").unwrap(), Percentiles(vec![50.0, 99.0, 99.9, 100.0]));
        for wrong in ["", "0", "-1", "100.1", "50,", "p99", "nan", "inf"] {
            assert!(percentiles(wrong).unwrap_err().contains("no percentile"), "{wrong}");
        }
        assert!(percentiles("1,2,3,4,5,6,7,8,9,10").is_ok());
        assert!(percentiles("1,2,3,4,5,6,7,8,9,10,11").unwrap_err().contains("at most 10"));
    }

    #[test]
    fn a_latency_limit_is_in_milliseconds_or_has_a_unit() {
        assert_eq!(["100", "0.5", "5ms", "2s"].map(milliseconds), [100.0, 0.5, 5.0, 2000.0].map(Ok));
        for wrong in ["0", "-1", "0ms", "5 parsecs", "5m", ""] {
            assert!(milliseconds(wrong).is_err(), "{wrong}");
        }
    }
}
