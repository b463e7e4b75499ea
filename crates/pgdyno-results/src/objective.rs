//! Objectives: conditions on the figures of a run.

use std::fmt;
use std::str::FromStr;

use pgdyno_text::{parse, units};

use crate::record::{LatencyRecord, ObjectiveRecord, RunRecord, TransactionRecord};

/// Digits behind the point that distinguish a figure from its bound, at most.
const DIGITS_MAX: usize = 10;
/// The margin of one standard deviation of a count of failures: a tenth.
const MARGIN_OF_DEVIATION: f64 = 0.1;

/// A figure of the response time.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Figure {
    P50,
    P90,
    P95,
    P99,
    P99_9,
    Max,
    Mean,
}

impl Figure {
    const ALL: [(&str, Self); 7] = [
        ("p50", Self::P50),
        ("p90", Self::P90),
        ("p95", Self::P95),
        ("p99", Self::P99),
        ("p99.9", Self::P99_9),
        ("max", Self::Max),
        ("mean", Self::Mean),
    ];

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(known, _)| *known == name).map(|(_, figure)| figure)
    }

    /// Returns the percentile that it is, in percent.
    fn percent(self) -> Option<f64> {
        match self {
            Self::P50 => Some(50.0),
            Self::P90 => Some(90.0),
            Self::P95 => Some(95.0),
            Self::P99 => Some(99.0),
            Self::P99_9 => Some(99.9),
            Self::Max | Self::Mean => None,
        }
    }

    /// Returns the greatest share of arrivals that may have no response time: if a percentile has so many above it, it may be one of
    /// them. A mean and a maximum of all but one in a hundred are not those of all.
    fn unanswered_max(self) -> f64 {
        self.percent().map_or(0.01, |percent| 1.0 - percent / 100.0)
    }

    fn of_ns(self, latency: &LatencyRecord) -> f64 {
        match self {
            Self::P50 => latency.p50 as f64,
            Self::P90 => latency.p90 as f64,
            Self::P95 => latency.p95 as f64,
            Self::P99 => latency.p99 as f64,
            Self::P99_9 => latency.p99_9 as f64,
            Self::Max => latency.max as f64,
            Self::Mean => latency.mean,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    /// A figure of the response time is below so many nanoseconds.
    Latency { figure: Figure, below_ns: f64 },
    /// The share of failed transactions is below this.
    Errors { below: f64 },
    /// More transactions are committed per second than this.
    Tps { above: f64 },
}

/// An objective: a condition on a figure of all transactions, or of one kind of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Objective {
    /// The kind of transactions; `None` for all of them together.
    transaction: Option<String>,
    /// The condition as text, without the transaction: `p99 < 10ms`.
    condition: String,
    what: What,
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.transaction {
            Some(transaction) => write!(f, "{transaction} {}", self.condition),
            None => f.write_str(&self.condition),
        }
    }
}

/// The figure of an objective in a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ObjectiveValue {
    /// A response time.
    LatencyNs(f64),
    /// The share of transactions that failed, 0 to 1.
    FailedShare(f64),
}

impl fmt::Display for ObjectiveValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::LatencyNs(ns) => write!(f, "{} ms", units::ms(ns as u64)),
            Self::FailedShare(share) => f.write_str(&units::small_percent(share)),
        }
    }
}

impl ObjectiveValue {
    /// Returns true if it is below this bound, of the same figure.
    fn is_below(self, bound: Self) -> bool {
        match (self, bound) {
            (Self::LatencyNs(value), Self::LatencyNs(bound)) | (Self::FailedShare(value), Self::FailedShare(bound)) => {
                value < bound
            }
            _ => false,
        }
    }

    /// Returns it as text that differs from the one of this bound, unless it is the bound.
    fn beside(self, bound: Self) -> String {
        let (value, of_bound, unit) = match (self, bound) {
            _ if self == bound || number(&self.to_string()) != number(&bound.to_string()) => return self.to_string(),
            (Self::LatencyNs(value), Self::LatencyNs(bound)) => (value / 1e6, bound / 1e6, "ms"),
            (Self::FailedShare(value), Self::FailedShare(bound)) => (value * 100.0, bound * 100.0, "%"),
            _ => return self.to_string(),
        };
        let mut texts =
            (1..DIGITS_MAX).map(|digits| [value, of_bound].map(|figure| format!("{figure:.digits$} {unit}")));
        let differing = texts.find(|[value, of_bound]| number(value) != number(of_bound));
        differing.map_or_else(|| self.to_string(), |[value, _]| value)
    }
}

impl Objective {
    /// At least so many arrivals are needed for a judgement, whatever the figure.
    pub const ARRIVALS_LEAST: f64 = 10.0;

    /// Parses `p99 < 10ms`, `errors < 0.1%`, `tps > 500`, and for one kind of transactions `new-order p99 < 20ms`. Whether
    /// the workload has that kind is for [`Objective::of_workload`] to say.
    ///
    /// # Errors
    /// When it is none of these; lists the possible forms.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (left, sign, bound) = split(text).ok_or("write FIGURE < BOUND, as in \"p99 < 10ms\"")?;
        let (transaction, name) = match left.rsplit_once(char::is_whitespace) {
            Some((transaction, name)) => (Some(transaction.trim_end()), name),
            None => (None, left),
        };
        let what = match (name, sign) {
            ("errors", '<') => What::Errors { below: share(bound)? },
            ("tps", '>') if transaction.is_some() => {
                return Err(format!(
                    "the mix decides the share of each transaction: write \"tps > {bound}\", of all of them"
                ));
            }
            ("tps", '>') => What::Tps { above: positive(bound).ok_or("write a number above 0, as in \"tps > 500\"")? },
            ("tps", _) => return Err("more throughput is better: write \"tps > N\"".to_owned()),
            ("errors", _) => return Err(format!("fewer errors are better: write \"{left} < PERCENT\"")),
            (name, sign) => {
                let figure = Figure::named(name).ok_or_else(|| unknown_figure(transaction, name, sign, bound))?;
                if sign != '<' {
                    return Err(format!("less latency is better: write \"{left} < TIME\""));
                }
                What::Latency { figure, below_ns: time_ns(bound)? }
            }
        };
        let condition = format!("{name} {sign} {bound}");
        Ok(Self { transaction: transaction.map(str::to_owned), condition, what })
    }

    /// Returns the objective with the transaction's name as the workload has it: `New_Order` is `new-order`. `known` are the
    /// transactions that the workload runs.
    ///
    /// # Errors
    /// When the workload does not run that transaction; lists those that it runs.
    pub fn of_workload(self, known: &[&str]) -> Result<Self, String> {
        let Some(transaction) = &self.transaction else { return Ok(self) };
        let plain = |name: &str| name.to_lowercase().replace('_', "-");
        let exact = known.iter().find(|name| *name == transaction);
        let found = exact.or_else(|| known.iter().find(|name| plain(name) == plain(transaction)));
        match found {
            Some(name) => Ok(Self { transaction: Some((*name).to_owned()), ..self }),
            None => Err(format!("\"{self}\": '{transaction}' is not one of {}", known.join(", "))),
        }
    }

    /// Returns the kind of transactions that it is about; `None` for all of them together.
    #[must_use]
    pub fn transaction(&self) -> Option<&str> {
        self.transaction.as_deref()
    }

    /// Returns its figure in words, without the bound: `p99`, `new-order p99`.
    #[must_use]
    pub fn figure(&self) -> String {
        let name = self.condition.split_whitespace().next().unwrap_or_default();
        self.transaction.iter().map(String::as_str).chain([name]).collect::<Vec<_>>().join(" ")
    }

    fn kind<'a>(&self, record: &'a RunRecord) -> Option<&'a TransactionRecord> {
        record.transactions.iter().find(|kind| self.transaction.as_ref() == Some(&kind.name))
    }

    /// Returns its figure in a run. `None` if nothing was measured of which it is a figure: no transaction of its kind ended
    /// in the window; also for throughput, which says nothing about a load.
    #[must_use]
    pub fn value(&self, record: &RunRecord) -> Option<ObjectiveValue> {
        let summary = record.summary.as_ref()?;
        match (self.what, &self.transaction) {
            (What::Latency { figure, .. }, None) => {
                summary.response_latency_ns.as_ref().map(|l| ObjectiveValue::LatencyNs(figure.of_ns(l)))
            }
            (What::Latency { figure, .. }, Some(_)) => {
                let kind = self.kind(record)?;
                let latency = kind.response_latency_ns.as_ref().or(kind.service_latency_ns.as_ref());
                latency.map(|l| ObjectiveValue::LatencyNs(figure.of_ns(l)))
            }
            (What::Errors { .. }, _) => {
                let (completed, failed) = self.ended(record)?;
                let ended = completed + failed;
                (ended > 0).then(|| ObjectiveValue::FailedShare(failed as f64 / ended as f64))
            }
            (What::Tps { .. }, _) => None,
        }
    }

    /// Returns the transactions that it is about: those that were completed, and those that failed.
    fn ended(&self, record: &RunRecord) -> Option<(u64, u64)> {
        match &self.transaction {
            None => record.summary.as_ref().map(|all| (all.committed + all.rolled_back, all.failed)),
            Some(_) => self.kind(record).map(|kind| (kind.committed + kind.rolled_back, kind.failed)),
        }
    }

    /// Returns the logarithm of bound over figure, for figures that get worse with load: above 0 the objective is
    /// met. Of failures it is at most a tenth for each standard deviation of their count from the one that is allowed: few
    /// transactions decide nothing. Returns `None` for other figures, and where [`Objective::value`] has none.
    #[must_use]
    pub fn margin(&self, record: &RunRecord) -> Option<f64> {
        match (self.bound()?, self.value(record)?) {
            (ObjectiveValue::LatencyNs(below), ObjectiveValue::LatencyNs(ns)) => Some((below / ns).ln()),
            (ObjectiveValue::FailedShare(below), ObjectiveValue::FailedShare(share)) => {
                let (completed, failed) = self.ended(record)?;
                // The root of a count has a standard deviation of a half (Anscombe, Biometrika 35, 1948).
                let allowed = (completed + failed) as f64 * below;
                let deviations = 2.0 * ((allowed + 0.375).sqrt() - (failed as f64 + 0.375).sqrt());
                let most = (deviations * MARGIN_OF_DEVIATION).abs();
                Some((below / share).ln().clamp(-most, most))
            }
            _ => None,
        }
    }

    /// Returns the number of arrivals of its kind that a judgement needs at least.
    #[must_use]
    pub fn arrivals_min(&self) -> f64 {
        match self.what {
            What::Latency { figure, .. } => {
                figure.percent().map_or(0.0, |percent| 100.0 / (100.0 - percent)).max(Self::ARRIVALS_LEAST).round()
            }
            What::Errors { .. } | What::Tps { .. } => Self::ARRIVALS_LEAST,
        }
    }

    /// Returns the bound that its figure is to stay below. `None` for throughput.
    #[must_use]
    pub fn bound(&self) -> Option<ObjectiveValue> {
        match self.what {
            What::Latency { below_ns, .. } => Some(ObjectiveValue::LatencyNs(below_ns)),
            What::Errors { below } => Some(ObjectiveValue::FailedShare(below)),
            What::Tps { .. } => None,
        }
    }

    /// Returns its figure in a run as text, and whether the run meets it. A response time is not met either where a rate left so many
    /// arrivals without one that the figure may be theirs, and not judged where the percentile would be the maximum.
    #[must_use]
    pub fn judged(&self, record: &RunRecord) -> ObjectiveRecord {
        let judged = || {
            let summary = record.summary.as_ref().filter(|summary| summary.duration_s > 0.0)?;
            if let What::Tps { above } = self.what {
                return Some((format!("{}/s", units::rate(summary.tps)), Some(summary.tps > above)));
            }
            let (value, bound) = (self.value(record)?, self.bound()?);
            let (found, is_met) = (value.beside(bound), value.is_below(bound));
            let What::Latency { figure, .. } = self.what else { return Some((found, Some(is_met))) };
            let completed = self.ended(record)?.0;
            if figure.percent().is_some_and(|percent| !LatencyRecord::has_percentile(completed, percent)) {
                let least = units::grouped(self.arrivals_min());
                let found = format!("{found} of {}, and {least} are needed", units::plural(completed, "transaction"));
                return Some((found, None));
            }
            // At the end of any open loop a client's next arrival may be waiting.
            let unanswered = summary.unanswered();
            let is_too_much = unanswered > u64::from(record.plan.drive.clients)
                && summary.unanswered_share() > figure.unanswered_max();
            if is_too_much {
                let share = units::small_percent(summary.unanswered_share());
                let found = format!("{found} without the {share} of the arrivals that were skipped or still waiting");
                return Some((found, Some(false)));
            }
            Some((found, Some(is_met)))
        };
        let (found, met) = judged().unwrap_or_default();
        ObjectiveRecord { objective: self.to_string(), found, met }
    }

    /// Returns true if it limits failed transactions of this kind.
    #[must_use]
    pub fn admits_failures_of(&self, kind: &str) -> bool {
        matches!(self.what, What::Errors { .. }) && self.transaction().is_none_or(|own| own == kind)
    }

    /// Returns the throughput that it demands.
    #[must_use]
    pub fn least_tps(&self) -> Option<f64> {
        match self.what {
            What::Tps { above } => Some(above),
            What::Latency { .. } | What::Errors { .. } => None,
        }
    }
}

/// Returns the number that a figure's text begins with.
fn number(text: &str) -> Option<f64> {
    text.split(' ').next()?.replace(',', "").parse().ok()
}

/// Says what a condition on an unknown figure would have to be.
fn unknown_figure(transaction: Option<&str>, name: &str, sign: char, bound: &str) -> String {
    let names = Figure::ALL.map(|(name, _)| name).join(", ");
    match transaction {
        Some(first) if Figure::named(first).is_some() => {
            format!("the transaction comes first: write \"{name} {first} {sign} {bound}\"")
        }
        Some(_) => format!("'{name}' is not one of {names}, errors"),
        None => format!("'{name}' is not one of {names}, errors, tps"),
    }
}

fn split(text: &str) -> Option<(&str, char, &str)> {
    let at = text.rfind(['<', '>'])?;
    let sign = text[at..].chars().next()?;
    let (name, bound) = (text[..at].trim(), text[at + 1..].trim());
    (!name.is_empty() && !bound.is_empty()).then_some((name, sign, bound))
}

fn positive(text: &str) -> Option<f64> {
    f64::from_str(text).ok().filter(|n| *n > 0.0 && n.is_finite())
}

fn time_ns(text: &str) -> Result<f64, String> {
    if text.ends_with(|c: char| c.is_ascii_digit() || c == '.') {
        return Err(format!("{text} could be seconds or milliseconds: write it with its unit, as in {text}ms"));
    }
    match parse::duration(text)? * 1e9 {
        ns if ns > 0.0 => Ok(ns),
        _ => Err("no response time is below 0".to_owned()),
    }
}

fn share(text: &str) -> Result<f64, String> {
    let percent = text.strip_suffix('%').and_then(|number| positive(number.trim())).filter(|percent| *percent <= 100.0);
    percent
        .map(|percent| percent / 100.0)
        .ok_or_else(|| "write a percentage above 0, as in \"errors < 0.1%\"".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objectives_are_read_with_their_units() {
        let what = |text: &str| Objective::parse(text).unwrap().what;
        assert_eq!(what("p99 < 10ms"), What::Latency { figure: Figure::P99, below_ns: 1e7 });
        assert_eq!(what("p99.9<0.5s"), What::Latency { figure: Figure::P99_9, below_ns: 5e8 });
        assert_eq!(what(" errors < 0.1 %"), What::Errors { below: 0.001 });
        assert_eq!(what("tps > 500"), What::Tps { above: 500.0 });
        assert_eq!(Objective::parse("mean<2ms").unwrap().to_string(), "mean < 2ms");
    }

    #[test]
    fn what_is_no_objective_is_answered_with_what_would_be_one() {
        for (text, word) in [
            ("p99", "p99 < 10ms"),
            ("p99 < 10", "10ms"),
            ("p99 < 10m", "min or ms"),
            ("p99 < 0ms", "below 0"),
            ("p98 < 10ms", "p99.9"),
            ("new-order p98 < 10ms", "p99.9, max, mean, errors"),
            ("p99 new-order < 10ms", "write \"new-order p99 < 10ms\""),
            ("new-order tps > 5", "write \"tps > 5\""),
            ("new-order p99 > 10ms", "new-order p99 < TIME"),
            ("new-order < 10ms", "not one of p50"),
            ("p99 > 10ms", "p99 < TIME"),
            ("tps < 5", "tps > N"),
            ("tps > x", "above 0"),
            ("errors < 1", "0.1%"),
            ("errors > 1%", "errors < PERCENT"),
            ("< 10ms", "FIGURE"),
        ] {
            let reported = Objective::parse(text).unwrap_err();
            assert!(reported.contains(word), "{text}: {reported}");
        }
    }

    #[test]
    fn an_objective_of_a_transaction_has_its_name_as_the_workload_writes_it() {
        let of = |text: &str, known: &[&str]| Objective::parse(text).unwrap().of_workload(known);
        let known = ["new-order", "payment", "my script"];
        for (text, name) in [
            ("new-order p99<20ms", "new-order p99 < 20ms"),
            ("New_Order  p99 < 20ms", "new-order p99 < 20ms"),
            ("my script errors < 1%", "my script errors < 1%"),
            ("p99 < 20ms", "p99 < 20ms"),
        ] {
            assert_eq!(of(text, &known).unwrap().to_string(), name);
        }
        assert_eq!(of("PAYMENT mean < 1ms", &["PAYMENT", "payment"]).unwrap().transaction(), Some("PAYMENT"));
        let error = of("neword p99 < 20ms", &known).unwrap_err();
        assert_eq!(error, "\"neword p99 < 20ms\": 'neword' is not one of new-order, payment, my script");
        assert_eq!(of("new-order p99 < 20ms", &known).unwrap().figure(), "new-order p99");
        assert_eq!(Objective::parse("p99.9<1s").unwrap().figure(), "p99.9");
    }

    #[test]
    fn a_figure_of_a_transaction_is_its_own_and_missing_if_none_ended() {
        let [mut record, _] = crate::fixture::all();
        let latency = |p99| Some(LatencyRecord { p99, ..LatencyRecord::default() });
        let kind = |name: &str, failed, p99| TransactionRecord {
            name: name.to_owned(),
            committed: 100 - failed,
            failed,
            response_latency_ns: latency(p99),
            ..TransactionRecord::default()
        };
        let idle = TransactionRecord { name: "idle".to_owned(), ..TransactionRecord::default() };
        record.transactions = vec![kind("a", 0, 1_000_000), kind("b", 4, 5_000_000), idle];
        let value = |text: &str| Objective::parse(text).unwrap().value(&record);
        assert_eq!(value("a p99 < 2ms"), Some(ObjectiveValue::LatencyNs(1e6)));
        assert_eq!(value("b p99 < 2ms"), Some(ObjectiveValue::LatencyNs(5e6)));
        assert_eq!(value("b errors < 1%"), Some(ObjectiveValue::FailedShare(0.04)));
        assert_eq!([value("idle p99 < 2ms"), value("idle errors < 1%"), value("c p99 < 2ms")], [None; 3]);
        let is_met = |text: &str| Objective::parse(text).unwrap().margin(&record).map(|margin| margin > 0.0);
        assert_eq!(
            [is_met("a p99 < 2ms"), is_met("b p99 < 2ms"), is_met("idle p99 < 2ms")],
            [Some(true), Some(false), None]
        );
        let admits = |text: &str| ["a", "b"].map(|kind| Objective::parse(text).unwrap().admits_failures_of(kind));
        assert_eq!(admits("errors < 9%"), [true, true]);
        assert_eq!(admits("b errors < 9%"), [false, true]);
        assert_eq!(admits("b p99 < 1s"), [false, false]);
    }

    /// Returns a run with so many transactions, arrivals without response time, and p99.
    fn run(completed: u64, failed: u64, unanswered: u64, p99_ns: u64) -> RunRecord {
        let [mut record, _] = crate::fixture::all();
        let latency = LatencyRecord { p50: 1_000_000, p99: p99_ns, max: p99_ns, ..LatencyRecord::default() };
        record.summary = Some(crate::Summary {
            committed: completed,
            failed,
            duration_s: 60.0,
            skipped: unanswered / 2,
            still_waiting: unanswered - unanswered / 2,
            response_latency_ns: Some(latency),
            ..crate::Summary::default()
        });
        record
    }

    fn judged(record: &RunRecord, text: &str) -> (String, Option<bool>) {
        let judged = Objective::parse(text).unwrap().judged(record);
        (judged.found, judged.met)
    }

    #[test]
    fn arrivals_without_a_response_time_may_be_those_above_the_percentile() {
        let behind = run(40_000, 0, 20_000, 3_000_000);
        let found = "3.00 ms without the 33.3 % of the arrivals that were skipped or still waiting";
        for objective in ["p99 < 10ms", "max < 1s", "mean < 1s"] {
            assert_eq!(judged(&behind, objective).1, Some(false), "{objective}");
        }
        assert_eq!(judged(&behind, "p99 < 10ms").0, found);
        assert_eq!(judged(&behind, "p50 < 10ms"), ("1.00 ms".to_owned(), Some(true)), "half of them are known");
        // The last arrivals of any window are still waiting.
        assert_eq!(judged(&run(40_000, 0, 30, 3_000_000), "p99.9 < 10ms").1, Some(true));
        assert_eq!(judged(&run(40_000, 0, 200, 3_000_000), "p99.9 < 10ms").1, Some(false));
        let mut few = run(50, 0, 2, 3_000_000);
        few.plan.drive.clients = 2;
        assert_eq!(judged(&few, "mean < 10ms").1, Some(true), "one for each client");
    }

    #[test]
    fn a_percentile_of_too_few_is_not_judged() {
        let found = "3.00 ms of 50 transactions, and 100 are needed".to_owned();
        assert_eq!(judged(&run(50, 0, 0, 3_000_000), "p99 < 10ms"), (found, None));
        assert_eq!(judged(&run(100, 0, 0, 3_000_000), "p99 < 10ms").1, Some(true));
        assert_eq!(judged(&run(3, 0, 0, 3_000_000), "max < 10ms").1, Some(true));
        let least = |text: &str| Objective::parse(text).unwrap().arrivals_min();
        assert_eq!(["p50 < 1s", "p95 < 1s", "p99.9 < 1s", "errors < 1%"].map(least), [10.0, 20.0, 1000.0, 10.0]);
    }

    #[test]
    fn a_figure_never_looks_like_the_bound_that_it_misses() {
        let errors = |failed: u64, text: &str| judged(&run(10_000 - failed, failed, 0, 1_000_000), text);
        assert_eq!(errors(3, "errors < 0.01%"), ("0.030 %".to_owned(), Some(false)));
        assert_eq!(errors(12, "errors < 0.1%"), ("0.12 %".to_owned(), Some(false)));
        assert_eq!(errors(0, "errors < 0.1%"), ("0.0 %".to_owned(), Some(true)));
        let p99 = |ns, text: &str| judged(&run(10_000, 0, 0, ns), text);
        assert_eq!(p99(1_003_000, "p99 < 1ms"), ("1.003 ms".to_owned(), Some(false)));
        assert_eq!(p99(999_600, "p99 < 1ms"), ("0.9996 ms".to_owned(), Some(true)));
        assert_eq!(p99(1_000_000, "p99 < 1ms"), ("1.00 ms".to_owned(), Some(false)));
    }

    #[test]
    fn few_transactions_show_little_about_a_share_of_failures() {
        let margin = |completed, failed| {
            Objective::parse("errors < 0.1%").unwrap().margin(&run(completed, failed, 0, 1)).unwrap()
        };
        // Half a failure is allowed: none is less than a standard deviation away.
        assert!((0.0..0.1).contains(&margin(500, 0)), "{}", margin(500, 0));
        assert!((-0.1..0.0).contains(&margin(499, 1)), "{}", margin(499, 1));
        assert!(margin(100_000, 0) > 1.0 && margin(99_000, 1_000) < -1.0);
        // The ratio itself, where it is the smaller one: 900 of a million, and 1,000 are allowed.
        assert!((margin(999_100, 900) - (1.0_f64 / 0.9).ln()).abs() < 1e-9);
    }
}
