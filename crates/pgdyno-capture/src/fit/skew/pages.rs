//! How often the pages of a table and of an index are accessed, if their keys are drawn with some frequency.

use pgdyno_workload::Rng;

use super::clock::PageClass;
use super::draws::{Cumulated, Draws};

/// Keys that are placed one by one. Of more keys each stands for several of neighbouring ranks, on as many pages.
const PLACED_MAX: f64 = 20_000.0;

/// How much larger each class of pages is than the one before.
const LARGER: f64 = 1.03;

/// A table or an index: its keys are at random places.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Placement {
    pub(super) keys: f64,
    pub(super) pages: f64,
}

impl Placement {
    /// Returns the classes of its pages for one access, the most frequent first.
    pub(super) fn classes(self, draws: Draws) -> Vec<PageClass> {
        let keys = self.keys.max(1.0).round();
        let pages = self.pages.clamp(1.0, keys);
        let placed = keys.min(PLACED_MAX).round() as usize;
        let each = keys / placed as f64;
        let on_page = keys / pages;
        let mut places: Vec<usize> = (0..placed).collect();
        // Table and index have other neighbours.
        Rng::derive(2, "places of keys", &[pages as u64]).shuffle(&mut places);
        let cumulated = Cumulated::new(&draws.classes(keys));
        let mut shares = vec![0.0; ((placed as f64 / on_page).ceil() as usize).max(1)];
        let mut before = 0.0;
        for (rank, place) in places.into_iter().enumerate() {
            let below = cumulated.share((rank + 1) as f64 * each);
            let page = ((place as f64 / on_page) as usize).min(shares.len() - 1);
            shares[page] += below - before;
            before = below;
        }
        shares.sort_unstable_by(|a, b| b.total_cmp(a));
        let pages_each = pages / shares.len() as f64;
        let (mut classes, mut at) = (Vec::new(), 0);
        while at < shares.len() {
            let end = (((at as f64) * LARGER).ceil() as usize).max(at + 1).min(shares.len());
            let pages = (end - at) as f64 * pages_each;
            classes.push(PageClass { pages, accesses: shares[at..end].iter().sum::<f64>() / pages });
            at = end;
        }
        classes
    }
}
