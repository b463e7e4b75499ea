//! Whether throughput was in a steady state, as text.

use pgdyno_measure::{STEADY_BELOW, WindowVerdict};
use pgdyno_results::{LevelChangeRecord, SteadyRecord, Summary};
use pgdyno_text::units::{duration, ending, percent, rate};

/// Changes of level beyond this number are only counted.
const CHANGES_MAX: usize = 4;

/// Returns the lines of a report.
pub(crate) fn lines(summary: &Summary) -> Vec<String> {
    let mut lines: Vec<String> = summary.steadiness.iter().map(throughput).collect();
    let changes = &summary.level_changes;
    let shown: Vec<String> = changes.iter().take(CHANGES_MAX).map(change).collect();
    if !shown.is_empty() {
        let more = changes.len() - shown.len();
        let more = if more > 0 { format!(", and {more} more time{}", ending(more as u64)) } else { String::new() };
        lines.push(format!("  its level changed {}{more}", shown.join(", ")));
    }
    if let Some(ramp_s) = summary.ramp_s_proposed {
        lines.push(format!(
            "  it had not settled when the measured window began: --ramp {ramp_s:.0} would have left the warm-up out"
        ));
    }
    lines
}

fn throughput(steady: &SteadyRecord) -> String {
    let verdict = match steady.verdict() {
        WindowVerdict::Drifts => "drifts".to_owned(),
        WindowVerdict::Steady => format!("steady (no drift of {:.0} %)", STEADY_BELOW * 100.0),
        WindowVerdict::Unknown => "too noisy to confirm steady state".to_owned(),
    };
    let chance = steady.chance.map_or_else(String::new, |chance| {
        if chance >= 1.0 {
            " (chance alone: any)".to_owned()
        } else {
            format!(" (chance alone: up to ±{})", percent(chance))
        }
    });
    format!(
        "throughput: {verdict}; {:+.1} % from first to last third{chance}, {} variation between intervals",
        steady.trend * 100.0,
        percent(steady.variation)
    )
}

fn change(change: &LevelChangeRecord) -> String {
    format!("at {} from {} to {} TPS", duration(change.at_s), rate(change.tps_before), rate(change.tps_after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(trend: f64, chance: Option<f64>, drifts: bool) -> Summary {
        let steadiness = Some(SteadyRecord { variation: 0.1, trend, chance, drifts });
        Summary { steadiness, ..Summary::default() }
    }

    #[test]
    fn a_few_wild_intervals_are_not_called_steady() {
        for (trend, chance, drifts, word) in [
            (
                -0.7,
                Some(1.2),
                false,
                "too noisy to confirm steady state; -70.0 % from first to last third (chance alone: any)",
            ),
            (-0.7, None, false, "too noisy to confirm steady state"),
            (0.01, None, false, "steady (no drift of 10 %); +1.0 %"),
            (0.01, Some(0.02), false, "steady (no drift of 10 %); +1.0 %"),
            (
                0.06,
                Some(0.07),
                false,
                "too noisy to confirm steady state; +6.0 % from first to last third (chance alone: up to ±7.0 %)",
            ),
            (-0.2, Some(0.05), true, "drifts; -20.0 %"),
        ] {
            let lines = lines(&summary(trend, chance, drifts));
            assert!(lines.len() == 1 && lines[0].starts_with(&format!("throughput: {word}")), "{lines:?}");
        }
        assert_eq!(lines(&Summary::default()), Vec::<String>::new());
    }

    #[test]
    fn levels_and_the_warm_up_are_reported() {
        let change = LevelChangeRecord { at_s: 34.0, tps_before: 1200.0, tps_after: 900.0 };
        let changed =
            Summary { level_changes: vec![change; 6], ramp_s_proposed: Some(25.0), ..summary(0.0, None, false) };
        let lines = lines(&changed);
        assert!(lines[1].contains("changed at 34 s from 1,200 to 900.0 TPS") && lines[1].ends_with("and 2 more times"));
        assert!(lines[2].contains("--ramp 25 "), "{lines:?}");
    }
}
