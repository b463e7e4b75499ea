//! The server could do more than the clients ask for.

use pgdyno_results::FindingRecord;
use pgdyno_text::brief::{number, percent};

use super::{SAMPLES_MIN, cpu};
use crate::facts::Facts;

/// Less idle CPU than this, of the whole machine, is no room.
const ROOM: f64 = 0.2;

/// Clients whose sessions are at work for less of the time than this are held up elsewhere.
const AT_WORK: f64 = 0.5;

/// Clients are nearly always at work on a CPU, and CPUs are left: there are too few of them.
pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    let (cpus, busy) = match facts.quota {
        Some(quota) => (quota.cpus, quota.used?),
        None => facts.machine?,
    };
    let on_cpu = facts.account.cpu;
    let active = on_cpu + facts.account.waiting;
    let idle = 1.0 - busy / cpus;
    let few = active < cpus && active >= AT_WORK * facts.connections() && on_cpu >= AT_WORK * active;
    if facts.waits.looks < SAMPLES_MIN || facts.is_paced() || idle < ROOM || !few || cpu::is_saturated(facts)? {
        return None;
    }
    Some(FindingRecord {
        rule: "load".to_owned(),
        text: format!(
            "{} {} was work on a CPU, and {} of the server's CPUs was idle: the load was too small",
            percent(facts.account.share(on_cpu)),
            facts.of_what(),
            percent(idle)
        ),
        weight: facts.account.share(on_cpu),
        evidence: vec![
            format!("{} sessions at work on average, on {} CPUs", number(active), number(cpus)),
            format!("{} CPUs were busy", number(busy)),
        ],
        advice: Some(format!("add clients (-c is {})", facts.record.plan.drive.clients)),
        also_seen: false,
        ..FindingRecord::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    fn run(on_cpu: f64, waiting: f64, busy: f64) -> Run {
        let machine = [("cpus", 32.0), ("busy_cpus", busy)];
        Run::new().waits(&[("CPU", "CPU", on_cpu), ("Lock", "tuple", waiting)]).gauges("machine", &machine)
    }

    #[test]
    fn eight_clients_are_too_few_for_thirty_two_cpus() {
        let found = run(6.0, 0.5, 8.0).finds(look);
        assert!((found.weight - 0.75).abs() < 1e-9 && found.advice.unwrap().contains("(-c is 8)"));
    }

    #[test]
    fn clients_that_wait_and_machines_that_are_full_want_no_more_clients() {
        run(1.0, 6.5, 2.0).finds_nothing(look);
        let group = [["server", "7.0", "5.9", "0"].map(str::to_owned).to_vec()];
        run(6.0, 0.5, 8.0).table("cgroup", &["of", "limit_cpus", "used_cpus", "throttled"], &group).finds_nothing(look);
        run(2.0, 0.0, 2.0).finds_nothing(look);
        run(6.0, 0.5, 30.0).finds_nothing(look);
        Run::new().waits(&[("CPU", "CPU", 7.0)]).finds_nothing(look);
        let mut paced = run(6.0, 0.5, 8.0);
        paced.record.plan.drive.pace =
            pgdyno_plan::Pace::Rate(pgdyno_plan::Rate { per_s: 9.0, arrivals: pgdyno_plan::Arrivals::Uniform });
        paced.finds_nothing(look);
    }
}
