//! `100000 of 1000000 tuples (10%) of pgbench_accounts done (elapsed 0.12 s, remaining 1.08 s)`.

use std::time::Duration;

/// Rows between two lines.
const STEP_ROWS: u64 = 100_000;
/// Rows between two checks of the clock with `-q`: a total that is no multiple of this has no last line.
const QUIET_STEP_ROWS: u64 = 100;
/// Seconds between two lines with `-q`.
const QUIET_SECONDS: f64 = 5.0;

/// The progress of one table.
#[derive(Debug)]
pub(super) struct InitProgress {
    table: &'static str,
    total: u64,
    quiet: bool,
    /// Whether each line overwrites the previous one.
    terminal: bool,
    /// Rows at the last line.
    rows_printed: u64,
    /// With `-q`, the number of the next interval.
    interval: u32,
    width: usize,
}

impl InitProgress {
    pub(super) fn new(table: &'static str, total: u64, quiet: bool, terminal: bool) -> Self {
        Self { table, total, quiet, terminal, rows_printed: 0, interval: 1, width: 0 }
    }

    /// Returns the text to print after `rows` were sent.
    pub(super) fn rows(&mut self, rows: u64, elapsed: Duration) -> Option<String> {
        let seconds = elapsed.as_secs_f64();
        if self.quiet {
            let due = rows == self.total || seconds >= f64::from(self.interval) * QUIET_SECONDS;
            if !due || !rows.is_multiple_of(QUIET_STEP_ROWS) {
                return None;
            }
            self.interval = (seconds / QUIET_SECONDS).ceil() as u32;
            return Some(self.line(rows, seconds));
        }
        // Several connections may pass a step together, and one message may pass several.
        let rows = rows - rows % STEP_ROWS;
        if rows == self.rows_printed {
            return None;
        }
        Some(self.line(rows, seconds))
    }

    fn line(&mut self, rows: u64, seconds: f64) -> String {
        self.rows_printed = rows;
        let remaining = (self.total - rows) as f64 * seconds / rows as f64;
        let mut line = format!(
            "{rows} of {} tuples ({}%) of {} done (elapsed {seconds:.2} s, remaining {remaining:.2} s)",
            self.total,
            rows * 100 / self.total,
            self.table,
        );
        let width = line.len();
        line.push_str(&" ".repeat(self.width.saturating_sub(width)));
        self.width = width;
        line.push(if self.terminal { '\r' } else { '\n' });
        line
    }

    /// Returns the text to print at the end: blanks over the line on a terminal.
    pub(super) fn end(&self) -> Option<String> {
        (self.terminal && self.width > 0).then(|| format!("{}\r", " ".repeat(self.width)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: f64) -> Duration {
        Duration::from_secs_f64(seconds)
    }

    #[test]
    fn a_line_is_reported_for_each_100000_rows() {
        let mut progress = InitProgress::new("pgbench_accounts", 200_000, false, false);
        assert_eq!(progress.rows(90_000, at(0.5)), None);
        assert_eq!(
            progress.rows(100_000, at(1.0)).unwrap(),
            "100000 of 200000 tuples (50%) of pgbench_accounts done (elapsed 1.00 s, remaining 1.00 s)\n"
        );
        assert_eq!(progress.rows(110_000, at(1.1)), None);
        assert!(progress.rows(200_000, at(2.0)).unwrap().starts_with("200000 of 200000 tuples (100%)"));
        assert_eq!(progress.end(), None);
        assert_eq!(InitProgress::new("pgbench_tellers", 10, false, false).rows(10, at(1.0)), None);
    }

    #[test]
    fn quiet_lines_come_every_five_seconds_and_at_the_end() {
        let mut progress = InitProgress::new("pgbench_accounts", 1_000_000, true, false);
        let printed: Vec<bool> =
            [(100_000, 1.0), (200_000, 5.1), (300_000, 6.0), (400_000, 9.9), (500_000, 16.0), (1_000_000, 16.1)]
                .map(|(rows, seconds)| progress.rows(rows, at(seconds)).is_some())
                .to_vec();
        assert_eq!(printed, [false, true, false, false, true, true]);
        assert!(InitProgress::new("pgbench_tellers", 100, true, false).rows(100, at(0.0)).is_some());
        assert!(InitProgress::new("pgbench_tellers", 110, true, false).rows(110, at(0.0)).is_none());
    }

    #[test]
    fn a_terminal_keeps_one_line_and_clears_it() {
        let mut progress = InitProgress::new("pgbench_accounts", 300_000, false, true);
        assert_eq!(progress.end(), None);
        let long = progress.rows(100_000, at(10.0)).unwrap();
        let short = progress.rows(300_000, at(10.1)).unwrap();
        assert!(long.ends_with(" 20.00 s)\r") && short.ends_with(" 0.00 s)\r"), "{long:?} {short:?}");
        assert_eq!(progress.end(), Some(format!("{}\r", " ".repeat(short.len() - 1))));
        assert!(progress.rows(300_000, at(10.2)).is_none());
    }

    #[test]
    fn a_shorter_line_is_filled_up() {
        let mut progress = InitProgress::new("t", 1_000_000, false, true);
        let long = progress.rows(100_000, at(1111.0)).unwrap();
        let short = progress.rows(900_000, at(1111.0)).unwrap();
        assert_eq!(short.len(), long.len(), "{long:?} {short:?}");
        assert!(short.ends_with(") \r"), "{short:?}");
    }
}
