//! Decides which run of a suite comes next, and when the suite ends.

use pgdyno_life::exit_code::Code;
use pgdyno_plan::suite::OnFailure;

use super::execution::{End, Planned};
use super::standing::CompletedRun;

/// Returns the run to carry out next: the first that is not done. `None` when all are done, or one has failed and the suite stops
/// then.
pub(crate) fn next(standings: &[Option<CompletedRun>], on_failure: OnFailure) -> Option<usize> {
    let has_failed = standings.iter().flatten().any(|done| done.failure.is_some());
    let is_over = has_failed && on_failure == OnFailure::Stop;
    standings.iter().position(Option::is_none).filter(|_| !is_over)
}

/// Returns how a suite ended of which no run comes next.
pub(crate) fn end(standings: &[Option<CompletedRun>], is_stopping: bool) -> End {
    match standings.iter().all(Option::is_some) {
        true => End::Finished,
        false if is_stopping => End::Interrupted,
        false => End::Failure,
    }
}

/// Returns the exit code of an execution: all complete, ended by the user, or neither.
#[must_use]
pub fn code(end: Option<End>, standings: &[Option<CompletedRun>]) -> Code {
    let is_complete = standings.iter().all(|done| done.as_ref().is_some_and(|done| done.failure.is_none()));
    match end {
        _ if is_complete => Code::Success,
        Some(End::Interrupted) => Code::Interrupted,
        _ => Code::Run,
    }
}

/// Returns how long a run takes with its load: as the cell's finished repetitions did, otherwise as planned.
pub(crate) fn expected_s(runs: &[Planned], standings: &[Option<CompletedRun>], nth: usize) -> Option<f64> {
    let same = runs.iter().zip(standings).filter(|(run, _)| run.run == runs[nth].run);
    let took: Vec<f64> =
        same.filter_map(|(_, done)| done.as_ref().filter(|done| done.failure.is_none())?.seconds()).collect();
    if took.is_empty() { runs[nth].expected_s } else { Some(took.iter().sum::<f64>() / took.len() as f64) }
}

/// Returns how long the remaining runs from `nth` on take, including the rests between them.
pub(crate) fn left_s(runs: &[Planned], standings: &[Option<CompletedRun>], cool_down_s: f64) -> Option<f64> {
    let open = (0..runs.len()).filter(|nth| standings[*nth].is_none());
    open.map(|nth| expected_s(runs, standings, nth).map(|seconds| seconds + cool_down_s)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a run that took ten seconds.
    fn done(failure: Option<&str>) -> Option<CompletedRun> {
        let mut record: pgdyno_results::RunRecord =
            serde_json::from_str(include_str!("../../../../fixtures/runs/v1/run.json")).unwrap();
        record.started_at = "2026-01-01T00:00:00Z".to_owned();
        record.ended_at = Some("2026-01-01T00:00:10Z".to_owned());
        Some(CompletedRun { record, failure: failure.map(str::to_owned) })
    }

    #[test]
    fn runs_come_in_their_order_until_one_fails_or_all_are_done() {
        let some = [done(None), None, None];
        assert_eq!(next(&some, OnFailure::Stop), Some(1));
        let failed = [done(None), done(Some("no server")), None];
        assert_eq!((next(&failed, OnFailure::Continue), next(&failed, OnFailure::Stop)), (Some(2), None));
        assert_eq!((end(&failed, false), end(&failed, true)), (End::Failure, End::Interrupted));
        let all = [done(None), done(Some("no server"))];
        assert_eq!((next(&all, OnFailure::Continue), end(&all, true)), (None, End::Finished));
    }

    #[test]
    fn the_exit_code_says_whether_all_runs_are_complete() {
        assert_eq!(code(Some(End::Finished), &[done(None)]), Code::Success);
        assert_eq!(code(Some(End::Finished), &[done(None), done(Some("no server"))]), Code::Run);
        assert_eq!(code(Some(End::Budget), &[done(None), None]), Code::Run);
        assert_eq!(code(Some(End::Interrupted), &[done(None), None]), Code::Interrupted);
    }

    #[test]
    fn a_run_is_expected_to_take_what_its_repetitions_took() {
        let planned = |run: &str, expected_s| Planned { run: run.to_owned(), repetition: 1, expected_s };
        let runs = [planned("a", Some(4.0)), planned("a", Some(4.0)), planned("b", Some(7.0)), planned("c", None)];
        let standings = [done(None), None, None, None];
        let expected = [0, 1, 2, 3].map(|nth| expected_s(&runs, &standings, nth));
        assert_eq!(expected, [Some(10.0), Some(10.0), Some(7.0), None]);
        assert_eq!(left_s(&runs[..3], &standings[..3], 1.0), Some(19.0));
        assert_eq!(left_s(&runs, &standings, 1.0), None, "it is unknown how long c takes");
        // A failed repetition says nothing.
        assert_eq!(expected_s(&runs, &[done(Some("no server")), None, None, None], 1), Some(4.0));
    }
}
