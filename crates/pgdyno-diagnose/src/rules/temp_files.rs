//! Sorts and hashes that do not fit into memory go through temporary files.

use pgdyno_results::{Certainty, FindingRecord};
use pgdyno_samples::database;
use pgdyno_text::brief::number;
use pgdyno_text::units::mean_bytes;

use super::{UNKNOWN, share, waited, with_settings};
use crate::explained::Explained;
use crate::facts::Facts;
use crate::waits::Class;

/// Fewer bytes a second than this are nothing, unless sessions wait for them.
const BYTES_MIN: f64 = 10.0 * 1024.0 * 1024.0;

/// Bytes of temporary files that one CPU writes and reads again in a second, estimated.
const BYTES_PER_CPU_S: f64 = 200.0 * 1024.0 * 1024.0;

/// Writing and reading them is work on a CPU, where the system's cache takes them.
pub(crate) fn of_cpu(facts: &Facts<'_>) -> Option<Explained> {
    let bytes_per_s = facts.rate(database::TEMP_BYTES)?;
    let share = (bytes_per_s / BYTES_PER_CPU_S / facts.cpus_of_clients()).min(1.0);
    Some(Explained { share, certainty: Certainty::Consistent })
}

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    let written = facts.rate(database::TEMP_BYTES).filter(|n| *n > 0.0);
    let what = "temporary files of sorts and hashes";
    let mut found = match share(facts, Class::TempFile) {
        Some(_) => waited(facts, "temp-files", Class::TempFile, what)?,
        // The system's cache takes them, and a user pays for that.
        // Those of streams have a rule of their own.
        None if facts.streams.is_some() => return None,
        None => FindingRecord {
            rule: "temp-files".to_owned(),
            weight: UNKNOWN,
            also_seen: true,
            ..FindingRecord::default()
        },
    };
    match written.filter(|n| *n >= BYTES_MIN) {
        Some(written) => {
            let waits = std::mem::replace(
                &mut found.text,
                format!("sorts or hashes wrote {} of temporary files a second", mean_bytes(written)),
            );
            found.evidence.extend(Some(waits).filter(|waits| !waits.is_empty()));
        }
        None if found.also_seen => return None,
        None => {}
    }
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
