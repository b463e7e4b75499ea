//! The rules that find what held the server back: a file for each, and a row here.
//!
//! The weight of a finding is the share of the clients' time that went there, by the account; no time counts for two of them.
//! A finding without such a share is *also seen*: its weight is [`UNKNOWN`], and it follows the ranked ones.

mod backend_writes;
pub(crate) mod backlog;
pub(crate) mod checkpoints;
mod connecting;
mod connections;
pub(crate) mod cpu;
pub(crate) mod dead_rows;
mod disk;
pub(crate) mod displaced_cache;
mod driver;
mod extension;
pub(crate) mod full_pages;
mod idle_in_transaction;
mod internal_locks;
pub(crate) mod jit;
mod load;
mod memory;
mod network;
mod new_sessions;
pub(crate) mod old_snapshot;
mod other_nodes;
mod other_programs;
mod other_sessions;
mod other_waits;
mod parallel_workers;
pub(crate) mod reads;
mod retries;
mod round_trips;
mod row_locks;
mod script;
pub(crate) mod seq_scans;
mod slru;
mod standby;
mod stream_memory;
mod stream_snapshots;
mod stream_workers;
mod table_locks;
pub(crate) mod temp_files;
mod throttled;
mod wal_buffers;
mod wal_flush;

use pgdyno_results::FindingRecord;
use pgdyno_text::brief::{number, percent};

use crate::facts::Facts;
use crate::waits::Class;

/// Minimum share of the clients' time for a finding.
pub(crate) const SHARE_MIN: f64 = 0.05;

/// Weight of a finding whose time is unknown.
const UNKNOWN: f64 = 0.01;

/// Minimum number of samples of the sessions.
const SAMPLES_MIN: f64 = 20.0;

/// Looks at a run. A rule without figures says nothing.
type Rule = fn(&Facts<'_>) -> Option<FindingRecord>;

/// All rules; docs/measurement.md has each.
pub(crate) const RULES: [Rule; 41] = [
    backend_writes::look,
    backlog::look,
    checkpoints::look,
    connecting::look,
    connections::look,
    cpu::look,
    dead_rows::look,
    disk::look,
    displaced_cache::look,
    driver::look,
    extension::look,
    full_pages::look,
    idle_in_transaction::look,
    internal_locks::look,
    jit::look,
    load::look,
    memory::look,
    network::look,
    new_sessions::look,
    old_snapshot::look,
    other_nodes::look,
    other_programs::look,
    other_sessions::look,
    other_waits::look,
    parallel_workers::look,
    reads::look,
    retries::look,
    round_trips::look,
    row_locks::look,
    script::look,
    seq_scans::look,
    slru::look,
    standby::look,
    stream_memory::look,
    stream_snapshots::look,
    stream_workers::look,
    table_locks::look,
    temp_files::look,
    throttled::look,
    wal_buffers::look,
    wal_flush::look,
];

/// Returns the findings of all rules.
pub(crate) fn findings(facts: &Facts<'_>) -> Vec<FindingRecord> {
    RULES.iter().filter_map(|look| look(facts)).collect()
}

/// The share of the clients' time that their sessions waited for a class of events; none without samples, or below
/// the minimum share.
fn share(facts: &Facts<'_>, class: Class) -> Option<f64> {
    let sessions = if class == Class::Cpu { facts.account.cpu } else { facts.waits.sessions(class) };
    let share = facts.account.share(sessions);
    (facts.waits.looks >= SAMPLES_MIN && share >= SHARE_MIN).then_some(share)
}

/// The finding that clients waited for a class of events, `what` in words, and by which.
fn waited(facts: &Facts<'_>, rule: &str, class: Class, what: &str) -> Option<FindingRecord> {
    let share = share(facts, class)?;
    Some(FindingRecord {
        rule: rule.to_owned(),
        text: format!("{} {} went into {what}", percent(share), facts.of_what()),
        weight: share,
        evidence: vec![by_event(facts, class)],
        advice: None,
        also_seen: false,
        ..FindingRecord::default()
    })
}

/// `5.1 sessions (63 % of active samples): Lock:transactionid 4.0, Lock:tuple 1.1`.
pub(crate) fn by_event(facts: &Facts<'_>, class: Class) -> String {
    let sessions = facts.waits.sessions(class);
    let events: Vec<_> = facts.waits.of_class(class).take(3).map(|(name, n)| format!("{name} {}", number(n))).collect();
    format!(
        "{} sessions ({} of active samples): {}",
        number(sessions),
        percent(sessions / facts.waits.total().max(f64::MIN_POSITIVE)),
        events.join(", ")
    )
}

/// Advice, with the present values of the settings that it names.
fn with_settings(facts: &Facts<'_>, advice: &str, settings: &[&str]) -> Option<String> {
    let values: Vec<_> = settings.iter().filter_map(|name| facts.setting_is(name)).collect();
    let values = if values.is_empty() { String::new() } else { format!(" ({})", values.join(", ")) };
    Some(format!("{advice}{values}"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::chains::ranked;
    use crate::fixture::Run;

    /// Files of `rules/` and rows of the page.
    #[test]
    fn the_page_has_a_row_for_each_rule() {
        let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/rules");
        let names: BTreeSet<String> = std::fs::read_dir(directory)
            .unwrap()
            .map(|file| file.unwrap().path().file_stem().unwrap().to_string_lossy().replace('_', "-"))
            .collect();
        assert_eq!(names.len(), RULES.len());
        let page = include_str!("../../../docs/measurement.md");
        let table = page.split("| rule | found when | weight |").nth(1).unwrap();
        let rows: BTreeSet<String> = table
            .lines()
            .skip(2)
            .map_while(|row| row.strip_prefix("| `")?.split('`').next())
            .map(str::to_owned)
            .collect();
        assert_eq!(rows, names);
    }

    #[test]
    fn findings_are_ranked_by_the_clients_time() {
        let run = Run::new().waits(&[("Lock", "tuple", 2.0), ("IO", "WALSync", 4.0), ("Timeout", "PgSleep", 1.0)]);
        let found = run.ask(ranked);
        let rules: Vec<_> = found.iter().map(|f| (f.rule.as_str(), (f.weight * 1e3).round())).collect();
        assert_eq!(rules, [("wal-flush", 500.0), ("row-locks", 250.0), ("other-waits", 125.0)]);
        assert_eq!(found[0].text, "50 % of the clients' time went into WAL flush");
        assert_eq!(found[1].evidence[0], "2.0 sessions (29 % of active samples): Lock:tuple 2.0");
    }

    #[test]
    fn without_samples_nothing_is_said() {
        let mut run = Run::new();
        assert_eq!(run.ask(ranked), []);
        run.record.client.thread_busy = vec![1.0];
        run.record.client.run_delay = 0.5;
        run.summary().cache_hit_ratio = Some(0.1);
        assert_eq!(run.ask(ranked), []);
    }

    #[test]
    fn an_idle_server_of_a_run_with_a_schedule_is_no_fault() {
        let mut run = Run::new().waits(&[("CPU", "CPU", 0.02)]).gauges("machine", &[("cpus", 4.0), ("busy_cpus", 0.1)]);
        run.record.plan.drive.pace =
            pgdyno_plan::Pace::Rate(pgdyno_plan::Rate { per_s: 10.0, arrivals: pgdyno_plan::Arrivals::Poisson });
        assert_eq!(run.ask(ranked), []);
    }

    #[test]
    fn with_a_schedule_the_time_on_the_server_counts() {
        let mut run = Run::new().waits(&[("Lock", "tuple", 0.3), ("CPU", "CPU", 0.1)]);
        run.record.plan.drive.pace =
            pgdyno_plan::Pace::Rate(pgdyno_plan::Rate { per_s: 10.0, arrivals: pgdyno_plan::Arrivals::Poisson });
        let found = run.ask(ranked);
        assert!((found[0].weight - 0.75).abs() < 1e-9, "{found:?}");
        assert!(found[0].text.starts_with("75 % of the response time"), "{found:?}");
    }
}
