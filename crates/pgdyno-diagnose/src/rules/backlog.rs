//! Transactions of a schedule wait for a free client.

use pgdyno_plan::{Pace, Rate};
use pgdyno_results::{FaultOutcome, FindingRecord, RunRecord};
use pgdyno_text::brief::{duration, number, percent};

use super::{SHARE_MIN, other_programs};
use crate::facts::Facts;

/// A target of which this share is committed is met: arrivals are random.
const MET: f64 = 0.97;

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    let Pace::Rate(rate) = facts.record.plan.drive.pace else { return None };
    let share = facts.account.share(facts.account.connection);
    if share < SHARE_MIN || facts.waits.is_unknown() || facts.record.plan.drive.connections.is_some() {
        return None;
    }
    let is_met = is_met(facts, rate);
    let mut evidence = vec![format!(
        "the target of {} transactions a second was {}",
        number(rate.per_s),
        if is_met { "met".to_owned() } else { format!("missed: {} were committed", number(facts.summary.tps)) }
    )];
    if facts.summary.still_waiting > 0 {
        evidence.push(format!("{} were due and had not begun at the end", number(facts.summary.still_waiting as f64)));
    }
    let taken = taken_while_missed(facts);
    if let Some(taken) = taken {
        evidence.push(format!(
            "others took {} of the server's machine while all of its CPUs were busy: statements may have waited for one",
            percent(taken)
        ));
    }
    let away_s = away_s(facts.record);
    if away_s > 0.0 {
        let away = duration(away_s);
        evidence.push(format!("the run's faults took the server away for {away}: what was due meanwhile had to wait"));
    }
    Some(FindingRecord {
        rule: "backlog".to_owned(),
        text: format!(
            "{} {} was the wait for a free client: at times {} busy",
            percent(share),
            facts.of_what(),
            match facts.record.plan.drive.clients {
                1 => "the client was".to_owned(),
                clients => format!("all {clients} clients were"),
            }
        ),
        weight: share,
        evidence,
        advice: Some(match away_s > 0.0 {
            true => "to see what limits the server, run without the fault".to_owned(),
            false => format!(
                "{}{}add clients where the server has room (-c is {})",
                taken.map_or_else(String::new, |_| format!("{}; else ", other_programs::advice(facts))),
                if is_met { "" } else { "lower --rate, or " },
                facts.record.plan.drive.clients
            ),
        }),
        also_seen: false,
        ..FindingRecord::default()
    })
}

fn is_met(facts: &Facts<'_>, rate: Rate) -> bool {
    facts.summary.tps >= MET * rate.per_s
}

/// Returns the share of a full machine that others took, where that is most of it and a rate was missed.
pub(crate) fn taken_while_missed(facts: &Facts<'_>) -> Option<f64> {
    let Pace::Rate(rate) = facts.record.plan.drive.pace else { return None };
    other_programs::took_most(facts).filter(|_| !is_met(facts, rate))
}

/// Returns how long the faults of a run took its server away, in seconds.
fn away_s(record: &RunRecord) -> f64 {
    let done = record.faults.iter().filter(|fault| fault.outcome == FaultOutcome::Done);
    done.filter_map(|fault| Some(fault.available_s.or(fault.ended_s)? - fault.began_s?)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;
    use pgdyno_plan::Arrivals;
    use pgdyno_results::{FaultRecord, LatencyRecord};

    #[test]
    fn a_rate_that_is_too_high_is_reported() {
        let mut run = Run::new().waits(&[("CPU", "CPU", 2.0)]);
        run.record.plan.drive.pace = Pace::Rate(Rate { per_s: 200.0, arrivals: Arrivals::Poisson });
        let mean = |ms: f64| Some(LatencyRecord { mean: ms * 1e6, ..LatencyRecord::default() });
        run.summary().service_latency_ns = mean(25.0);
        run.summary().schedule_lag_ns = mean(75.0);
        run.summary().response_latency_ns = mean(100.0);
        let found = run.finds(look);
        assert!((found.weight - 0.75).abs() < 1e-9, "{found:?}");
        assert_eq!(
            found.text,
            "75 % of the response time was the wait for a free client: at times all 8 clients were busy"
        );
        assert!(found.advice.unwrap().starts_with("lower --rate, or add clients"));
        let kinds = vec![vec!["other".to_owned(), "1.6".to_owned()]];
        run = run.gauges("machine", &[("cpus", 2.0), ("busy_cpus", 2.0)]).table("processes", &["kind", "cpus"], &kinds);
        let found = run.finds(look);
        let words = "others took 80 % of the server's machine while all of its CPUs were busy: statements may have waited for one";
        assert_eq!(found.evidence.last().map(String::as_str), Some(words));
        assert!(
            found.advice.unwrap().contains("or measure when the machine is idle; else lower --rate, or add clients")
        );
        let fault = FaultRecord {
            outcome: FaultOutcome::Done,
            began_s: Some(3.0),
            available_s: Some(9.0),
            ..FaultRecord::default()
        };
        let nothing = FaultRecord { outcome: FaultOutcome::NoEffect, ..fault.clone() };
        run.record.faults = vec![fault, nothing];
        let found = run.finds(look);
        let words = "the run's faults took the server away for 6.0 s: what was due meanwhile had to wait";
        assert_eq!(found.evidence.last().map(String::as_str), Some(words));
        assert_eq!(found.advice.as_deref(), Some("to see what limits the server, run without the fault"));
        run.record.plan.drive.pace = Pace::ClosedLoop;
        run.finds_nothing(look);
    }

    #[test]
    fn others_are_named_once() {
        let mut run = Run::new()
            .waits(&[("Lock", "tuple", 7.9)])
            .gauges("machine", &[("cpus", 2.0), ("busy_cpus", 2.0)])
            .table("processes", &["kind", "cpus"], &[vec!["other".to_owned(), "1.6".to_owned()]]);
        let mean = |ms: f64| Some(LatencyRecord { mean: ms * 1e6, ..LatencyRecord::default() });
        run.summary().service_latency_ns = mean(25.0);
        run.summary().schedule_lag_ns = mean(75.0);
        run.summary().response_latency_ns = mean(100.0);
        run.summary().tps = 100.0;
        let mut of_rate = |per_s| {
            run.record.plan.drive.pace = Pace::Rate(Rate { per_s, arrivals: Arrivals::Poisson });
            let found = run.ask(crate::chains::ranked);
            ["backlog", "other-programs"].map(|rule| found.iter().any(|finding| finding.rule == rule))
        };
        assert_eq!(of_rate(200.0), [true, false], "a rate that was missed has them in its evidence");
        assert_eq!(of_rate(100.0), [true, true], "that of one that was met has no others");
    }
}
