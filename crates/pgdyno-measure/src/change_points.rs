//! Change points of a history: where the level of a series of runs changed, found anew after each run.
//! docs/adr/0018-change-points.md says why it is done so.
//!
//! All figures are positive, and changes are ratios: everything is done on logarithms.
//!
//! 1. [`outliers`]: a run far from the median of its neighbours is moved towards it.
//! 2. Splits: of all splits of many intervals of a segment (seeded binary segmentation) the clearest one counts, if it is shown.
//!    Both of its sides are searched in the same way.
//! 3. Each change point moves to the best place between its neighbours, and stays only if it is shown there: by Student's t,
//!    with a variance of each side, and with what runs inherit from the ones before.
//! 4. [`drift`]: steps that a line explains better are a drift, and no change points.

mod course;
mod drift;
mod outliers;
mod segments;
#[cfg(test)]
mod simulation;

use crate::compare::Change;
use course::Course;
use segments::Segments;

pub use drift::Drift;

/// The least runs on each side of a change point.
pub const SIDE_MIN: usize = 3;

/// Fewer runs than this have no change points.
pub const RUNS_MIN: usize = 2 * SIDE_MIN;

/// So many independent tests each run of a history is worth: all splits of all intervals, looked at again after each run. Simulated
/// ([`simulation`]): with it, less than 5 of 100 histories of 100 equal runs show a change point after any of their runs, at a
/// confidence of 95 %.
const TESTS_OF_A_RUN: f64 = 10.0;

/// Each interval is shorter than the one before by this factor.
const INTERVAL_RATIO: f64 = std::f64::consts::SQRT_2;

/// Share of the probability of all places that the likely places of a change point hold.
const PLACE_CONFIDENCE: f64 = 0.95;

/// A place where the level changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangePoint {
    /// The first run of the new level, counted from 0.
    pub at: usize,
    /// The earliest run that may be the first of the new level.
    pub earliest: usize,
    /// The latest run that may be the first of the new level.
    pub latest: usize,
    /// The change from the level before to the level after.
    pub change: Change,
    /// The chance that a history of as many equal runs, looked at after each of them, ever shows so clear a change.
    pub chance: f64,
}

/// What a history shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// Change points, oldest first.
    pub points: Vec<ChangePoint>,
    /// Drifts, oldest first.
    pub drifts: Vec<Drift>,
    /// The standard deviation from run to run within a level, relative: 0.02.
    pub noise: f64,
    /// The share of its distance from the level that a run inherits from the one before, 0 to 0.6.
    pub persistence: f64,
    /// The level of each run: the geometric mean of its segment.
    pub levels: Vec<f64>,
}

/// Finds the change points of a series of figures, all positive, oldest first. At a `confidence` of 0.95 at most 5 of 100 histories of
/// equal runs show any, however often they are looked at meanwhile. `None` for fewer than [`RUNS_MIN`] runs.
#[must_use]
pub fn change_points(values: &[f64], confidence: f64) -> Option<Changes> {
    if values.len() < RUNS_MIN {
        return None;
    }
    let alpha = 1.0 - confidence;
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let segments = Segments::new(&outliers::moved(&logs));
    // What neighbours share looks like steps, and steps look like what neighbours share: the steps come first, generously.
    let first = found(&segments, 0.0, alpha);
    // A drift among steps makes neighbours alike, and so does a line through what is none.
    let courses = [Course::of(&segments, first.clone()), Course::of_steps(first)];
    let persistence = courses.map(|course| course.persistence(&segments)).into_iter().fold(1.0, f64::min);
    let course = Course::of(&segments, found(&segments, persistence, alpha));
    let noise = course.noise(&segments);
    let ends = bounds(&course.steps, segments.len());
    let points = ends.windows(3).filter(|around| course.points.contains(&around[1])).map(|around| {
        let [from, at, to] = [around[0], around[1], around[2]];
        let contrast = segments.contrast(from, at, to, persistence);
        let (earliest, latest) = likely_places(&segments, from, to, persistence);
        ChangePoint {
            at,
            earliest: earliest.min(at),
            latest: latest.max(at),
            change: Change::of(contrast.log, contrast.variance, contrast.dof, confidence, 2.0 * noise * noise),
            chance: (contrast.p() * tests(segments.len())).min(1.0),
        }
    });
    let points = points.collect();
    let levels = course.levels(&segments).into_iter().map(f64::exp).collect();
    Some(Changes { points, drifts: course.drifts, noise, persistence, levels })
}

/// The number of independent tests that a history of `n` runs is worth.
fn tests(n: usize) -> f64 {
    TESTS_OF_A_RUN * n as f64
}

/// The change points with both ends of the series.
fn bounds(at: &[usize], n: usize) -> Vec<usize> {
    std::iter::once(0).chain(at.iter().copied()).chain([n]).collect()
}

/// Returns the change points that are shown.
fn found(segments: &Segments, persistence: f64, alpha: f64) -> Vec<usize> {
    let mut at = Vec::new();
    split(segments, 0, segments.len(), persistence, alpha, &mut at);
    at.sort_unstable();
    settle(segments, persistence, alpha, &mut at);
    at
}

/// Adds the change points of a segment.
fn split(segments: &Segments, from: usize, to: usize, persistence: f64, alpha: f64, found: &mut Vec<usize>) {
    let splits = intervals(from, to)
        .into_iter()
        .flat_map(|(start, end)| (start + SIDE_MIN..=end - SIDE_MIN).map(move |at| (start, at, end)));
    let clearest = splits
        .map(|(start, at, end)| (segments.contrast(start, at, end, persistence), at))
        .max_by(|(a, _), (b, _)| a.score().total_cmp(&b.score()));
    let Some((contrast, at)) = clearest else { return };
    if contrast.p() * tests(segments.len()) > alpha {
        return;
    }
    found.push(at);
    split(segments, from, at, persistence, alpha, found);
    split(segments, at, to, persistence, alpha, found);
}

/// Returns intervals of all lengths that overlap by half (seeded binary segmentation: Kovács, Bühlmann, Li and Munk 2023). A change
/// that is undone later is seen in one that holds the first change only.
fn intervals(from: usize, to: usize) -> Vec<(usize, usize)> {
    let all = to - from;
    let mut found = Vec::new();
    let mut length = all as f64;
    while length.round() as usize >= RUNS_MIN {
        let whole = length.round() as usize;
        let steps = ((all - whole) as f64 / (length / 2.0)).ceil().max(0.0);
        for nth in 0..=steps as usize {
            let start = if steps > 0.0 { ((all - whole) as f64 * nth as f64 / steps).round() as usize } else { 0 };
            found.push((from + start, from + start + whole));
        }
        length /= INTERVAL_RATIO;
    }
    found
}

/// Moves each change point to the best place between its neighbours, and drops the one that is shown least until all are.
fn settle(segments: &Segments, persistence: f64, alpha: f64, at: &mut Vec<usize>) {
    // Moves end of themselves: each lowers the sum of squares.
    loop {
        let mut is_moved = false;
        for nth in 0..at.len() {
            let ends = bounds(at, segments.len());
            let (from, to) = (ends[nth], ends[nth + 2]);
            let squares = |place: usize| segments.squares(from, place) + segments.squares(place, to);
            let best = (from + SIDE_MIN..=to - SIDE_MIN).min_by(|a, b| squares(*a).total_cmp(&squares(*b)));
            if let Some(best) = best.filter(|best| squares(*best) < squares(at[nth]) - 1e-12) {
                at[nth] = best;
                is_moved = true;
            }
        }
        if is_moved {
            continue;
        }
        let ends = bounds(at, segments.len());
        let chances = ends.windows(3).map(|w| segments.contrast(w[0], w[1], w[2], persistence).p());
        let weakest = chances.enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b));
        match weakest {
            Some((nth, p)) if p * tests(segments.len()) > alpha => {
                at.remove(nth);
            }
            _ => return,
        }
    }
}

/// Returns the first and the last of the likely places of the one change between `from` and `to`: the fewest places that hold 95 % of
/// the probability, if all were equally likely before.
fn likely_places(segments: &Segments, from: usize, to: usize, persistence: f64) -> (usize, usize) {
    let places = from + SIDE_MIN..=to - SIDE_MIN;
    let squares = |at: usize| (segments.squares(from, at) + segments.squares(at, to)).max(f64::MIN_POSITIVE);
    let least = places.clone().map(squares).fold(f64::INFINITY, f64::min);
    let power = (to - from) as f64 / 2.0 * segments::worth(persistence);
    let mut weights: Vec<_> = places.map(|at| ((least / squares(at)).powf(power), at)).collect();
    weights.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let all: f64 = weights.iter().map(|(weight, _)| weight).sum();
    let (mut sum, mut ends) = (0.0, (usize::MAX, 0));
    for (weight, at) in weights {
        ends = (ends.0.min(at), ends.1.max(at));
        sum += weight;
        if sum >= PLACE_CONFIDENCE * all {
            break;
        }
    }
    ends
}
