//! Figures that runs are held against each other by.

use pgdyno_results::{RunRecord, Series, SeriesInterval};

use crate::text::percentile;
use crate::units::{ms, rate};

/// A figure of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Metric {
    /// Committed transactions a second.
    Tps,
    /// Committed New-Orders a minute.
    Nopm,
    /// Transactions a minute as the server counts them.
    Tpm,
    /// Statements a second.
    Qps,
    /// A percentile of the response times, in percent.
    Percentile(f64),
}

impl Metric {
    /// Every metric by its name on the command line.
    pub const ALL: [(&'static str, Self); 9] = [
        ("tps", Self::Tps),
        ("nopm", Self::Nopm),
        ("tpm", Self::Tpm),
        ("qps", Self::Qps),
        ("p50", Self::Percentile(50.0)),
        ("p90", Self::Percentile(90.0)),
        ("p95", Self::Percentile(95.0)),
        ("p99", Self::Percentile(99.0)),
        ("p99.9", Self::Percentile(99.9)),
    ];

    /// The metric of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, metric)| *metric)
    }

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, metric)| *metric == self).map_or("percentile", |(name, _)| name)
    }

    /// What a run is known by: NOPM where every run has it, else TPS.
    #[must_use]
    pub fn usual<'a>(mut records: impl Iterator<Item = &'a RunRecord>) -> Self {
        if records.all(|record| Self::Nopm.of(record).is_some()) { Self::Nopm } else { Self::Tps }
    }

    /// Its title in tables, with its unit.
    pub(crate) fn title(self) -> String {
        match self {
            Self::Percentile(_) => format!("{} ms", self.name()),
            _ => self.name().to_uppercase(),
        }
    }

    /// Whether more of it is worse.
    pub(crate) fn is_latency(self) -> bool {
        matches!(self, Self::Percentile(_))
    }

    /// Its value: per second or minute, or nanoseconds. `None` where the run has none above zero.
    pub(crate) fn of(self, record: &RunRecord) -> Option<f64> {
        let summary = record.summary.as_ref()?;
        let value = match self {
            Self::Tps => Some(summary.tps),
            Self::Nopm => summary.nopm,
            Self::Tpm => summary.tpm,
            Self::Qps => Some(summary.qps),
            Self::Percentile(percent) => {
                summary.response_latency_ns.as_ref().and_then(|l| percentile(l, percent)).map(|ns| ns as f64)
            }
        };
        value.filter(|value| *value > 0.0)
    }

    /// A value as people read it.
    pub(crate) fn told(self, value: f64) -> String {
        if self.is_latency() { ms(value.round() as u64) } else { rate(value) }
    }

    /// How the metric went from interval to interval, up to a factor; not of latencies. TPM and QPS are taken to go as
    /// TPS does. An interval that was cut short says little, and is left out.
    pub(crate) fn by_interval(self, series: &Series) -> Vec<f64> {
        let longest = series.intervals.iter().map(|interval| interval.seconds).fold(0.0, f64::max);
        let whole = series.intervals.iter().filter(|interval| interval.seconds > longest / 2.0);
        let counted = |interval: &SeriesInterval| match self {
            Self::Nopm => interval.new_orders.unwrap_or(interval.committed),
            _ => interval.committed,
        };
        whole.map(|interval| counted(interval) as f64 / interval.seconds).collect()
    }
}
