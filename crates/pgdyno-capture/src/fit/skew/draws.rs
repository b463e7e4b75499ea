//! How often each of a number of keys is drawn.

use pgdyno_workload::Rng;
use pgdyno_workload::dist::Zeta;

/// Ranks of a zipfian distribution that have a class of their own, and how much further each later class reaches.
const SINGLE: f64 = 64.0;
const WIDER: f64 = 1.05;

/// A distribution of draws over keys. Which key has which rank is not part of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Draws {
    /// The key of rank r is drawn in proportion to r^-theta; with 0 each key is as frequent as the others.
    Zipfian { theta: f64 },
    /// This share of the draws goes to so many keys, the rest to the others; uniformly within both.
    HotKeys { hot: f64, share: f64 },
}

/// Keys that are drawn with the same frequency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct KeyClass {
    /// Their number, of which a part may be left after a whole number.
    pub(super) keys: f64,
    /// The share of all draws that all of them have.
    pub(super) share: f64,
}

impl Draws {
    /// Each key is as frequent as the others.
    pub(super) const UNIFORM: Self = Self::Zipfian { theta: 0.0 };

    /// Returns the classes of so many keys, the most frequent first. Their shares add up to 1.
    pub(super) fn classes(self, keys: f64) -> Vec<KeyClass> {
        let keys = keys.max(1.0).round();
        match self {
            Self::Zipfian { theta: 0.0 } => vec![KeyClass { keys, share: 1.0 }],
            Self::Zipfian { theta } => zipfian(keys, theta),
            Self::HotKeys { hot, share } if hot < keys => {
                vec![KeyClass { keys: hot, share }, KeyClass { keys: keys - hot, share: 1.0 - share }]
            }
            Self::HotKeys { .. } => vec![KeyClass { keys, share: 1.0 }],
        }
    }

    /// Returns how often each key is in a list of so many rows from which rows are drawn uniformly, the most frequent first. Keys that
    /// would be in it less than once are left out evenly.
    pub(super) fn times(self, keys: f64, rows: usize) -> Vec<u32> {
        let classes = Cumulated::new(&self.classes(keys));
        let mut times: Vec<u32> = Vec::new();
        let mut last = None;
        for row in 0..rows {
            let rank = classes.rank((row as f64 + 0.5) / rows as f64);
            match times.last_mut().filter(|_| last == Some(rank)) {
                Some(times) => *times += 1,
                None => times.push(1),
            }
            last = Some(rank);
        }
        times.sort_unstable_by(|a, b| b.cmp(a));
        times
    }

    /// Returns the profile that so many draws of so many keys have, as one stream of random numbers gives it: the same numbers for each
    /// distribution, so that profiles differ by the distributions alone.
    pub(super) fn profile(self, keys: f64, draws: u64) -> (u64, Vec<u64>) {
        let classes = Cumulated::new(&self.classes(keys));
        let mut random = Rng::new(1);
        let mut drawn: Vec<u64> = (0..draws).map(|_| classes.rank(random.unit())).collect();
        drawn.sort_unstable();
        crate::form::ValueProfile::of_counts(drawn.chunk_by(|a, b| a == b).map(|same| same.len() as u64).collect())
    }
}

fn zipfian(keys: f64, theta: f64) -> Vec<KeyClass> {
    let zeta = Zeta::new(theta);
    let all = zeta.of(keys as u64);
    let mut classes = Vec::new();
    let (mut end, mut before) = (0.0_f64, 0.0);
    while end < keys {
        let next = if end < SINGLE { end + 1.0 } else { (end * WIDER).ceil() }.min(keys);
        let below = zeta.of(next as u64);
        classes.push(KeyClass { keys: next - end, share: (below - before) / all });
        (end, before) = (next, below);
    }
    classes
}

/// Classes with what comes before them.
pub(super) struct Cumulated {
    /// The end of each class: keys and shares up to there.
    ends: Vec<(f64, f64)>,
}

impl Cumulated {
    pub(super) fn new(classes: &[KeyClass]) -> Self {
        let mut sum = (0.0, 0.0);
        let end = |class: &KeyClass| {
            sum = (sum.0 + class.keys, sum.1 + class.share);
            sum
        };
        Self { ends: classes.iter().map(end).collect() }
    }

    fn before(&self, class: usize) -> (f64, f64) {
        class.checked_sub(1).map_or((0.0, 0.0), |before| self.ends[before])
    }

    /// Returns the rank, from 0, below which this share of the draws is.
    fn rank(&self, share: f64) -> u64 {
        let class = self.ends.partition_point(|(_, end)| *end <= share).min(self.ends.len() - 1);
        let ((keys, low), (last, high)) = (self.before(class), self.ends[class]);
        let within = if high > low { (share - low) / (high - low) } else { 0.0 };
        (keys + (last - keys) * within).floor().min(last - 1.0).max(0.0) as u64
    }

    /// Returns the share of the draws that the first so many keys have.
    pub(super) fn share(&self, first: f64) -> f64 {
        let class = self.ends.partition_point(|(end, _)| *end <= first).min(self.ends.len() - 1);
        let ((keys, low), (last, high)) = (self.before(class), self.ends[class]);
        (low + (high - low) * ((first - keys) / (last - keys).max(1e-9))).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_each_key_as_often_as_it_is_drawn() {
        let times = Draws::Zipfian { theta: 1.0 }.times(1000.0, 10_000);
        // The harmonic number of 1,000 is 7.485.
        assert!((times[0] as f64 - 10_000.0 / 7.485).abs() < 2.0, "{}", times[0]);
        assert!((f64::from(times[9]) - 10_000.0 / 74.85).abs() < 2.0, "{}", times[9]);
        assert_eq!((times.len(), times.iter().sum::<u32>()), (1000, 10_000));
        // Of a long tail it has a part, once each.
        let times = Draws::Zipfian { theta: 0.9 }.times(1e7, 10_000);
        assert!(times.len() > 3000 && times.last() == Some(&1), "{}", times.len());
        assert_eq!(times.iter().sum::<u32>(), 10_000);
        assert_eq!(Draws::UNIFORM.times(500.0, 1000), vec![2; 500]);
        let hot = Draws::HotKeys { hot: 10.0, share: 0.5 }.times(1e6, 1000);
        assert_eq!((hot[0], hot[9], hot[10], hot.len()), (50, 50, 1, 510));
    }

    #[test]
    fn the_first_keys_have_their_share() {
        let classes = Cumulated::new(&Draws::Zipfian { theta: 1.0 }.classes(1e6));
        assert!((classes.share(1000.0) - 7.4855 / 14.3927).abs() < 1e-3);
        assert!((classes.share(1e6) - 1.0).abs() < 1e-9 && classes.share(0.0).abs() < 1e-9);
    }
}
