//! The figures of streams of queries: times, sets, what was still running at the end, and the age of what they saw.

use pgdyno_engine::RunOutcome;
use pgdyno_measure::Totals;
use pgdyno_measure::mean::{mean, reach};
use pgdyno_results::{
    AnalyticsRecord, Execution, ExecutionOutcome, FreshnessRecord, GroupRecord, GrowingTableRecord, QueryRecord,
    RunRecord, StreamsRecord, UnfinishedRecord,
};
use pgdyno_workload::{Drive, Ends, Group, GroupWork, Stage};

use crate::drive::executions::Kept;

/// Returns the figures of all stages with streams that go on for a time; `None` if there are none. `rows_before` is about
/// the number of rows of the growing table when the clients began.
pub(crate) fn analytics(
    drive: &Drive,
    record: &RunRecord,
    outcome: &RunOutcome,
    kept: &Kept,
    rows_before: Option<u64>,
) -> Option<AnalyticsRecord> {
    let windows: Vec<&Totals> =
        std::iter::once(&outcome.measured).chain(outcome.later_stages.iter().map(|stage| &stage.measured)).collect();
    let growth = drive.growth.zip(rows_before).map(|(growth, rows_before)| GrowingTableRecord {
        table: growth.table.to_owned(),
        rows_before,
        rows_after: rows_before + kept.added.last().map_or(0, |(_, rows)| *rows),
    });
    let kinds = drive.txns();
    let txns: Vec<&str> = kinds.iter().map(|txn| txn.name).collect();
    let unaffected = drive.growth.map_or(&[][..], |growth| growth.unaffected);
    let stages = &drive.stages;
    let of_stage = |(nth, stage): (usize, &Stage)| {
        let group = stage.groups.iter().find(|group| group.work == GroupWork::Queries && stage.ends == Ends::After)?;
        let window = windows.get(nth)?;
        let streams = Streams {
            stage: stage.name,
            from_s: window.start_ns as f64 / 1e9,
            until_s: window.end_ns as f64 / 1e9,
            executions: kept.executions.iter().filter(|execution| execution.stage == stage.name).collect(),
            growth: growth.as_ref().map(|growth| (growth.rows_before, &kept.added[..])),
        };
        let figures = record.stages.get(nth)?.groups.iter().find(|record| record.name == group.name);
        let query = |name: &&str| {
            let query = streams.query(name, !unaffected.contains(name));
            let rows_mean = figures.and_then(|figures| rows(figures, name));
            let is_empty = rows_mean.is_some_and(|rows| rows == 0.0);
            let kind = kinds.iter().find(|kind| kind.name == *name).filter(|_| is_empty);
            let why_no_rows = kind.and_then(|kind| kind.why_no_rows).map(str::to_owned);
            QueryRecord { rows_mean, why_no_rows, ..query }
        };
        let seen = || txns.iter().filter(|name| streams.executions.iter().any(|e| e.transaction == **name));
        let (sets, first_set_s, last_set_s) = streams.sets(seen().count());
        let hour = figures.map(|figures| &figures.summary).filter(|summary| summary.duration_s > 0.0);
        let hour = hour.map(|summary| summary.committed as f64 / summary.duration_s * 3600.0);
        Some(StreamsRecord {
            stage: stage.name.to_owned(),
            group: group.name.to_owned(),
            streams: clients(group, record),
            sets,
            first_set_s,
            last_set_s,
            queries_per_hour_interval: hour.and_then(|hour| streams.interval_of_rate(hour, seen().count())),
            queries: seen().map(query).collect(),
            unfinished: streams.unfinished(),
            freshness: freshness(kept.commits.ages(nth, streams.from_s, streams.until_s)),
        })
    };
    let stages: Vec<_> = stages.iter().enumerate().filter_map(of_stage).collect();
    (!stages.is_empty()).then_some(AnalyticsRecord { growth, stages, ..AnalyticsRecord::default() })
}

fn clients(group: &Group, record: &RunRecord) -> u32 {
    group.clients.number(record.plan.drive.clients)
}

/// Returns the mean number of rows that a query returned, if they were counted.
fn rows(group: &GroupRecord, name: &str) -> Option<f64> {
    let statement = group.statements.iter().find(|s| s.transaction.as_deref() == Some(name) && s.executed > 0)?;
    Some(statement.rows? as f64 / statement.executed as f64)
}

/// The executions of one stage.
struct Streams<'a> {
    stage: &'a str,
    /// The measured window.
    from_s: f64,
    until_s: f64,
    /// By their start.
    executions: Vec<&'a Execution>,
    /// Rows of the growing table before the run, and time and rows that were added until then.
    growth: Option<(u64, &'a [(f64, u64)])>,
}

impl Streams<'_> {
    /// Returns true if an execution ended in the window.
    fn is_counted(&self, execution: &Execution) -> bool {
        execution.end_s > self.from_s
            && execution.end_s <= self.until_s
            && execution.outcome != ExecutionOutcome::Unfinished
    }

    /// Returns the figures of a query, without its rows.
    fn query(&self, name: &str, grows: bool) -> QueryRecord {
        let of_query = || self.executions.iter().filter(|e| e.transaction == name && self.is_counted(e));
        let count = |outcome| of_query().filter(|e| e.outcome == outcome).count() as u64;
        let completed = || of_query().filter(|e| e.is_completed());
        let times: Vec<f64> = completed().map(|e| e.seconds()).collect();
        let at_first_size: Vec<f64> = completed().filter_map(|e| Some(e.seconds() * self.share(e.start_s)?)).collect();
        QueryRecord {
            name: name.to_owned(),
            completed: times.len() as u64,
            failed: count(ExecutionOutcome::Failed),
            conflicts: count(ExecutionOutcome::Conflict),
            timed_out: count(ExecutionOutcome::TimedOut),
            seconds_p50: quantile(&times, 0.5),
            seconds_p95: quantile(&times, 0.95),
            seconds_p50_by_growth: quantile(&at_first_size, 0.5).filter(|_| grows),
            rows_mean: None,
            why_no_rows: None,
        }
    }

    /// Returns the rows of the growing table before the run, as a share of those at this time.
    fn share(&self, at_s: f64) -> Option<f64> {
        let (before, added) = self.growth.filter(|(before, _)| *before > 0)?;
        let until = added.partition_point(|(end_s, _)| *end_s <= at_s);
        let rows = until.checked_sub(1).map_or(0, |last| added[last].1);
        Some(before as f64 / (before + rows) as f64)
    }

    /// Returns start and end of the sets of so many queries that each stream ended. A set with a query that failed is none.
    fn whole_sets(&self, queries: usize) -> Vec<Vec<(f64, f64)>> {
        let mut clients: Vec<u32> = self.executions.iter().map(|execution| execution.client).collect();
        clients.sort_unstable();
        clients.dedup();
        let of_stream = |client: u32| {
            let mine: Vec<_> = self.executions.iter().filter(|execution| execution.client == client).collect();
            let whole = |set: &[&&Execution]| set.iter().all(|e| e.is_completed() && e.end_s <= self.until_s);
            let ends = |set: &[&&Execution]| (set[0].start_s, set[set.len() - 1].end_s);
            mine.chunks_exact(queries.max(1)).filter(|set| whole(set)).map(ends).collect()
        };
        clients.into_iter().map(of_stream).collect()
    }

    /// Returns the number of sets of so many queries that streams ended, and the mean times of the first and the last ones.
    fn sets(&self, queries: usize) -> (u64, Option<f64>, Option<f64>) {
        let sets = self.whole_sets(queries);
        let length = |(start_s, end_s): &(f64, f64)| end_s - start_s;
        let first: Vec<f64> = sets.iter().filter_map(|sets| sets.first().map(length)).collect();
        let last: Vec<f64> =
            sets.iter().filter(|sets| sets.len() > 1).filter_map(|sets| sets.last().map(length)).collect();
        (sets.iter().map(|sets| sets.len() as u64).sum(), mean(&first), mean(&last))
    }

    /// Returns both ends of the 95 % interval of so many queries an hour: as uncertain as the mean time of the sets that ended in
    /// the window, of all streams. Queries differ much from each other, whole sets do not.
    fn interval_of_rate(&self, per_hour: f64, queries: usize) -> Option<[f64; 2]> {
        let sets = self.whole_sets(queries);
        let in_window = sets.iter().flatten().filter(|(_, end_s)| *end_s > self.from_s);
        let times: Vec<f64> = in_window.map(|(start_s, end_s)| end_s - start_s).collect();
        let factor = (reach(&times)? / mean(&times).filter(|mean| *mean > 0.0)?).exp();
        Some([per_hour / factor, per_hour * factor])
    }

    /// Returns the queries that began in the window, or before, and did not end in it.
    fn unfinished(&self) -> Vec<UnfinishedRecord> {
        let is_running = |e: &&&Execution| e.stage == self.stage && e.start_s < self.until_s && e.end_s > self.until_s;
        let unfinished = |e: &&Execution| UnfinishedRecord {
            stream: e.client,
            name: e.transaction.clone(),
            seconds: self.until_s - e.start_s,
        };
        let running = self.executions.iter().filter(is_running).map(unfinished);
        let mut running: Vec<_> = running.collect();
        // Streams are numbered within their group.
        let first = self.executions.iter().map(|execution| execution.client).min().unwrap_or_default();
        running.iter_mut().for_each(|unfinished| unfinished.stream -= first);
        running
    }
}

/// Returns the smallest value that this share of all does not exceed.
fn quantile(values: &[f64], share: f64) -> Option<f64> {
    let mut values = values.to_vec();
    values.sort_unstable_by(f64::total_cmp);
    let nth = ((values.len() as f64 * share).ceil() as usize).max(1) - 1;
    values.get(nth).copied()
}

fn freshness(ages: Vec<f64>) -> Option<FreshnessRecord> {
    let age = |share| quantile(&ages, share).unwrap_or_default();
    (!ages.is_empty()).then(|| FreshnessRecord {
        queries: ages.len() as u64,
        fresh: ages.iter().filter(|age| **age == 0.0).count() as u64,
        age_s_p50: age(0.5),
        age_s_p95: age(0.95),
        age_s_p99: age(0.99),
        age_s_max: age(1.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn execution(client: u32, name: &str, start_s: f64, end_s: f64, outcome: ExecutionOutcome) -> Execution {
        let (stage, transaction) = ("mixed".to_owned(), name.to_owned());
        Execution { stage, client, transaction, start_s, end_s, outcome, memory_bytes_max: None }
    }

    fn streams<'a>(executions: &'a [Execution], added: &'a [(f64, u64)]) -> Streams<'a> {
        let executions = executions.iter().collect();
        Streams { stage: "mixed", from_s: 1.0, until_s: 10.0, executions, growth: Some((100, added)) }
    }

    #[test]
    fn a_query_has_the_times_of_what_ended_in_the_window() {
        use ExecutionOutcome::{Completed, Conflict, Unfinished};
        let executions = [
            execution(4, "q1", 0.0, 0.9, Completed),
            execution(4, "q1", 0.9, 2.9, Completed),
            execution(4, "q1", 6.0, 9.0, Completed),
            execution(4, "q1", 9.0, 9.5, Conflict),
            execution(4, "q2", 9.6, 10.2, Completed),
            execution(5, "q1", 8.0, 15.0, Unfinished),
        ];
        // The table doubles at 5 s.
        let streams = streams(&executions, &[(5.0, 100), (10.0, 900)]);
        let q1 = streams.query("q1", true);
        assert_eq!((q1.completed, q1.conflicts, q1.failed), (2, 1, 0));
        assert_eq!((q1.seconds_p50, q1.seconds_p95, q1.seconds_p50_by_growth), (Some(2.0), Some(3.0), Some(1.5)));
        assert_eq!(streams.query("q1", false).seconds_p50_by_growth, None);
        let running: Vec<_> = streams.unfinished().into_iter().map(|u| (u.stream, u.name, u.seconds)).collect();
        assert_eq!(running.len(), 2);
        assert_eq!((running[0].0, running[0].1.as_str(), running[1].0, running[1].2), (0, "q2", 1, 2.0));
    }

    #[test]
    fn sets_are_those_that_a_stream_ended_whole() {
        use ExecutionOutcome::{Completed, TimedOut};
        let executions = [
            execution(4, "q1", 0.0, 1.0, Completed),
            execution(4, "q2", 1.0, 2.0, Completed),
            execution(4, "q1", 2.0, 3.0, TimedOut),
            execution(4, "q2", 3.0, 4.0, Completed),
            execution(4, "q1", 4.0, 5.0, Completed),
            execution(4, "q2", 5.0, 9.0, Completed),
            execution(4, "q1", 9.0, 9.5, Completed),
            execution(5, "q2", 0.0, 4.0, Completed),
            execution(5, "q1", 4.0, 8.0, Completed),
        ];
        let streams = streams(&executions, &[]);
        assert_eq!(streams.sets(2), (3, Some(5.0), Some(5.0)));
        // Of 2, 5 and 8 s; t is 4.303 with two degrees of freedom.
        let factor = (4.302_652_73 * 3.0 / 3_f64.sqrt() / 5.0_f64).exp();
        let [low, high] = streams.interval_of_rate(100.0, 2).unwrap();
        assert!((low * factor - 100.0).abs() < 1e-5 && (high / factor - 100.0).abs() < 1e-5, "{low} {high}");
        assert_eq!(streams.interval_of_rate(100.0, 7), None, "one set is not enough");
    }

    #[test]
    fn ages_are_ordered_and_fresh_answers_counted() {
        let found = freshness(vec![0.0, 3.0, 0.0, 1.0]).unwrap();
        assert_eq!((found.queries, found.fresh, found.age_s_p50, found.age_s_p95), (4, 2, 0.0, 3.0));
        assert_eq!(freshness(Vec::new()), None);
    }
}
