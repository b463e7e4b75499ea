//! The skew with which shared buffers of some size have the captured reads.
//!
//! A call that looks up one row by a unique key accesses a page of the index and a page of the table that may not be in shared buffers;
//! the pages above them always are. With zipfian keys the exponent decides how many are not. All keys share the buffers: the time of a
//! turn of the clock is the one with which all pages together fill them.

use super::clock::{Clock, PageClass, TURNS_MIN};
use super::draws::Draws;
use super::pages::Placement;

/// The exponents that are tried. Between two of them reads are interpolated.
const THETA_STEP: f64 = 0.05;
const THETAS: usize = 41;

/// How near reads are to those of uniform keys where these explain them: this share, or twice the noise of counting.
const TOLERANCE: f64 = 0.1;

/// How many times the reads of uniform keys there may be. More have another reason.
const UNEXPLAINED: f64 = 1.5;

/// The longest turn of the clock that is looked at, and the shortest, as parts of the window.
const TURNS: (f64, f64) = (1e-9, 1e6);

/// Calls of a window that look up rows by one key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Lookups {
    pub(super) calls: f64,
    /// Those of them that read a page of the table, too.
    pub(super) of_table: f64,
    /// Blocks that they read into shared buffers.
    pub(super) reads: f64,
    pub(super) table: Placement,
    pub(super) index: Placement,
}

/// What else used shared buffers in the window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct OtherUse {
    /// Blocks read.
    pub(super) reads: f64,
    /// Blocks that are there all the time.
    pub(super) resident: f64,
}

/// What explains the reads of a key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Explained {
    /// Zipfian keys with this exponent, with which so many blocks are read in the window; 0 for uniform keys.
    Theta { theta: f64, reads: f64 },
    /// More blocks were read than with uniform keys.
    Otherwise,
}

/// The classes of a key's pages by exponent.
struct Tried {
    lookups: Lookups,
    by_theta: Vec<Vec<PageClass>>,
}

impl Tried {
    fn new(lookups: Lookups) -> Self {
        let classes = |step: usize| {
            let draws = Draws::Zipfian { theta: step as f64 * THETA_STEP };
            let of = |placement: Placement, calls: f64| {
                let in_window = move |class: PageClass| PageClass { accesses: class.accesses * calls, ..class };
                placement.classes(draws).into_iter().map(in_window)
            };
            of(lookups.table, lookups.of_table).chain(of(lookups.index, lookups.calls)).collect()
        };
        Self { lookups, by_theta: (0..THETAS).map(classes).collect() }
    }

    /// Returns a figure of the classes at an exponent.
    fn at(&self, theta: f64, figure: impl Fn(&[PageClass]) -> f64) -> f64 {
        let place = (theta / THETA_STEP).clamp(0.0, (THETAS - 1) as f64);
        let (below, part) = (place.floor() as usize, place.fract());
        let low = figure(&self.by_theta[below]);
        if part == 0.0 { low } else { low + (figure(&self.by_theta[below + 1]) - low) * part }
    }

    /// Returns the exponent with which the captured blocks are read, where the clock needs this time for a turn.
    fn theta(&self, clock: &Clock, turn: f64) -> f64 {
        let is_enough = |theta: f64| self.at(theta, |classes| clock.reads(classes, turn)) >= self.lookups.reads;
        let (mut low, mut high) = (0.0, (THETAS - 1) as f64 * THETA_STEP);
        for _ in 0..12 {
            let middle = (low + high) / 2.0;
            if is_enough(middle) { low = middle } else { high = middle }
        }
        if is_enough(low.max(1e-3)) { (low + high) / 2.0 } else { 0.0 }
    }
}

/// Returns for each key what explains its reads, where shared buffers have so many blocks; `None` if all blocks fit.
pub(super) fn explain(blocks: f64, all: &[Lookups], other: OtherUse) -> Option<Vec<Explained>> {
    let clock = Clock::new();
    let tried: Vec<_> = all.iter().map(|lookups| Tried::new(*lookups)).collect();
    let table = |lookups: &Lookups| if lookups.of_table > 0.0 { lookups.table.pages } else { 0.0 };
    let pages: f64 = all.iter().map(|lookups| table(lookups) + lookups.index.pages).sum();
    if pages + other.resident <= blocks {
        return None;
    }
    let used = |turn: f64| {
        let present = |tried: &Tried| {
            let theta = tried.theta(&clock, turn);
            tried.at(theta, |classes| clock.present(classes, turn))
        };
        tried.iter().map(present).sum::<f64>() + other.resident + TURNS_MIN * turn * other.reads
    };
    let (mut short, mut long) = TURNS;
    for _ in 0..50 {
        let middle = (short * long).sqrt();
        if used(middle) < blocks { short = middle } else { long = middle }
    }
    let turn = (short * long).sqrt();
    Some(tried.iter().map(|tried| explained(tried, &clock, turn)).collect())
}

fn explained(tried: &Tried, clock: &Clock, turn: f64) -> Explained {
    let captured = tried.lookups.reads;
    let uniform = tried.at(0.0, |classes| clock.reads(classes, turn));
    let noise = TOLERANCE.max(2.0 / captured.max(1.0).sqrt());
    if captured > uniform * UNEXPLAINED.max(1.0 + noise) {
        return Explained::Otherwise;
    }
    if captured >= uniform * (1.0 - noise) {
        return Explained::Theta { theta: 0.0, reads: uniform };
    }
    let theta = tried.theta(clock, turn);
    Explained::Theta { theta, reads: tried.at(theta, |classes| clock.reads(classes, turn)) }
}

#[cfg(test)]
mod tests {
    use pgdyno_workload::Rng;

    use super::*;

    /// Buffers with a clock hand, as PostgreSQL has them.
    struct Simulated {
        buffers: Vec<(u64, u8)>,
        places: std::collections::HashMap<u64, usize>,
        hand: usize,
    }

    impl Simulated {
        fn new(blocks: usize) -> Self {
            Self { buffers: vec![(u64::MAX, 0); blocks], places: std::collections::HashMap::new(), hand: 0 }
        }

        /// Returns true if the page is read.
        fn access(&mut self, page: u64) -> bool {
            if let Some(at) = self.places.get(&page) {
                self.buffers[*at].1 = (self.buffers[*at].1 + 1).min(5);
                return false;
            }
            loop {
                let at = self.hand;
                self.hand = (self.hand + 1) % self.buffers.len();
                if self.buffers[at].1 == 0 {
                    self.places.remove(&self.buffers[at].0);
                    self.buffers[at] = (page, 1);
                    self.places.insert(page, at);
                    return true;
                }
                self.buffers[at].1 -= 1;
            }
        }
    }

    /// A key with the places of its rows.
    struct Keys {
        ranks: Vec<u64>,
        draws: Vec<u32>,
        first_page: u64,
    }

    const KEYS: u64 = 40_000;
    const ON_PAGE: [u64; 2] = [20, 100];

    impl Keys {
        fn new(draws: Draws, seed: u64) -> Self {
            let mut ranks: Vec<u64> = (0..KEYS).collect();
            Rng::new(seed).shuffle(&mut ranks);
            let times = draws.times(KEYS as f64, 400_000);
            let draws =
                times.iter().enumerate().flat_map(|(rank, times)| std::iter::repeat_n(rank as u32, *times as usize));
            Self { ranks, draws: draws.collect(), first_page: seed * 1_000_000 }
        }

        /// Returns the blocks that a lookup reads.
        fn look_up(&self, buffers: &mut Simulated, random: &mut Rng) -> f64 {
            let rank = self.draws[random.up_to(self.draws.len() as u64 - 1) as usize];
            let row = self.ranks[rank as usize];
            // Rows of the index are in another order than those of the table.
            let entry = row.wrapping_mul(7919) % KEYS;
            let pages = [self.first_page + entry / ON_PAGE[1], self.first_page + 500_000 + row / ON_PAGE[0]];
            pages.into_iter().filter(|page| buffers.access(*page)).count() as f64
        }

        fn lookups(calls: f64, reads: f64) -> Lookups {
            let [table, index] = ON_PAGE.map(|keys| Placement { keys: KEYS as f64, pages: (KEYS / keys) as f64 });
            Lookups { calls, of_table: calls, reads, table, index }
        }
    }

    const CALLS: u32 = 60_000;

    /// Returns the reads of some keys, of which each lookup takes one, and what explains them.
    fn simulate(blocks: usize, thetas: &[f64], scan: u64) -> Vec<Explained> {
        let keys: Vec<_> =
            (1..).zip(thetas).map(|(seed, theta)| Keys::new(Draws::Zipfian { theta: *theta }, seed)).collect();
        let (mut buffers, mut random) = (Simulated::new(blocks), Rng::new(9));
        let mut reads = vec![0.0; keys.len()];
        let (mut other, mut next) = (0.0, u64::MAX / 2);
        for nth in 0..CALLS * 2 {
            let is_counted = f64::from(u8::from(nth >= CALLS));
            let at = random.up_to(keys.len() as u64 - 1) as usize;
            reads[at] += keys[at].look_up(&mut buffers, &mut random) * is_counted;
            for _ in 0..if nth % 100 == 0 { scan } else { 0 } {
                next += 1;
                other += f64::from(u8::from(buffers.access(next))) * is_counted;
            }
        }
        let calls = f64::from(CALLS) / keys.len() as f64;
        let all: Vec<_> = reads.iter().map(|reads| Keys::lookups(calls, *reads)).collect();
        explain(blocks as f64, &all, OtherUse { reads: other, resident: 0.0 }).unwrap()
    }

    fn thetas(explained: &[Explained]) -> Vec<f64> {
        let theta = |one: &Explained| match one {
            Explained::Theta { theta, .. } => *theta,
            Explained::Otherwise => f64::NAN,
        };
        explained.iter().map(theta).collect()
    }

    #[test]
    fn the_skew_of_a_simulated_load_is_found_from_its_reads() {
        for theta in [0.8, 1.0, 1.3] {
            let found = thetas(&simulate(300, &[theta], 0));
            assert!((found[0] - theta).abs() < 0.06, "{theta}: {found:?}");
        }
    }

    #[test]
    fn uniform_keys_are_found_to_be_uniform() {
        assert_eq!(thetas(&simulate(300, &[0.0], 0)), [0.0]);
        assert_eq!(thetas(&simulate(1500, &[0.0], 0)), [0.0]);
    }

    #[test]
    fn keys_that_share_the_buffers_have_their_own_skew() {
        let found = thetas(&simulate(600, &[1.2, 0.0, 0.95], 0));
        assert!((found[0] - 1.2).abs() < 0.1 && found[1] == 0.0 && (found[2] - 0.95).abs() < 0.1, "{found:?}");
        // A scan that passes through takes its part.
        let found = thetas(&simulate(300, &[1.0], 100));
        assert!((found[0] - 1.0).abs() < 0.08, "{found:?}");
    }

    #[test]
    fn reads_that_no_skew_explains_have_another_reason() {
        let lookups = Keys::lookups(10_000.0, 30_000.0);
        assert_eq!(explain(300.0, &[lookups], OtherUse::default()), Some(vec![Explained::Otherwise]));
        assert_eq!(explain(3000.0, &[lookups], OtherUse::default()), None, "all pages fit");
    }
}
