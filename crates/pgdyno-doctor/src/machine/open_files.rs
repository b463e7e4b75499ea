//! How many connections this process may open.

use pgdyno_text::units;
use rustix::process::{Resource, getrlimit};

use crate::finding::Finding;

/// Files that are open beside connections.
const OTHERS: u64 = 100;
/// Room for fewer connections than this is little.
const FEW: u64 = 4_000;

pub(super) fn check() -> Option<Finding> {
    Some(of_limit(getrlimit(Resource::Nofile).maximum))
}

/// Returns the finding for a hard limit; pgdyno raises the soft one by itself.
fn of_limit(hard: Option<u64>) -> Finding {
    let Some(room) = hard.map(|hard| hard.saturating_sub(OTHERS)) else {
        return Finding::passed("open-files", "no limit");
    };
    let found = Finding::passed("open-files", format!("room for {} connections", units::count(room)));
    let found = found.measured(room as f64, "connections");
    if room >= FEW {
        return found;
    }
    found.note(
        "A run with more clients ends before it begins.",
        "Raise the hard limit of open files: ulimit -Hn 65536 as root, or LimitNOFILE= of the service.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FindingSeverity;

    #[test]
    fn a_low_hard_limit_is_a_note() {
        let of = |hard| of_limit(hard).severity;
        assert_eq!(
            [of(Some(1024)), of(Some(1 << 20)), of(None)],
            [FindingSeverity::Note, FindingSeverity::Passed, FindingSeverity::Passed]
        );
    }
}
