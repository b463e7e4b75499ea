//! Warnings about the figures. Rules: docs/measurement.md.

mod driver;
pub(crate) mod errors;
mod machines;

use pgdyno_plan::{Pace, Plan, StagePlan};
use pgdyno_results::{LevelChangeRecord, RunRecord, Summary};
use pgdyno_text::units;

use crate::record::ending::Ending;
use crate::record::stalls;

/// A measured window shorter than this, in seconds, is too short to be quoted.
const SHORT_S: f64 = 10.0;

/// Returns the warnings that follow from the figures.
pub(crate) fn from_figures(record: &RunRecord, ending: &Ending) -> Vec<String> {
    let plan = &record.plan;
    let mut warnings = Vec::new();
    let Some(summary) = &record.summary else { return warnings };
    warnings.extend(stalls::text(&ending.stalls, summary.duration_s));
    // Without a server, or with a null server, the run measures the driver.
    let real = plan.target.kind().is_postgres();
    if record.drivers.is_empty() {
        warnings.extend(driver::judge(&record.client, summary, real, plan.coalesce_us));
    }
    warnings.extend(drivers(record, summary, real, plan.coalesce_us));
    if plan.stages.is_empty() {
        warnings.extend(overloaded("", plan.pace, summary));
    }
    for (stage, planned) in record.stages.iter().zip(&plan.stages) {
        for (group, planned) in stage.groups.iter().zip(&planned.groups) {
            let of = format!("group {} of stage {}, ", group.name, stage.name);
            warnings.extend(overloaded(&of, planned.pace, &group.summary));
        }
    }
    // A set of tasks is as long as they take.
    let has_length = plan.time_s.is_some() && !plan.stages.first().is_some_and(StagePlan::ends_with_work);
    if summary.duration_s < SHORT_S && has_length && real {
        warnings.push(format!(
            "{} is short (-T 1min or more): checkpoints, autovacuum and a cold cache are not in the figures",
            units::duration(summary.duration_s)
        ));
    }
    warnings.extend(unsteady(summary));
    for (name, dangerous) in [("fsync", "off"), ("full_page_writes", "off")] {
        let value = record.server.as_ref().and_then(|server| server.settings.get(name));
        if value.is_some_and(|value| value == dangerous) {
            warnings.push(format!(
                "{name} is {dangerous}: a crash of this server can lose data; do not compare it with one that is safe"
            ));
        }
    }
    let all_clients = all_clients(plan);
    if ending.clients_lost > 0 {
        warnings.push(format!("{} of {} clients had no connection at the end", ending.clients_lost, all_clients));
    }
    if ending.clients_aborted > 0 {
        warnings.push(format!("{} of {} clients aborted: the errors say why", ending.clients_aborted, all_clients));
    }
    warnings.extend(errors::remedies(&record.errors));
    warnings.extend(machines::warnings(record));
    warnings
}

/// Returns the warnings about several drivers. What holds for several of them is one warning, with the figures of the
/// first.
fn drivers(record: &RunRecord, summary: &Summary, real: bool, coalesce_us: Option<f64>) -> Vec<String> {
    // The kind of warning, the first one, its driver, and how many drivers have it.
    let mut found: Vec<(String, String, String, usize)> = Vec::new();
    for (nth, one) in record.drivers.iter().enumerate() {
        for warning in driver::judge(&one.client, summary, real, coalesce_us) {
            let kind = warning.split(" (").next().unwrap_or(&warning).to_owned();
            match found.iter_mut().find(|(known, ..)| *known == kind) {
                Some((.., drivers)) => *drivers += 1,
                None => found.push((kind, warning, format!("driver {} on {}", nth + 1, one.host), 1)),
            }
        }
    }
    let of = record.drivers.len();
    let told = |(_, warning, first, drivers): (String, String, String, usize)| {
        let (who, were) = match drivers {
            1 => (first.clone(), "was"),
            _ => (format!("{drivers} of {of} drivers"), "were"),
        };
        let told = warning.replacen("the driver was", &format!("{who} {were}"), 1);
        let told = told.replacen("the driver's clock is", &format!("the clock of {who} is"), 1);
        if drivers > 1 { format!("{told} (figures of {first})") } else { told }
    };
    found.into_iter().map(told).collect()
}

/// Returns a warning about an open loop that did not reach its rate; `of` is the group of clients, if there are
/// several.
fn overloaded(of: &str, pace: Pace, summary: &Summary) -> Option<String> {
    let rate = pace.rate()?;
    let achieved = summary.ended() as f64 / summary.duration_s.max(1e-9);
    let shortfall = rate.shortfall(achieved, summary.duration_s)?;
    Some(format!(
        "{of}{} of the offered {}/s were reached (lower --rate or add clients): response times grow as long as the run lasts",
        units::percent(1.0 - shortfall),
        units::rate(rate.per_s)
    ))
}

/// Returns the number of clients in all stages: each stage has its own.
fn all_clients(plan: &Plan) -> u32 {
    if plan.stages.is_empty() { plan.clients } else { plan.stages.iter().map(StagePlan::clients).sum() }
}

/// Returns why the throughput of a window is not that of a steady state.
fn unsteady(summary: &Summary) -> Option<String> {
    if let Some(ramp_s) = summary.ramp_s_proposed {
        return Some(format!("throughput had not settled when the window began (--ramp {ramp_s:.0})"));
    }
    if summary.steadiness.is_some_and(|s| s.drifts) {
        return Some("throughput drifts over the window (longer --ramp or -T)".to_owned());
    }
    let largest = |c: &LevelChangeRecord| (c.tps_after / c.tps_before - 1.0).abs();
    let change = summary.level_changes.iter().max_by(|a, b| largest(a).total_cmp(&largest(b)))?;
    Some(format!(
        "throughput changed at {} from {} to {} TPS (see the events): the mean is of neither level",
        units::duration(change.at_s),
        units::rate(change.tps_before),
        units::rate(change.tps_after)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgdyno_plan::{Arrivals, Rate};
    use pgdyno_results::{ClientRecord, DriverRecord};

    #[test]
    fn a_poisson_schedule_that_chance_left_short_is_not_overloaded() {
        let poisson = Pace::Rate(Rate { per_s: 50.0, arrivals: Arrivals::Poisson });
        let of = |committed| Summary { committed, failed: 4, duration_s: 5.0, ..Summary::default() };
        assert_eq!(overloaded("", poisson, &of(230)), None);
        let warning = overloaded("", poisson, &of(181)).unwrap();
        assert!(warning.starts_with("74.0 % of the offered 50"), "{warning}");
        assert_eq!(overloaded("", Pace::ClosedLoop, &of(1)), None);
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
        let told = drivers(&record, &Summary::default(), true, None);
        assert!(told.len() == 1 && told[0].starts_with("driver 2 on b was short of CPU ("), "{told:?}");
        record.drivers[0].client.run_delay = 0.2;
        let told = drivers(&record, &Summary::default(), true, None);
        assert!(told.len() == 1 && told[0].starts_with("2 of 2 drivers were short of CPU ("), "{told:?}");
        assert!(told[0].contains("20.0 %") && told[0].ends_with("(figures of driver 1 on a)"), "{told:?}");
    }
}
