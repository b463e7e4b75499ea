//! Shared buffers as a clock: which share of the time a page is there, by how often it is accessed.
//!
//! PostgreSQL's clock sweep counts the accesses of each buffer, up to 5. The hand takes one away at each turn, and evicts a buffer
//! whose count is 0. With random accesses the number of turns that a page stays is that of a Markov chain, and all pages together
//! fill the buffers: that gives the time of a turn. It is Che's approximation (Che, Tung, Wang 2002) with the clock in place of LRU,
//! whose skewed loads read notably more.

/// The most accesses that are counted (`BM_MAX_USAGE_COUNT`).
const COUNT_MAX: usize = 5;

/// Counts that a page may have after the hand has passed.
const STATES: usize = COUNT_MAX;

/// Turns that a page stays which is accessed once.
pub(super) const TURNS_MIN: f64 = 2.0;

/// The logarithms of accesses in a turn for which the share is computed, and their distance.
const FIRST: f64 = -14.0;
const LAST: f64 = 2.0;
const STEP: f64 = 0.05;

/// Pages that are accessed with the same frequency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PageClass {
    /// Their number.
    pub(super) pages: f64,
    /// Accesses of each.
    pub(super) accesses: f64,
}

/// The share of the time that a page is in shared buffers.
pub(super) struct Clock {
    /// By the logarithm of its accesses in a turn of the hand.
    shares: Vec<f64>,
}

impl Clock {
    pub(super) fn new() -> Self {
        let steps = ((LAST - FIRST) / STEP).round() as usize;
        let share = |step: usize| {
            let accesses = (FIRST + step as f64 * STEP).exp();
            let there = turns(accesses) * accesses;
            there / (there + 1.0)
        };
        Self { shares: (0..=steps).map(share).collect() }
    }

    /// Returns the share of the time that a page with so many accesses in a turn of the hand is there.
    fn share(&self, accesses: f64) -> f64 {
        let place = (accesses.max(1e-300).ln() - FIRST) / STEP;
        if place <= 0.0 {
            return TURNS_MIN * accesses;
        }
        let (at, part) = (place as usize, place.fract());
        match self.shares.get(at..at + 2) {
            Some(two) => two[0] + (two[1] - two[0]) * part,
            None => 1.0,
        }
    }

    /// Returns how many of the pages are there at a time, where a turn takes this part of the window.
    pub(super) fn present(&self, classes: &[PageClass], turn: f64) -> f64 {
        classes.iter().map(|class| class.pages * self.share(class.accesses * turn)).sum()
    }

    /// Returns how many accesses find their page not there.
    pub(super) fn reads(&self, classes: &[PageClass], turn: f64) -> f64 {
        let of = |class: &PageClass| class.pages * class.accesses * (1.0 - self.share(class.accesses * turn));
        classes.iter().map(of).sum()
    }
}

/// Returns for how many turns of the hand a page stays that has so many accesses in each, on average.
fn turns(accesses: f64) -> f64 {
    // Chances of 0 to 4 accesses in a turn.
    let mut chances = [(-accesses).exp(); STATES];
    for n in 1..STATES {
        chances[n] = chances[n - 1] * accesses / n as f64;
    }
    // Turns from each count on: turns[c] = 1 + the mean over the accesses of turns[min(5, c + accesses) - 1].
    let mut matrix = [[0.0; STATES + 1]; STATES];
    for (count, row) in matrix.iter_mut().enumerate() {
        row[count] = 1.0;
        row[STATES] = 1.0;
        let mut rest = 1.0;
        for (n, chance) in chances.iter().enumerate().take(STATES - count) {
            rest -= chance;
            if let Some(next) = (count + n).checked_sub(1) {
                row[next] -= chance;
            }
        }
        row[STATES - 1] -= rest.max(0.0);
    }
    // A page that was read has the count 1.
    solve(matrix)[1]
}

/// Solves linear equations, whose right sides are the last column.
fn solve(mut matrix: [[f64; STATES + 1]; STATES]) -> [f64; STATES] {
    for at in 0..STATES {
        let pivot = (at..STATES).max_by(|a, b| matrix[*a][at].abs().total_cmp(&matrix[*b][at].abs())).unwrap_or(at);
        matrix.swap(at, pivot);
        let row = matrix[at];
        for (other, cells) in matrix.iter_mut().enumerate().filter(|(other, _)| *other != at) {
            let factor = cells[at] / row[at];
            debug_assert!(other < STATES);
            cells.iter_mut().zip(row).for_each(|(cell, of_row)| *cell -= factor * of_row);
        }
    }
    let mut solution = [0.0; STATES];
    for (at, value) in solution.iter_mut().enumerate() {
        *value = matrix[at][STATES] / matrix[at][at];
    }
    solution
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_stays_longer_the_more_often_it_is_accessed() {
        assert!((turns(1e-9) - 2.0).abs() < 1e-6, "read, and passed twice");
        let all = [0.01, 0.1, 0.5, 1.0, 2.0].map(turns);
        assert!(all.windows(2).all(|pair| pair[0] < pair[1]), "{all:?}");
        let clock = Clock::new();
        assert!((clock.share(1e-8) - 2e-8).abs() < 1e-12 && (clock.share(100.0) - 1.0).abs() < 1e-12);
        // Continuous where the table begins.
        let edge = FIRST.exp();
        assert!((clock.share(edge * 1.01) / clock.share(edge * 0.99) - 1.0).abs() < 0.1);
    }
}
