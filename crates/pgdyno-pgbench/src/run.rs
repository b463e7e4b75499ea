//! A benchmark as pgbench runs it: what it prints before, during and after the run.

mod figures;
mod journal;
pub(crate) mod ran;
mod setup;

use pgdyno_engine::{
    Arrivals, Audience, Backend, ClientRules, ConnectFailed, EngineEvent, Rate, RunEnd, RunError, RunOutcome, RunSpec,
    Stop, raise_file_limit,
};
use pgdyno_measure::Phase;
use pgdyno_net::{ConnectOptions, Halt};
use pgdyno_workload::{Capabilities, Note};
use pgdyno_workloads::scripted::{self, ErrorHandling, PgbenchErrors, Scripted, Spec, WeightedScript};

use crate::connect::{self, Ask};
use crate::messages::{ExitReason, Io, Said};
use crate::observer::BenchmarkObserver;
use crate::options::{BenchmarkEnd, RunOptions};
use crate::progress::{Snapshot, TimeFormat, progress_line};
use crate::stats::Accounting;

use journal::Journal;
use setup::SetUp;

pub use ran::FinishedBenchmark;

/// The exit code if clients were aborted: the report is printed anyway.
pub const EXIT_ABORTED: u8 = 2;

/// The exit code if a signal ended the run: 128 and SIGINT; the program replaces it for other signals.
pub const EXIT_INTERRUPTED: u8 = 130;

/// Runs `sources` with `options`, and prints what pgbench prints. `control` ends it early.
///
/// # Errors
/// In pgbench's words, if the run could not start.
pub fn run(
    options: &RunOptions,
    sources: Vec<WeightedScript>,
    target: &mut ConnectOptions,
    ask: Ask<'_>,
    io: &mut Io<'_>,
    stop: &Stop,
    observer: &mut dyn BenchmarkObserver,
) -> Result<FinishedBenchmark, ExitReason> {
    // A limit that is too low was reported when the options were parsed.
    let _ = raise_file_limit(options.clients);
    let set_up = set_up(options, target, ask, io, stop, observer)?;
    let workload = scripted::build(Spec {
        id: "pgbench".to_owned(),
        summary: "scripts of the drop-in for pgbench".to_owned(),
        scripts: sources,
        defines: options.definitions.clone(),
        scale: set_up.scale,
        seed: options.random_seed,
        clients: options.clients,
        threads: options.threads as usize,
        groups: None,
        errors: ErrorHandling::Pgbench(errors(options)),
    })
    .map_err(|error| crate::scripts::refused(&error))?;
    let journal = options.log.as_ref().map(|log| Journal::open(log, options)).transpose()?;
    let outcome = drive(options, &workload, target, io, stop, journal.as_ref(), observer)?;
    // The report is printed even if the log fails.
    let logged = journal.map_or(Ok(()), Journal::close);
    let aborted = outcome.clients_aborted + outcome.clients_lost > 0;
    let exit_code = if aborted && options.exit_on_abort {
        let thread = outcome.first_aborted_on.unwrap_or_default();
        io.error(&format!("Run was aborted due to an error in thread {thread}"));
        EXIT_ABORTED
    } else {
        let report = figures::report(options, &set_up, &workload, &outcome);
        drop(write!(io.out, "{report}").and_then(|()| io.out.flush()));
        if aborted {
            io.error("Run was aborted; the above results are incomplete.");
            EXIT_ABORTED
        } else if let RunEnd::Fatal(why) = &outcome.ended {
            io.error(&format!("Run was aborted; the above results are incomplete: {why}"));
            EXIT_ABORTED
        } else if stop.is_requested() {
            io.error("Run was interrupted; the above results are incomplete.");
            EXIT_INTERRUPTED
        } else {
            0
        }
    };
    let without_log = logged.err().map_or(0, |failure| io.fail(&failure));
    let exit_code = if exit_code == 0 { without_log } else { exit_code };
    Ok(FinishedBenchmark { exit_code, workload, outcome, server_version: set_up.server_version, scale: set_up.scale })
}

/// Does the steps before the clients connect, unless the user ends it.
fn set_up(
    options: &RunOptions,
    target: &mut ConnectOptions,
    ask: Ask<'_>,
    io: &mut Io<'_>,
    stop: &Stop,
    observer: &mut dyn BenchmarkObserver,
) -> Result<SetUp, ExitReason> {
    let halt = Halt::new(stop);
    let mut watched = halt.options(target);
    let set_up = halt.watched(|| setup::set_up(options, &mut watched, ask, io, &halt, observer));
    // With the password that the user entered.
    // No session beside the clients asks what they wait for.
    *target = watched.uninterrupted().unreported();
    match set_up {
        Err(_) if stop.is_requested() => Err(interrupted("before the clients connected")),
        set_up => set_up,
    }
}

fn errors(options: &RunOptions) -> PgbenchErrors {
    PgbenchErrors {
        continue_on_error: options.continue_on_error,
        verbose_errors: options.verbose_errors,
        reconnect: options.reconnect_s.is_some(),
        debug: options.debug,
        max_tries: max_tries(options),
        latency_limit_ns: latency_limit_us(options).map(|us| us.saturating_mul(1000)),
    }
}

/// Returns the number of tries; 0 means no limit.
fn max_tries(options: &RunOptions) -> u32 {
    options.max_tries.unwrap_or(0)
}

/// Returns the limit; every transaction exceeds an infinite one, as in pgbench.
fn latency_limit_us(options: &RunOptions) -> Option<u64> {
    options.latency_limit_us.map(|us| u64::try_from(us).unwrap_or(0))
}

/// Returns which figures the run has.
fn accounting(options: &RunOptions) -> Accounting {
    Accounting {
        throttled: options.rate_tps.is_some(),
        latency_limit_us: latency_limit_us(options),
        max_tries: max_tries(options),
        failures_detailed: options.failures_detailed,
        continue_on_error: options.continue_on_error,
    }
}

const SECOND_NS: u64 = 1_000_000_000;

fn ns(seconds: Option<f64>) -> u64 {
    (seconds.unwrap_or_default() * 1e9) as u64
}

fn spec(options: &RunOptions) -> RunSpec {
    let (transactions, seconds) = match options.limit {
        BenchmarkEnd::Transactions(n) => (Some(u64::from(n)), None),
        BenchmarkEnd::Seconds(s) => (None, Some(u64::from(s))),
    };
    RunSpec {
        clients: options.clients,
        connections: None,
        threads: options.threads as usize,
        share: None,
        stage: None,
        mode: options.protocol,
        wire: pgdyno_wire::Wire::Libpq,
        pin: Vec::new(),
        rate: options.rate_tps.map(|per_s| Rate { per_s, arrivals: Arrivals::Poisson }),
        rate_steps: None,
        rules: ClientRules {
            max_tries: max_tries(options),
            latency_limit_ns: latency_limit_us(options).map(|us| us.saturating_mul(1000)),
            transactions,
            connect_each: options.connect_per_transaction,
            give_up: false,
            stop_on_abort: options.exit_on_abort,
            statements: options.report_per_command || options.json.is_some(),
            ..ClientRules::default()
        },
        ramp_ns: ns(options.warmup_s),
        measure_ns: seconds.map(|s| s * SECOND_NS),
        interval_ns: options.progress_s.map_or(SECOND_NS, |s| u64::from(s) * SECOND_NS),
        // pgbench waits for the last transactions without a time limit.
        grace_ns: u64::MAX / 2,
        reconnect_ns: ns(options.reconnect_s),
        probe: None,
        coalesce_ns: 0,
        seed: options.random_seed,
    }
}

fn drive(
    options: &RunOptions,
    workload: &Scripted,
    target: &ConnectOptions,
    io: &mut Io<'_>,
    stop: &Stop,
    journal: Option<&Journal>,
    observer: &mut dyn BenchmarkObserver,
) -> Result<RunOutcome, ExitReason> {
    let spec = spec(options);
    let mut progress = ProgressReport { options, last: Snapshot::default(), now: Snapshot::default(), start_us: 0 };
    let audience = Audience {
        on_connect: &|_| {},
        on_event: &mut |event| match event {
            EngineEvent::Connected => {}
            EngineEvent::Started { .. } => {
                progress.start_us = epoch_us();
                observer.started();
            }
            EngineEvent::Interval(interval) => {
                observer.interval(interval);
                progress.interval(interval, io);
            }
            EngineEvent::Lost { why } => {
                if options.reconnect_s.is_some() {
                    io.info(&format!("a client lost its connection and opens another: {why}"));
                }
            }
            EngineEvent::ConnectFailed { error, .. } => io.error(&connect::refusal(error)),
            EngineEvent::NotReopened { .. } => {}
            EngineEvent::Note(note) => say(note, io),
        },
        observer: &mut |thread, epoch_ns| journal.map(|j| j.observer(thread, epoch_ns, workload)),
        start: &mut || Some(std::time::Instant::now()),
    };
    let caps = Capabilities::default();
    pgdyno_engine::run(&workload.drive(), &caps, Backend::Server(target), &spec, stop, audience).map_err(|error| {
        match error {
            RunError::Connect(ConnectFailed::Refused { connected, source, .. }) => {
                ExitReason::error(connect::refusal(&source))
                    .and(Said::Error(format!("could not create connection for client {connected}")))
            }
            RunError::Connect(ConnectFailed::Interrupted { connected, clients }) => {
                interrupted(&format!("while connecting, after {connected} of {clients} clients"))
            }
            error @ (RunError::Stages(_) | RunError::CalledOff) => ExitReason::error(error.to_string()),
            RunError::Thread { source, .. } => ExitReason::error(format!("could not create thread: {source}")),
        }
    })
}

/// Returns the failure for a signal before the benchmark started: there is nothing to report.
fn interrupted(when: &str) -> ExitReason {
    ExitReason {
        exit_code: EXIT_INTERRUPTED,
        ..ExitReason::error(format!("Run was interrupted {when}; there are no results."))
    }
}

fn epoch_us() -> i64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_micros()).unwrap_or(i64::MAX)
}

fn say(note: &Note, io: &mut Io<'_>) {
    match note {
        Note::Error(text) => io.error(text),
        Note::Info(text) => io.info(text),
        Note::Words(_) | Note::Notice(_) => io.raw(&format!("{}\n", note.text())),
    }
}

/// Prints the lines of `--progress`.
struct ProgressReport<'a> {
    options: &'a RunOptions,
    last: Snapshot,
    now: Snapshot,
    start_us: i64,
}

impl ProgressReport<'_> {
    fn interval(&mut self, interval: &pgdyno_measure::Interval, io: &mut Io<'_>) {
        let accounting = accounting(self.options);
        for txn in &interval.part.txns {
            self.now.stats.merge(&figures::stats(txn, self.options));
        }
        // An incomplete last interval has no line.
        let Some(seconds) = self.options.progress_s else { return };
        let whole = interval.end_ns - interval.start_ns >= u64::from(seconds) * SECOND_NS;
        if interval.phase == Phase::Drain || !whole {
            return;
        }
        self.now.at_us = interval.end_ns / 1000;
        let clock = if self.options.progress_timestamp {
            TimeFormat::Epoch { start_us: self.start_us }
        } else {
            TimeFormat::Elapsed
        };
        io.raw(&progress_line(&accounting, clock, &self.last, &self.now));
        self.last = self.now;
    }
}
