//! Keying and think times of an emulated user (clause 5.2.5).

use pgdyno_workload::{Rng, Since};

use super::txns::TxnKind;

const SECOND: u64 = 1_000_000_000;

/// Mean time between two starts with the mix of clause 5.2.4.2, by keying and think times alone.
const CYCLE_NS: u64 = 2_099 * SECOND / 100;

/// Waits of a client between two transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waits {
    /// None.
    Off,
    /// Keying and think times.
    On {
        /// Whether Delivery is deferred (clause 2.7.1.2): its think time counts from its start.
        deferred: bool,
    },
}

impl Waits {
    /// Returns the time before a transaction of this kind, and the start of that time. The first wait of a client is
    /// drawn over a whole cycle, so that clients do not start in step.
    #[inline]
    pub(super) fn draw(self, last: Option<TxnKind>, next: TxnKind, rng: &mut Rng) -> (u64, Since) {
        let Self::On { deferred } = self else {
            return (0, Since::End);
        };
        let Some(last) = last else {
            return (rng.up_to(CYCLE_NS), Since::End);
        };
        let since = if deferred && last == TxnKind::Delivery { Since::Start } else { Since::End };
        (think_ns(last, rng) + SECOND * next.row().keying_s, since)
    }
}

/// Draws from a negative exponential distribution, truncated at ten times its mean (clause 5.2.5.4).
fn think_ns(kind: TxnKind, rng: &mut Rng) -> u64 {
    let mean = (SECOND * kind.row().think_s_mean) as f64;
    // Between 0 and 120 s, which 64 bits hold.
    rng.exponential(mean).min(10.0 * mean) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const ON: Waits = Waits::On { deferred: true };

    #[test]
    fn keying_and_think_times_are_the_clauses() {
        const N: u64 = 200_000;
        for (last, next, keying, mean) in [
            (TxnKind::NewOrder, TxnKind::Payment, 3, 12.0),
            (TxnKind::Payment, TxnKind::NewOrder, 18, 12.0),
            (TxnKind::OrderStatus, TxnKind::Delivery, 2, 10.0),
            (TxnKind::Delivery, TxnKind::OrderStatus, 2, 5.0),
            (TxnKind::StockLevel, TxnKind::StockLevel, 2, 5.0),
        ] {
            let mut rng = Rng::new(9);
            let waits: Vec<u64> = (0..N).map(|_| ON.draw(Some(last), next, &mut rng).0 - keying * SECOND).collect();
            let found = waits.iter().sum::<u64>() as f64 / N as f64 / SECOND as f64;
            assert!((found / mean - 1.0).abs() < 0.015, "{last:?}: {found} s");
            let longest = waits.iter().max().copied().unwrap_or_default() as f64 / SECOND as f64;
            assert!((8.0 * mean..=10.0 * mean).contains(&longest), "{last:?}: {longest} s");
        }
    }

    #[test]
    fn only_a_deferred_delivery_is_not_waited_for() {
        let mut rng = Rng::new(1);
        for last in TxnKind::ALL {
            let since = |waits: Waits, rng: &mut Rng| waits.draw(Some(last), TxnKind::Payment, rng).1;
            let expected = if last == TxnKind::Delivery { Since::Start } else { Since::End };
            assert_eq!(since(ON, &mut rng), expected);
            assert_eq!(since(Waits::On { deferred: false }, &mut rng), Since::End);
            assert_eq!(Waits::Off.draw(Some(last), TxnKind::Payment, &mut rng), (0, Since::End));
        }
    }

    #[test]
    fn first_waits_are_spread_over_a_cycle() {
        let mut tenths = [0u32; 10];
        for seed in 0..10_000 {
            let (wait, _) = ON.draw(None, TxnKind::NewOrder, &mut Rng::new(seed));
            tenths[(wait * 10 / (CYCLE_NS + 1)) as usize] += 1;
        }
        assert!(tenths.iter().all(|n| (850..1_150).contains(n)), "{tenths:?}");
    }
}
