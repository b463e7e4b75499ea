//! The order of the runs of a suite.

use super::{Sequence, Suite, Turn};
use crate::TargetName;

/// Returns all runs in their order.
pub(super) fn turns(suite: &Suite) -> Vec<Turn> {
    let cells = 0..suite.cells.len();
    let repetitions = 1..=suite.repetitions;
    let interleaved = || {
        let turn = |repetition| cells.clone().map(move |cell| Turn { cell, repetition });
        repetitions.clone().flat_map(turn).collect::<Vec<_>>()
    };
    match suite.order {
        Sequence::Interleaved => interleaved(),
        Sequence::Random => shuffled(interleaved(), suite.seed),
        Sequence::AsWritten => {
            let mut targets: Vec<&TargetName> = Vec::new();
            for cell in &suite.cells {
                if !targets.contains(&&cell.target) {
                    targets.push(&cell.target);
                }
            }
            let turn = |cell| repetitions.clone().map(move |repetition| Turn { cell, repetition });
            let of = |target: &TargetName| {
                let cells = cells.clone().filter(|cell| suite.cells[*cell].target == *target);
                cells.flat_map(turn).collect::<Vec<_>>()
            };
            targets.into_iter().flat_map(of).collect()
        }
    }
}

/// Shuffles by Fisher and Yates: every order is equally likely.
fn shuffled(mut turns: Vec<Turn>, seed: u64) -> Vec<Turn> {
    let mut state = seed;
    for last in (1..turns.len()).rev() {
        // The high half of a product with 64 random bits is a number below the factor, with negligible bias.
        let below = (u128::from(splitmix(&mut state)) * (last as u128 + 1)) >> 64;
        turns.swap(last, below as usize);
    }
    turns
}

/// Returns the next number of SplitMix64 (Steele, Lea and Flood, 2014).
fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::no_options::NoOptions;

    fn suite(order: &str) -> Suite {
        let text = format!(
            "name = 'o'\nseed = 7\norder = '{order}'\nrepetitions = 2\ntargets = ['a', 'b']\n\
             [[run]]\nwhat = 'x'\n[[run]]\nwhat = 'y'\n"
        );
        Suite::read::<NoOptions>("o.toml", &text, "", &|_| false).unwrap()
    }

    fn reported(order: &str) -> Vec<String> {
        let suite = suite(order);
        suite.turns().iter().map(|turn| format!("{}#{}", suite.cells[turn.cell].key, turn.repetition)).collect()
    }

    #[test]
    fn repetitions_are_interleaved_so_that_drift_hits_all_alike() {
        assert_eq!(reported("interleaved"), ["x@a#1", "x@b#1", "y@a#1", "y@b#1", "x@a#2", "x@b#2", "y@a#2", "y@b#2"]);
    }

    #[test]
    fn as_written_has_one_target_after_another() {
        assert_eq!(reported("as-written"), ["x@a#1", "x@a#2", "y@a#1", "y@a#2", "x@b#1", "x@b#2", "y@b#1", "y@b#2"]);
    }

    #[test]
    fn a_random_order_holds_every_run_once_and_is_decided_by_the_seed() {
        let (random, mut sorted) = (reported("random"), reported("random"));
        sorted.sort();
        let mut all = reported("interleaved");
        all.sort();
        assert_eq!(sorted, all);
        assert_ne!(random, reported("interleaved"));
        assert_eq!(random, reported("random"));
        let orders = (0..100).map(|seed| Suite { seed, ..suite("random") }.turns()[0]);
        let firsts: std::collections::BTreeSet<_> = orders.map(|turn| (turn.cell, turn.repetition)).collect();
        assert_eq!(firsts.len(), 8, "each run comes first under some seed");
    }
}
