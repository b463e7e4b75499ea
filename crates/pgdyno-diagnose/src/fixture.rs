//! Runs for tests: a measured window from 2 s to 12 s with eight clients, of which a test says what it needs.

use pgdyno_results::{
    AnalyticsRecord, FindingRecord, GroupRecord, IntervalRecord, QueryRecord, RunRecord, SampleTable, Samples,
    ServerRecord, StageRecord, StatementRecord, StreamsRecord, Summary, Timeline,
};

use crate::facts::Facts;

/// A run and its samples.
pub(crate) struct Run {
    pub(crate) record: RunRecord,
    pub(crate) timeline: Timeline,
    pub(crate) samples: Samples,
}

/// Counters, and how fast they grow a second.
type Rates<'a> = &'a [(&'a str, f64)];

/// Seconds that are sampled.
const SECONDS: u32 = 13;

impl Run {
    pub(crate) fn new() -> Self {
        let text = include_str!("../../../fixtures/runs/v1/run.json");
        let mut record: RunRecord = serde_json::from_str(text).unwrap();
        record.plan.drive.clients = 8;
        record.plan.drive.connections = None;
        record.plan.drive.pace = pgdyno_plan::Pace::ClosedLoop;
        record.server = Some(ServerRecord::default());
        record.summary = Some(Summary { tps: 100.0, committed: 1000, duration_s: 10.0, ..Summary::default() });
        record.client.thread_busy = vec![0.2];
        record.client.run_delay = 0.0;
        let interval = |nth: u32| IntervalRecord {
            phase: if nth < 2 { "ramp" } else { "measure" }.to_owned(),
            start_s: f64::from(nth),
            end_s: f64::from(nth + 1),
            committed: 100,
            ..IntervalRecord::default()
        };
        let timeline = Timeline { intervals: (0..12).map(interval).collect(), ..Timeline::default() };
        Self { record, timeline, samples: Samples::default() }
    }

    pub(crate) fn summary(&mut self) -> &mut Summary {
        self.record.summary.as_mut().unwrap()
    }

    pub(crate) fn setting(mut self, name: &str, value: &str) -> Self {
        self.record.server.as_mut().unwrap().settings.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Clients' sessions by what they wait for, all the time.
    pub(crate) fn waits(self, waits: &[(&str, &str, f64)]) -> Self {
        let waits: Vec<_> = waits.iter().map(|(kind, event, n)| ("client backend", *kind, *event, *n)).collect();
        self.waits_of(&waits)
    }

    /// Sessions of several kinds by what they wait for, all the time.
    pub(crate) fn waits_of(self, waits: &[(&str, &str, &str, f64)]) -> Self {
        let columns = ["backend_type", "wait_event_type", "wait_event", "samples", "looks"];
        let row = |(session, kind, event, n): &(&str, &str, &str, f64)| {
            [*session, *kind, *event, &(n * 10.0).to_string(), "10"].map(str::to_owned).to_vec()
        };
        self.table("waits", &columns, &waits.iter().map(row).collect::<Vec<_>>())
    }

    /// So many streams beside the clients, each of whose queries ended ten times in the window.
    pub(crate) fn streams(mut self, streams: u32, queries: &[(&str, &str)]) -> Self {
        let group = |name: &str, clients| GroupRecord { name: name.to_owned(), clients, ..GroupRecord::default() };
        let stage = |name: &str, groups, window_s| StageRecord { name: name.to_owned(), window_s, groups };
        self.record.stages = vec![
            stage("mixed", vec![group("oltp", 8), group("olap", streams)], Some([2.0, 12.0])),
            stage("oltp-alone", vec![group("oltp", 8)], None),
        ];
        let query = |(name, _): &(&str, &str)| QueryRecord {
            name: (*name).to_owned(),
            completed: 10,
            ..QueryRecord::default()
        };
        let of_stage = StreamsRecord {
            stage: "mixed".to_owned(),
            group: "olap".to_owned(),
            streams,
            queries: queries.iter().map(query).collect(),
            ..StreamsRecord::default()
        };
        self.record.analytics = Some(AnalyticsRecord { stages: vec![of_stage], ..AnalyticsRecord::default() });
        let statement = |(name, sql): &(&str, &str)| StatementRecord {
            sql: (*sql).to_owned(),
            transaction: Some((*name).to_owned()),
            executed: 10,
            ..StatementRecord::default()
        };
        self.record.statements = queries.iter().map(statement).collect();
        self
    }

    /// Adds the same rows at every look.
    pub(crate) fn table(mut self, source: &str, columns: &[&str], rows: &[Vec<String>]) -> Self {
        let look = |nth: u32| rows.iter().map(move |row| (f64::from(nth), row.clone()));
        self.samples.insert(source, SampleTable::new(columns, (0..SECONDS).flat_map(look).collect()));
        self
    }

    /// One row at every look, of values that stay.
    pub(crate) fn gauges(self, source: &str, values: &[(&str, f64)]) -> Self {
        let columns: Vec<_> = values.iter().map(|(name, _)| *name).collect();
        self.table(source, &columns, &[values.iter().map(|(_, value)| value.to_string()).collect()])
    }

    /// One row at every look, of counters that grow so fast a second.
    pub(crate) fn counters(self, source: &str, rates: Rates<'_>) -> Self {
        self.keyed_counters(source, &[], &[(&[], rates)])
    }

    /// Adds counters of several rows, with the values of their keys.
    pub(crate) fn keyed_counters(mut self, source: &str, keys: &[&str], rows: &[(&[&str], Rates<'_>)]) -> Self {
        let columns: Vec<_> = keys.iter().copied().chain(rows[0].1.iter().map(|(name, _)| *name)).collect();
        let row = |nth: u32, (key, rates): &(&[&str], Rates<'_>)| {
            let values = rates.iter().map(|(_, rate)| (1e6 + rate * f64::from(nth)).to_string());
            (f64::from(nth), key.iter().map(|key| (*key).to_owned()).chain(values).collect::<Vec<_>>())
        };
        let all = (0..SECONDS).flat_map(|nth| rows.iter().map(move |r| row(nth, r))).collect();
        self.samples.insert(source, SampleTable::new(&columns, all));
        self
    }

    /// Looks at other moments, in the order of their columns.
    pub(crate) fn looks(mut self, source: &str, columns: &[&str], looks: &[(f64, &[&str])]) -> Self {
        let row = |(at, cells): &(f64, &[&str])| (*at, cells.iter().map(|cell| (*cell).to_owned()).collect());
        self.samples.insert(source, SampleTable::new(columns, looks.iter().map(row).collect()));
        self
    }

    /// Returns the result of `look` on this run.
    pub(crate) fn ask<T>(&self, look: impl FnOnce(&Facts<'_>) -> T) -> T {
        look(&Facts::of(&self.record, &self.timeline, &self.samples).unwrap())
    }

    /// Returns what a rule finds, which must have evidence.
    #[track_caller]
    pub(crate) fn finds(&self, rule: fn(&Facts<'_>) -> Option<FindingRecord>) -> FindingRecord {
        let found = self.ask(rule).expect("the rule finds something");
        assert!(
            !found.text.is_empty() && !found.evidence.is_empty() && (0.0..=1.0).contains(&found.weight),
            "{found:?}"
        );
        found
    }

    /// A rule that must be silent.
    #[track_caller]
    pub(crate) fn finds_nothing(&self, rule: fn(&Facts<'_>) -> Option<FindingRecord>) {
        assert_eq!(self.ask(rule), None);
    }
}
