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
        matches!(commit, "on" | "remote_write" | "remote_apply") && !of("synchronous_standby_names").is_empty();
    is_flushed && (!has_moved || is_replicated)
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
}
