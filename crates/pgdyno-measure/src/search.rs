//! The search for the highest load that meets an objective.
//!
//! A [`Search`] returns which load to measure next, and takes the results; the caller measures. It goes up and down
//! until it has a load that meets the objective and one that does not, bisects the interval, repeats measurements
//! that noise leaves undecided, and confirms both ends by a second measurement. One load, the anchor, is measured
//! every now and then, so that a drift of the machine or the server is seen ([`SearchResult::drift`]). It assumes that every load above one
//! that does not meet the objective does not meet it either.

mod drift;
mod knee;
mod sequential;

pub use knee::knee;
pub use sequential::{ERROR, LoadVerdict, REPEATS};

use drift::Today;
use sequential::SATURATED;

/// Minimum number of measurements of each end of the result.
const CONFIRMED: usize = 2;

/// Number of measurements after which the anchor is due again.
const ANCHOR_EVERY: usize = 6;
/// The same at the end of the search.
const ANCHOR_AT_END: usize = 3;

/// Range and limits of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The lowest load.
    pub min: f64,
    /// The highest load.
    pub max: f64,
    /// The first load.
    pub start: f64,
    /// Factor of a step up while no load is known to be too high; above 1.
    pub growth: f64,
    /// Whether loads are whole numbers, such as clients.
    pub whole: bool,
    /// Wanted width of the resulting interval, as a share of its lower end.
    pub precision: f64,
    /// Limit of measurements.
    pub budget: usize,
    /// Number of loads below the limit that are measured for the curve, after it was found.
    pub fill: usize,
}

/// Result of one measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Seen {
    /// The logarithm of bound over figure, of the objective that is closest to its bound: above 0 all are met.
    Margin(f64),
    /// The load could not be carried at all; there is no figure.
    Overloaded,
}

/// A load and its results.
#[derive(Clone, Debug, PartialEq)]
struct Point {
    load: f64,
    /// Measurements before each of its own.
    at: Vec<usize>,
    margins: Vec<f64>,
}

/// Result of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SearchResult {
    /// The highest load that meets the objective, as do all below it.
    pub kept: Option<f64>,
    /// The lowest load that does not meet it. The limit lies between the two.
    pub broken: Option<f64>,
    /// Whether the search reached its limit of measurements before it was finished.
    pub exhausted: bool,
    /// Change of [`Seen::Margin`] at the same load from the first measurement to the last, if it is more than chance. The limit is
    /// then that of the end.
    pub drift: Option<f64>,
}

/// A search in progress.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    bounds: Bounds,
    /// By load.
    points: Vec<Point>,
}

impl Search {
    /// Returns a search without results.
    #[must_use]
    pub fn new(bounds: Bounds) -> Self {
        Self { bounds, points: Vec::new() }
    }

    /// Adds a measurement.
    pub fn saw(&mut self, load: f64, seen: Seen) {
        let margin = match seen {
            Seen::Margin(margin) => margin.clamp(-SATURATED, SATURATED),
            Seen::Overloaded => -SATURATED,
        };
        let spent = self.spent();
        let at = self.points.partition_point(|point| point.load < load);
        match self.points.get_mut(at) {
            Some(point) if point.load == load => {
                point.at.push(spent);
                point.margins.push(margin);
            }
            _ => self.points.insert(at, Point { load, at: vec![spent], margins: vec![margin] }),
        }
    }

    /// Returns the load to measure next; `None` when the search is finished.
    #[must_use]
    pub fn next(&self) -> Option<f64> {
        if self.spent() >= self.bounds.budget {
            return None;
        }
        match self.seek() {
            Some(load) => self.anchor(ANCHOR_EVERY).or(Some(load)),
            None => self.anchor(ANCHOR_AT_END).or_else(|| self.fill()),
        }
    }

    /// Returns the anchor if it is due: of the loads whose figure was on the scale at the first `ANCHOR_EVERY` measurements, the
    /// one closest to the limit.
    fn anchor(&self, every: usize) -> Option<f64> {
        let early = |point: &&Point| point.at[0] < ANCHOR_EVERY && point.margins[0].abs() < SATURATED;
        let anchor =
            self.points.iter().filter(early).min_by(|a, b| a.margins[0].abs().total_cmp(&b.margins[0].abs()))?;
        let due = self.spent() >= anchor.at.last()? + every;
        (self.spent() >= ANCHOR_EVERY && due).then_some(anchor.load)
    }

    /// Returns the verdict on a load.
    #[must_use]
    pub fn verdict(&self, load: f64) -> LoadVerdict {
        let today = Today::of(&self.points);
        let point = today.points.iter().find(|point| point.load == load);
        point.map_or(LoadVerdict::Open, |point| today.noise.verdict(&point.margins))
    }

    /// Returns the result so far.
    #[must_use]
    pub fn limit(&self) -> SearchResult {
        let (kept, broken) = self.ends(&self.verdicts());
        let load = |at: usize| self.points[at].load;
        let exhausted = self.spent() >= self.bounds.budget && self.seek().is_some();
        SearchResult { kept: kept.map(load), broken: broken.map(load), exhausted, drift: Today::of(&self.points).drift }
    }

    fn spent(&self) -> usize {
        self.points.iter().map(|point| point.margins.len()).sum()
    }

    fn verdicts(&self) -> Vec<LoadVerdict> {
        let today = Today::of(&self.points);
        today.points.iter().map(|point| today.noise.verdict(&point.margins)).collect()
    }

    /// Returns how many times as long a measurement must be for a load to be decided after [`REPEATS`] of them, if its spread
    /// falls with the square root of the length. `None` if that says nothing: too few measurements, or a load so close to the
    /// limit that its side is chance.
    #[must_use]
    pub fn lengthening(&self, load: f64) -> Option<f64> {
        let today = Today::of(&self.points);
        let point = today.points.iter().find(|point| point.load == load)?;
        today.noise.lengthening(&point.margins)
    }

    /// Returns the highest point that meets the objective below the lowest one that does not, and the latter.
    fn ends(&self, verdicts: &[LoadVerdict]) -> (Option<usize>, Option<usize>) {
        let broken = verdicts.iter().position(|verdict| *verdict == LoadVerdict::Broken);
        let below = &verdicts[..broken.unwrap_or(verdicts.len())];
        (below.iter().rposition(|verdict| *verdict == LoadVerdict::Kept), broken)
    }

    /// Returns the next step towards the limit.
    fn seek(&self) -> Option<f64> {
        let verdicts = self.verdicts();
        let (kept, broken) = self.ends(&verdicts);
        let point = |at: usize| &self.points[at];
        let (Some(first), Some(last)) = (self.points.first(), self.points.last()) else {
            return Some(self.admissible(self.bounds.start));
        };
        // A load met the objective above one that did not: one of the two is due to chance.
        if let Some(low) = broken
            && verdicts[low..].contains(&LoadVerdict::Kept)
            && point(low).margins.len() < REPEATS
        {
            return Some(point(low).load);
        }
        let between = kept.map_or(0, |at| at + 1)..broken.unwrap_or(self.points.len());
        let open = |at: &usize| verdicts[*at] == LoadVerdict::Open && point(*at).margins.len() < REPEATS;
        if let Some(at) = between.clone().find(open) {
            return Some(point(at).load);
        }
        // Without a load that meets the objective, the lowest one is the answer: a run of it that did is no clear miss.
        let is_mixed = |at: usize| kept.is_none() && point(at).margins.iter().any(|margin| *margin > 0.0);
        let unconfirmed = |at: usize| point(at).margins.len() < if is_mixed(at) { REPEATS } else { CONFIRMED };
        match (kept, broken) {
            (_, None) if last.load < self.bounds.max => {
                Some(self.admissible((last.load * self.bounds.growth).max(last.load + self.least())))
            }
            (None, _) if first.load > self.bounds.min => {
                Some(self.admissible((first.load / 2.0).min(first.load - self.least())))
            }
            (kept, broken) => {
                let gaps = kept.zip(broken).map(|(kept, broken)| [(kept, kept + 1), (broken - 1, broken)]);
                let gap = gaps.into_iter().flatten().map(|(low, high)| (point(low).load, point(high).load));
                let width = |(low, high): &(f64, f64)| high / low;
                let wide =
                    gap.filter(|(low, high)| self.is_wide(*low, *high)).max_by(|a, b| width(a).total_cmp(&width(b)));
                let middle = wide.map(|(low, high)| self.rounded((low * high).sqrt()));
                middle.or_else(|| kept.into_iter().chain(broken).find(|at| unconfirmed(*at)).map(|at| point(at).load))
            }
        }
    }

    /// Returns a load for the curve below the limit, far from measured ones.
    fn fill(&self) -> Option<f64> {
        let kept = self.limit().kept?;
        let parts = self.bounds.fill + 1;
        let near = |load: f64| self.points.iter().any(|p| (p.load - load).abs() <= 0.3 * kept / parts as f64);
        (1..parts).map(|part| self.admissible(kept * part as f64 / parts as f64)).find(|load| !near(*load))
    }

    /// Returns the least difference of two loads.
    fn least(&self) -> f64 {
        if self.bounds.whole { 1.0 } else { 0.0 }
    }

    fn is_wide(&self, low: f64, high: f64) -> bool {
        high - low > (low * self.bounds.precision).max(self.least())
    }

    fn admissible(&self, load: f64) -> f64 {
        self.rounded(load.clamp(self.bounds.min, self.bounds.max))
    }

    /// Rounds to whole numbers, or to four digits.
    fn rounded(&self, load: f64) -> f64 {
        let digits = 10f64.powf(load.abs().max(f64::MIN_POSITIVE).log10().floor() - 3.0);
        if self.bounds.whole { load.round() } else { (load / digits).round() * digits }
    }
}

#[cfg(test)]
mod simulated;
