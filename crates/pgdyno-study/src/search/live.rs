//! What the view shows while a search measures.

use pgdyno_report::search::{load, verdict};
use pgdyno_results::SearchRecord;

/// Returns the highest load that met the objectives and the lowest that missed them, and how many runs are done.
pub(super) fn so_far(record: &SearchRecord, runs_max: usize) -> String {
    let of =
        |word: &'static str| record.points.iter().filter(move |point| verdict(point) == word).map(|point| point.load);
    let met = of("met").reduce(f64::max).map(|most| format!("met at {}", load(&record.by, most)));
    let missed = of("not met").reduce(f64::min).map(|least| format!("missed at {}", load(&record.by, least)));
    let known: Vec<String> = met.into_iter().chain(missed).collect();
    let known = if known.is_empty() { "no load is decided yet".to_owned() } else { known.join(", ") };
    format!("{}: {known}\n{} of at most {runs_max} runs done", record.objectives.join(", "), record.runs.len())
}

#[cfg(test)]
mod tests {
    use pgdyno_results::SearchPoint;

    use super::*;

    #[test]
    fn the_bounds_so_far_are_shown() {
        let mut record =
            SearchRecord::begin(String::new(), jiff::Timestamp::UNIX_EPOCH, String::new(), String::new(), "rate");
        record.objectives = vec!["p99 < 10ms".to_owned()];
        assert_eq!(so_far(&record, 40), "p99 < 10ms: no load is decided yet\n0 of at most 40 runs done");
        let point = |load, verdict: &str| SearchPoint { load, verdict: verdict.to_owned(), ..SearchPoint::default() };
        record.points =
            vec![point(100.0, "kept"), point(200.0, "kept"), point(400.0, "broken"), point(300.0, "broken")];
        record.runs = vec![String::new(); 5];
        assert_eq!(so_far(&record, 40), "p99 < 10ms: met at 200.0/s, missed at 300.0/s\n5 of at most 40 runs done");
    }
}
