//! Figures of the last interval, and of its phase.

use pgdyno_measure::{Interval, Percentiles, Phase, TxnPart};
use pgdyno_wire::ErrorClass;

/// Figures of a period.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Figures {
    /// Committed transactions per second.
    pub(crate) tps: f64,
    /// Latencies: response time if there is a schedule.
    pub(crate) latency: Option<Percentiles>,
    /// Transactions that failed for good.
    pub(crate) failed: u64,
}

impl Figures {
    fn of(part: &TxnPart, seconds: f64) -> Self {
        let tps = if seconds > 0.0 { part.committed as f64 / seconds } else { 0.0 };
        Self { tps, latency: part.response_or_service().percentiles(), failed: part.failures() }
    }
}

/// Counts of the warm-up, and then of the measured window.
#[derive(Clone, Debug)]
pub(crate) struct Totals {
    /// The phase of the counts; the drain is not counted.
    pub(crate) phase: Option<Phase>,
    /// The last interval.
    pub(crate) now: Option<Figures>,
    /// The phase, all kinds of transactions together.
    pub(crate) whole: Figures,
    /// The phase by kind of transaction.
    pub(crate) kinds: Vec<Figures>,
    /// Connections that were lost in the whole run.
    pub(crate) lost: u64,
    seconds: f64,
    parts: Vec<TxnPart>,
    all: TxnPart,
}

impl Totals {
    /// Returns empty totals for so many kinds of transactions.
    pub(super) fn new(kinds: usize) -> Self {
        Self {
            phase: None,
            now: None,
            whole: Figures::default(),
            kinds: vec![Figures::default(); kinds],
            lost: 0,
            seconds: 0.0,
            parts: vec![TxnPart::default(); kinds],
            all: TxnPart::default(),
        }
    }

    pub(super) fn add(&mut self, interval: &Interval) {
        self.lost += interval.part.lost;
        if interval.phase == Phase::Drain {
            return;
        }
        if self.phase != Some(interval.phase) {
            *self = Self { phase: Some(interval.phase), lost: self.lost, ..Self::new(self.parts.len()) };
        }
        let now = interval.part.all();
        self.seconds += interval.seconds();
        self.all.merge(&now);
        self.now = Some(Figures::of(&now, interval.seconds()));
        self.whole = Figures::of(&self.all, self.seconds);
        for ((sum, figures), part) in self.parts.iter_mut().zip(&mut self.kinds).zip(&interval.part.txns) {
            sum.merge(part);
            *figures = Figures::of(sum, self.seconds);
        }
    }

    /// Returns the number of transactions of the phase that ended, with any outcome.
    pub(crate) fn ended(&self) -> u64 {
        self.all.completed() + self.all.failures()
    }

    /// Returns the failures of the phase with their names. Zeros are left out, except for failed transactions.
    pub(crate) fn troubles(&self) -> Vec<(String, u64)> {
        let classes = ErrorClass::ALL.iter().zip(self.all.failed).filter(|(_, n)| *n > 0);
        let classes: Vec<_> = classes.map(|(class, n)| (class.name(), n)).collect();
        let failed = match classes.as_slice() {
            [] => "failed".to_owned(),
            [(class, _)] => format!("failed ({class})"),
            several => {
                let parts: Vec<_> = several.iter().map(|(class, n)| format!("{class} {n}")).collect();
                format!("failed ({})", parts.join(", "))
            }
        };
        let others = [
            ("retried", self.all.retried),
            ("rolled back", self.all.rolled_back),
            ("late", self.all.late),
            ("skipped", self.all.skipped),
            ("connections lost", self.lost),
        ];
        let others = others.into_iter().filter(|(_, n)| *n > 0).map(|(name, n)| (name.to_owned(), n));
        std::iter::once((failed, self.all.failures())).chain(others).collect()
    }
}
