//! The part of a report for scripts and commands.

use std::fmt;

use super::text::{write_moments, write_outcomes};
use super::{RunReport, ScriptReport, fixed};

impl RunReport {
    /// Writes the scripts if there are several, and the commands if they were requested.
    pub(super) fn write_scripts(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let several = self.scripts.len() > 1;
        for (number, script) in self.scripts.iter().enumerate() {
            if several {
                self.write_script(f, number, script)?;
            }
            if self.per_command {
                self.write_commands(f, number, script, if several { " - " } else { "" })?;
            }
        }
        Ok(())
    }

    fn write_script(&self, f: &mut fmt::Formatter<'_>, number: usize, script: &ScriptReport) -> fmt::Result {
        let ScriptReport { name, weight, stats, .. } = script;
        let all_weights: u64 = self.scripts.iter().map(|s| s.weight).sum();
        let percent = |part: u64, whole: u64| fixed(100.0 * part as f64 / whole as f64, 1);
        writeln!(f, "SQL script {}: {name}", number + 1)?;
        writeln!(f, " - weight: {weight} (targets {}% of total)", percent(*weight, all_weights))?;
        let all = stats.all();
        writeln!(f, " - {all} transactions ({}% of total)", percent(all, self.total.all()))?;
        if all > 0 {
            let (done, tps) = (stats.transactions, fixed(self.per_second(stats.transactions), 6));
            writeln!(f, " - number of transactions actually processed: {done} (tps = {tps})")?;
            write_outcomes(f, &self.accounting, stats, " - ")?;
        }
        write_moments(f, &stats.latency, " - ")?;
        if let Some(percentiles) = &self.percentiles {
            let of = percentiles.scripts.get(number).and_then(|s| s.transactions.as_ref());
            percentiles.write_lines(f, of, " - ")?;
        }
        Ok(())
    }

    fn write_commands(
        &self,
        f: &mut fmt::Formatter<'_>,
        number: usize,
        script: &ScriptReport,
        prefix: &str,
    ) -> fmt::Result {
        let retries = self.accounting.retries();
        let columns = if retries { ", failures and retries" } else { " and failures" };
        writeln!(f, "{prefix}statement latencies in milliseconds{columns}:")?;
        for command in &script.commands {
            let average_ms = if command.latency.count > 0 { 0.001 * command.latency.mean_us() } else { 0.0 };
            write!(f, "   {:>11}  {:>10}", fixed(average_ms, 3), command.failures)?;
            if retries {
                write!(f, " {:>10}", command.retries)?;
            }
            writeln!(f, " {}", command.text)?;
        }
        if let Some(percentiles) = &self.percentiles
            && let Some(of) = percentiles.scripts.get(number)
        {
            percentiles.write_table(f, &script.commands, &of.commands, prefix)?;
        }
        Ok(())
    }
}
