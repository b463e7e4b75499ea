//! The record of a run in progress: everything known so far is on disk at every moment.

pub(crate) mod analytics;
pub(crate) mod ending;
pub(crate) mod fidelity;
pub(crate) mod figures;
pub mod page;
pub(crate) mod query_costs;
pub(crate) mod readers;
pub(crate) mod run_files;
pub(crate) mod sink;
pub(crate) mod stalls;
pub(crate) mod verdict;
pub(crate) mod warnings;

use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use jiff::Timestamp;
use pgdyno_measure::stall::Pulse;
use pgdyno_measure::{Interval, Phase, Totals, TxnPart};
use pgdyno_plan::Plan;
use pgdyno_results::{
    CostRecord, CounterNames, CycleRecord, RunDir, RunRecord, Status, TrustRecord, Warning, earlier_runs, run_id,
    summarize,
};
use pgdyno_workload::{Capabilities, Drive};

use crate::exit_code::Code;
use crate::failure::{OrFail, Result};
use crate::plan::workload_source::WorkloadSource;
use crate::record::figures::{client, names};
use crate::record::run_files::RunFiles;

/// How often `run.json` is written during a run: if pgdyno is killed, the summary lacks less than this, and the
/// intervals nothing.
const RENEWAL: Duration = Duration::from_secs(10);

/// An interval is one second long; shorter ones than this are remainders.
pub(crate) const WHOLE_S: f64 = 0.5;

/// The record and its directory.
pub struct Recording {
    /// The record so far.
    pub record: RunRecord,
    /// The contents of its files, once they were read back.
    pub(crate) files: Option<RunFiles>,
    directory: RunDir,
    series: Series,
    /// The measured window so far.
    measured: Totals,
    in_flight: u64,
    /// Connections of the first stage that were lost, and those that were opened again.
    lost: u64,
    reopened: u64,
    renewed: Instant,
}

/// The intervals of the measured window, and the names of their counters.
#[derive(Clone, Default)]
pub(crate) struct Series {
    pub(crate) names: CounterNames,
    /// Start in seconds and throughput of each whole interval.
    pub(crate) tps: Vec<(f64, f64)>,
    /// Every interval.
    pub(crate) pulses: Vec<Pulse>,
}

impl Recording {
    /// Creates the run directory. If pgdyno is killed after this, the record says `interrupted`.
    pub fn begin(plan: &Plan, source: &WorkloadSource, drive: &Drive, results: &Path) -> Result<Self> {
        let (now, clock) = (Timestamp::now(), SystemTime::now());
        let id = run_id(now, &plan.workload, plan.seed ^ now.as_nanosecond() as u64);
        let names = names(drive, &Capabilities::default());
        let txns: Vec<String> = names.txns.iter().map(|kind| kind.name.clone()).collect();
        let directory = RunDir::create(results, &id, &txns, clock).or_fail(Code::Start)?;
        let directory = directory.with_stages(&drive.stages).or_fail(Code::Start)?;
        let directory = directory.with_inputs(&source.files_beside_plan()).or_fail(Code::Start)?;
        let mut record = RunRecord::begin(id, now, plan.clone(), plan.hash(), client());
        record.reason =
            Some("pgdyno is still running, or was killed; the intervals so far are in intervals.csv".to_owned());
        record.exit_code = Code::Interrupted as u8;
        directory.record(&record).or_fail(Code::Start)?;
        let (measured, renewed) = (Totals::default(), Instant::now());
        let series = Series { names, ..Series::default() };
        Ok(Self { record, files: None, directory, series, measured, in_flight: 0, lost: 0, reopened: 0, renewed })
    }

    /// Returns the run directory.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Replaces the plan when more facts are known than at the start of the record.
    pub(crate) fn settle(&mut self, plan: &Plan, drive: &Drive) {
        self.record.plan = plan.clone();
        self.record.plan_hash = plan.hash();
        self.series.names = names(drive, &Capabilities::default());
    }

    /// Adds steps around the measured window that were done, or not, and writes them to disk: what was done to a server
    /// is known even if pgdyno is killed next.
    pub(crate) fn note_steps(&mut self, steps: &mut Vec<CycleRecord>) {
        self.record.cycle.append(steps);
        // A full disk may have room at the end; until then the old record stays.
        let _ = self.directory.record(&self.record);
    }

    /// Sets the statements again, which may depend on what the server can do.
    pub(crate) fn server_can(&mut self, drive: &Drive, caps: &Capabilities) {
        self.series.names = names(drive, caps);
    }

    /// Adds an interval.
    pub(crate) fn interval(&mut self, interval: &Interval) {
        let (start_s, end_s) = (interval.start_ns as f64 / 1e9, interval.end_ns as f64 / 1e9);
        let offered = self.record.plan.drive.offered_per_s(start_s, end_s).filter(|_| interval.phase != Phase::Drain);
        self.directory.interval(interval, offered);
        // The record's main figures are those of the first stage.
        if interval.stage > 0 {
            return;
        }
        self.lost += interval.part.lost;
        self.reopened += interval.part.reconnected;
        if interval.phase == Phase::Measure {
            if self.measured.intervals == 0 {
                let ago = jiff::SignedDuration::from_secs_f64(interval.seconds());
                self.record.measured_at = Some((Timestamp::now() - ago).to_string());
            }
            self.measured.add(interval, self.in_flight);
            self.series.pulses.push(Pulse {
                start_s: interval.start_ns as f64 / 1e9,
                end_s: interval.end_ns as f64 / 1e9,
                completed: interval.part.txns.iter().map(TxnPart::completed).sum(),
                failed: interval.part.txns.iter().map(TxnPart::failures).sum(),
                in_flight: interval.in_flight,
                disconnected: self.lost.saturating_sub(self.reopened),
            });
            // The remainder of a second at the end is no sample of throughput.
            if interval.seconds() >= WHOLE_S {
                self.series.tps.push((interval.start_ns as f64 / 1e9, interval.tps()));
            }
        }
        self.in_flight = interval.in_flight;
        if self.renewed.elapsed() >= RENEWAL {
            self.renewed = Instant::now();
            let cpu_ns = self.measured.workers.iter().map(pgdyno_measure::WorkerUsage::headline_cpu_ns).sum();
            summarize(&mut self.record, &self.measured, &self.series.names, cpu_ns);
            // A full disk may have room at the end; until then the old record stays.
            let _ = self.directory.record(&self.record);
        }
    }

    /// Returns the intervals of the measured window so far.
    pub(crate) fn series(&self) -> &Series {
        &self.series
    }

    /// Writes the record, the line in `results.csv`, and the file `json` if there is one. A file that cannot be written
    /// is reported and does not prevent the others.
    pub fn end(&mut self, status: Status, reason: Option<String>, code: Code, json: Option<&Path>) -> Unwritten {
        let priced = self.record.target.as_ref().zip(self.record.summary.as_ref());
        self.record.cost = priced.and_then(|(target, summary)| CostRecord::of(target, summary));
        self.record.status = status;
        self.record.reason = reason;
        self.record.exit_code = code as u8;
        self.record.ended_at = Some(Timestamp::now().to_string());
        if let Some(failure) = self.directory.failure() {
            self.record.warnings.push(Warning::note(failure));
        }
        if self.record.status == Status::Complete {
            self.record.earlier_runs = earlier_runs(self.directory.results(), &self.record);
        }
        self.record.trust = Some(TrustRecord::of(&self.record));
        let mut errors = Vec::new();
        let mut attempt = |result: std::result::Result<(), pgdyno_results::StoreError>| {
            errors.extend(result.err().map(|error| error.to_string()));
        };
        attempt(self.directory.record(&self.record));
        let listed = self.directory.list(&self.record);
        // The run is whole without its line in the list.
        let unlisted = listed.as_ref().err().filter(|error| error.is_other_file()).map(ToString::to_string);
        if unlisted.is_none() {
            attempt(listed);
        }
        if let Some(path) = json {
            attempt(pgdyno_results::write_record(path, &self.record));
        }
        Unwritten { errors, unlisted }
    }
}

/// What could not be written at the end of a run.
#[derive(Debug, Default)]
pub struct Unwritten {
    /// Errors that fail the run.
    pub errors: Vec<String>,
    /// Why its line is not in the list of runs, if something else has the list's name.
    pub unlisted: Option<String>,
}
