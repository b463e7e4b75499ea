//! Parses the options one by one, in their order.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

use pgdyno_script::SCRIPTS_MAX;

use super::getopt::{GetOpt, Item};
use super::given::Given;
use super::scripts::{self, ScriptChoice, ScriptReader, ScriptSource};
use super::table::Id;
use super::values::{self, Seed, shown};
use super::{InitStep, Parsed, PartitionMethod, Surroundings};
use crate::messages::{ExitReason, Io, Said};

/// Files that pgbench opens in addition to its connections.
const OTHER_FILES: u64 = 3;
const DEFAULT_PERCENTILES: [f64; 3] = [50.0, 95.0, 99.0];
const MAX_INIT_JOBS: i32 = 512;

/// The result of the options.
pub(super) enum Collected {
    /// An option that ends the parsing.
    Early(Parsed),
    /// All options, not yet checked in combination.
    Given(Box<Given>),
}

/// Parses all options; stops at the first error.
pub(super) fn collect(
    args: &[Vec<u8>],
    surroundings: &Surroundings<'_>,
    scripts: &mut dyn ScriptReader,
    io: &mut Io<'_>,
) -> Result<Collected, ExitReason> {
    const VARIABLE: &str = "PGBENCH_RANDOM_SEED";
    let seed = match surroundings.env.var(VARIABLE) {
        Some(value) => random_seed(value.as_bytes(), &format!("{VARIABLE} environment variable"), surroundings, io)?,
        None => surroundings.time_seed,
    };
    let mut given = Given::new(seed);
    let mut walk = GetOpt::new(args, surroundings.env.var("POSIXLY_CORRECT").is_some());
    while let Some(item) = walk.next() {
        let (id, value) = match item {
            Item::Option(id, value) => (id, Some(value)),
            Item::Bare(id) => (id, None),
            Item::Complaint(text) => return Err(ExitReason::raw(text).and(try_help(io.program()))),
        };
        // The table decides which options have a value.
        let plain = value.as_deref().unwrap_or_default();
        io.verbose |= id == Id::Debug;
        match id {
            Id::Builtin if plain == b"list" => return Ok(Collected::Early(Parsed::ListBuiltins)),
            Id::ShowScript => {
                return scripts::find(scripts, &shown(plain)).map(|found| Collected::Early(Parsed::ShowScript(found)));
            }
            Id::RandomSeed => given.random_seed = random_seed(plain, "--random-seed option", surroundings, io)?,
            Id::LatencyPercentiles if value.is_none() => given.latency_percentiles = Some(DEFAULT_PERCENTILES.to_vec()),
            Id::Client => given.clients = clients(plain, surroundings)?,
            id => given.take(id, plain, scripts)?,
        }
        given.run_option |= belongs_to_run(id);
        given.init_option |= belongs_to_init(id);
    }
    given.operands = walk.into_operands();
    Ok(Collected::Given(Box::new(given)))
}

/// Returns the hint to read the help.
pub(super) fn try_help(program: &str) -> Said {
    Said::Hint(format!("Try \"{program} --help\" for more information."))
}

impl Given {
    fn take(&mut self, id: Id, value: &[u8], scripts: &mut dyn ScriptReader) -> Result<(), ExitReason> {
        let text = || Some(shown(value));
        let path = || Some(OsString::from_vec(value.to_vec()));
        let positive = |option| values::integer(value, option, 1, i32::MAX);
        match id {
            Id::Builtin => {
                let (name, weight) = values::weighted(value)?;
                self.add_builtin(&shown(name), weight, scripts)?;
            }
            Id::SelectOnly => self.add_builtin("select-only", 1, scripts)?,
            Id::SkipSomeUpdates => self.add_builtin("simple-update", 1, scripts)?,
            Id::File => {
                let (file, weight) = values::weighted(value)?;
                scripts.file(OsStr::from_bytes(file))?;
                let source = ScriptSource::File(OsString::from_vec(file.to_vec()));
                self.add(ScriptChoice { source, weight })?;
            }
            Id::Connect => self.connect_per_transaction = true,
            Id::Dbname => self.dbname = text(),
            Id::Define => {
                let (name, value) = values::definition(value)?;
                match self.definitions.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, known)) => *known = value,
                    None => self.definitions.push((name, value)),
                }
            }
            Id::Fillfactor => self.fillfactor = values::integer(value, "-F/--fillfactor", 10, 100)?,
            Id::Host => self.host = text(),
            Id::Initialize => self.initialize = true,
            Id::InitSteps => self.steps = Some(steps(value)?),
            Id::Jobs => self.threads = positive("-j/--jobs")?,
            Id::Log => self.log = true,
            Id::LatencyLimit => {
                let limit_ms = values::atof(value);
                if limit_ms <= 0.0 {
                    return Err(ExitReason::error(format!("invalid latency limit: \"{}\"", shown(value))));
                }
                // A limit below one microsecond counts as no limit.
                self.latency_limit_us = Some((limit_ms * 1000.0) as i64).filter(|limit| *limit != 0);
            }
            Id::NoVacuum => self.no_vacuum = true,
            Id::Port => self.port = text(),
            Id::Progress => self.progress_s = Some(positive("-P/--progress")?),
            Id::Protocol => {
                let mode = shown(value).parse();
                self.protocol =
                    mode.map_err(|_| ExitReason::error(format!("invalid query mode (-M): \"{}\"", shown(value))))?;
            }
            Id::Quiet => self.quiet = true,
            Id::ReportPerCommand => self.report_per_command = true,
            Id::Rate => {
                let rate = values::atof(value);
                if rate <= 0.0 {
                    return Err(ExitReason::error(format!("invalid rate limit: \"{}\"", shown(value))));
                }
                self.rate_tps = Some(rate);
            }
            Id::Scale => self.scale = Some(positive("-s/--scale")?),
            Id::Time => self.seconds = Some(positive("-T/--time")?),
            Id::Transactions => self.transactions = Some(positive("-t/--transactions")?),
            Id::Username => self.user = text(),
            Id::VacuumAll => self.vacuum_all = true,
            Id::UnloggedTables => self.unlogged = true,
            Id::Tablespace => self.tablespace = text(),
            Id::IndexTablespace => self.index_tablespace = text(),
            Id::SamplingRate => {
                let rate = values::atof(value);
                if rate <= 0.0 || rate > 1.0 {
                    return Err(ExitReason::error(format!("invalid sampling rate: \"{}\"", shown(value))));
                }
                self.sampling_rate = Some(rate);
            }
            Id::AggregateInterval => self.aggregate_interval_s = Some(positive("--aggregate-interval")?),
            Id::ProgressTimestamp => self.progress_timestamp = true,
            Id::LogPrefix => self.log_prefix = path(),
            Id::ForeignKeys => self.foreign_keys = true,
            Id::Partitions => self.partitions = values::integer(value, "--partitions", 0, i32::MAX)?,
            Id::PartitionMethod => {
                self.partition_method = Some(match shown(value).to_ascii_lowercase().as_str() {
                    "range" => PartitionMethod::Range,
                    "hash" => PartitionMethod::Hash,
                    _ => {
                        return Err(ExitReason::error(format!(
                            "invalid partition method, expecting \"range\" or \"hash\", got: \"{}\"",
                            shown(value)
                        )));
                    }
                });
            }
            Id::FailuresDetailed => self.failures_detailed = true,
            Id::MaxTries => {
                self.max_tries = u32::try_from(values::atoi(value))
                    .map_err(|_| ExitReason::error(format!("invalid number of maximum tries: \"{}\"", shown(value))))?;
            }
            Id::VerboseErrors => self.verbose_errors = true,
            Id::ExitOnAbort => self.exit_on_abort = true,
            Id::Debug => self.debug = true,
            Id::ContinueOnError => self.continue_on_error = true,
            Id::InitJobs => self.init_jobs = values::integer(value, "--init-jobs", 1, MAX_INIT_JOBS)?,
            Id::LatencyPercentiles => self.latency_percentiles = Some(values::percentiles(value)?),
            Id::WarmupTime => self.warmup_s = Some(values::seconds(value, "warmup time")?),
            Id::Reconnect => self.reconnect_s = Some(values::seconds(value, "reconnect time")?),
            Id::Json => self.json = path(),
            Id::Csv => self.csv = path(),
            Id::LogMerge => self.log_merge = true,
            // The loop handles these.
            Id::Client | Id::RandomSeed | Id::ShowScript => {}
        }
        Ok(())
    }

    fn add_builtin(&mut self, prefix: &str, weight: u32, scripts: &dyn ScriptReader) -> Result<(), ExitReason> {
        let source = ScriptSource::Builtin(scripts::find(scripts, prefix)?.name);
        self.add(ScriptChoice { source, weight })
    }

    fn add(&mut self, script: ScriptChoice) -> Result<(), ExitReason> {
        if self.scripts.len() >= SCRIPTS_MAX {
            return Err(ExitReason::error(format!("at most {SCRIPTS_MAX} SQL scripts are allowed")));
        }
        self.scripts.push(script);
        Ok(())
    }
}

fn random_seed(value: &[u8], from: &str, surroundings: &Surroundings<'_>, io: &mut Io<'_>) -> Result<u64, ExitReason> {
    let reported = || Said::Error(format!("error while setting random seed from {from}"));
    let seed = match values::seed(value).map_err(|failure| failure.and(reported()))? {
        Seed::Fixed(seed) => seed,
        Seed::Time => surroundings.time_seed,
        Seed::Strong => (surroundings.strong_seed)()
            .map_err(|_| ExitReason::error("could not generate random seed").and(reported()))?,
    };
    io.info(&format!("setting random seed to {seed}"));
    Ok(seed)
}

fn clients(value: &[u8], surroundings: &Surroundings<'_>) -> Result<u32, ExitReason> {
    let clients = values::integer(value, "-c/--client", 1, i32::MAX)?;
    let wanted = u64::from(clients) + OTHER_FILES;
    match surroundings.max_open_files {
        Some(limit) if limit < wanted => Err(ExitReason::error(format!(
            "need at least {wanted} open files, but system limit is {limit}"
        ))
        .and(Said::Hint("Reduce number of clients, or use limit/ulimit to increase the system limit.".to_owned()))),
        _ => Ok(clients),
    }
}

fn steps(value: &[u8]) -> Result<Vec<InitStep>, ExitReason> {
    if value.is_empty() {
        return Err(ExitReason::error("no initialization steps specified"));
    }
    let letters = value.iter().filter(|&&letter| letter != b' ');
    letters
        .map(|letter| {
            Ok(match letter {
                b'd' => InitStep::DropTables,
                b't' => InitStep::CreateTables,
                b'g' => InitStep::GenerateHere,
                b'G' => InitStep::GenerateOnServer,
                b'v' => InitStep::Vacuum,
                b'p' => InitStep::PrimaryKeys,
                b'f' => InitStep::ForeignKeys,
                other => {
                    return Err(ExitReason::error(format!(
                        "unrecognized initialization step \"{}\"",
                        shown(&[*other])
                    ))
                    .and(Said::Detail("Allowed step characters are: \"dtgGvpf\".".to_owned())));
                }
            })
        })
        .collect()
}

fn belongs_to_init(id: Id) -> bool {
    matches!(
        id,
        Id::Fillfactor
            | Id::InitSteps
            | Id::Quiet
            | Id::UnloggedTables
            | Id::Tablespace
            | Id::IndexTablespace
            | Id::ForeignKeys
            | Id::Partitions
            | Id::PartitionMethod
            | Id::InitJobs
    )
}

fn belongs_to_run(id: Id) -> bool {
    let common = matches!(
        id,
        Id::Dbname | Id::Host | Id::Port | Id::Username | Id::Debug | Id::Initialize | Id::NoVacuum | Id::Scale
    );
    !common && !belongs_to_init(id)
}
