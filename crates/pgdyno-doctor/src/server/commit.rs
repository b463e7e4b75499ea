//! The time of a commit: what the flush of the WAL takes, and a synchronous standby.

use std::time::{Duration, Instant};

use pgdyno_net::{Admin, AdminError};
use pgdyno_server::ServerFacts;
use pgdyno_text::units::plain_plural;

use super::ask;
use crate::figures::{Times, in_ms, ms};
use crate::finding::Finding;

/// A message in the WAL, in a transaction of its own. Without logical decoding of messages nobody reads it.
const MESSAGE: &str = "SELECT pg_logical_emit_message(true, 'pgdyno', 'doctor')";
/// The setting, and the number of connected standbys, which every role may count.
const STANDBYS: &str = "SELECT current_setting('synchronous_standby_names'), count(*) FROM pg_stat_replication";
/// How long commits are timed.
const PATIENCE: Duration = Duration::from_millis(500);
/// The least and the greatest number of commits.
const LEAST: usize = 5;
const MOST: usize = 500;
/// A slower flush is slow for a disk without moving parts, or for a network disk near by.
const SLOW: Duration = Duration::from_millis(5);

/// Times commits, and takes the time of a round trip off.
pub(super) fn check(admin: &mut Admin, facts: &ServerFacts, trips: &Times) -> Result<Option<Finding>, AdminError> {
    let on = |name: &str| facts.settings.get(name).map(|setting| setting.value.as_str());
    if facts.in_recovery == Some(true) || on("synchronous_commit") == Some("off") {
        return Ok(None);
    }
    let for_standbys = on("synchronous_commit") != Some("local");
    let standbys = ask::row(admin, STANDBYS)?.filter(|_| for_standbys);
    if let Some(found) = standbys.and_then(|row| missing(ask::text(&row, 0), ask::number(&row, 1), facts)) {
        return Ok(Some(found));
    }
    if on("fsync") == Some("off") || ask::row(admin, MESSAGE)?.is_none() {
        return Ok(None);
    }
    let (begun, mut times) = (Instant::now(), Vec::new());
    while times.len() < LEAST || (begun.elapsed() < PATIENCE && times.len() < MOST) {
        let sent = Instant::now();
        if ask::row(admin, MESSAGE)?.is_none() {
            return Ok(None);
        }
        times.push(sent.elapsed().saturating_sub(trips.median()));
    }
    Ok(Some(judge(&Times::of(times), facts.synchronous_standbys)))
}

/// Returns the finding if commits wait for standbys of which none is connected: then none is tried. `connected` counts all
/// standbys, also asynchronous ones.
fn missing(names: &str, connected: f64, facts: &ServerFacts) -> Option<Finding> {
    // Which of the connected ones are synchronous is unknown to a role that may not see it.
    let is_missing = connected == 0.0 || facts.synchronous_standbys == Some(0);
    if names.trim().is_empty() || !is_missing {
        return None;
    }
    let figure =
        format!("waits for a synchronous standby that is not connected: synchronous_standby_names is '{names}'");
    Some(Finding::passed("commit", figure).error(
        "Each commit that writes waits in SyncRep until that standby connects: loads and runs hang.",
        "Start that standby, or ALTER SYSTEM SET synchronous_standby_names = '' and SELECT pg_reload_conf().",
    ))
}

fn judge(times: &Times, standbys: Option<u32>) -> Finding {
    let (median, high) = (times.median(), times.quantile(0.99));
    let found = Finding::passed("commit", format!("{} median, {} p99 beyond a round trip", ms(median), ms(high)));
    let found = found.measured(in_ms(median), "ms");
    if let Some(standbys) = standbys.filter(|number| *number > 0) {
        return found.note(
            format!("A commit waits for {}.", plain_plural(standbys.into(), "synchronous standby")),
            "Keep that in mind when you compare with a server without one.",
        );
    }
    if median > SLOW {
        return found.warning(
            "Each commit waits for the flush of the WAL: a client does few transactions a second.",
            "Put the WAL on a faster disk, or use many clients: one flush then serves many commits.",
        );
    }
    if high > SLOW && high > 10 * median {
        return found.warning(
            "Some commits take ten times as long as others: percentiles contain it, and runs differ.",
            "Find out what else writes to that disk.",
        );
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FindingSeverity;

    #[test]
    fn a_standby_counts_as_missing_only_where_none_can_be_the_one() {
        let of = |names, connected, synchronous_standbys| {
            missing(names, connected, &ServerFacts { synchronous_standbys, ..ServerFacts::default() }).is_some()
        };
        assert!(of("nosuch", 0.0, Some(0)) && of("nosuch", 0.0, None) && of("nosuch", 2.0, Some(0)));
        assert!(!of("", 0.0, Some(0)) && !of("one", 1.0, Some(1)) && !of("one", 1.0, None));
    }

    #[test]
    fn slow_and_uneven_flushes_are_warnings() {
        let of = |median_us: u64, high_us: u64, standbys| {
            let mut times = vec![Duration::from_micros(median_us); 98];
            times.extend([Duration::from_micros(high_us); 2]);
            judge(&Times::of(times), standbys).severity
        };
        assert_eq!(of(500, 900, None), FindingSeverity::Passed);
        assert_eq!([of(8_000, 9_000, Some(0)), of(500, 30_000, None)], [FindingSeverity::Warning; 2]);
        assert_eq!(of(8_000, 9_000, Some(1)), FindingSeverity::Note);
    }
}
