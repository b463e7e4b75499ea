//! Drifts: a level that changes a little with each run, which steps would only imitate.

use super::segments::Segments;

/// A stretch of runs over which the level changes steadily.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// Its first run, counted from 0.
    pub from: usize,
    /// The run after its last.
    pub to: usize,
    /// The level at its last run, as a ratio to that at its first.
    pub ratio: f64,
}

/// Returns the drifts among these steps, and the steps that are none. Steps in a row, all up or all down, are a drift if a straight
/// line explains their stretch better by Schwarz's criterion, which counts the parameters of each: a line one slope, a step its
/// place and its size.
pub(super) fn distinguished_from_steps(segments: &Segments, steps: &[usize]) -> (Vec<Drift>, Vec<usize>) {
    let ends = super::bounds(steps, segments.len());
    let mut is_step = vec![true; steps.len()];
    let mut drifts = Vec::new();
    while let Some((first, last)) = clearest(segments, &ends, &is_step) {
        let (from, to) = (ends[first], ends[last + 2]);
        drifts.push(Drift { from, to, ratio: segments.rise(from, to).exp() });
        is_step[first..=last].fill(false);
    }
    drifts.sort_by_key(|drift| drift.from);
    let points = steps.iter().zip(is_step).filter(|(_, is_step)| *is_step).map(|(at, _)| *at);
    (drifts, points.collect())
}

/// Returns the first and the last of the steps that are best explained by a line; `ends` are all steps, with both ends of the series.
fn clearest(segments: &Segments, ends: &[usize], is_step: &[bool]) -> Option<(usize, usize)> {
    let rises = |nth: usize| segments.level(ends[nth + 1], ends[nth + 2]) > segments.level(ends[nth], ends[nth + 1]);
    let gain = |first: usize, last: usize| {
        let bounds = &ends[first..=last + 2];
        let (from, to) = (bounds[0], bounds[bounds.len() - 1]);
        let n = (to - from) as f64;
        let steps: f64 = bounds.windows(2).map(|of| segments.squares(of[0], of[1])).sum();
        let line = segments.squares_around_line(from, to).max(f64::MIN_POSITIVE);
        n * (steps / line).ln() + (2.0 * (last - first + 1) as f64 - 1.0) * n.ln()
    };
    let chains = (0..is_step.len()).flat_map(|first| {
        let alike = (first..is_step.len()).take_while(move |nth| is_step[*nth] && rises(*nth) == rises(first));
        alike.map(move |last| (first, last))
    });
    let best = chains.map(|(first, last)| (gain(first, last), first, last)).max_by(|a, b| a.0.total_cmp(&b.0));
    best.filter(|(gain, ..)| *gain > 0.0).map(|(_, first, last)| (first, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Forty runs on a course, with a spread of 1 %.
    fn series(course: impl Fn(f64) -> f64) -> Segments {
        let spread = [0.003, -0.011, 0.008, -0.002, 0.012, -0.009, 0.001];
        let logs: Vec<f64> = (0..40).map(|nth| course(nth as f64) + spread[nth % spread.len()]).collect();
        Segments::new(&logs)
    }

    #[test]
    fn a_line_takes_the_place_of_its_steps() {
        let line = series(|at| 0.005 * at);
        let (drifts, points) = distinguished_from_steps(&line, &[10, 20, 30]);
        assert!(points.is_empty() && drifts.len() == 1 && (drifts[0].from, drifts[0].to) == (0, 40), "{drifts:?}");
        assert!((drifts[0].ratio.ln() - 0.195).abs() < 0.005, "{drifts:?}");
    }

    #[test]
    fn steps_stay_steps() {
        for (course, steps) in [
            (series(|at| if at < 20.0 { 0.0 } else { 0.1 }), vec![20]),
            (series(|at| if at < 36.0 { 0.0 } else { 0.1 }), vec![36]),
            (series(|at| (at / 13.0).floor() * 0.1), vec![13, 26, 39]),
            (series(|at| if (10.0..20.0).contains(&at) { -0.1 } else { 0.0 }), vec![10, 20]),
        ] {
            assert_eq!(distinguished_from_steps(&course, &steps), (Vec::new(), steps));
        }
    }

    #[test]
    fn a_step_beside_a_drift_stays_a_step() {
        let course = series(|at| if at < 10.0 { 0.2 } else { 0.1 - 0.005 * at });
        let (drifts, points) = distinguished_from_steps(&course, &[10, 18, 26, 34]);
        assert_eq!((drifts.len(), drifts[0].from, points), (1, 10, vec![10]));
    }
}
