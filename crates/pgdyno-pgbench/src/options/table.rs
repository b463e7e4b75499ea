//! All options, in pgbench's order: error messages list them in this order.

/// The identifier of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Id {
    Builtin,
    Client,
    Connect,
    Dbname,
    Define,
    File,
    Fillfactor,
    Host,
    Initialize,
    InitSteps,
    Jobs,
    Log,
    LatencyLimit,
    NoVacuum,
    Port,
    Progress,
    Protocol,
    Quiet,
    ReportPerCommand,
    Rate,
    Scale,
    SelectOnly,
    SkipSomeUpdates,
    Time,
    Transactions,
    Username,
    VacuumAll,
    UnloggedTables,
    Tablespace,
    IndexTablespace,
    SamplingRate,
    AggregateInterval,
    ProgressTimestamp,
    LogPrefix,
    ForeignKeys,
    RandomSeed,
    ShowScript,
    Partitions,
    PartitionMethod,
    FailuresDetailed,
    MaxTries,
    VerboseErrors,
    ExitOnAbort,
    Debug,
    ContinueOnError,
    InitJobs,
    LatencyPercentiles,
    WarmupTime,
    Reconnect,
    Json,
    Csv,
    LogMerge,
}

/// Whether an option takes an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    No,
    /// `--name=value` or `--name value`.
    Yes,
    /// `--name=value` or `--name`.
    Perhaps,
}

/// An option's long name, its letter if it has one, and whether it takes an argument.
pub(super) struct Long {
    pub(super) name: &'static str,
    pub(super) letter: Option<u8>,
    pub(super) takes: Takes,
    pub(super) id: Id,
}

const fn both(name: &'static str, letter: u8, takes: Takes, id: Id) -> Long {
    Long { name, letter: Some(letter), takes, id }
}

const fn long(name: &'static str, takes: Takes, id: Id) -> Long {
    Long { name, letter: None, takes, id }
}

/// The options of pgbench 18.
pub(super) const PGBENCH: &[Long] = &[
    both("builtin", b'b', Takes::Yes, Id::Builtin),
    both("client", b'c', Takes::Yes, Id::Client),
    both("connect", b'C', Takes::No, Id::Connect),
    both("dbname", b'd', Takes::Yes, Id::Dbname),
    both("define", b'D', Takes::Yes, Id::Define),
    both("file", b'f', Takes::Yes, Id::File),
    both("fillfactor", b'F', Takes::Yes, Id::Fillfactor),
    both("host", b'h', Takes::Yes, Id::Host),
    both("initialize", b'i', Takes::No, Id::Initialize),
    both("init-steps", b'I', Takes::Yes, Id::InitSteps),
    both("jobs", b'j', Takes::Yes, Id::Jobs),
    both("log", b'l', Takes::No, Id::Log),
    both("latency-limit", b'L', Takes::Yes, Id::LatencyLimit),
    both("no-vacuum", b'n', Takes::No, Id::NoVacuum),
    both("port", b'p', Takes::Yes, Id::Port),
    both("progress", b'P', Takes::Yes, Id::Progress),
    both("protocol", b'M', Takes::Yes, Id::Protocol),
    both("quiet", b'q', Takes::No, Id::Quiet),
    both("report-per-command", b'r', Takes::No, Id::ReportPerCommand),
    both("rate", b'R', Takes::Yes, Id::Rate),
    both("scale", b's', Takes::Yes, Id::Scale),
    both("select-only", b'S', Takes::No, Id::SelectOnly),
    both("skip-some-updates", b'N', Takes::No, Id::SkipSomeUpdates),
    both("time", b'T', Takes::Yes, Id::Time),
    both("transactions", b't', Takes::Yes, Id::Transactions),
    both("username", b'U', Takes::Yes, Id::Username),
    both("vacuum-all", b'v', Takes::No, Id::VacuumAll),
    long("unlogged-tables", Takes::No, Id::UnloggedTables),
    long("tablespace", Takes::Yes, Id::Tablespace),
    long("index-tablespace", Takes::Yes, Id::IndexTablespace),
    long("sampling-rate", Takes::Yes, Id::SamplingRate),
    long("aggregate-interval", Takes::Yes, Id::AggregateInterval),
    long("progress-timestamp", Takes::No, Id::ProgressTimestamp),
    long("log-prefix", Takes::Yes, Id::LogPrefix),
    long("foreign-keys", Takes::No, Id::ForeignKeys),
    long("random-seed", Takes::Yes, Id::RandomSeed),
    long("show-script", Takes::Yes, Id::ShowScript),
    long("partitions", Takes::Yes, Id::Partitions),
    long("partition-method", Takes::Yes, Id::PartitionMethod),
    long("failures-detailed", Takes::No, Id::FailuresDetailed),
    long("max-tries", Takes::Yes, Id::MaxTries),
    long("verbose-errors", Takes::No, Id::VerboseErrors),
    long("exit-on-abort", Takes::No, Id::ExitOnAbort),
    long("debug", Takes::No, Id::Debug),
];

/// Options that pgbench 18 does not have: one of 19, and pgdyno's own. They are searched only if a name matches none of
/// pgbench 18's, so that every abbreviation of 18 keeps its meaning.
pub(super) const BEYOND: &[Long] = &[
    long("continue-on-error", Takes::No, Id::ContinueOnError),
    long("init-jobs", Takes::Yes, Id::InitJobs),
    long("latency-percentiles", Takes::Perhaps, Id::LatencyPercentiles),
    long("warmup-time", Takes::Yes, Id::WarmupTime),
    long("reconnect", Takes::Yes, Id::Reconnect),
    long("json", Takes::Yes, Id::Json),
    long("csv", Takes::Yes, Id::Csv),
    long("log-merge", Takes::No, Id::LogMerge),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_beyond_pgbenchs_is_an_abbreviation_of_one() {
        for beyond in BEYOND {
            assert!(!PGBENCH.iter().any(|known| known.name.starts_with(beyond.name)), "{}", beyond.name);
        }
    }
}
