//! Sorts and hashes that do not fit into memory go through temporary files.

use pgdyno_results::FindingRecord;
use pgdyno_samples::database;
use pgdyno_text::brief::number;
use pgdyno_text::units::mean_bytes;

use super::{UNKNOWN, share, waited, with_settings};
use crate::facts::Facts;
use crate::waits::Class;

/// Fewer bytes a second than this are nothing, unless sessions wait for them.
const BYTES_MIN: f64 = 10.0 * 1024.0 * 1024.0;

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    let what = "temporary files of sorts and hashes";
    let written = facts.rate(database::TEMP_BYTES).filter(|n| *n > 0.0);
    let mut found = match share(facts, Class::TempFile) {
        Some(_) => waited(facts, "temp-files", Class::TempFile, what)?,
        // The system's cache takes them, and a user pays for that.
        // Those of streams have a rule of their own.
        None if facts.streams.is_some() => return None,
        None => FindingRecord {
            rule: "temp-files".to_owned(),
            text: format!(
                "sorts or hashes wrote {} of temporary files a second",
                mean_bytes(written.filter(|n| *n >= BYTES_MIN)?)
            ),
            weight: UNKNOWN,
            also_seen: true,
            ..FindingRecord::default()
        },
    };
    if let Some(written) = written {
        let files = facts.rate(database::TEMP_FILES).unwrap_or_default();
        found.evidence.push(format!("{} in {} files a second", mean_bytes(written), number(files)));
    }
    found.advice = with_settings(facts, "raise work_mem", &["work_mem"]);
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    const MIB: f64 = 1024.0 * 1024.0;

    #[test]
    fn files_that_are_waited_for_weigh_by_that() {
        let run = Run::new()
            .waits(&[("IO", "BufFileWrite", 2.0)])
            .counters("database", &[("temp_files", 3.0), ("temp_bytes", MIB)])
            .setting("work_mem", "4MB");
        let found = run.finds(look);
        assert!((found.weight - 0.25).abs() < 1e-9);
        assert_eq!(found.evidence[1], "1.0 MiB in 3.0 files a second");
        assert_eq!(found.advice.unwrap(), "raise work_mem (work_mem is 4MB)");
    }

    #[test]
    fn large_files_are_reported_even_so() {
        let run = Run::new().counters("database", &[("temp_files", 3.0), ("temp_bytes", 50.0 * MIB)]);
        assert_eq!(run.finds(look).weight, UNKNOWN);
    }

    #[test]
    fn few_bytes_for_which_nobody_waits_are_nothing() {
        Run::new().waits(&[("CPU", "CPU", 2.0)]).counters("database", &[("temp_bytes", MIB)]).finds_nothing(look);
    }
}
