//! `--latency-percentiles`: the extremes and some percentiles of the latencies of successful transactions.
//!
//! pgbench does not have this option. Its name, and the least and the greatest latency beside the percentiles, are from
//! a proposal to PostgreSQL; the text has the format of pgbench's other lines.

use std::fmt;

use pgdyno_measure::Latency;

use super::fixed;
use crate::stats::CommandStats;

/// Percentiles of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct LatencyPercentiles {
    /// The percentiles: in (0, 100].
    pub percents: Vec<f64>,
    /// Those of all transactions.
    pub total: Option<Quantiles>,
    /// Those of each script, in the report's order.
    pub scripts: Vec<ScriptQuantiles>,
}

/// Percentiles of a script.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScriptQuantiles {
    /// Those of its transactions.
    pub transactions: Option<Quantiles>,
    /// Those of its commands, in the report's order; empty without `--report-per-command`.
    pub commands: Vec<Option<Quantiles>>,
}

/// Figures of a distribution that is not empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantiles {
    /// The least.
    pub min_ms: f64,
    /// One for each of the requested percentiles, in their order.
    pub percentiles_ms: Vec<f64>,
    /// The greatest.
    pub max_ms: f64,
}

impl Quantiles {
    /// Returns the figures of a histogram; `None` if it is empty.
    #[must_use]
    pub fn of(latency: &Latency, percents: &[f64]) -> Option<Self> {
        let ms = |ns: u64| ns as f64 / 1e6;
        let at = |percent: &f64| latency.quantile_ns(*percent / 100.0).map(|ns| ms(ns.max(latency.min_ns())));
        Some(Self {
            min_ms: ms(latency.min_ns()),
            percentiles_ms: percents.iter().map(at).collect::<Option<_>>()?,
            max_ms: ms(latency.max_ns()),
        })
    }
}

impl LatencyPercentiles {
    /// Writes the lines of all transactions or of a script; none if no transaction succeeded.
    pub(super) fn write_lines(&self, f: &mut fmt::Formatter<'_>, of: Option<&Quantiles>, prefix: &str) -> fmt::Result {
        let Some(quantiles) = of else { return Ok(()) };
        writeln!(f, "{prefix}latency min = {} ms", fixed(quantiles.min_ms, 3))?;
        writeln!(f, "{prefix}latency max = {} ms", fixed(quantiles.max_ms, 3))?;
        let list: Vec<String> = self
            .percents
            .iter()
            .zip(&quantiles.percentiles_ms)
            .map(|(percent, ms)| format!("p{percent} = {} ms", fixed(*ms, 3)))
            .collect();
        writeln!(f, "{prefix}latency percentiles: {}", list.join(", "))
    }

    /// Writes a table of commands; `-` for a command that never succeeded.
    pub(super) fn write_table(
        &self,
        f: &mut fmt::Formatter<'_>,
        commands: &[CommandStats],
        of: &[Option<Quantiles>],
        prefix: &str,
    ) -> fmt::Result {
        let names: String = self.percents.iter().map(|percent| format!("p{percent}, ")).collect();
        writeln!(f, "{prefix}statement latency percentiles in milliseconds (min, {names}max):")?;
        for (command, quantiles) in commands.iter().zip(of) {
            let cells: Vec<String> = match quantiles {
                None => vec![format!("{:>11}", "-"); self.percents.len() + 2],
                Some(q) => [q.min_ms]
                    .iter()
                    .chain(&q.percentiles_ms)
                    .chain([&q.max_ms])
                    .map(|ms| format!("{:>11}", fixed(*ms, 3)))
                    .collect(),
            };
            writeln!(f, "   {} {}", cells.join(" "), command.text)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_of_a_histogram_lie_between_its_extremes() {
        let mut latency = Latency::default();
        for us in 1..=1000 {
            latency.record(us * 1000);
        }
        let quantiles = Quantiles::of(&latency, &[50.0, 99.0, 100.0, 0.01]).unwrap();
        assert_eq!((quantiles.min_ms, quantiles.max_ms), (0.001, 1.0));
        for (got, truth) in quantiles.percentiles_ms.iter().zip([0.5, 0.99, 1.0, 0.001]) {
            assert!((got - truth).abs() <= truth / 1000.0, "{got} for {truth}");
        }
        assert_eq!(Quantiles::of(&Latency::default(), &[50.0]), None);
    }

    #[test]
    fn one_latency_is_every_percentile() {
        let mut latency = Latency::default();
        latency.record(1_234_567);
        let quantiles = Quantiles::of(&latency, &[1.0, 100.0]).unwrap();
        assert_eq!(quantiles, Quantiles { min_ms: 1.234567, percentiles_ms: vec![1.234567; 2], max_ms: 1.234567 });
    }
}
