//! What the server's settings promise about acknowledged commits.

use std::collections::BTreeMap;

/// Settings that decide which commits survive.
pub(super) const SETTINGS: &str = "select name, setting from pg_settings where name in ('synchronous_commit', 'synchronous_standby_names', \
     'fsync', 'full_page_writes', 'wal_sync_method', 'wal_sender_timeout', 'wal_receiver_timeout')";

/// Returns true if settings promise that an acknowledged commit survives. `has_moved`: another server than before has the data now,
/// by a promotion. Then only a commit survives that a synchronous standby had.
pub(super) fn is_promised(settings: &BTreeMap<String, String>, has_moved: bool) -> bool {
    let of = |name: &str| settings.get(name).map(String::as_str).unwrap_or_default();
    let commit = of("synchronous_commit");
    let is_flushed = commit != "off" && of("fsync") == "on";
    let is_replicated =
        matches!(commit, "on" | "remote_write" | "remote_apply") && is_for_each(of("synchronous_standby_names"));
    is_flushed && (!has_moved || is_replicated)
}

/// Returns true if a commit waits for each of the standbys that are named: of a quorum, another one may be promoted than those that had
/// the commit. `*` counts as one standby. Source: PostgreSQL documentation, `synchronous_standby_names`.
fn is_for_each(standbys: &str) -> bool {
    let standbys = standbys.trim();
    let (method, list) = match standbys.split_once('(') {
        Some((method, list)) => (method.trim().to_ascii_lowercase(), list.trim_end().trim_end_matches(')')),
        None => ("1".to_owned(), standbys),
    };
    let number = method.trim_start_matches("first").trim_start_matches("any").trim();
    let mut is_quoted = false;
    let commas = list.chars().filter(|letter| {
        is_quoted ^= *letter == '"';
        *letter == ',' && !is_quoted
    });
    let named = 1 + commas.count();
    !standbys.is_empty() && number.parse::<usize>().is_ok_and(|number| number >= named)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn promised(commit: &str, standbys: &str, fsync: &str, has_moved: bool) -> bool {
        let settings = [("synchronous_commit", commit), ("synchronous_standby_names", standbys), ("fsync", fsync)];
        is_promised(&settings.map(|(name, value)| (name.to_owned(), value.to_owned())).into(), has_moved)
    }

    #[test]
    fn a_crash_and_a_failover_are_promised_different_things() {
        assert!(promised("on", "", "on", false) && promised("local", "", "on", false));
        assert!(!promised("off", "", "on", false) && !promised("on", "", "off", false));
        assert!(promised("on", "s1", "on", true) && promised("remote_apply", "s1", "on", true));
        assert!(
            !promised("on", "", "on", true)
                && !promised("local", "s1", "on", true)
                && !promised("off", "s1", "on", true)
        );
    }

    #[test]
    fn of_a_quorum_any_standby_may_be_promoted() {
        for each in ["*", "s1", "FIRST 2 (s1, s2)", "any 1 (s1)", "2 (\"a, b\", s2)", "ANY 3(s1,s2)"] {
            assert!(promised("on", each, "on", true), "{each}");
        }
        for some in ["s1, s2", "ANY 1 (s1, s2)", "first 1 (s1, s2)", "2 (s1, s2, s3)", "ANY x (s1)", "ANY 1 (\"a\",b)"]
        {
            assert!(!promised("on", some, "on", true), "{some}");
            assert!(promised("on", some, "on", false), "{some}: after a crash");
        }
    }
}
