//! Properties that rows and random inputs share: the seed, its streams and the NURand constants.

use pgdyno_workload::Rng;

use super::strings::LastName;

/// Seed of a loaded database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seed(pub(super) u64);

/// The constants C of NURand during a run (clause 2.1.6).
///
/// Without a constant, numbers are drawn uniformly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RunConstants {
    /// For C_LAST: C-Run.
    pub(super) c_last: u32,
    /// For C_ID.
    pub(super) c_id: Option<u32>,
    /// For OL_I_ID.
    pub(super) i_id: Option<u32>,
}

impl Seed {
    /// Returns the stream of one table and the numbers of its chunk.
    pub(super) fn rng(self, purpose: &str, numbers: &[u64]) -> Rng {
        Rng::derive(self.0, purpose, numbers)
    }

    /// Returns C-Load: the constant for C_LAST with which the customers are loaded.
    pub(super) fn c_load(self) -> u32 {
        self.rng("c-load", &[]).up_to(255) as u32
    }

    /// Returns the constants of every run on this database, by the clauses.
    ///
    /// They come from the load's seed, because all clients (and all driver machines) of a run must use the same, and
    /// C-Run depends on C-Load: their difference must be in 65..=119 and neither 96 nor 112 (clause 2.1.6.1).
    pub(super) fn run_constants(self) -> RunConstants {
        let mut rng = self.rng("c-run", &[]);
        let c_load = self.c_load();
        let valid: Vec<u32> = (0..=255)
            .filter(|c_run: &u32| {
                let delta = c_run.abs_diff(c_load);
                (65..=119).contains(&delta) && delta != 96 && delta != 112
            })
            .collect();
        // Never empty: below 136 one can add 65, from 119 on one can subtract it.
        let c_last = valid[rng.up_to(valid.len() as u64 - 1) as usize];
        RunConstants { c_last, c_id: Some(rng.up_to(1023) as u32), i_id: Some(rng.up_to(8191) as u32) }
    }
}

/// Returns NURand(A, x, y) with the constant `c` (clause 2.1.6).
#[inline]
pub(super) fn nurand(rng: &mut Rng, a: u32, x: u32, y: u32, c: u32) -> u32 {
    let wide = rng.up_to(u64::from(a)) | (u64::from(x) + rng.up_to(u64::from(y - x)));
    ((wide + u64::from(c)) % u64::from(y - x + 1)) as u32 + x
}

/// Returns NURand(A, 1, y) if there is a constant, else a uniform number in 1..=y.
#[inline]
pub(super) fn number(rng: &mut Rng, a: u32, y: u32, c: Option<u32>) -> i32 {
    // `y` is far below 2^31.
    let drawn = match c {
        Some(c) => nurand(rng, a, 1, y, c),
        None => rng.up_to(u64::from(y - 1)) as u32 + 1,
    };
    drawn as i32
}

/// Draws a last name, as runs and the load do: NURand(255, 0, 999) (clause 4.3.2.3).
#[inline]
pub(super) fn last_name(rng: &mut Rng, c: u32) -> LastName {
    LastName::new(nurand(rng, 255, 0, 999, c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_constants_obey_the_clause_for_every_load_constant() {
        let mut loads = std::collections::BTreeSet::new();
        for seed in 0..5_000 {
            let seed = Seed(seed);
            let (load, run) = (seed.c_load(), seed.run_constants());
            let delta = run.c_last.abs_diff(load);
            assert!((65..=119).contains(&delta) && delta != 96 && delta != 112);
            assert!(load <= 255 && run.c_last <= 255);
            assert!(run.c_id.unwrap() <= 1023 && run.i_id.unwrap() <= 8191);
            assert_eq!(run, seed.run_constants());
            loads.insert(load);
        }
        assert_eq!(loads.len(), 256);
    }

    /// The bitwise OR makes numbers with many set bits more likely: the most frequent item comes up about 190 times
    /// as often as one in 100,000.
    #[test]
    fn nurand_is_as_uneven_as_the_clause_wants() {
        let mut rng = Rng::new(1);
        let mut counts = vec![0u32; 100_001];
        let draws = 2_000_000;
        for _ in 0..draws {
            let v = nurand(&mut rng, 8191, 1, 100_000, 0);
            counts[v as usize] += 1;
        }
        assert_eq!(counts[0], 0);
        let hottest = f64::from(*counts.iter().max().unwrap()) / f64::from(draws);
        // Bits 0 to 12 all set: (3/4)^13, spread over 12.2 values of the higher bits.
        assert!((0.0015..0.0025).contains(&hottest), "{hottest}");
    }

    #[test]
    fn nurand_turns_round_at_the_upper_end() {
        let mut rng = Rng::new(4);
        let mut seen = [false; 3_001];
        for _ in 0..400_000 {
            seen[nurand(&mut rng, 1023, 1, 3000, 777) as usize] = true;
        }
        assert!(!seen[0] && seen[1] && seen[3000]);
    }
    #[test]
    fn without_a_constant_numbers_are_uniform() {
        let (mut rng, mut counts) = (Rng::new(5), [0u32; 11]);
        for _ in 0..100_000 {
            counts[number(&mut rng, 1023, 10, None) as usize] += 1;
        }
        assert_eq!(counts[0], 0);
        assert!(counts[1..].iter().all(|n| (9_600..10_400).contains(n)), "{counts:?}");
    }
}
