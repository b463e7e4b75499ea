//! The server's machine, or a control group, is short of memory.

use pgdyno_results::FindingRecord;
use pgdyno_samples::{cgroup, machine};
use pgdyno_text::brief::{number, percent};
use pgdyno_text::units::mean_bytes;

use super::stream_memory::allowed;
use super::{UNKNOWN, with_settings};
use crate::facts::Facts;

/// Fewer pages swapped a second than this are leftovers.
const PAGES_MIN: f64 = 50.0;

/// A smaller share of the time in which processes wait for memory is nothing.
const PRESSURE_MIN: f64 = 0.05;

/// A smaller share of the machine's memory that streams of queries may use is no cause.
const STREAMS: f64 = 0.1;

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    let pages = [machine::SWAP_IN_PAGES, machine::SWAP_OUT_PAGES].map(|column| facts.gauge(column));
    let pressure = facts.gauge(machine::MEMORY_PRESSURE);
    let group = facts.samples.of(cgroup::SOURCE).by(cgroup::OF).into_iter().find_map(|(of, table)| {
        let grown = |column| Some(table.rate(&[], column).mean(facts.from_s, facts.until_s)? * facts.seconds());
        let limit = table.gauge(cgroup::MEMORY_LIMIT_BYTES).mean(facts.from_s, facts.until_s)?;
        let (reached, kills) = (grown(cgroup::MEMORY_REACHED)?, grown(cgroup::OOM_KILLS).unwrap_or_default());
        (kills >= 0.5).then_some((of, limit, reached, kills))
    });
    let is_pressed = pressure.is_some_and(|pressure| pressure >= PRESSURE_MIN);
    let swapped: f64 = pages.iter().flatten().sum();
    let is_driver = group.as_ref().is_some_and(|(of, ..)| of == "driver");
    let text = if let Some((_, limit, _, kills)) = &group {
        let whose = if is_driver { "pgdyno's" } else { "the server's" };
        format!(
            "processes of {whose} control group killed for lack of memory: {kills:.0}; it may use {}",
            mean_bytes(*limit)
        )
    } else if swapped >= PAGES_MIN {
        format!("the server's machine swapped: {} pages a second", number(swapped))
    } else if is_pressed {
        format!("processes of the server's machine waited for memory in {} of the time", percent(pressure?))
    } else {
        return None;
    };
    let mut evidence = Vec::new();
    if pages.iter().any(Option::is_some) {
        let [read, written] = pages.map(|pages| number(pages.unwrap_or_default()));
        evidence.push(format!("{read} pages a second read from swap, {written} written"));
    }
    evidence.extend(pressure.map(|share| format!("memory pressure {} of the time", percent(share))));
    evidence.extend(group.map(|(_, _, reached, _)| format!("the limit was reached {reached:.0} times")));
    let total = facts.gauge(machine::MEMORY_BYTES);
    let of_streams = facts.streams.and_then(|streams| allowed(facts, streams));
    let of_streams = of_streams.filter(|allowed| total.is_some_and(|total| allowed.bytes >= STREAMS * total));
    let is_of_streams = of_streams.is_some();
    evidence.extend(of_streams.map(|allowed| allowed.words));
    let available = facts.gauge(machine::AVAILABLE_BYTES);
    evidence.extend(available.map(|available| format!("{} of memory were available", mean_bytes(available))));
    Some(FindingRecord {
        rule: "memory".to_owned(),
        text,
        weight: UNKNOWN,
        evidence,
        advice: match is_of_streams {
            _ if is_driver => Some("raise the memory limit of pgdyno's container, or use fewer clients".to_owned()),
            true => Some("lower the streams' work_mem (--analytics-set work_mem=…), or run fewer streams".to_owned()),
            false => with_settings(
                facts,
                "lower shared_buffers, work_mem or the number of connections, or give the server more memory",
                &["shared_buffers", "work_mem", "max_connections"],
            ),
        },
        also_seen: true,
        ..FindingRecord::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    fn run(swap_in: f64, pressure: f64) -> Run {
        let gauges = [("swap_in_pages", swap_in), ("swap_out_pages", 10.0), ("memory_pressure", pressure)];
        Run::new().gauges("machine", &gauges).setting("shared_buffers", "128MB")
    }

    #[test]
    fn swapping_and_pressure_are_reported() {
        let found = run(490.0, 0.2).finds(look);
        assert_eq!(found.text, "the server's machine swapped: 500 pages a second");
        assert_eq!(found.evidence[1], "memory pressure 20 % of the time");
        assert!(found.advice.unwrap().ends_with("(shared_buffers is 128MB)"));
        assert!(run(0.0, 0.2).finds(look).text.ends_with("waited for memory in 20 % of the time"));
        run(5.0, 0.01).finds_nothing(look);
        Run::new().finds_nothing(look);
    }

    #[test]
    fn memory_that_streams_may_use_is_reported() {
        let gauges = [("swap_in_pages", 490.0), ("memory_bytes", (1_u64 << 30) as f64)];
        let run = |work_mem| {
            let run = Run::new().gauges("machine", &gauges).streams(3, &[("q1", "select 1")]);
            run.setting("work_mem", work_mem).setting("max_parallel_workers_per_gather", "0").finds(look)
        };
        let large = run("256MB");
        assert!(large.evidence[1].starts_with("3 streams may each use work_mem (256MB)"), "{large:?}");
        assert!(large.advice.unwrap().starts_with("lower the streams' work_mem"));
        assert!(!run("4MB").advice.unwrap().contains("streams"));
    }

    #[test]
    fn killed_processes_are_reported() {
        let rows: Rows<'_> = &[("memory_limit_bytes", 0.0), ("memory_reached", 4.0), ("oom_kills", 0.1)];
        let found = Run::new().keyed_counters("cgroup", &["of"], &[(&["server"], rows)]).finds(look);
        assert!(
            found.text.starts_with("processes of the server's control group killed for lack of memory: 1;"),
            "{found:?}"
        );
        assert!(found.advice.unwrap().starts_with("lower shared_buffers"));
        assert_eq!(found.evidence, ["the limit was reached 40 times"], "nothing of swap was sampled");
        let found = Run::new().keyed_counters("cgroup", &["of"], &[(&["driver"], rows)]).finds(look);
        assert!(found.advice.unwrap().starts_with("raise the memory limit of pgdyno's container"));
    }

    type Rows<'a> = &'a [(&'a str, f64)];
}
