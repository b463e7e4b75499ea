//! Commits wait for a standby.

use pgdyno_results::FindingRecord;
use pgdyno_samples::replication;

use super::{waited, with_settings};
use crate::facts::Facts;
use crate::waits::Class;
use crate::words::{bytes, duration};

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    let mut found = waited(facts, "standby", Class::Standby, "waiting for a standby to confirm commits")?;
    let mean = |column| facts.samples.of(replication::SOURCE).gauge(column).max(facts.from_s, facts.until_s);
    let lags = [
        ("write", replication::WRITE_LAG_S),
        ("flush", replication::FLUSH_LAG_S),
        ("replay", replication::REPLAY_LAG_S),
    ];
    let lags: Vec<_> =
        lags.iter().filter_map(|(what, column)| Some(format!("{what} {}", duration(mean(*column)?)))).collect();
    if !lags.is_empty() {
        found.evidence.push(format!("largest lags of the standbys together: {}", lags.join(", ")));
    }
    if let Some(lag) = mean(replication::LAG_BYTES) {
        found.evidence.push(format!("they were up to {} behind", bytes(lag)));
    }
    let what = "place the standby nearer, or choose a level that waits for less";
    found.advice = with_settings(facts, what, &["synchronous_commit", "synchronous_standby_names"]);
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    #[test]
    fn a_standby_that_is_waited_for_is_told_with_its_lag() {
        let run = Run::new()
            .waits(&[("IPC", "SyncRep", 6.0)])
            .gauges("replication", &[("write_lag_s", 0.002), ("replay_lag_s", 0.5), ("lag_bytes", 2048.0)])
            .setting("synchronous_commit", "remote_apply");
        let found = run.finds(look);
        assert_eq!(found.evidence[1], "largest lags of the standbys together: write 2.0 ms, replay 0.5 s");
        assert_eq!(found.evidence[2], "they were up to 2.0 KiB behind");
        assert!(found.advice.unwrap().ends_with("(synchronous_commit is remote_apply)"));
    }

    #[test]
    fn one_that_nobody_waits_for_is_nothing() {
        Run::new().waits(&[("CPU", "CPU", 6.0)]).gauges("replication", &[("write_lag_s", 5.0)]).finds_nothing(look);
    }
}
