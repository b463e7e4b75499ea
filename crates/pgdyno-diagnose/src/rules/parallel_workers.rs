//! Plans get fewer parallel workers than they ask for.

use pgdyno_results::FindingRecord;
use pgdyno_samples::database;
use pgdyno_text::brief::{number, percent};

use super::{UNKNOWN, with_settings};
use crate::facts::Facts;

/// Fewer workers a second than this could be a single report.
const RATE_MIN: f64 = 0.5;

/// Where more of the workers than this are launched, plans run as they were made.
const LAUNCHED: f64 = 0.9;

/// The server counts them from 18 on. Those of streams have a rule of their own.
pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    if facts.streams.is_some() && facts.waits.stream_workers > 0.0 {
        return None;
    }
    let wanted = facts.rate(database::PARALLEL_WORKERS_TO_LAUNCH).filter(|wanted| *wanted >= RATE_MIN)?;
    let launched = facts.rate(database::PARALLEL_WORKERS_LAUNCHED)?;
    if launched >= LAUNCHED * wanted {
        return None;
    }
    let what = "raise max_parallel_workers (and max_worker_processes), or lower max_parallel_workers_per_gather";
    let settings = ["max_parallel_workers", "max_worker_processes", "max_parallel_workers_per_gather"];
    Some(FindingRecord {
        rule: "parallel-workers".to_owned(),
        text: format!(
            "{} of the parallel workers that plans asked for were unavailable",
            percent(1.0 - launched / wanted)
        ),
        weight: UNKNOWN,
        evidence: vec![format!("{} of {} workers a second were launched", number(launched), number(wanted))],
        advice: with_settings(facts, what, &settings),
        also_seen: true,
        ..FindingRecord::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    #[test]
    fn workers_that_are_missing_are_reported_with_the_limits() {
        let run = |wanted: f64, launched: f64| {
            let counters = [("parallel_workers_to_launch", wanted), ("parallel_workers_launched", launched)];
            Run::new().counters("database", &counters).setting("max_parallel_workers", "1")
        };
        let found = run(8.0, 2.0).finds(look);
        assert!(found.text.starts_with("75 % of the parallel workers"), "{found:?}");
        assert!(found.advice.unwrap().ends_with("(max_parallel_workers is 1)"));
        run(8.0, 7.9).finds_nothing(look);
        run(0.2, 0.0).finds_nothing(look);
        let of_streams = run(8.0, 2.0).streams(1, &[("q1", "select 1")]);
        of_streams.waits_of(&[("query stream worker", "CPU", "CPU", 1.0)]).finds_nothing(look);
        Run::new().finds_nothing(look);
    }
}
