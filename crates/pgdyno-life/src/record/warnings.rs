//! Warnings about the figures. Rules: docs/measurement.md.

mod driver;
pub(crate) mod errors;
mod machines;

use pgdyno_plan::{Pace, Plan, StagePlan};
use pgdyno_results::{
    Drivers, FaultOutcome, FaultRecord, GroupOfStage, LevelChangeRecord, RunRecord, Summary, Warning,
};

use crate::record::ending::Ending;
use crate::record::stalls;

/// A measured window shorter than this, in seconds, is too short to be quoted.
const SHORT_S: f64 = 10.0;

/// Returns the warnings that follow from the figures.
pub(crate) fn from_figures(record: &RunRecord, ending: &Ending) -> Vec<Warning> {
    let plan = &record.plan;
    let mut warnings = Vec::new();
    let Some(summary) = &record.summary else { return warnings };
    let with_fault = record.has_fault();
    warnings.extend(stalls::warning(&ending.stalls, summary.duration_s, with_fault));
    // Without a server, or with a null server, the run measures the driver.
    let real = plan.target.kind().is_postgres();
    if record.drivers.is_empty() {
        warnings.extend(driver::judge(&record.client, summary, real, plan.drive.coalesce_us));
    }
    warnings.extend(drivers(record, summary, real, plan.drive.coalesce_us));
    if plan.drive.stages.is_empty() {
        warnings.extend(overloaded(None, plan.drive.pace, summary, with_fault));
    }
    for (stage, planned) in record.stages.iter().zip(&plan.drive.stages) {
        for (group, planned) in stage.groups.iter().zip(&planned.groups) {
            let of = GroupOfStage { group: group.name.clone(), stage: stage.name.clone() };
            warnings.extend(overloaded(Some(of), planned.pace, &group.summary, with_fault));
        }
    }
    // A set of tasks is as long as they take.
    let has_length = plan.drive.time_s.is_some() && !plan.drive.ends_with_work();
    if summary.duration_s < SHORT_S && has_length && real {
        warnings.push(Warning::ShortWindow { window_s: summary.duration_s });
    }
    warnings.extend(unsteady(summary));
    for name in ["fsync", "full_page_writes"] {
        let value = record.server.as_ref().and_then(|server| server.settings.get(name));
        if value.is_some_and(|value| value == "off") {
            warnings.push(Warning::UnsafeSetting { name: name.to_owned() });
        }
    }
    warnings.extend(record.faults.iter().filter_map(of_fault));
    let clients = all_clients(plan);
    if ending.clients_lost > 0 {
        warnings.push(Warning::ClientsLost { lost: ending.clients_lost as u64, clients });
    }
    if ending.clients_aborted > 0 {
        warnings.push(Warning::ClientsAborted { aborted: ending.clients_aborted as u64, clients });
    }
    warnings.extend(errors::remedies(&record.errors, plan));
    warnings.extend(machines::warnings(record));
    warnings
}

/// Returns a warning about a fault that was not caused as it was asked for.
fn of_fault(fault: &FaultRecord) -> Option<Warning> {
    let at_s = fault.began_s.unwrap_or(fault.at_s);
    let failed = |why: &str| {
        let why = fault.why.clone().unwrap_or_else(|| why.to_owned());
        Some(Warning::FaultFailed { fault: fault.kind.clone(), at_s, why })
    };
    match fault.outcome {
        FaultOutcome::Done => None,
        FaultOutcome::NoEffect => Some(Warning::FaultWithoutEffect { fault: fault.kind.clone(), at_s }),
        FaultOutcome::Failed => failed("unknown"),
        FaultOutcome::Interrupted => failed("the run was interrupted meanwhile"),
        FaultOutcome::NotCaused => failed("the run ended before it"),
    }
}

/// Returns the warnings about several drivers. What several of them have is one warning, with the figures of the first.
fn drivers(record: &RunRecord, summary: &Summary, real: bool, coalesce_us: Option<f64>) -> Vec<Warning> {
    let of = u32::try_from(record.drivers.len()).unwrap_or(u32::MAX);
    let mut found: Vec<Warning> = Vec::new();
    for (nth, one) in record.drivers.iter().enumerate() {
        for mut warning in driver::judge(&one.client, summary, real, coalesce_us) {
            let same = found.iter_mut().find(|known| driver::is_alike(known, &warning));
            match same.and_then(Warning::drivers_mut) {
                Some(Some(drivers)) => drivers.number += 1,
                _ => {
                    if let Some(drivers) = warning.drivers_mut() {
                        let first = format!("driver {} on {}", nth + 1, one.host);
                        *drivers = Some(Drivers { first, number: 1, of });
                    }
                    found.push(warning);
                }
            }
        }
    }
    found
}

/// Returns a warning about an open loop that did not reach its rate; `group` is that of its clients, if there are several.
fn overloaded(group: Option<GroupOfStage>, pace: Pace, summary: &Summary, with_fault: bool) -> Option<Warning> {
    let rate = pace.rate()?;
    let achieved = summary.ended() as f64 / summary.duration_s.max(1e-9);
    let shortfall = rate.shortfall(achieved, summary.duration_s)?;
    Some(Warning::RateMissed { group, reached_share: 1.0 - shortfall, rate_per_s: rate.per_s, with_fault })
}

/// Returns the number of clients in all stages: each stage has its own.
fn all_clients(plan: &Plan) -> u32 {
    if plan.drive.stages.is_empty() {
        plan.drive.clients
    } else {
        plan.drive.stages.iter().map(StagePlan::clients).sum()
    }
}

/// Returns why the throughput of a window is not that of a steady state.
fn unsteady(summary: &Summary) -> Option<Warning> {
    if let Some(ramp_s) = summary.ramp_s_proposed {
        return Some(Warning::NotSettled { ramp_s });
    }
    if summary.steadiness.is_some_and(|s| s.drifts) {
        return Some(Warning::Drifts);
    }
    let largest = |c: &LevelChangeRecord| (c.tps_after / c.tps_before - 1.0).abs();
    let change = summary.level_changes.iter().max_by(|a, b| largest(a).total_cmp(&largest(b)))?;
    Some(Warning::LevelChanged { at_s: change.at_s, tps_before: change.tps_before, tps_after: change.tps_after })
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgdyno_plan::{Arrivals, Rate};
    use pgdyno_results::{ClientRecord, DriverRecord};

    /// Returns the texts of warnings.
    pub(super) fn texts(warnings: Vec<Warning>) -> Vec<String> {
        warnings.iter().map(Warning::to_string).collect()
    }

    #[test]
    fn a_poisson_schedule_that_chance_left_short_is_not_overloaded() {
        let poisson = Pace::Rate(Rate { per_s: 50.0, arrivals: Arrivals::Poisson });
        let of = |committed| Summary { committed, failed: 4, duration_s: 5.0, ..Summary::default() };
        assert_eq!(overloaded(None, poisson, &of(230), false), None);
        let warning = overloaded(None, poisson, &of(181), false).unwrap().to_string();
        assert!(warning.starts_with("74.0 % of the offered 50"), "{warning}");
        assert_eq!(overloaded(None, Pace::ClosedLoop, &of(1), false), None);
    }

    #[test]
    fn what_several_drivers_have_in_common_is_one_warning() {
        let text = include_str!("../../../../fixtures/runs/v1/run.json");
        let mut record: RunRecord = serde_json::from_str(text).unwrap();
        let one = |host: &str, run_delay| DriverRecord {
            host: host.to_owned(),
            client: ClientRecord { run_delay, ..ClientRecord::default() },
            ..DriverRecord::default()
        };
        record.drivers = vec![one("a", 0.0), one("b", 0.3)];
        let found = texts(drivers(&record, &Summary::default(), true, None));
        assert!(found.len() == 1 && found[0].starts_with("driver 2 on b was short of CPU ("), "{found:?}");
        record.drivers[0].client.run_delay = 0.2;
        let found = texts(drivers(&record, &Summary::default(), true, None));
        assert!(found.len() == 1 && found[0].starts_with("2 of 2 drivers were short of CPU ("), "{found:?}");
        assert!(found[0].contains("20.0 %") && found[0].ends_with("(figures of driver 1 on a)"), "{found:?}");
    }
}
