//! Names of runs and of the files in a run directory, and the search for a run's directory.

use std::path::{Path, PathBuf};

use pgdyno_untrusted::FileName;

use crate::record::RunRecord;

/// The record of a run.
pub const RECORD: &str = "run.json";
/// Its intervals, as CSV.
pub const INTERVALS: &str = "intervals.csv";
/// Its intervals by stage and group, if its workload declares any.
pub(crate) const GROUP_INTERVALS: &str = "intervals-by-group.csv";
/// Its latencies, interval by interval, in HdrHistogram's log format. Locked while the run goes on.
pub const LATENCY: &str = "latency.hlog";

/// Each execution of its queries, as CSV, if it keeps them.
pub(crate) const EXECUTIONS: &str = "executions.csv";
/// Its commits, as CSV, if it keeps a ledger.
pub(crate) const LEDGER: &str = "ledger.csv";
/// The plans of its queries as EXPLAIN returned them, if the run kept them.
pub const QUERY_PLANS: &str = "plans.json";

/// Call stacks of the server's processes, if the run has a profile.
pub(crate) const PROFILE: &str = "perf.folded";

/// The directory with the files of its workload that are too large for the record, by their hashes.
pub(crate) const INPUTS: &str = "inputs";

/// Returns where a file of the workload with this SHA-256 is in a run directory; `None` where that is no hash, which could
/// lead elsewhere.
#[must_use]
pub fn input_path(directory: &Path, sha256: &str) -> Option<PathBuf> {
    let is_hash = sha256.len() == 64 && sha256.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then(|| directory.join(INPUTS).join(sha256))
}

/// Length of the workload's part in the name of a run, in characters.
const WORKLOAD_MAX: usize = 100;

/// Returns the name of a run: its UTC start, its workload, and a few characters that distinguish runs of one second.
#[must_use]
pub fn run_id(started: jiff::Timestamp, workload: &str, salt: u64) -> String {
    // Of a path only the last part is used.
    let name: String = workload
        .rsplit('/')
        .next()
        .unwrap_or(workload)
        .chars()
        .take(WORKLOAD_MAX)
        .map(|c| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '-' })
        .collect();
    format!("{}-{name}-{:06x}", started.strftime("%Y%m%dT%H%M%SZ"), salt & 0xff_ffff)
}

/// Returns true if this can be the name of a directory in the results: neither a path, nor hidden.
#[must_use]
pub fn is_run_name(name: &str) -> bool {
    FileName::is_valid(name)
}

/// Returns the directory with the intervals of a run: that of its record, or its run directory in `results`. A record
/// may come from another user: a name that leads out of `results` is ignored.
pub(crate) fn directory(path: &Path, record: &RunRecord, results: &Path) -> Option<PathBuf> {
    let named = is_run_name(&record.id).then(|| results.join(&record.id));
    let places = [path.parent().map(Path::to_owned), named];
    places.into_iter().flatten().find(|place| is_of(place, path, record))
}

/// Returns true if a directory holds the intervals of this run: `--json` may write a record anywhere.
fn is_of(directory: &Path, record_path: &Path, record: &RunRecord) -> bool {
    let own = record_path.file_name().is_some_and(|name| name == RECORD);
    let is_named = directory.file_name().is_some_and(|name| name == record.id.as_str());
    (own || is_named) && directory.join(INTERVALS).is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_has_a_name_that_cannot_lead_elsewhere() {
        for workload in ["tproc-c", "../my scripts/../a=b.sql", "", "..", "/", "ä\0", &"x".repeat(300)] {
            let name = run_id(jiff::Timestamp::UNIX_EPOCH, workload, u64::MAX);
            assert!(is_run_name(&name), "{name}");
        }
        for name in ["", ".", "..", "a/b", "/a", "a/", "a\\b", ".a", "a\0", "a b", "ä", &"x".repeat(201)] {
            assert!(!is_run_name(name), "{name}");
        }
    }
}
