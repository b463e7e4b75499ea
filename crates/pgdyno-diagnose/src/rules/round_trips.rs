//! Sessions wait for the clients: the time goes between driver and server.

use pgdyno_results::FindingRecord;
use pgdyno_text::brief::{number, percent};

use super::{SAMPLES_MIN, by_event, cpu};
use crate::facts::Facts;
use crate::waits::Class;

/// Less of the clients' time than this is the way that every statement has to go.
const LEAST: f64 = 0.3;

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    // On a full machine what remains is the queue for a CPU.
    if facts.waits.looks < SAMPLES_MIN || cpu::is_saturated(facts) == Some(true) {
        return None;
    }
    let client = facts.waits.sessions(Class::Client);
    let share = facts.account.share(facts.account.remainder + client);
    if share < LEAST {
        return None;
    }
    let mut evidence = vec![format!(
        "neither the server, nor the scripts, nor the driver account for {} of {} clients",
        number(facts.account.remainder),
        number(facts.account.whole)
    )];
    if client > 0.0 {
        evidence.push(by_event(facts, Class::Client));
    }
    if let Some((cpus, busy)) = facts.machine {
        evidence.push(format!("{} of {} CPUs of the server's machine were busy", number(busy), number(cpus)));
    }
    let nearer = if facts.is_local() { "" } else { ", a driver nearer to the server" };
    Some(FindingRecord {
        rule: "round-trips".to_owned(),
        text: format!(
            "{} {} was spent between driver and server, or is not attributed",
            percent(share),
            facts.of_what()
        ),
        weight: share,
        evidence,
        advice: Some(format!(
            "try more clients (-c is {}){nearer}, or fewer round trips: \\startpipeline, procedures",
            facts.record.plan.drive.clients
        )),
        also_seen: false,
        ..FindingRecord::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    #[test]
    fn idle_sessions_are_reported() {
        let run = Run::new().waits(&[("CPU", "CPU", 2.0), ("Client", "ClientRead", 1.0)]);
        let found = run.gauges("machine", &[("cpus", 8.0), ("busy_cpus", 2.5)]).finds(look);
        // Of eight clients two are on a CPU, and the engine's thread works for a fifth of one.
        assert!((found.weight - 0.725).abs() < 1e-9, "{found:?}");
        assert!(found.evidence[0].ends_with("account for 4.8 of 8.0 clients"), "{found:?}");
        assert_eq!(found.evidence[2], "2.5 of 8.0 CPUs of the server's machine were busy");
    }

    #[test]
    fn a_full_machine_a_full_driver_and_busy_sessions_are_no_round_trips() {
        let idle = || Run::new().waits(&[("CPU", "CPU", 2.0)]);
        idle().gauges("machine", &[("cpus", 2.0), ("busy_cpus", 1.95)]).finds_nothing(look);
        Run::new().waits(&[("CPU", "CPU", 6.5)]).finds_nothing(look);
        Run::new().finds_nothing(look);
        let mut paced = idle();
        paced.record.plan.drive.pace =
            pgdyno_plan::Pace::Rate(pgdyno_plan::Rate { per_s: 9.0, arrivals: pgdyno_plan::Arrivals::Uniform });
        paced.finds_nothing(look);
    }
}
