//! Sessions wait for the clients: the time goes between driver and server.

use pgdyno_results::FindingRecord;

use super::{LOOKS_MIN, by_event, cpu, driver};
use crate::facts::Facts;
use crate::waits::Class;
use crate::words::{number, percent};

/// Less of the clients' time than this is the way that every statement has to go.
const LEAST: f64 = 0.3;

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    // On a full machine the driver waits for a CPU, too, and a driver that is full has a rule of its own.
    let elsewhere = cpu::is_saturated(facts) == Some(true) || driver::is_full(facts);
    if facts.waits.looks < LOOKS_MIN || facts.is_scheduled() || elsewhere {
        return None;
    }
    let (all, active, client) = (facts.connections(), facts.waits.total(), facts.waits.sessions(Class::Client));
    let share = ((all - active).max(0.0) + client) / facts.clients_time();
    if share < LEAST {
        return None;
    }
    let mut evidence = vec![format!("{} of {} sessions were active on average", number(active), number(all))];
    if client > 0.0 {
        evidence.push(by_event(facts, Class::Client));
    }
    if let Some((cpus, busy)) = facts.machine {
        evidence.push(format!("{} of {} CPUs of the server's machine were busy", number(busy), number(cpus)));
    }
    if let Some(delay) = &facts.record.client.read_delay_ns {
        evidence.push(format!("replies lay unread in the driver for {} µs (p99)", number(delay.p99 as f64 / 1e3)));
    }
    let local = facts.record.server.as_ref().is_some_and(|server| server.local);
    let way = if local { "more clients" } else { "more clients, or a driver nearer to the server," };
    Some(FindingRecord {
        rule: "round-trips".to_owned(),
        text: format!(
            "for {} {} the server waited for the next statement: the way to the driver and back",
            percent(share),
            facts.of_what()
        ),
        weight: share.min(1.0),
        evidence,
        advice: Some(format!(
            "{way} or fewer round trips (a --pipeline, procedures) could be tried (-c is {})",
            facts.record.plan.clients
        )),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    #[test]
    fn idle_sessions_are_told() {
        let run = Run::new().waits(&[("CPU", "CPU", 2.0), ("Client", "ClientRead", 1.0)]);
        let found = run.gauges("machine", &[("cpus", 8.0), ("busy_cpus", 2.5)]).finds(look);
        assert!((found.weight - 0.75).abs() < 1e-9, "{found:?}");
        assert_eq!(found.evidence[0], "3.0 of 8.0 sessions were active on average");
        assert_eq!(found.evidence[2], "2.5 of 8.0 CPUs of the server's machine were busy");
    }

    #[test]
    fn a_full_machine_a_full_driver_and_busy_sessions_are_no_round_trips() {
        let idle = || Run::new().waits(&[("CPU", "CPU", 2.0)]);
        idle().gauges("machine", &[("cpus", 2.0), ("busy_cpus", 1.95)]).finds_nothing(look);
        let mut full = idle();
        full.record.client.thread_busy = vec![0.99];
        full.finds_nothing(look);
        Run::new().waits(&[("CPU", "CPU", 6.5)]).finds_nothing(look);
        Run::new().finds_nothing(look);
        let mut paced = idle();
        paced.record.plan.pace =
            pgdyno_plan::Pace::Rate(pgdyno_plan::Rate { per_s: 9.0, arrivals: pgdyno_plan::Arrivals::Uniform });
        paced.finds_nothing(look);
    }
}
