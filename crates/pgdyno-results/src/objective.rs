//! Objectives: conditions on the figures of a run.

use std::fmt;
use std::str::FromStr;

use pgdyno_plan::units;

use crate::record::{LatencyRecord, RunRecord};

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

/// An objective, and its text.
#[derive(Clone, Debug, PartialEq)]
pub struct Objective {
    text: String,
    what: What,
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Objective {
    /// Parses `p99 < 10ms`, `errors < 0.1%`, `tps > 500`.
    ///
    /// # Errors
    /// When it is none of these; lists the possible forms.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (name, sign, bound) = split(text).ok_or("write FIGURE < BOUND, as in \"p99 < 10ms\"")?;
        let what = match (name, sign) {
            ("errors", '<') => What::Errors { below: share(bound)? },
            ("tps", '>') => What::Tps { above: positive(bound).ok_or("write a number above 0, as in \"tps > 500\"")? },
            ("tps", _) => return Err("more throughput is better: write \"tps > N\"".to_owned()),
            (name, sign) => {
                let known = Figure::ALL.into_iter().find(|(known, _)| *known == name);
                let names = Figure::ALL.map(|(name, _)| name).join(", ");
                let (_, figure) = known.ok_or_else(|| format!("'{name}' is none of {names}, errors, tps"))?;
                if sign != '<' {
                    return Err(format!("less latency is better: write \"{name} < TIME\""));
                }
                What::Latency { figure, below_ns: time_ns(bound)? }
            }
        };
        Ok(Self { text: format!("{name} {sign} {bound}"), what })
    }

    /// Returns the logarithm of bound over figure, for figures that get worse with load: above 0 the objective is
    /// met. Returns `None` for other figures.
    #[must_use]
    pub fn margin(&self, record: &RunRecord) -> Option<f64> {
        let summary = record.summary.as_ref()?;
        let ratio = match self.what {
            What::Latency { figure, below_ns } => below_ns / figure.of_ns(summary.response_latency_ns.as_ref()?),
            What::Errors { below } => below / summary.failed_share(),
            What::Tps { .. } => return None,
        };
        Some(ratio.ln())
    }

    /// Returns true if it limits failed transactions.
    #[must_use]
    pub fn admits_failures(&self) -> bool {
        matches!(self.what, What::Errors { .. })
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

fn split(text: &str) -> Option<(&str, char, &str)> {
    let at = text.find(['<', '>'])?;
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
    match units::duration(text)? * 1e9 {
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
            ("p99 > 10ms", "p99 < TIME"),
            ("tps < 5", "tps > N"),
            ("tps > x", "above 0"),
            ("errors < 1", "0.1%"),
            ("errors > 1%", "none of"),
            ("< 10ms", "FIGURE"),
        ] {
            let told = Objective::parse(text).unwrap_err();
            assert!(told.contains(word), "{text}: {told}");
        }
    }
}
