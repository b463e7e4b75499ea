//! The deck of cards from which a terminal draws its transactions (clause 5.2.4.2).

use pgdyno_workload::Rng;

use super::txns::TxnKind;

const CARDS: usize = 100;

/// A hundred cards in a random order, shuffled again after all are drawn: so each hundred transactions of a terminal
/// have the exact mix.
#[derive(Clone, Debug)]
pub(super) struct Deck {
    cards: [TxnKind; CARDS],
    drawn: u8,
}

impl Deck {
    /// Returns a deck with `share` cards of each kind: a hundred in all.
    pub(super) fn new(share: impl Fn(TxnKind) -> u8) -> Self {
        let mut cards = [TxnKind::NewOrder; CARDS];
        let kinds = TxnKind::ALL.into_iter().flat_map(|kind| std::iter::repeat_n(kind, usize::from(share(kind))));
        for (card, kind) in cards.iter_mut().zip(kinds) {
            *card = kind;
        }
        Self { cards, drawn: CARDS as u8 }
    }

    #[inline]
    pub(super) fn draw(&mut self, rng: &mut Rng) -> TxnKind {
        if usize::from(self.drawn) == CARDS {
            rng.shuffle(&mut self.cards);
            self.drawn = 0;
        }
        let card = self.cards[usize::from(self.drawn)];
        self.drawn += 1;
        card
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tproc_c::profile::Profile;

    #[test]
    fn every_hundred_draws_hold_the_mix_and_no_two_hundreds_the_same_order() {
        let (mut deck, mut rng) = (Deck::new(|kind| Profile::Spec.share(kind)), Rng::new(1));
        let mut hundred = || (0..CARDS).map(|_| deck.draw(&mut rng)).collect::<Vec<_>>();
        let (first, second) = (hundred(), hundred());
        for drawn in [&first, &second] {
            for (kind, cards) in TxnKind::ALL.into_iter().zip([45, 43, 4, 4, 4]) {
                assert_eq!(drawn.iter().filter(|k| **k == kind).count(), cards);
            }
        }
        assert_ne!(first, second);
    }
}
