//! Values by name at shared times: the data of stacked areas.

use std::collections::BTreeMap;

use pgdyno_results::Points;

use super::super::chart::ChartSeries;

/// Samples that are further apart than this number of usual steps have a gap between them.
const GAP_STEPS: f64 = 3.5;

/// The minimum length of a gap, in seconds.
const GAP_S: f64 = 2.5;

/// Values by name, each with a value for each of the times.
#[derive(Debug, Default)]
pub(super) struct Layers {
    /// Times in milliseconds: samples are not closer together.
    moments: Vec<i64>,
    by_name: BTreeMap<String, Vec<f64>>,
}

fn milliseconds(seconds: f64) -> i64 {
    (seconds * 1e3).round() as i64
}

impl Layers {
    /// Returns empty layers at these times. Missing values are zero.
    pub(super) fn at(moments: impl IntoIterator<Item = f64>) -> Self {
        let mut moments: Vec<i64> = moments.into_iter().map(milliseconds).collect();
        moments.sort_unstable();
        moments.dedup();
        Self { moments, by_name: BTreeMap::new() }
    }

    /// Adds a value to that of `name` at a time. Ignores other times.
    pub(super) fn add(&mut self, name: &str, at_s: f64, value: f64) {
        let Ok(nth) = self.moments.binary_search(&milliseconds(at_s)) else { return };
        if !self.by_name.contains_key(name) {
            self.by_name.insert(name.to_owned(), vec![0.0; self.moments.len()]);
        }
        if let Some(values) = self.by_name.get_mut(name) {
            values[nth] += value;
        }
    }

    /// Adds all known values.
    pub(super) fn add_all(&mut self, name: &str, points: &Points) {
        for (at_s, value) in points.at_s.iter().zip(&points.values) {
            self.add(name, *at_s, value.unwrap_or(0.0));
        }
    }

    /// Returns the `most` layers with the greatest sums, the greatest first, and all others as one if there are
    /// several.
    pub(super) fn series(self, most: usize, rest: &str) -> Vec<ChartSeries> {
        let weight = |values: &[f64]| values.iter().sum::<f64>();
        let mut all: Vec<_> = self.by_name.into_iter().filter(|(_, values)| weight(values) > 0.0).collect();
        all.sort_by(|(_, a), (_, b)| weight(b).total_cmp(&weight(a)));
        if all.len() > most + 1 {
            let others = all.split_off(most);
            let sum = (0..self.moments.len()).map(|nth| others.iter().map(|(_, values)| values[nth]).sum()).collect();
            all.push((rest.to_owned(), sum));
        }
        let at_s: Vec<f64> = self.moments.iter().map(|ms| *ms as f64 / 1e3).collect();
        let series = |(name, values): (String, Vec<f64>)| {
            super::series(&name, Points { at_s: at_s.clone(), values: values.into_iter().map(Some).collect() })
        };
        all.into_iter().map(series).collect()
    }
}

/// Returns the same points with an unknown one in each gap: a line across it would show values that were not sampled.
pub(super) fn with_gaps(points: Points) -> Points {
    let mut steps: Vec<f64> = points.at_s.windows(2).map(|pair| pair[1] - pair[0]).collect();
    steps.sort_by(f64::total_cmp);
    let Some(usual) = steps.get(steps.len() / 2) else { return points };
    let longest = (usual * GAP_STEPS).max(GAP_S);
    if steps.last().is_none_or(|step| *step <= longest) {
        return points;
    }
    let mut with_gaps = Points::default();
    for (at_s, value) in points.at_s.iter().zip(points.values) {
        if let Some(before) = with_gaps.at_s.last().filter(|before| at_s - **before > longest) {
            with_gaps.at_s.push(before + usual);
            with_gaps.values.push(None);
        }
        with_gaps.at_s.push(*at_s);
        with_gaps.values.push(value);
    }
    with_gaps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weightiest_are_reported_and_the_others_are_one() {
        let mut layers = Layers::at([0.0, 1.0, 1.0004]);
        for (name, at, value) in [("a", 0.0, 1.0), ("b", 0.0, 5.0), ("b", 1.0, 1.0), ("c", 1.0, 2.0), ("d", 1.0, 0.0)] {
            layers.add(name, at, value);
        }
        layers.add_all("e", &Points { at_s: vec![0.0, 1.0, 7.0], values: vec![None, Some(0.5), Some(99.0)] });
        let series = layers.series(1, "rest");
        let facts: Vec<_> = series.iter().map(|s| (s.name.as_str(), s.values.clone())).collect();
        assert_eq!(facts, [("b", vec![Some(5.0), Some(1.0)]), ("rest", vec![Some(1.0), Some(2.5)])]);
    }

    #[test]
    fn where_nobody_looked_there_is_a_gap() {
        let at_s = vec![0.0, 1.0, 2.0, 3.0, 9.0, 10.0];
        let points = Points { values: vec![Some(1.0); 6], at_s };
        let with_gaps = with_gaps(points.clone());
        assert_eq!(with_gaps.at_s, [0.0, 1.0, 2.0, 3.0, 4.0, 9.0, 10.0]);
        assert_eq!(with_gaps.values[3..6], [Some(1.0), None, Some(1.0)]);
        let dense = Points { at_s: vec![0.0, 0.1, 1.9, 2.0], values: vec![Some(1.0); 4] };
        assert_eq!(super::with_gaps(dense.clone()), dense, "a second or two is no gap");
    }
}
