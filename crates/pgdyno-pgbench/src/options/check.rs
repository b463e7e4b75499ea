//! Checks combinations of options, in pgbench's order.

use super::collect::try_help;
use super::given::Given;
use super::scripts::{self, ScriptChoice, ScriptReader, ScriptSource};
use super::values::shown;
use super::{
    BenchmarkEnd, ConnectionTarget, InitOptions, InitStep, LogOptions, Parsed, PartitionMethod, Partitioning,
    RunOptions, Surroundings,
};
use crate::messages::ExitReason;

const DEFAULT_STEPS: [InitStep; 5] =
    [InitStep::DropTables, InitStep::CreateTables, InitStep::GenerateHere, InitStep::Vacuum, InitStep::PrimaryKeys];
const DEFAULT_TRANSACTIONS: u32 = 10;
const DEFAULT_LOG_PREFIX: &str = "pgbench_log";

pub(super) fn check(
    mut given: Given,
    surroundings: &Surroundings<'_>,
    scripts: &mut dyn ScriptReader,
    program: &str,
) -> Result<Parsed, ExitReason> {
    if given.scripts.is_empty() && !given.initialize {
        let source = ScriptSource::Builtin(scripts::find(scripts, "tpcb-like")?.name);
        given.scripts.push(ScriptChoice { source, weight: 1 });
    }
    scripts.complete(given.protocol)?;
    if given.scripts.iter().all(|script| script.weight == 0) && !given.initialize {
        return Err(ExitReason::error("total script weight must not be zero"));
    }
    let target = target(&mut given, surroundings, program)?;
    if given.initialize { init(given, target) } else { run(given, target) }
}

fn target(given: &mut Given, surroundings: &Surroundings<'_>, program: &str) -> Result<ConnectionTarget, ExitReason> {
    let mut operands = std::mem::take(&mut given.operands).into_iter();
    let named = given.dbname.take().or_else(|| operands.next().map(|operand| shown(&operand)));
    let env = surroundings.env;
    let variable = |name| env.var(name).filter(|value| !value.is_empty()).map(str::to_owned);
    let dbname = named
        .or_else(|| variable("PGDATABASE"))
        .or_else(|| variable("PGUSER"))
        .or_else(|| env.user().map(str::to_owned))
        .ok_or_else(|| ExitReason::error("could not look up effective user ID: user does not exist"))?;
    if let Some(operand) = operands.next() {
        let text = format!("too many command-line arguments (first is \"{}\")", shown(&operand));
        return Err(ExitReason::error(text).and(try_help(program)));
    }
    Ok(ConnectionTarget { dbname, host: given.host.take(), port: given.port.take(), user: given.user.take() })
}

fn init(given: Given, target: ConnectionTarget) -> Result<Parsed, ExitReason> {
    if given.run_option {
        return Err(ExitReason::error("some of the specified options cannot be used in initialization (-i) mode"));
    }
    if given.partitions == 0 && given.partition_method.is_some() {
        return Err(ExitReason::error("--partition-method requires greater than zero --partitions"));
    }
    let mut steps = given.steps.unwrap_or_else(|| DEFAULT_STEPS.to_vec());
    if given.no_vacuum {
        steps.retain(|step| *step != InitStep::Vacuum);
    }
    if given.foreign_keys && !steps.contains(&InitStep::ForeignKeys) {
        steps.push(InitStep::ForeignKeys);
    }
    let method = given.partition_method.unwrap_or(PartitionMethod::Range);
    Ok(Parsed::Init(Box::new(InitOptions {
        target,
        debug: given.debug,
        steps,
        scale: given.scale.unwrap_or(1),
        fillfactor: given.fillfactor,
        quiet: given.quiet,
        tablespace: given.tablespace,
        index_tablespace: given.index_tablespace,
        partitioning: (given.partitions > 0).then_some(Partitioning { method, partitions: given.partitions }),
        unlogged: given.unlogged,
        jobs: given.init_jobs,
    })))
}

fn run(given: Given, target: ConnectionTarget) -> Result<Parsed, ExitReason> {
    if given.init_option {
        return Err(ExitReason::error("some of the specified options cannot be used in benchmarking mode"));
    }
    let limit = match (given.transactions, given.seconds) {
        (Some(_), Some(_)) => {
            return Err(ExitReason::error("specify either a number of transactions (-t) or a duration (-T), not both"));
        }
        (None, Some(seconds)) => BenchmarkEnd::Seconds(seconds),
        (transactions, None) => BenchmarkEnd::Transactions(transactions.unwrap_or(DEFAULT_TRANSACTIONS)),
    };
    check_log(&given)?;
    if given.progress_timestamp && given.progress_s.is_none() {
        return Err(ExitReason::error("--progress-timestamp is allowed only under --progress"));
    }
    if given.max_tries == 0 && given.latency_limit_us.is_none() && given.seconds.is_none() {
        return Err(ExitReason::error(
            "an unlimited number of transaction tries can only be used with --latency-limit or a duration (-T)",
        ));
    }
    let log = LogOptions {
        prefix: given.log_prefix.unwrap_or_else(|| DEFAULT_LOG_PREFIX.into()),
        sampling_rate: given.sampling_rate,
        aggregate_interval_s: given.aggregate_interval_s,
        merge: given.log_merge,
    };
    Ok(Parsed::Run(Box::new(RunOptions {
        target,
        debug: given.debug,
        scripts: given.scripts,
        clients: given.clients,
        threads: given.threads.min(given.clients),
        connect_per_transaction: given.connect_per_transaction,
        definitions: given.definitions,
        protocol: given.protocol,
        vacuum: !given.no_vacuum,
        vacuum_all: given.vacuum_all,
        limit,
        rate_tps: given.rate_tps,
        latency_limit_us: given.latency_limit_us,
        progress_s: given.progress_s,
        progress_timestamp: given.progress_timestamp,
        report_per_command: given.report_per_command,
        scale: given.scale,
        log: given.log.then_some(log),
        max_tries: (given.max_tries > 0).then_some(given.max_tries),
        failures_detailed: given.failures_detailed,
        verbose_errors: given.verbose_errors,
        exit_on_abort: given.exit_on_abort,
        continue_on_error: given.continue_on_error,
        random_seed: given.random_seed,
        latency_percentiles: given.latency_percentiles,
        warmup_s: given.warmup_s,
        reconnect_s: given.reconnect_s,
        json: given.json,
        csv: given.csv,
    })))
}

fn check_log(given: &Given) -> Result<(), ExitReason> {
    let refuse = |text: &str| Err(ExitReason::error(text));
    if given.sampling_rate.is_some() && !given.log {
        return refuse("log sampling (--sampling-rate) is allowed only when logging transactions (-l)");
    }
    if given.sampling_rate.is_some() && given.aggregate_interval_s.is_some() {
        return refuse(
            "log sampling (--sampling-rate) and aggregation (--aggregate-interval) cannot be used at the same time",
        );
    }
    if given.aggregate_interval_s.is_some() && !given.log {
        return refuse("log aggregation is allowed only when actually logging transactions");
    }
    if given.log_prefix.is_some() && !given.log {
        return refuse("log file prefix (--log-prefix) is allowed only when logging transactions (-l)");
    }
    if given.log_merge && !given.log {
        return refuse("log merging (--log-merge) is allowed only when logging transactions (-l)");
    }
    let (Some(interval), Some(seconds)) = (given.aggregate_interval_s, given.seconds) else {
        return Ok(());
    };
    if interval > seconds {
        return refuse(&format!(
            "number of seconds for aggregation ({interval}) must not be higher than test duration ({seconds})"
        ));
    }
    if !seconds.is_multiple_of(interval) {
        return refuse(&format!("duration ({seconds}) must be a multiple of aggregation interval ({interval})"));
    }
    Ok(())
}
