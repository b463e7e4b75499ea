//! Selection of runs.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::record::{RunRecord, Status};

/// Conditions on runs. Absent and empty ones match every run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// The workload, as in the plan.
    pub workload: Option<String>,
    /// The recipe: its full name, or `vendor/` for all of a vendor's.
    pub recipe: Option<String>,
    /// The suite.
    pub suite: Option<String>,
    /// The target's name in `pgdyno.toml`, or as in the plan.
    pub target: Option<String>,
    /// The status.
    pub status: Option<Status>,
    /// The earliest start.
    pub since: Option<Timestamp>,
    /// Labels of the run or its target, each with its value.
    pub labels: Vec<(String, String)>,
}

impl Selection {
    /// Returns true if it selects every run.
    #[must_use]
    pub fn is_all(&self) -> bool {
        *self == Self::default()
    }

    /// Returns true if it selects a run.
    #[must_use]
    pub fn admits(&self, record: &RunRecord) -> bool {
        let plan = &record.plan;
        let is = |wanted: &Option<String>, found: Option<&str>| {
            wanted.as_ref().is_none_or(|wanted| found.is_some_and(|found| wanted == found))
        };
        let recipe = plan.recipe.as_ref().map(|recipe| recipe.name.as_str());
        let of_recipe = self.recipe.as_deref().is_none_or(|wanted| match recipe {
            Some(name) => name == wanted || (wanted.ends_with('/') && name.starts_with(wanted)),
            None => false,
        });
        let target = record.target.as_ref();
        let of_target =
            is(&self.target, Some(plan.target.as_str())) || is(&self.target, target.map(|t| t.name.as_str()));
        let began = || record.started_at.parse::<Timestamp>().ok();
        let has = |(name, value): &(String, String)| record.label(name) == Some(value);
        is(&self.workload, Some(&plan.workload))
            && of_recipe
            && is(&self.suite, plan.suite.as_ref().map(|suite| suite.suite.as_str()))
            && of_target
            && self.status.is_none_or(|status| status == record.status)
            && self.since.is_none_or(|since| began().is_some_and(|began| began >= since))
            && self.labels.iter().all(has)
    }

    /// Parses the time of `--since`: a date, which begins at midnight UTC, or a time with its zone.
    ///
    /// # Errors
    /// When it is neither.
    pub fn since(text: &str) -> Result<Timestamp, String> {
        let midnight = |date: Date| date.to_zoned(TimeZone::UTC).map(|zoned| zoned.timestamp());
        let moment = text.parse::<Timestamp>().ok();
        let moment = moment.or_else(|| text.parse::<Date>().and_then(midnight).ok());
        moment.ok_or_else(|| "write a date, as in 2026-01-31, or a moment, as in 2026-01-31T12:00:00Z".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_has_everything_that_is_asked_for() {
        let records = crate::fixture::all();
        let (full, empty) = (&records[0], &records[1]);
        let text = |text: &str| Some(text.to_owned());
        let plain = Selection::default;
        let yes = [
            Selection { workload: text("tproc-c"), ..plain() },
            Selection { recipe: text("alloydb/tpcc-full"), ..plain() },
            Selection { recipe: text("alloydb/"), ..plain() },
            Selection { suite: text("nightly"), ..plain() },
            Selection { target: text("big"), ..plain() },
            Selection { target: text("host=db1"), ..plain() },
            Selection { status: Some(Status::Complete), ..plain() },
            Selection { since: Selection::since("2026-01-02").ok(), ..plain() },
            Selection { labels: vec![("cluster".to_owned(), "c4+2w8".to_owned())], ..plain() },
        ];
        let no = [
            Selection { workload: text("tproc"), ..plain() },
            Selection { recipe: text("alloydb/tpcc"), ..plain() },
            Selection { since: Selection::since("2026-01-02T03:04:05.1Z").ok(), ..plain() },
            Selection { labels: vec![("cluster".to_owned(), "c4".to_owned())], ..plain() },
        ];
        assert!(plain().is_all() && plain().admits(full) && plain().admits(empty));
        for selection in yes {
            assert!(selection.admits(full) && !selection.admits(empty) && !selection.is_all(), "{selection:?}");
        }
        for selection in no {
            assert!(!selection.admits(full), "{selection:?}");
        }
    }

    #[test]
    fn a_label_of_the_run_counts_before_one_of_its_target() {
        let [mut record, _] = crate::fixture::all();
        let has = |record: &RunRecord, name: &str, value: &str| {
            let labels = vec![(name.to_owned(), value.to_owned())];
            Selection { labels, ..Selection::default() }.admits(record)
        };
        record.labels.insert("commit".to_owned(), "abc".to_owned());
        assert!(has(&record, "commit", "abc") && has(&record, "cluster", "c4+2w8") && !has(&record, "commit", "ab"));
        record.labels.insert("cluster".to_owned(), "c8".to_owned());
        assert!(has(&record, "cluster", "c8") && !has(&record, "cluster", "c4+2w8"));
    }

    #[test]
    fn dates_begin_at_midnight_and_what_is_none_is_refused() {
        assert_eq!(Selection::since("2026-01-31"), Selection::since("2026-01-31T00:00:00Z"));
        assert_eq!(Selection::since("2026-01-31T02:00:00+02:00"), Selection::since("2026-01-31"));
        for wrong in ["", "yesterday", "2026-02-30", "31.1.2026", "12:00"] {
            assert!(Selection::since(wrong).unwrap_err().contains("2026-01-31"), "{wrong}");
        }
    }
}
