//! The metrics of a run: the one table in which reports, comparisons, suites and pages look figures up.

use std::borrow::Cow;

use pgdyno_text::units;
use pgdyno_workload::{Better, Unit};

use crate::interval::IntervalRecord;
use crate::record::{LatencyRecord, MetricRecord, RunRecord, Summary};
use crate::series::{Responses, Series};

/// A metric: its name, its unit, which way is better, and the source of its values.
#[derive(Clone, Debug)]
pub struct RecordMetric {
    name: Cow<'static, str>,
    title: Cow<'static, str>,
    meaning: Cow<'static, str>,
    unit: Unit,
    better: Better,
    source: Source,
}

/// Source of a metric's values.
#[derive(Clone, Debug)]
enum Source {
    /// A figure of the summary.
    Summary(fn(&Summary) -> Option<f64>),
    /// A percentile of the response times, in percent.
    Percentile(f64),
    /// A metric of the workload, which counts these transactions.
    Workload(Vec<String>),
}

/// Metrics are equal if their names are.
impl PartialEq for RecordMetric {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

const fn rate(
    name: &'static str,
    title: &'static str,
    meaning: &'static str,
    unit: Unit,
    of: fn(&Summary) -> Option<f64>,
) -> RecordMetric {
    metric(name, title, meaning, (unit, Better::Higher), Source::Summary(of))
}

const fn latency(name: &'static str, title: &'static str, meaning: &'static str, source: Source) -> RecordMetric {
    metric(name, title, meaning, (Unit::Nanoseconds, Better::Lower), source)
}

const fn metric(
    name: &'static str,
    title: &'static str,
    meaning: &'static str,
    (unit, better): (Unit, Better),
    source: Source,
) -> RecordMetric {
    RecordMetric {
        name: Cow::Borrowed(name),
        title: Cow::Borrowed(title),
        meaning: Cow::Borrowed(meaning),
        unit,
        better,
        source,
    }
}

fn of_latency(summary: &Summary, of: fn(&LatencyRecord) -> f64) -> Option<f64> {
    summary.response_latency_ns.as_ref().map(of)
}

/// Metrics that any run may have. Formulas: docs/measurement.md.
static COMMON: [RecordMetric; 11] = [
    rate("tps", "TPS", "committed transactions a second", Unit::PerSecond, |s| Some(s.tps)),
    rate("tpm", "TPM", "commits and rollbacks a minute, as the server counts them", Unit::PerMinute, |s| s.tpm),
    rate("qps", "QPS", "SELECT, INSERT, UPDATE and DELETE statements a second", Unit::PerSecond, |s| Some(s.qps)),
    latency("p50", "p50 ms", "response time, the median", Source::Percentile(50.0)),
    latency("p90", "p90 ms", "response time that 90 of 100 do not exceed", Source::Percentile(90.0)),
    latency("p95", "p95 ms", "response time that 95 of 100 do not exceed", Source::Percentile(95.0)),
    latency("p99", "p99 ms", "response time that 99 of 100 do not exceed", Source::Percentile(99.0)),
    latency("p99.9", "p99.9 ms", "response time that 999 of 1,000 do not exceed", Source::Percentile(99.9)),
    latency("mean", "mean ms", "response time, the arithmetic mean", Source::Summary(|s| of_latency(s, |l| l.mean))),
    latency(
        "stddev",
        "stddev ms",
        "response time, the standard deviation",
        Source::Summary(|s| of_latency(s, |l| l.stddev)),
    ),
    metric(
        "server_cpu",
        "% CPU of the server",
        "CPU that the server's machine used, all programs together",
        (Unit::Percent, Better::Neither),
        Source::Summary(|s| s.server_cpu_percent),
    ),
];

/// Name of the workload metric that the summary of a record has.
pub(crate) const NOPM: &str = "nopm";

impl RecordMetric {
    /// Returns a metric that any run may have.
    #[must_use]
    pub fn common(name: &str) -> Option<Self> {
        COMMON.iter().find(|metric| metric.name == name).cloned()
    }

    /// Returns committed transactions a second.
    #[must_use]
    pub fn tps() -> Self {
        COMMON[0].clone()
    }

    /// Returns a metric that a workload declares.
    #[must_use]
    pub fn declared(by_workload: &pgdyno_workload::Metric) -> Self {
        let transactions = by_workload.transactions.iter().map(|name| (*name).to_owned()).collect();
        let (unit, better) = by_workload.measured.unit();
        Self {
            name: by_workload.name.into(),
            title: by_workload.title.into(),
            meaning: by_workload.meaning.into(),
            unit,
            better,
            source: Source::Workload(transactions),
        }
    }

    /// Returns the metrics by which runs can be compared: TPS, those of workloads, other rates, percentiles.
    pub fn comparable(of_workloads: impl IntoIterator<Item = Self>) -> impl Iterator<Item = Self> {
        let (tps, others) = (Self::tps(), &COMMON[1..]);
        let others = others.iter().filter(|m| m.better == Better::Higher || m.percentile().is_some()).cloned();
        std::iter::once(tps).chain(of_workloads).chain(others)
    }

    /// Returns the metrics that the workloads of these runs declare, each once.
    pub fn of_workloads<'a>(records: impl Iterator<Item = &'a RunRecord>) -> Vec<Self> {
        let mut found = Vec::new();
        for metric in records.flat_map(Self::of_workload) {
            if !found.contains(&metric) {
                found.push(metric);
            }
        }
        found
    }

    /// Returns every metric of a run, those of its workload first.
    pub fn all(record: &RunRecord) -> impl Iterator<Item = Self> {
        Self::of_workload(record).into_iter().chain(COMMON.iter().cloned())
    }

    /// Returns the metrics that the workload of a run declares, the headline first.
    #[must_use]
    pub fn of_workload(record: &RunRecord) -> Vec<Self> {
        let own = |(name, metric): (&String, &MetricRecord)| {
            let own = metric.workload.as_ref()?;
            let metric = Self {
                name: name.clone().into(),
                title: own.title.clone().into(),
                meaning: own.meaning.clone().into(),
                unit: metric.unit,
                better: metric.better,
                source: Source::Workload(own.transactions.clone()),
            };
            Some((!own.headline, metric))
        };
        let mut found: Vec<_> = record.metrics.iter().filter_map(own).collect();
        found.sort_by_key(|(is_other, _)| *is_other);
        let found: Vec<_> = found.into_iter().map(|(_, metric)| metric).collect();
        if found.is_empty() { Self::of_first_format(record) } else { found }
    }

    /// A record of 0.1.0 has no metrics, except for one in its summary.
    fn of_first_format(record: &RunRecord) -> Vec<Self> {
        let nopm = record.summary.as_ref().and_then(|summary| summary.nopm).map(|_| Self {
            name: NOPM.into(),
            title: "NOPM".into(),
            meaning: "committed New-Orders a minute".into(),
            unit: Unit::PerMinute,
            better: Better::Higher,
            source: Source::Workload(vec!["new-order".to_owned()]),
        });
        nopm.into_iter().collect()
    }

    /// Returns the metric of this name, of any of these runs.
    #[must_use]
    pub fn named<'a>(name: &str, records: impl Iterator<Item = &'a RunRecord>) -> Option<Self> {
        Self::common(name).or_else(|| records.flat_map(Self::of_workload).find(|metric| metric.name == name))
    }

    /// Returns the metric of a published figure, such as `latency_ms_mean`.
    #[must_use]
    pub fn published(name: &str, record: Option<&RunRecord>) -> Option<Self> {
        let name = name.strip_prefix("latency_ms_").or(name.strip_suffix("_percent")).unwrap_or(name);
        Self::named(name, record.into_iter())
    }

    /// Returns the headline metric: the first metric of the workload if every run has it, else TPS.
    #[must_use]
    pub fn headline<'a>(mut records: impl Iterator<Item = &'a RunRecord>) -> Self {
        let own = records.next().and_then(|first| {
            Self::of_workload(first).into_iter().next().filter(|metric| metric.value(first).is_some())
        });
        own.filter(|metric| records.all(|record| metric.value(record).is_some())).unwrap_or_else(Self::tps)
    }

    /// Returns its name on the command line and in records.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns its title in tables, with its unit.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Returns one line of explanation.
    #[must_use]
    pub fn meaning(&self) -> &str {
        &self.meaning
    }

    /// Returns the unit of its values.
    #[must_use]
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// Returns a value of it in a list: rates as whole numbers, seconds with useful digits.
    #[must_use]
    pub fn listed(&self, value: f64) -> String {
        if self.unit == Unit::Seconds { units::seconds(value) } else { units::grouped(value) }
    }

    /// Returns true if less of it is better.
    #[must_use]
    pub fn is_latency(&self) -> bool {
        self.better == Better::Lower
    }

    /// Returns true if more of it is better, or less.
    #[must_use]
    pub fn is_judged(&self) -> bool {
        self.better != Better::Neither
    }

    /// Returns the percentile of the response times that it is, in percent.
    #[must_use]
    pub fn percentile(&self) -> Option<f64> {
        match self.source {
            Source::Percentile(percent) => Some(percent),
            _ => None,
        }
    }

    /// Returns its value in a run, in [`RecordMetric::unit`]; `None` if the run has none above zero.
    #[must_use]
    pub fn value(&self, record: &RunRecord) -> Option<f64> {
        let summary = record.summary.as_ref()?;
        let value = match &self.source {
            Source::Summary(of) => of(summary),
            Source::Percentile(percent) => {
                let latency = summary.response_latency_ns.as_ref();
                latency.and_then(|latency| latency.percentile(*percent)).map(|ns| ns as f64)
            }
            Source::Workload(_) => {
                let stored = record.metrics.get(&*self.name).map(|metric| metric.value);
                stored.or_else(|| summary.nopm.filter(|_| self.name == NOPM))
            }
        };
        value.filter(|value| *value > 0.0)
    }

    /// Returns its values by interval, up to a factor; none for latencies, which no interval has. TPM and QPS follow TPS. Skips
    /// intervals that were cut short.
    #[must_use]
    pub fn by_interval(&self, series: &Series) -> Vec<f64> {
        if self.is_latency() {
            return Vec::new();
        }
        let longest = series.intervals.iter().map(|(interval, _)| interval.seconds()).fold(0.0, f64::max);
        let whole = series.intervals.iter().filter(|(interval, _)| interval.seconds() > longest / 2.0);
        let rate = |(interval, responses): &(IntervalRecord, Responses)| {
            let counted = match &self.source {
                Source::Workload(transactions) => responses.completed_of(transactions),
                _ => None,
            };
            counted.unwrap_or(interval.committed) as f64 / interval.seconds()
        };
        let values: Vec<f64> = whole.map(rate).collect();
        // The intervals are of transactions that the metric does not count, such as those beside queries.
        if values.iter().all(|value| *value == 0.0) { Vec::new() } else { values }
    }
}

/// Returns the metrics of `record` that any run may have and that have a value, in the form of its `metrics`.
pub(crate) fn common_records(record: &RunRecord) -> impl Iterator<Item = (String, MetricRecord)> {
    COMMON.iter().filter_map(|metric| {
        let value = metric.value(record)?;
        let kept = MetricRecord { value, unit: metric.unit, better: metric.better, workload: None };
        Some((metric.name.clone().into_owned(), kept))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn every_metric_has_a_name_of_its_own() {
        let names: std::collections::BTreeSet<_> = COMMON.iter().map(RecordMetric::name).collect();
        assert_eq!(names.len(), COMMON.len());
    }

    #[test]
    fn runs_are_compared_by_rates_and_percentiles_and_what_their_workloads_declare() {
        let names = |own: Vec<RecordMetric>| {
            RecordMetric::comparable(own).map(|m| m.name().to_owned()).collect::<Vec<_>>().join(" ")
        };
        let [own, other] = fixture::all();
        let of_both = RecordMetric::of_workloads([&own, &own, &other].into_iter());
        assert_eq!(names(of_both), "tps nopm tpm qps p50 p90 p95 p99 p99.9");
        assert_eq!(names(Vec::new()), "tps tpm qps p50 p90 p95 p99 p99.9");
    }

    #[test]
    fn the_figures_that_documents_publish_are_metrics() {
        let [record, _] = fixture::all();
        let published = pgdyno_plan::recipe::PublishedFigures {
            nopm: Some(1.0),
            tpm: Some(1.0),
            tps: Some(1.0),
            qps: Some(1.0),
            latency_ms_mean: Some(1.0),
            latency_ms_stddev: Some(1.0),
            server_cpu_percent: Some(1.0),
            note: String::new(),
        };
        for figure in published.list() {
            assert!(RecordMetric::published(&figure.metric, Some(&record)).is_some(), "{}", figure.metric);
        }
    }

    #[test]
    fn runs_are_known_by_their_workload_s_metric_where_all_have_it() {
        let [own, _] = fixture::all();
        let mut plain = own.clone();
        plain.metrics.clear();
        plain.summary.as_mut().unwrap().nopm = None;
        assert_eq!(RecordMetric::headline([&own, &own].into_iter()).name(), "nopm");
        assert_eq!(RecordMetric::headline([&own, &plain].into_iter()).name(), "tps");
        assert_eq!(RecordMetric::headline([&plain, &own].into_iter()).name(), "tps");
    }

    #[test]
    fn a_record_of_the_first_format_has_its_metric_in_the_summary() {
        let [mut old, _] = fixture::all();
        old.metrics.clear();
        let nopm = RecordMetric::headline(std::iter::once(&old));
        assert_eq!((nopm.name(), nopm.value(&old)), ("nopm", old.summary.unwrap().nopm));
    }
}
