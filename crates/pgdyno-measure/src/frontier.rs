//! The frontier of two throughputs that share a server: how much of one is left at how much of the other.
//!
//! After HATtrick (SIGMOD 2022). The frontier is made of the points that no other point beats in both. Between two of them it
//! is a straight line: a system can do one for a part of the time and the other for the rest.

use crate::mean::{mean, t};

/// A point: the one throughput, and the other.
pub type Throughputs = (f64, f64);

/// Returns the points that no other one reaches in both, by the first throughput.
#[must_use]
pub fn hull(points: &[Throughputs]) -> Vec<usize> {
    let beats = |a: Throughputs, b: Throughputs| a.0 >= b.0 && a.1 >= b.1 && (a.0 > b.0 || a.1 > b.1);
    let is_first = |nth: usize| points[..nth].iter().all(|other| *other != points[nth]);
    let mut found: Vec<usize> = (0..points.len())
        .filter(|nth| is_first(*nth) && points.iter().all(|other| !beats(*other, points[*nth])))
        .collect();
    found.sort_by(|a, b| points[*a].0.total_cmp(&points[*b].0));
    found
}

/// Returns the highest of each throughput: the bounding box, in which neither would cost the other anything.
#[must_use]
pub fn bounds(points: &[Throughputs]) -> Throughputs {
    points.iter().fold((0.0, 0.0), |(a, b), point| (point.0.max(a), point.1.max(b)))
}

/// Returns the area below the frontier as a share of the box: 0.5 if both share the server by turns, 1 if neither costs the
/// other anything. `None` if one of them was never above 0.
#[must_use]
pub fn area(points: &[Throughputs], bounds: Throughputs) -> Option<f64> {
    if bounds.0 <= 0.0 || bounds.1 <= 0.0 {
        return None;
    }
    let on = hull(points);
    // From the axis to the first point, and from the last one to the other axis.
    let inner = on.iter().map(|nth| points[*nth]);
    let first = on.first().map(|nth| (0.0, points[*nth].1));
    let last = on.last().map(|nth| (points[*nth].0, 0.0));
    let line: Vec<Throughputs> = first.into_iter().chain(inner).chain(last).collect();
    let area: f64 = line.windows(2).map(|pair| (pair[1].0 - pair[0].0) * (pair[0].1 + pair[1].1) / 2.0).sum();
    Some(area / (bounds.0 * bounds.1))
}

/// Returns how far the 95 % interval of the area reaches to each side of it: the jackknife over repetitions, which leaves out each
/// in turn, with Student's t. `points` has the repetitions of each point, in the order in which they were measured; as many count as
/// every point has. `None` with fewer than two, or without an area.
#[must_use]
pub fn area_reach(points: &[Vec<Throughputs>]) -> Option<f64> {
    let repeats = points.iter().map(Vec::len).min().filter(|repeats| *repeats > 1)?;
    let without = |left_out: usize| {
        let mean = |point: &Vec<Throughputs>| {
            let kept = point[..repeats].iter().enumerate().filter(|(nth, _)| *nth != left_out);
            let sum = kept.fold((0.0, 0.0), |sum, (_, point)| (sum.0 + point.0, sum.1 + point.1));
            let n = (repeats - 1) as f64;
            (sum.0 / n, sum.1 / n)
        };
        let means: Vec<Throughputs> = points.iter().map(mean).collect();
        area(&means, bounds(&means))
    };
    let areas = (0..repeats).map(without).collect::<Option<Vec<f64>>>()?;
    // Each of these areas has the mean of the others in it, so that they differ less than repetitions do.
    let (n, mean) = (repeats as f64, mean(&areas)?);
    let squares: f64 = areas.iter().map(|area| (area - mean).powi(2)).sum();
    Some(t(n - 1.0) * (squares * (n - 1.0) / n).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_the_area_is_that_of_its_repetitions() {
        // Both ends stay, and the corner moves along the diagonal: the area is linear in it, so that this is Student's interval.
        let at = |share: f64| (100.0 * share, 10.0 * share);
        let repeated = |shares: [f64; 3]| [vec![(0.0, 10.0); 3], shares.map(at).to_vec(), vec![(100.0, 0.0); 3]];
        let areas = [0.6, 0.7, 0.8].map(|share| area(&[(0.0, 10.0), at(share), (100.0, 0.0)], (100.0, 10.0)).unwrap());
        let expected = crate::mean::reach(&areas).unwrap();
        let reached = area_reach(&repeated([0.6, 0.7, 0.8])).unwrap();
        assert!((reached - expected).abs() < 1e-9, "{reached} {expected}");
        assert_eq!(area_reach(&repeated([0.7; 3])).map(|reach| reach < 1e-9), Some(true));
        // A point that was measured once leaves no interval.
        let mut once = repeated([0.6, 0.7, 0.8]);
        once[0].truncate(1);
        assert_eq!((area_reach(&once), area_reach(&[])), (None, None));
    }

    #[test]
    fn a_server_that_is_shared_by_turns_has_half_of_the_box_and_one_without_loss_all_of_it() {
        let by_turns = [(0.0, 10.0), (50.0, 5.0), (100.0, 0.0)];
        assert_eq!(area(&by_turns, bounds(&by_turns)), Some(0.5));
        let isolated = [(0.0, 10.0), (100.0, 10.0), (100.0, 0.0)];
        assert_eq!((bounds(&isolated), area(&isolated, bounds(&isolated))), ((100.0, 10.0), Some(1.0)));
        let disturbed = [(0.0, 10.0), (20.0, 2.0), (100.0, 0.0)];
        assert!(area(&disturbed, bounds(&disturbed)).is_some_and(|area| area < 0.5));
        assert_eq!(area(&[(100.0, 0.0)], (100.0, 0.0)), None);
    }

    #[test]
    fn the_frontier_has_only_points_that_none_beats_in_both() {
        let points = [(100.0, 0.0), (0.0, 10.0), (40.0, 4.0), (50.0, 6.0), (50.0, 6.0), (60.0, 5.0)];
        assert_eq!(hull(&points), [1, 3, 5, 0]);
        assert!(hull(&[]).is_empty());
    }
}
