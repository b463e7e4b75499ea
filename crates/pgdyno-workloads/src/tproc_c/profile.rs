//! Two ways to drive the same tables: HammerDB's, and the clauses'.

use pgdyno_workload::{Rng, Txn};

use super::{
    call::Call,
    deck::Deck,
    population::{RunConstants, Seed},
    txns::TxnKind,
};

/// Rules that the clients follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Profile {
    /// Mix, warehouses and inputs of HammerDB.
    HammerDb,
    /// Those of clauses 2.4 to 2.8 and 5.2.
    Spec,
}

impl Profile {
    /// Returns the profile of the parameter's value, which is one of the two words.
    pub(super) fn of(word: &str) -> Self {
        if word == "spec" { Self::Spec } else { Self::HammerDb }
    }

    /// Returns the share of a kind: cards of a deck of a hundred, or numbers out of twenty-three.
    pub(super) fn share(self, kind: TxnKind) -> u8 {
        match self {
            Self::Spec => kind.row().cards,
            Self::HammerDb => kind.row().hammerdb_share,
        }
    }

    /// Returns the transactions in the order of their ids.
    pub(super) fn txns(self, call: Call) -> Vec<Txn> {
        TxnKind::ALL
            .into_iter()
            .map(|kind| {
                let txn = Txn::new(kind.name(), f64::from(self.share(kind)), call.queries(kind));
                txn.reading(kind.only_reads())
            })
            .collect()
    }

    /// Returns the constants that all clients share. HammerDB draws last names with the constant of the load, and
    /// customers and items uniformly.
    pub(super) fn constants(self, seed: Seed) -> RunConstants {
        match self {
            Self::Spec => seed.run_constants(),
            Self::HammerDb => RunConstants { c_last: seed.c_load(), c_id: None, i_id: None },
        }
    }

    /// Returns how one client draws its transactions.
    pub(super) fn mix(self) -> Mix {
        match self {
            Self::Spec => Mix::Deck(Deck::new(|kind| self.share(kind))),
            Self::HammerDb => Mix::Independent,
        }
    }
}

/// Source of the kinds of a client's transactions.
#[derive(Clone, Debug)]
pub(super) enum Mix {
    /// A deck of its own.
    Deck(Deck),
    /// Independent draws, so the shares hold only on average.
    Independent,
}

impl Mix {
    #[inline]
    pub(super) fn draw(&mut self, rng: &mut Rng) -> TxnKind {
        match self {
            Self::Deck(deck) => deck.draw(rng),
            Self::Independent => match rng.up_to(22) {
                0..=9 => TxnKind::NewOrder,
                10..=19 => TxnKind::Payment,
                20 => TxnKind::Delivery,
                21 => TxnKind::StockLevel,
                _ => TxnKind::OrderStatus,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn independent_draws_have_their_shares_and_no_memory() {
        const N: usize = 230_000;
        let (mut mix, mut rng) = (Profile::HammerDb.mix(), Rng::new(1));
        let drawn: Vec<TxnKind> = (0..N).map(|_| mix.draw(&mut rng)).collect();
        for kind in TxnKind::ALL {
            let share = f64::from(Profile::HammerDb.share(kind)) / 23.0;
            let found = drawn.iter().filter(|k| **k == kind).count() as f64;
            let error = 4.0 * (N as f64 * share * (1.0 - share)).sqrt();
            assert!((found - share * N as f64).abs() < error, "{kind:?}: {found}");
        }
        // A deck would give each hundred the exact mix.
        let hundreds: std::collections::BTreeSet<usize> =
            drawn.chunks(100).map(|h| h.iter().filter(|k| **k == TxnKind::NewOrder).count()).collect();
        assert!(hundreds.len() > 10, "{hundreds:?}");
    }

    #[test]
    fn hammerdb_draws_names_with_the_constant_of_the_load() {
        let seed = Seed(1);
        let constants = Profile::HammerDb.constants(seed);
        assert_eq!(constants, RunConstants { c_last: seed.c_load(), c_id: None, i_id: None });
        assert_ne!(Profile::Spec.constants(seed).c_last, seed.c_load());
    }

    #[test]
    fn the_mix_is_given_by_name() {
        let shares = |profile: Profile| {
            let kinds = profile.txns(Call::Procedure);
            let sum: f64 = kinds.iter().map(|k| k.weight).sum();
            kinds.into_iter().map(|k| (k.name, (k.weight / sum * 1e4).round() / 100.0)).collect::<Vec<_>>()
        };
        assert_eq!(
            shares(Profile::Spec),
            [("new-order", 45.0), ("payment", 43.0), ("order-status", 4.0), ("delivery", 4.0), ("stock-level", 4.0)]
        );
        assert_eq!(
            shares(Profile::HammerDb),
            [
                ("new-order", 43.48),
                ("payment", 43.48),
                ("order-status", 4.35),
                ("delivery", 4.35),
                ("stock-level", 4.35)
            ]
        );
    }
}
