//! The link from a run to the study that it is a part of.

use pgdyno_results::{RunRecord, StudyKind, is_run_name};

/// Returns the address of the page of a run's study from that of the run, as files and where they are served, and the words of the
/// link.
pub(super) fn link(record: &RunRecord) -> Option<(String, &'static str)> {
    let place = record.plan.suite.as_ref().filter(|place| is_run_name(&place.id))?;
    let kind = StudyKind::of_run(place)?;
    let words = match kind {
        StudyKind::Experiment => "Its experiment",
        StudyKind::Search => "Its search",
        StudyKind::Frontier => "Its frontier",
    };
    Some((format!("../{}/{}.html", kind.directory(), place.id), words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_a_study_links_to_its_page_and_no_other_does() {
        let text = include_str!("../../../../fixtures/runs/v1/run.json");
        let mut record: RunRecord = serde_json::from_str(text).unwrap();
        assert_eq!(link(&record), None);
        let mut of = |suite: &str, id: &str| {
            let (suite, id) = (suite.to_owned(), id.to_owned());
            record.plan.suite = Some(pgdyno_plan::SuitePlan { suite, id, ..pgdyno_plan::SuitePlan::default() });
            link(&record)
        };
        let frontier = ("../frontiers/1-frontier-x-2.html".to_owned(), "Its frontier");
        assert_eq!(of("frontier-ch-benchmark", "1-frontier-x-2"), Some(frontier));
        assert_eq!(of("ab", "1-ab-x-2"), Some(("../ab/1-ab-x-2.html".to_owned(), "Its experiment")));
        assert_eq!(of("search-x", "1-search-x-2"), Some(("../searches/1-search-x-2.html".to_owned(), "Its search")));
        assert_eq!((of("nightly", "1-ab-x-2"), of("ab", "../x-ab-\"")), (None, None));
    }
}
