//! Commits wait for a standby.

use pgdyno_results::FindingRecord;
use pgdyno_samples::{SampleColumn, replication};
use pgdyno_text::brief::duration;
use pgdyno_text::units::mean_bytes;

use super::{waited, with_settings};
use crate::facts::Facts;
use crate::waits::Class;

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    let mut found = waited(facts, "standby", Class::Standby, "waiting for a standby to confirm commits")?;
    let largest = |column| largest(facts, column);
    let lags = [
        ("write", replication::WRITE_LAG_S),
        ("flush", replication::FLUSH_LAG_S),
        ("replay", replication::REPLAY_LAG_S),
    ];
    let lags: Vec<_> =
        lags.iter().filter_map(|(what, column)| Some(format!("{what} {}", duration(largest(*column)?)))).collect();
    if !lags.is_empty() {
        found.evidence.push(format!("largest lags of a synchronous standby: {}", lags.join(", ")));
    }
    if let Some(lag) = largest(replication::LAG_BYTES) {
        found.evidence.push(format!("it was up to {} behind", mean_bytes(lag)));
    }
    let what = match standbys(facts) {
        Some(standbys) if standbys.is_empty() => {
            found.evidence.push("no standby was connected".to_owned());
            "connect the standby that synchronous_standby_names asks for, or take it out of there".to_owned()
        }
        standbys => {
            if let Some(standbys) = standbys {
                found.evidence.push(format!("connected: {}", standbys.join(", ")));
            }
            // What a level waits for beyond the standby's disk.
            let lower = match facts.setting("synchronous_commit") {
                Some("remote_apply") => "set synchronous_commit to on, which does not wait for the replay",
                Some("remote_write") => "set synchronous_commit to local where the standby may miss the last commits",
                _ => "set synchronous_commit to remote_write or local where the standby may miss the last commits",
            };
            format!("place the standby nearer, or {lower}")
        }
    };
    found.advice = with_settings(facts, &what, &["synchronous_commit", "synchronous_standby_names"]);
    Some(found)
}

/// Returns the largest value of a standby that commits wait for. They do not wait for an asynchronous one.
fn largest(facts: &Facts<'_>, column: SampleColumn) -> Option<f64> {
    let table = facts.samples.of(replication::SOURCE);
    let is_waited_for = |row: &[String]| {
        table.cell(row, replication::SYNC_STATE).is_none_or(|state| matches!(state, "sync" | "quorum"))
    };
    let values = facts
        .within(table)
        .filter(|(_, row)| is_waited_for(row))
        .filter_map(|(_, row)| table.cell(row, column)?.parse().ok());
    values.reduce(f64::max)
}

/// The standbys that were connected at some time in the window, with their role; `None` where nobody could look.
fn standbys(facts: &Facts<'_>) -> Option<Vec<String>> {
    let table = facts.samples.of(replication::SOURCE);
    let name = |row: &[String]| {
        let cell = |column| table.cell(row, column);
        let name = cell(replication::APPLICATION_NAME).unwrap_or("a standby");
        cell(replication::SYNC_STATE).map_or_else(|| name.to_owned(), |state| format!("{name} ({state})"))
    };
    let names: std::collections::BTreeSet<String> = facts.within(table).map(|(_, row)| name(row)).collect();
    let left_out = facts.record.samples.iter().flat_map(|samples| &samples.left_out);
    let is_unseen = left_out.into_iter().any(|out| out.source == replication::SOURCE.name);
    (!is_unseen || !names.is_empty()).then(|| names.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    #[test]
    fn a_standby_that_is_waited_for_is_reported_with_its_lag() {
        let run = Run::new()
            .waits(&[("IPC", "SyncRep", 6.0)])
            .gauges("replication", &[("write_lag_s", 0.002), ("replay_lag_s", 0.5), ("lag_bytes", 2048.0)])
            .setting("synchronous_commit", "remote_apply");
        let found = run.finds(look);
        assert_eq!(found.evidence[1], "largest lags of a synchronous standby: write 2.0 ms, replay 0.5 s");
        assert_eq!(found.evidence[2], "it was up to 2.0 KiB behind");
        assert_eq!(found.evidence[3], "connected: a standby");
        let advice = found.advice.unwrap();
        assert!(advice.contains("to on") && advice.ends_with("(synchronous_commit is remote_apply)"), "{advice}");
    }

    #[test]
    fn a_standby_that_is_absent_is_reported() {
        let run = Run::new().waits(&[("IPC", "SyncRep", 6.0)]).setting("synchronous_standby_names", "s1");
        let found = run.finds(look);
        assert_eq!(found.evidence[1], "no standby was connected");
        assert!(found.advice.unwrap().ends_with("(synchronous_standby_names is s1)"));
    }

    #[test]
    fn lags_are_those_of_one_standby_and_of_none_that_is_asynchronous() {
        let columns = ["application_name", "sync_state", "replay_lag_s"];
        let looks: [(f64, &[&str]); 3] =
            [(5.0, &["a", "sync", "0.01"]), (5.0, &["b", "quorum", "0.02"]), (5.0, &["c", "async", "600"])];
        let run = Run::new().waits(&[("IPC", "SyncRep", 6.0)]).looks("replication", &columns, &looks);
        let found = run.setting("synchronous_commit", "remote_write").finds(look);
        assert_eq!(found.evidence[1], "largest lags of a synchronous standby: replay 20.0 ms");
        assert!(found.advice.unwrap().contains("to local where"));
    }

    #[test]
    fn one_that_nobody_waits_for_is_nothing() {
        Run::new().waits(&[("CPU", "CPU", 6.0)]).gauges("replication", &[("write_lag_s", 5.0)]).finds_nothing(look);
    }
}
