//! The columns of the list: their text and their order.

use std::cmp::Ordering;

use pgdyno_results::{RecordMetric, RunRecord};
use pgdyno_text::units;

use crate::run_source::Listed;

/// A column of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    Began,
    Workload,
    Clients,
    Tps,
    Nopm,
    P99,
    Status,
    Trust,
    Server,
    Driver,
    Target,
    Suite,
}

/// Maximum length of the name of a CPU, which is enough to distinguish them.
const PROCESSOR: usize = 32;

impl Column {
    /// All columns, from left to right.
    pub(crate) const ALL: [Self; 12] = [
        Self::Began,
        Self::Workload,
        Self::Status,
        Self::Trust,
        Self::Clients,
        Self::Tps,
        Self::Nopm,
        Self::P99,
        Self::Server,
        Self::Target,
        Self::Driver,
        Self::Suite,
    ];

    /// Returns its name in addresses.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Began => "began",
            Self::Workload => "workload",
            Self::Clients => "clients",
            Self::Tps => "tps",
            Self::Nopm => "nopm",
            Self::P99 => "p99",
            Self::Status => "status",
            Self::Trust => "trust",
            Self::Server => "server",
            Self::Driver => "driver",
            Self::Target => "target",
            Self::Suite => "suite",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|column| column.name() == name)
    }

    /// Returns its heading.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Began => "began (UTC)",
            Self::Tps => "TPS",
            Self::Nopm => "NOPM",
            Self::P99 => "p99 ms",
            column => column.name(),
        }
    }

    /// Returns true if it contains numbers: they are aligned right, and the greatest comes first.
    pub(crate) fn is_number(self) -> bool {
        matches!(self, Self::Clients | Self::Tps | Self::Nopm | Self::P99)
    }

    /// Returns true if its latest, or greatest, comes first by default.
    pub(crate) fn falls(self) -> bool {
        self.is_number() || self == Self::Began
    }

    fn number(self, record: &RunRecord) -> Option<f64> {
        match self {
            Self::Clients => Some(f64::from(record.plan.stage_clients())),
            Self::Tps | Self::Nopm | Self::P99 => {
                RecordMetric::named(self.name(), std::iter::once(record)).and_then(|metric| metric.value(record))
            }
            _ => None,
        }
    }

    /// Returns its text for a run; empty if unknown.
    pub(crate) fn text(self, run: &Listed, record: &RunRecord) -> String {
        let plan = &record.plan;
        match self {
            Self::Began => {
                let second = record.started_at.split(['.', 'Z']).next().unwrap_or_default();
                second.replacen('T', " ", 1)
            }
            Self::Workload => match plan.scale_name.as_str() {
                "" => plan.workload.clone(),
                name => format!("{}, {name} {}", plan.workload, plan.size()),
            },
            Self::Clients => units::count(u64::from(plan.stage_clients())),
            Self::Tps => self.number(record).map(units::rate).unwrap_or_default(),
            Self::Nopm => self.number(record).map(units::grouped).unwrap_or_default(),
            Self::P99 => self.number(record).map(|ns| units::ms(ns as u64)).unwrap_or_default(),
            Self::Status if run.goes_on => "running".to_owned(),
            Self::Status => record.status.name().to_owned(),
            Self::Trust if run.goes_on => String::new(),
            Self::Trust => record.trust.as_ref().map(|trust| trust.degree().name().to_owned()).unwrap_or_default(),
            Self::Server => record.server.as_ref().map(|server| short(&server.version)).unwrap_or_default(),
            Self::Driver => {
                let client = &record.client;
                format!("{} × {}", client.cpus, client.cpu.chars().take(PROCESSOR).collect::<String>())
            }
            Self::Target => {
                record.target.as_ref().map_or_else(|| plan.target.to_string(), |target| target.name.clone())
            }
            Self::Suite => plan.suite.as_ref().map(|suite| suite.suite.clone()).unwrap_or_default(),
        }
    }

    /// Compares two runs, the least first if `rising`. Unknown values come last in both orders.
    pub(crate) fn compare(self, a: &Listed, b: &Listed, rising: bool) -> Ordering {
        let turned = |order: Ordering| if rising { order } else { order.reverse() };
        let (Ok(x), Ok(y)) = (&a.record, &b.record) else {
            return a.record.is_err().cmp(&b.record.is_err());
        };
        if self.is_number() {
            let (x, y) = (self.number(x), self.number(y));
            return match (x, y) {
                (Some(x), Some(y)) => turned(x.total_cmp(&y)),
                _ => x.is_none().cmp(&y.is_none()),
            };
        }
        let (x, y) = (self.text(a, x), self.text(b, y));
        x.is_empty().cmp(&y.is_empty()).then_with(|| turned(x.cmp(&y)))
    }
}

/// Returns `PostgreSQL 18.1 on x86_64-pc-linux-gnu, …` without what follows the version.
fn short(version: &str) -> String {
    version.split(" on ").next().unwrap_or_default().split(" (").next().unwrap_or_default().to_owned()
}
