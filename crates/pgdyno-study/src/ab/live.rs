//! What the view shows while an experiment measures: what is known so far, and the time that is left.

use pgdyno_report::studies::change;
use pgdyno_results::AbRecord;
use pgdyno_text::units::{duration, plain_plural};

use super::time;

/// The time of an experiment.
#[derive(Clone, Copy)]
pub(super) struct Spent {
    /// The time that it has taken, in seconds.
    pub(super) all_s: f64,
    /// That of the units that are done.
    pub(super) of_units_s: f64,
}

/// Returns what the units show, when the next look is due, and how long that and the rest of the budget take.
pub(super) fn so_far(record: &AbRecord, next_look: usize, spent: Spent) -> String {
    let look = if record.looks == 0 { "first verdict" } else { "next look" };
    let units = record.units.len();
    let known = match units {
        0 => "no unit done yet".to_owned(),
        _ => format!("{} after {}", with_interval(record), plain_plural(units as u64, "unit")),
    };
    let unit_s = match units {
        0 => time::unit_s(record.slice_s, record.restarts),
        _ => spent.of_units_s / units as f64,
    };
    let left_s = (record.budget_s - spent.all_s).max(0.0);
    let in_unit_s = spent.all_s - spent.of_units_s;
    let to_look_s = (next_look.saturating_sub(units) as f64 * unit_s - in_unit_s).max(0.0);
    let soon = match to_look_s <= left_s {
        true => format!(", in about {}", whole(to_look_s)),
        false => ", beyond the budget".to_owned(),
    };
    format!(
        "{known}\n{look} after {}{soon}\n{} of {}, at most {} left",
        plain_plural(next_look as u64, "unit"),
        whole(spent.all_s),
        whole(record.budget_s),
        whole(left_s)
    )
}

/// Returns the change of B so far, with its interval if there was a look.
fn with_interval(record: &AbRecord) -> String {
    let interval =
        record.interval_percent.map(|[low, high]| format!(" ({low:+.1} % to {high:+.1} % at the last look)"));
    change(record) + &interval.unwrap_or_default()
}

/// Returns a time in whole seconds, which do not flicker.
fn whole(seconds: f64) -> String {
    if seconds < 10.0 { format!("{seconds:.0} s") } else { duration(seconds) }
}

#[cfg(test)]
mod tests {
    use pgdyno_results::{AbFigure, AbUnit};

    use super::*;

    fn experiment(units: usize) -> AbRecord {
        let figure = AbFigure { name: "tps".to_owned(), change_percent: 5.2, ..AbFigure::default() };
        AbRecord {
            metric: "tps".to_owned(),
            slice_s: 1.0,
            budget_s: 600.0,
            figures: if units > 0 { vec![figure] } else { Vec::new() },
            units: vec![AbUnit::default(); units],
            ..AbRecord::default()
        }
    }

    fn lines(record: &AbRecord, next_look: usize, all_s: f64, of_units_s: f64) -> Vec<String> {
        let text = so_far(record, next_look, Spent { all_s, of_units_s });
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn it_says_what_is_known_when_more_will_be_and_what_is_left() {
        let begun = lines(&experiment(0), 4, 2.0, 0.0);
        let expected = [
            "no unit done yet",
            "first verdict after 4 units, in about 27 s",
            "2 s of 10 min 0 s, at most 9 min 58 s left",
        ];
        assert_eq!(begun, expected);
        let two = lines(&experiment(2), 4, 25.0, 20.0);
        assert_eq!(two[..2], ["B +5.2 % TPS after 2 units", "first verdict after 4 units, in about 15 s"]);
        let looked = AbRecord { looks: 1, interval_percent: Some([-1.0, 11.8]), ..experiment(4) };
        let looked = lines(&looked, 6, 580.0, 580.0);
        let known = "B +5.2 % TPS (-1.0 % to +11.8 % at the last look) after 4 units";
        assert_eq!(looked[..2], [known, "next look after 6 units, beyond the budget"]);
    }
}
