//! Streams of queries take the parallel workers, or the CPUs, that others need.

use pgdyno_results::FindingRecord;
use pgdyno_samples::database;
use pgdyno_text::brief::{number, percent};

use super::{SAMPLES_MIN, UNKNOWN, with_settings};
use crate::facts::Facts;

/// A smaller share of the server's workers, or of its CPUs, leaves enough to others.
const TAKEN: f64 = 0.5;

/// Where more of the workers than this are launched, plans run as they were made.
const LAUNCHED: f64 = 0.9;

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    let streams = facts.streams?;
    let at_work = facts.waits.stream_workers;
    if facts.waits.looks < SAMPLES_MIN || at_work <= 0.0 {
        return None;
    }
    let most = facts.streams_setting("max_parallel_workers").and_then(|n| n.parse::<f64>().ok());
    let wanted = facts.streams_workers_each().map(|each| each * streams.number());
    // From 18 on the server counts those that plans asked for.
    let [asked, launched] = [database::PARALLEL_WORKERS_TO_LAUNCH, database::PARALLEL_WORKERS_LAUNCHED]
        .map(|column| facts.rate(column).filter(|rate| *rate > 0.0));
    let short = asked.map(|asked| 1.0 - launched.unwrap_or_default() / asked);
    let is_short = match short {
        Some(short) => short > 1.0 - LAUNCHED,
        None => most.zip(wanted).is_some_and(|(most, wanted)| wanted > most && at_work >= TAKEN * most),
    };
    let cpus = facts.machine.filter(|(cpus, _)| at_work >= TAKEN * cpus);
    if !is_short && cpus.is_none() {
        return None;
    }
    let mut evidence = Vec::new();
    if let (Some(most), Some(wanted)) = (most, wanted) {
        let who = streams.in_words();
        evidence.push(format!("{who} may ask for {wanted} parallel workers at once, and {most} may work"));
    }
    evidence.extend(short.map(|short| format!("{} of those that plans asked for were unavailable", percent(short))));
    evidence.extend(
        facts
            .machine
            .map(|(cpus, busy)| format!("{} of {} CPUs of the server's machine were busy", number(busy), number(cpus))),
    );
    let what = match is_short {
        true => {
            "give the streams fewer (--analytics-set max_parallel_workers_per_gather=1), or raise max_parallel_workers"
        }
        false => {
            "give the streams fewer (--analytics-set max_parallel_workers_per_gather=1), or more CPUs to the server"
        }
    };
    let settings = ["max_parallel_workers", "max_worker_processes", "max_parallel_workers_per_gather"];
    let where_short =
        if is_short { ", and their plans asked for more" } else { ": they take CPUs from the transactions" };
    Some(FindingRecord {
        rule: "stream-workers".to_owned(),
        text: format!("{} parallel workers were at work for the streams{where_short}", number(at_work)),
        weight: UNKNOWN,
        evidence,
        advice: with_settings(facts, what, &settings),
        also_seen: true,
        ..FindingRecord::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    fn run(workers: f64, most: &str) -> Run {
        Run::new()
            .streams(2, &[("q1", "select 1")])
            .waits_of(&[("client backend", "CPU", "CPU", 1.0), ("query stream worker", "CPU", "CPU", workers)])
            .gauges("machine", &[("cpus", 16.0), ("busy_cpus", 9.0)])
            .setting("max_parallel_workers", most)
            .setting("max_parallel_workers_per_gather", "2")
    }

    #[test]
    fn all_workers_of_the_server_at_work_for_the_streams_are_reported() {
        let found = run(1.5, "2").finds(look);
        assert_eq!(found.text, "1.5 parallel workers were at work for the streams, and their plans asked for more");
        assert_eq!(found.evidence[0], "2 streams may ask for 4 parallel workers at once, and 2 may work");
        assert!(found.advice.unwrap().contains("raise max_parallel_workers (max_parallel_workers is 2"));
        run(1.5, "8").finds_nothing(look);
        run(0.5, "2").finds_nothing(look);
    }

    #[test]
    fn where_the_server_counts_them_its_counts_decide() {
        let counted = |launched| {
            let counters = [("parallel_workers_to_launch", 10.0), ("parallel_workers_launched", launched)];
            run(1.5, "2").counters("database", &counters)
        };
        let found = counted(4.0).finds(look);
        assert_eq!(found.evidence[1], "60 % of those that plans asked for were unavailable");
        counted(9.9).finds_nothing(look);
    }

    #[test]
    fn workers_on_most_cpus_are_reported() {
        let busy = [("cpus", 4.0), ("busy_cpus", 4.0)];
        let found = run(3.0, "8").gauges("machine", &busy).finds(look);
        assert!(found.text.ends_with("they take CPUs from the transactions"), "{found:?}");
        assert_eq!(found.evidence[1], "4.0 of 4.0 CPUs of the server's machine were busy");
    }

    #[test]
    fn workers_of_clients_are_none_of_the_streams() {
        Run::new().waits_of(&[("parallel worker", "CPU", "CPU", 9.0)]).finds_nothing(look);
    }
}
