//! The record of a benchmark of the drop-in: `--json`, and `--csv` for its intervals.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use jiff::Timestamp;
use pgdyno_engine::RunEnd;
use pgdyno_measure::Interval;
use pgdyno_net::{Admin, ConnectOptions};
use pgdyno_pgbench::BenchmarkObserver;
use pgdyno_pgbench::messages::{ExitReason, Said, system_text};
use pgdyno_pgbench::options::{BenchmarkEnd, RunOptions};
use pgdyno_pgbench::run::{EXIT_INTERRUPTED, FinishedBenchmark};
use pgdyno_plan::{
    AnalyticsPlan, Arrivals, Cycle, DrivePlan, LoadPlan, LoadWhen, Plan, Rate, ScriptPlan, WatchPlan, Wire, sha256,
};
use pgdyno_results::{
    IntervalRecord, IntervalsCsv, RunRecord, ServerRecord, Status, StoreError, admit_file, run_id, summarize,
    write_record,
};
use pgdyno_workload::Capabilities;
use pgdyno_workloads::scripted::WeightedScript;

use crate::record::WHOLE_S;
use crate::record::ending::Ending;
use crate::record::figures;
use crate::record::verdict;
use crate::record::warnings;

/// The signal that ended the drop-in, if there was one.
#[derive(Clone, Debug, Default)]
pub struct Caught(Arc<AtomicI32>);

impl Caught {
    /// Stores the signal.
    pub fn set(&self, signal: i32) {
        self.0.store(signal, Ordering::Release);
    }

    /// Returns the exit code of the process when a benchmark ended with `code`: 128 plus the signal's number if a
    /// signal ended it.
    #[must_use]
    pub fn exit_code(&self, code: u8) -> u8 {
        let signal = u8::try_from(self.0.load(Ordering::Acquire)).unwrap_or_default();
        if code == EXIT_INTERRUPTED && signal > 0 { 128 + signal } else { code }
    }
}

/// Writes the record of one benchmark if its options name a file for it.
#[derive(Default)]
pub struct RecordWriter {
    json: Option<PathBuf>,
    csv: Option<PathBuf>,
    intervals_csv: Option<IntervalsCsv>,
    started: Option<Timestamp>,
    /// When the clients started.
    began: Option<Timestamp>,
    target: String,
    server: Option<ServerRecord>,
    intervals: Vec<IntervalRecord>,
    caught: Caught,
}

impl RecordWriter {
    /// Returns a recorder. The signal ended the benchmark, if there was one.
    pub fn new(caught: Caught) -> Self {
        Self { caught, ..Self::default() }
    }
}

/// Returns the error as pgbench words it.
fn refused(error: &StoreError) -> ExitReason {
    ExitReason::error(match error {
        StoreError::Io { what, path, source } => {
            format!("could not {what} file \"{}\": {}", path.display(), system_text(source))
        }
        other => other.to_string(),
    })
}

impl BenchmarkObserver for RecordWriter {
    fn options(&mut self, options: &RunOptions) -> Result<(), ExitReason> {
        self.json = options.json.as_ref().map(PathBuf::from);
        self.csv = options.csv.as_ref().map(PathBuf::from);
        self.started = Some(Timestamp::now());
        let admit = |option: &str, path: &PathBuf| {
            let hint = || Said::Hint(format!("Name another file with --{option}."));
            admit_file(path).map_err(|error| refused(&error).and(hint()))
        };
        self.json.iter().try_for_each(|path| admit("json", path))?;
        self.csv.iter().try_for_each(|path| admit("csv", path))
    }

    fn set_up(&mut self, target: &ConnectOptions, admin: &mut Admin) -> Result<(), ExitReason> {
        if let Some(path) = &self.csv {
            self.intervals_csv = Some(IntervalsCsv::create(path).map_err(|error| refused(&error))?);
        }
        if self.json.is_some() {
            self.target = target.to_string();
            // The record lacks what cannot be read; if the connection is lost, the clients report it.
            self.server = figures::server(admin, target, "given").ok();
        }
        Ok(())
    }

    fn started(&mut self) {
        self.began = Some(Timestamp::now());
    }

    fn interval(&mut self, interval: &Interval) {
        if self.json.is_none() && self.csv.is_none() {
            return;
        }
        let interval = IntervalRecord::from(interval);
        if let Some(csv) = &mut self.intervals_csv {
            csv.interval(&interval);
        }
        if self.json.is_some() {
            self.intervals.push(interval);
        }
    }

    fn ended(&mut self, options: &RunOptions, ran: &FinishedBenchmark) -> Result<(), ExitReason> {
        let written = self.intervals_csv.as_ref().and_then(IntervalsCsv::failure).map_or(Ok(()), |e| Err(refused(e)));
        if let Some(path) = self.json.take()
            && let Err(error) = write_record(&path, &self.record(options, ran))
        {
            let failure = refused(&error);
            return Err(match written {
                Ok(()) => failure,
                Err(csv) => csv.said.into_iter().fold(failure, ExitReason::and),
            });
        }
        written
    }
}

impl RecordWriter {
    fn record(&mut self, options: &RunOptions, ran: &FinishedBenchmark) -> RunRecord {
        let ended = Timestamp::now();
        let started = self.started.unwrap_or(ended);
        let plan = self.plan(options, ran);
        let warmup = jiff::SignedDuration::from_secs_f64(plan.drive.ramp_s);
        let outcome = &ran.outcome;
        let names = figures::names(&ran.workload.drive(), &Capabilities::default());
        let txns: Vec<&str> = names.txns.iter().map(|kind| kind.name.as_str()).collect();
        // Counts what pgbench's report counts, so that the two agree: both include transactions that ended after the
        // time was up.
        let window = ran.counted();
        let measured = self.intervals.iter().filter(|i| i.is_measured() && i.seconds() >= WHOLE_S);
        let tps: Vec<(f64, f64)> = measured.map(|i| (i.start_s, i.tps)).collect();
        let ending = Ending::of(outcome, &txns);
        let (status, reason) = verdict(&ending, window.part.all().completed());
        let id = run_id(started, &plan.workload, plan.seed ^ started.as_nanosecond() as u64);
        let hash = plan.hash();
        let mut record = RunRecord {
            status,
            reason,
            exit_code: self.caught.exit_code(ran.exit_code),
            measured_at: self.began.filter(|_| outcome.measured.intervals > 0).map(|t| (t + warmup).to_string()),
            ended_at: Some(ended.to_string()),
            server: Some(self.server.take().unwrap_or_else(|| ServerRecord {
                version: format!("PostgreSQL {}", ran.server_version),
                origin: "given".to_owned(),
                ..ServerRecord::default()
            })),
            intervals: std::mem::take(&mut self.intervals),
            ..RunRecord::begin(id, started, plan, hash, figures::client())
        };
        summarize(&mut record, &window, &names, outcome.process.cpu_ns());
        figures::fill(&mut record, outcome, &window, &tps);
        record.warnings = warnings::from_figures(&record, &ending).into();
        record
    }

    fn plan(&self, options: &RunOptions, ran: &FinishedBenchmark) -> Plan {
        let knows_scale = options.uses_builtin() || options.scale.is_some();
        Plan {
            workload: ran.workload.spec().id.to_owned(),
            params: params(options),
            scripts: scripts(ran),
            inputs: Vec::new(),
            scale_name: if knows_scale { "scale".to_owned() } else { String::new() },
            scale: ran.scale,
            data_bytes_estimated: 0,
            data_from: None,
            target: self.target.as_str().into(),
            target_dsn: None,
            from_template: None,
            recipe: None,
            suite: None,
            cycle: Cycle::default(),
            settings: BTreeMap::new(),
            load: LoadPlan { choice: LoadWhen::Never, no_vacuum: !options.vacuum, ..LoadPlan::default() },
            tcp: false,
            directory: None,
            drive: drive(options),
            fault: None,
            percentiles: options.latency_percentiles.clone().unwrap_or_default(),
            log: options.log.is_some(),
            // Like pgbench, opens no connections but those of the clients.
            watch: WatchPlan { off: true, ..WatchPlan::default() },
            seed: options.random_seed,
        }
    }
}

/// Returns what drives the server.
fn drive(options: &RunOptions) -> DrivePlan {
    let (transactions, time_s) = match options.limit {
        BenchmarkEnd::Transactions(n) => (Some(u64::from(n)), None),
        BenchmarkEnd::Seconds(s) => (None, Some(f64::from(s))),
    };
    DrivePlan {
        clients: options.clients,
        connections: None,
        analytics: AnalyticsPlan::default(),
        readers: Vec::new(),
        threads: options.threads as usize,
        agents: None,
        pin: None,
        mode: options.protocol,
        wire: Wire::Libpq,
        pace: options.rate_tps.map(|per_s| Rate { per_s, arrivals: Arrivals::Poisson }).into(),
        rate_steps: None,
        own_rate_per_s: None,
        ramp_s: options.warmup_s.unwrap_or_default(),
        time_s,
        transactions,
        grace_s: DrivePlan::USUAL_GRACE_S,
        stages: Vec::new(),
        max_tries: options.max_tries.unwrap_or(0),
        // An infinite limit means that every transaction is above it.
        latency_limit_ms: options.latency_limit_us.map(|us| us.max(0) as f64 / 1e3),
        reconnect_s: options.reconnect_s.unwrap_or_default(),
        ledger: None,
        coalesce_us: None,
    }
}

/// Returns the scripts, built-in ones included: all of them are texts.
fn scripts(ran: &FinishedBenchmark) -> Vec<ScriptPlan> {
    let scripts = ran.workload.spec().scripts.iter();
    let script = |source: &WeightedScript| ScriptPlan {
        file: source.name.clone(),
        weight: source.weight,
        sha256: sha256(&source.text),
    };
    scripts.map(script).collect()
}

/// Returns pgbench's options that have no field in a plan, as they are written on a command line.
fn params(options: &RunOptions) -> BTreeMap<String, String> {
    let mut params = BTreeMap::new();
    for (name, value) in &options.definitions {
        params.insert(format!("define-{name}"), String::from_utf8_lossy(value).into_owned());
    }
    let flags = [
        ("connect", options.connect_per_transaction),
        ("continue-on-error", options.continue_on_error),
        ("exit-on-abort", options.exit_on_abort),
        ("no-vacuum", !options.vacuum),
        ("vacuum-all", options.vacuum_all),
        ("report-per-command", options.report_per_command),
    ];
    params.extend(flags.iter().filter(|(_, set)| *set).map(|(name, _)| ((*name).to_owned(), "true".to_owned())));
    params
}

/// Returns how the benchmark ended, and why if it did not end as planned.
fn verdict(ending: &Ending, completed: u64) -> (Status, Option<String>) {
    let gone = ending.clients_aborted + ending.clients_lost;
    // --exit-on-abort ends a run in the same way as the user does.
    if let (Some(reason), true) = (verdict::early_end(&ending.ended), ending.ended != RunEnd::Interrupted || gone == 0)
    {
        let status = if ending.ended == RunEnd::Interrupted { Status::Interrupted } else { Status::Failed };
        return (status, Some(reason));
    }
    if !ending.broken.is_empty() {
        return (Status::Invalid, Some(ending.broken.join("; ")));
    }
    if completed == 0 {
        return (Status::Failed, Some("no transaction was completed".to_owned()));
    }
    if gone > 0 {
        return (Status::Invalid, Some(verdict::aborted(gone)));
    }
    (Status::Complete, None)
}
