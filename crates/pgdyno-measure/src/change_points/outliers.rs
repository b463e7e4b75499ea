//! Runs that are far from their neighbours.

/// Runs on either side of a run that it is held against.
const NEIGHBOURS: usize = 3;

/// A run may be so many standard deviations from the median of its neighbours and itself.
const DEVIATIONS_MAX: f64 = 4.0;

/// Runs on either side of a run whose spread counts: runs may vary more at one time than at another.
const SPREAD: usize = 12;

/// In fewer runs the spread is hardly known. One wild run of them cannot look like a change: it widens the spread as much.
const RUNS_MIN: usize = 12;

/// The standard deviation of a normal distribution, in median distances from its median.
const DEVIATION: f64 = 1.4826;

/// Returns the series with each run that is far from the median of its neighbours moved towards it (Hampel's filter): a single wild
/// run, or two, neither make a change nor hide one. A step of four runs or more stays as it is, or of three at either end.
pub(super) fn moved(logs: &[f64]) -> Vec<f64> {
    if logs.len() < RUNS_MIN {
        return logs.to_vec();
    }
    let around = |nth: usize| {
        let (from, to) = (nth.saturating_sub(NEIGHBOURS), (nth + NEIGHBOURS + 1).min(logs.len()));
        middle(&logs[from..to])
    };
    let middles: Vec<(f64, f64)> = (0..logs.len()).map(around).collect();
    let distance = |(log, (low, high)): (&f64, &(f64, f64))| (log - log.clamp(*low, *high)).abs();
    let distances: Vec<f64> = logs.iter().zip(&middles).map(distance).collect();
    let near = |nth: usize| {
        let (from, to) = (nth.saturating_sub(SPREAD), (nth + SPREAD + 1).min(logs.len()));
        let (low, high) = middle(&distances[from..to]);
        let most = DEVIATIONS_MAX * DEVIATION * f64::midpoint(low, high);
        logs[nth].clamp(middles[nth].0 - most, middles[nth].1 + most)
    };
    (0..logs.len()).map(near).collect()
}

/// Returns the two values in the middle, the lesser first; of an odd number twice the one.
fn middle(values: &[f64]) -> (f64, f64) {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    (sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twenty runs with a spread of about one, and steps.
    fn series(steps: &[(usize, f64)]) -> Vec<f64> {
        let spread = [0.3, -1.1, 0.8, -0.2, 1.2, -0.9, 0.1];
        let level = |nth: usize| steps.iter().filter(|(at, _)| *at <= nth).map(|(_, by)| by).sum::<f64>();
        (0..20).map(|nth| spread[nth % spread.len()] + level(nth)).collect()
    }

    #[test]
    fn a_wild_run_is_moved_and_a_step_is_not() {
        let wild = series(&[(9, 50.0), (10, -50.0)]);
        let moved_away = moved(&wild);
        assert!(moved_away[9] < 10.0 && moved_away[8] == wild[8] && moved_away[10] == wild[10], "{moved_away:?}");
        for steps in [&[(9, 50.0), (13, -50.0)][..], &[(10, 50.0)], &[(16, 50.0)]] {
            assert_eq!(moved(&series(steps)), series(steps), "{steps:?}");
        }
        assert_eq!(moved(&series(&[(17, 50.0)])), series(&[(17, 50.0)]));
        assert!(moved(&series(&[(18, 50.0)]))[18] < 10.0, "two runs are no step yet");
    }

    #[test]
    fn few_runs_stay_as_they_are() {
        let few = [1.0, 1.0, 1.0, 9.0, 1.0, 1.0, 1.0];
        assert_eq!(moved(&few), few);
    }
}
