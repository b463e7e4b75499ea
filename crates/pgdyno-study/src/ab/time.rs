//! How long an experiment takes to its first verdict.

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, Result};
use pgdyno_measure::ab::UNITS_MIN;
use pgdyno_text::units::duration;

use super::RAMP_S;

/// The time of a slice that is neither ramp nor measured: its process starts, connects and writes its record.
const AROUND_A_SLICE_S: f64 = 0.5;

/// The default length of a slice of servers that are restarted before each unit. That takes longer than a short slice.
const SLICE_S: f64 = 2.0;

/// The default length of a slice of other servers: the first verdict comes within half a minute.
const SHORT_SLICE_S: f64 = 1.0;

/// Returns the default length of a slice.
pub(super) fn slice_s(restarts: bool) -> f64 {
    if restarts { SLICE_S } else { SHORT_SLICE_S }
}

/// The time to restart both servers and to warm them up.
const RESTART_S: f64 = 4.0;

/// Returns about how long the units of the first verdict take, on this program's own servers or on others.
pub(super) fn first_verdict_s(slice_s: f64, restarts: bool) -> f64 {
    UNITS_MIN as f64 * unit_s(slice_s, restarts)
}

/// Returns about how long a unit takes.
pub(super) fn unit_s(slice_s: f64, restarts: bool) -> f64 {
    4.0 * (slice_s + RAMP_S + AROUND_A_SLICE_S) + if restarts { RESTART_S } else { 0.0 }
}

/// Refuses a budget that ends before the first verdict.
pub(super) fn admit_budget(budget_s: f64, slice_s: f64, restarts: bool) -> Result<()> {
    let needed_s = first_verdict_s(slice_s, restarts);
    if budget_s >= needed_s {
        return Ok(());
    }
    let needed = needed_s.ceil();
    let error = format!(
        "the budget of {} ends before the first verdict: {UNITS_MIN} units of four slices of {} take about {}",
        duration(budget_s),
        duration(slice_s),
        duration(needed_s)
    );
    Err(CommandError::new(Code::Start, error).hint(format!(
        "give --budget {needed}s or more; or add --yes, to measure what fits and to continue with --resume"
    )))
}

/// Returns what to say after a unit of this length if the budget will end before the first verdict.
pub(super) fn too_long(units: usize, unit_s: f64, spent_s: f64, budget_s: f64) -> Option<String> {
    let rest_s = UNITS_MIN.saturating_sub(units) as f64 * unit_s;
    (rest_s > 0.0 && spent_s + rest_s > budget_s).then(|| {
        format!(
            "a unit takes {} here: the first verdict would come after about {}, and the budget of {} ends before",
            duration(unit_s),
            duration(spent_s + rest_s),
            duration(budget_s)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_below_the_first_verdict_is_refused_with_one_that_reaches_it() {
        admit_budget(61.0, 2.0, true).unwrap();
        admit_budget(30.0, slice_s(false), false).unwrap();
        let refused = admit_budget(60.0, slice_s(true), true).unwrap_err();
        assert!(
            refused.text().starts_with("the budget of 60 s ends before the first verdict: 4 units"),
            "{}",
            refused.text()
        );
        assert!(refused.remedy().unwrap().contains("--budget 61s or more"), "{:?}", refused.remedy());
    }

    #[test]
    fn a_slow_unit_is_reported_while_there_is_no_verdict() {
        assert_eq!(too_long(1, 10.0, 10.0, 40.0), None);
        let said = too_long(1, 20.0, 20.0, 50.0).unwrap();
        assert_eq!(
            said,
            "a unit takes 20 s here: the first verdict would come after about 80 s, and the budget of 50 s ends before"
        );
        assert_eq!(too_long(4, 20.0, 80.0, 50.0), None, "the first verdict is there");
    }
}
