//! Fills in the figures of a record: the same for `pgdyno run` and for the drop-in for pgbench.

use pgdyno_engine::{Clock, ErrorSample, RunOutcome};
use pgdyno_measure::{
    Totals, TxnPart, WorkerUsage, broken_identities, broken_schedule, level_changes, steadiness, warm_up,
};
use pgdyno_net::{Admin, AdminError, ConnectOptions};
use pgdyno_plan::{DrivePlan, RateSteps};
use pgdyno_results::{
    BuildRecord, ClientRecord, CounterNames, ErrorRecord, LevelChangeRecord, Objective, ObjectiveRecord, PlaceRecord,
    RuleRecord, RunRecord, ServerRecord, SteadyRecord, Summary, TallyRecord, TxnName, Warning,
};
use pgdyno_server::MachineFacts;
use pgdyno_wire::{ErrorClass, SqlState};
use pgdyno_workload::{Capabilities, Drive, Judgement, NumberedDrive, TxnFigures, WindowFigures};

/// The names of a workload's counters.
pub(crate) fn names(drive: &Drive, caps: &Capabilities) -> CounterNames {
    let NumberedDrive { txns, statements, .. } = drive.numbered(caps);
    CounterNames {
        counted_queries: (0..statements.len()).filter(|nth| statements[*nth].is_counted).collect(),
        txns: txns.iter().map(|t| TxnName { name: t.name.to_owned(), weight: t.weight, queries: t.queries }).collect(),
        statements: statements.iter().map(|numbered| (numbered.statement.sql().to_owned(), numbered.txn)).collect(),
        classes: ErrorClass::ALL.iter().map(|class| class.name()).collect(),
        metrics: drive.metrics,
    }
}

/// Returns this machine, and its clock.
pub(crate) fn client() -> ClientRecord {
    let machine = MachineFacts::look();
    let clock = Clock::measure();
    let kernel = machine.kernel.clone();
    ClientRecord {
        os: machine.os.clone().map_or_else(|| kernel.clone(), |os| format!("{os}, {kernel}")),
        cpu: machine.cpu_model.clone().unwrap_or_else(|| machine.architecture.clone()),
        cpus: machine.usable_cpus() as usize,
        memory_bytes: machine.usable_ram_bytes().unwrap_or_default(),
        clock_source: clock.source,
        clock_read_ns: Some(clock.read_ns),
        clock_step_ns: clock.step_ns,
        timer_ns: clock.timer_ns,
        ..ClientRecord::default()
    }
}

/// Returns where `admin` is connected to by `options`.
pub(crate) fn place(admin: &Admin, options: &ConnectOptions) -> PlaceRecord {
    let server = admin.server();
    PlaceRecord {
        host: server.host().to_owned(),
        port: server.port(),
        database: options.dbname().to_owned(),
        user: options.user().to_owned(),
        standby: false,
    }
}

/// Returns the server that `admin` is connected to by `options`.
///
/// # Errors
/// When the connection is lost.
pub(crate) fn server(admin: &mut Admin, options: &ConnectOptions, origin: &str) -> Result<ServerRecord, AdminError> {
    let facts = pgdyno_server::facts(admin, options)?;
    let values = |changed_only: bool| {
        facts
            .settings
            .iter()
            .filter(|(_, s)| {
                !changed_only
                    || s.differs && !matches!(s.source.as_str(), "default" | "client" | "session" | "override")
            })
            .map(|(name, s)| (name.clone(), s.value.clone()))
            .collect()
    };
    Ok(ServerRecord {
        version: facts.version.clone(),
        version_num: facts.server_version_num,
        origin: origin.to_owned(),
        build: facts
            .build
            .as_ref()
            .map(|build| BuildRecord { bindir: build.bindir.clone(), configure: build.configure.clone() }),
        place: Some(PlaceRecord { standby: facts.in_recovery == Some(true), ..place(admin, options) }),
        local: facts.is_local,
        standby: facts.in_recovery.unwrap_or_default(),
        pooling: None,
        endpoints: Vec::new(),
        tls: facts.tls.as_ref().map(|tls| format!("{} {}", tls.version, tls.cipher)),
        settings: values(false),
        settings_changed: values(true),
        database_bytes: facts.database_bytes,
        database_bytes_after: None,
        tables: Vec::new(),
        synchronous_standbys: facts.synchronous_standbys.map(u64::from),
        cluster: None,
    })
}

/// Fills in what the workload counts in addition to transactions, and the results of its own rules.
pub(crate) fn judge(record: &mut RunRecord, drive: &Drive, window: &Totals) {
    let tallies = &window.part.tallies;
    let tally = |(name, count): (&'static str, &u64)| TallyRecord { name: name.to_owned(), count: *count };
    record.tallies = drive.tallies().into_iter().zip(tallies).map(tally).collect();
    let txn = |txn: &TxnPart| TxnFigures {
        committed: txn.committed,
        rolled_back: txn.rolled_back,
        response_ns_p90: txn.response_or_service().quantile_ns(0.9).unwrap_or_default(),
    };
    let txns: Vec<_> = window.part.txns.iter().map(txn).collect();
    let seconds = window.seconds();
    let judged = drive.judge(&WindowFigures { seconds, clients: record.plan.drive.clients, txns: &txns, tallies });
    let rule = |j: Judgement| RuleRecord { name: j.name.to_owned(), rule: j.rule, found: j.found, holds: j.holds };
    record.rules = judged.into_iter().map(rule).collect();
}

/// Returns a warning for each rule of the workload that does not hold.
pub(crate) fn broken_rules(record: &RunRecord) -> Vec<Warning> {
    let broken = record.rules.iter().filter(|rule| rule.holds == Some(false));
    let warning = |rule: &RuleRecord| Warning::RuleBroken {
        rule: rule.name.clone(),
        wanted: rule.rule.clone(),
        found: rule.found.clone(),
    };
    broken.map(warning).collect()
}

/// Judges the objectives of a run by its figures. Returns true if it meets all of them.
pub(crate) fn judge_objectives(record: &mut RunRecord) -> bool {
    let judged = |known: &ObjectiveRecord| match Objective::parse(&known.objective) {
        Ok(objective) => objective.judged(record),
        Err(_) => known.clone(),
    };
    record.objectives = record.objectives.iter().map(judged).collect();
    record.objectives.iter().all(|objective| objective.met == Some(true))
}

/// Returns every identity that does not hold, as text.
pub(crate) fn broken(outcome: &RunOutcome, txn_names: &[&str]) -> Vec<String> {
    let of_group = |phases: [&Totals; 3]| {
        let broken = phases.into_iter().flat_map(|totals| broken_identities(totals, txn_names));
        broken.chain(broken_schedule(&phases)).map(|b| b.to_string()).collect::<Vec<_>>()
    };
    outcome.phases_by_group().flat_map(of_group).collect()
}

/// Returns the share of the window in which these threads did not run, the mean; `None` if they ran throughout.
pub(crate) fn absent(workers: &[WorkerUsage], wall_ns: f64) -> Option<f64> {
    let absent_ns = workers.iter().map(|worker| worker.absent_ns as f64).sum::<f64>() / workers.len().max(1) as f64;
    (absent_ns > 0.0 && wall_ns > 0.0).then(|| absent_ns / wall_ns)
}

/// Returns the figures of the engine's threads.
fn watch(client: &mut ClientRecord, window: &Totals) {
    let wall_ns = window.seconds() * 1e9;
    client.thread_busy = window.busy().collect();
    client.beside_busy = window.beside_busy(&window.workers);
    client.run_delay = if wall_ns > 0.0 && !window.workers.is_empty() {
        window.workers.iter().map(|w| w.run_delay_ns as f64).sum::<f64>() / window.workers.len() as f64 / wall_ns
    } else {
        0.0
    };
    client.absent = absent(&window.workers, wall_ns);
    let part = &window.part;
    client.read_delay_ns = part.read_delay.percentiles().map(Into::into);
    client.timer_lateness_ns = part.timer_lateness.percentiles().map(Into::into);
    let service_ns: u128 = part.txns.iter().map(|txn| txn.service.sum_ns()).sum();
    client.unread_share = (service_ns > 0).then(|| part.read_delay.sum_ns() as f64 / service_ns as f64);
}

/// Returns the errors of the server by SQLSTATE.
pub(crate) fn errors(outcome: &RunOutcome) -> Vec<ErrorRecord> {
    let error = |(code, sample): (&SqlState, &ErrorSample)| ErrorRecord {
        sqlstate: code.to_string(),
        count: sample.count,
        message: sample.message.clone(),
        place: sample.place.clone(),
    };
    outcome.errors.iter().map(error).collect()
}

/// Fills in what belongs to neither the transactions nor the server: errors, threads, CPU, steady state. `window` is
/// what the summary covers, `tps` the start in seconds and the throughput of each of its intervals.
pub(crate) fn fill(record: &mut RunRecord, outcome: &RunOutcome, window: &Totals, tps: &[(f64, f64)]) {
    record.errors = errors(outcome);
    record.client.threads = outcome.threads;
    watch(&mut record.client, window);
    record.client.cpu_user_s = outcome.process.user_ns as f64 / 1e9;
    record.client.cpu_sys_s = outcome.process.sys_ns as f64 / 1e9;
    record.client.rss_bytes_max = pgdyno_engine::process_usage().rss_bytes_max;
    if let Some(summary) = &mut record.summary {
        summary.connect_s = outcome.connect_ns as f64 / 1e9;
        summary.cancelled_in_flight = outcome.cancelled_in_flight as u64;
        summary.notices_dropped = outcome.phases().iter().map(|totals| totals.part.notices_dropped).sum();
        let waiting = || outcome.phases().into_iter().map(|totals| &totals.part).filter(|part| part.still_waiting > 0);
        summary.still_waiting = waiting().map(|part| part.still_waiting).sum();
        summary.still_waiting_s_max = waiting().map(|part| part.still_waiting_ns_max).max().map(|ns| ns as f64 / 1e9);
        // A stage that does each piece of work once has no steady state.
        let drive = &record.plan.drive;
        steady(summary, if drive.ends_with_work() { Vec::new() } else { at_one_rate(drive, tps) });
    }
}

/// Length of an interval.
const INTERVAL_S: f64 = 1.0;

/// Returns the throughput of intervals as it would be if the rate had not changed: a server that keeps up with a changing rate is steady.
/// Intervals in which nothing is offered are left out.
fn at_one_rate(drive: &DrivePlan, tps: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let window_s = |steps: &RateSteps| drive.time_s.unwrap_or_else(|| steps.length_s());
    let mean = |steps| drive.offered_per_s(drive.ramp_s, drive.ramp_s + window_s(steps));
    let Some(mean) = drive.rate_steps.as_ref().and_then(mean) else { return tps.to_vec() };
    let one = |&(start_s, tps): &(f64, f64)| match drive.offered_per_s(start_s, start_s + INTERVAL_S) {
        None => Some((start_s, tps)),
        Some(offered) => (offered > 0.0).then(|| (start_s, tps / offered * mean)),
    };
    tps.iter().filter_map(one).collect()
}

/// Fills in whether throughput was in a steady state.
fn steady(summary: &mut Summary, intervals: Vec<(f64, f64)>) {
    let tps: Vec<f64> = intervals.iter().map(|(_, tps)| *tps).collect();
    summary.steadiness = steadiness(&tps).map(|s| SteadyRecord {
        variation: s.variation,
        trend: s.trend,
        chance: Some(s.chance),
        drifts: s.drifts,
    });
    let changes = level_changes(&tps);
    let change = |c: &pgdyno_measure::LevelChange| LevelChangeRecord {
        at_s: intervals[c.at].0,
        tps_before: c.before,
        tps_after: c.after,
    };
    summary.level_changes = changes.iter().map(change).collect();
    // Whole seconds are what people type.
    summary.ramp_s_proposed = warm_up(&tps).map(|at| intervals[at].0.ceil());
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgdyno_plan::{Arrivals, Pace, Rate};

    #[test]
    fn a_server_that_keeps_up_with_a_changing_rate_is_steady() {
        let text = include_str!("../../../../fixtures/runs/v1/run.json");
        let mut drive = serde_json::from_str::<RunRecord>(text).unwrap().plan.drive;
        let steps = RateSteps { per_s: 100.0, step_s: 30.0, steps: vec![0.5, 0.5, 1.5, 1.5] };
        drive.pace = Pace::Rate(Rate { per_s: steps.mean_per_s(0.0, 120.0), arrivals: Arrivals::Poisson });
        (drive.ramp_s, drive.stages) = (5.0, Vec::new());
        let noise = |second: u32| f64::from(second * 7919 % 11) / 100.0 + 0.95;
        let tps = |second: u32, factor: f64| {
            let offered = steps.mean_per_s(f64::from(second), f64::from(second + 1));
            (5.0 + f64::from(second), offered * noise(second) * factor)
        };
        let judged = |drive: &DrivePlan, tps: &[(f64, f64)]| {
            let mut summary = Summary::default();
            steady(&mut summary, at_one_rate(drive, tps));
            (summary.steadiness.unwrap().drifts, summary.level_changes.len())
        };
        let kept: Vec<_> = (0..120).map(|second| tps(second, 1.0)).collect();
        let (drifts, changes) = judged(&drive, &kept);
        assert!(drifts || changes > 0, "of one rate the same is not steady");
        drive.rate_steps = Some(steps.clone());
        assert_eq!(judged(&drive, &kept), (false, 0));
        let fell: Vec<_> = (0..120).map(|second| tps(second, if second < 60 { 1.0 } else { 0.6 })).collect();
        let (drifts, changes) = judged(&drive, &fell);
        assert!(drifts || changes > 0, "what falls behind is found");
        drive.rate_steps = Some(RateSteps { step_s: 60.0, steps: vec![1.0, 0.0], ..steps });
        assert_eq!(at_one_rate(&drive, &kept).len(), 60, "where nothing is offered, nothing is late");
    }
}
