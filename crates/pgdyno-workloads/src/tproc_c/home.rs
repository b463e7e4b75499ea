//! Home warehouses of a client.

use pgdyno_workload::Rng;

use super::DISTRICTS;

/// The home warehouses of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Home {
    /// One warehouse, and one district of it for Stock-Level (clause 2.8.1.1), for the whole run.
    Fixed { w_id: i32, d_id: i32 },
    /// Every `step`th warehouse from `first` on, `count` of them, counted on from the first after the last, a random one for each
    /// transaction; and one district for Stock-Level, for the whole run.
    Share { first: u32, step: u32, count: u32, warehouses: u32, d_id: i32 },
}

impl Home {
    /// Assigns client `client` (from 0) a warehouse of its own while there are enough, then a district of its own.
    /// Ten clients per warehouse are the terminals of the standard: one for each district.
    pub(super) fn dealt(client: u32, warehouses: u32) -> Self {
        Self::Fixed {
            // Below the number of warehouses, which a 32-bit integer holds.
            w_id: (client % warehouses + 1) as i32,
            d_id: (client / warehouses % DISTRICTS + 1) as i32,
        }
    }

    /// Draws any warehouse and district, as HammerDB does: two clients may get the same.
    pub(super) fn drawn(rng: &mut Rng, warehouses: u32) -> Self {
        Self::Fixed { w_id: rng.up_to(u64::from(warehouses - 1)) as i32 + 1, d_id: any_district(rng) }
    }

    /// Divides all warehouses among the clients, as HammerDB does ("use all warehouses"): each of n clients has ⌈W/n⌉ of W, modulo
    /// W. Where n does not divide W, the last client's go on at warehouse 1, and so two clients share these. The district is drawn.
    pub(super) fn share(rng: &mut Rng, client: u32, clients: u32, warehouses: u32) -> Self {
        let clients = clients.max(1);
        let (first, count) = (client % warehouses, warehouses.div_ceil(clients));
        Self::Share { first, step: clients, count, warehouses, d_id: any_district(rng) }
    }

    /// Returns the warehouse, and the district for Stock-Level.
    #[inline]
    pub(super) fn draw(self, rng: &mut Rng) -> (i32, i32) {
        match self {
            Self::Fixed { w_id, d_id } => (w_id, d_id),
            Self::Share { first, step, count, warehouses, d_id } => {
                let k = rng.up_to(u64::from(count - 1));
                let w = (u64::from(first) + k * u64::from(step)) % u64::from(warehouses);
                ((w + 1) as i32, d_id)
            }
        }
    }
}

fn any_district(rng: &mut Rng) -> i32 {
    rng.up_to(u64::from(DISTRICTS - 1)) as i32 + 1
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn place(home: Home) -> (i32, i32) {
        match home {
            Home::Fixed { w_id, d_id } => (w_id, d_id),
            Home::Share { .. } => panic!("{home:?}"),
        }
    }

    #[test]
    fn clients_fill_the_warehouses_first_and_then_the_districts() {
        let dealt = |client| place(Home::dealt(client, 3));
        assert_eq!([0, 1, 2, 3, 29, 30].map(dealt), [(1, 1), (2, 1), (3, 1), (1, 2), (3, 10), (1, 1)]);
        let terminals: BTreeSet<_> = (0..30).map(dealt).collect();
        assert_eq!(terminals.len(), 30);
    }

    #[test]
    fn drawn_homes_may_be_shared_and_reach_every_warehouse_and_district() {
        let homes: Vec<_> = (0..400).map(|seed| place(Home::drawn(&mut Rng::new(seed), 7))).collect();
        assert_eq!(homes.iter().map(|h| h.0).collect::<BTreeSet<_>>(), (1..=7).collect());
        assert_eq!(homes.iter().map(|h| h.1).collect::<BTreeSet<_>>(), (1..=10).collect());
        assert_ne!(homes[..7].iter().map(|h| h.0).collect::<BTreeSet<_>>().len(), 7);
        assert_eq!(place(Home::drawn(&mut Rng::new(1), 1)).0, 1);
    }

    fn worked_on(client: u32, clients: u32, warehouses: u32) -> BTreeSet<i32> {
        let mut rng = Rng::new(u64::from(client));
        let home = Home::share(&mut rng, client, clients, warehouses);
        let drawn: Vec<_> = (0..2_000).map(|_| home.draw(&mut rng)).collect();
        assert!(drawn.iter().all(|(_, d_id)| *d_id == drawn[0].1 && (1..=10).contains(d_id)), "its district is fixed");
        drawn.into_iter().map(|(w_id, _)| w_id).collect()
    }

    #[test]
    fn all_warehouses_are_dealt_out_and_clients_do_not_meet() {
        assert_eq!(worked_on(0, 4, 8), BTreeSet::from([1, 5]));
        assert_eq!(worked_on(3, 4, 8), BTreeSet::from([4, 8]));
        let all: BTreeSet<i32> = (0..4).flat_map(|c| worked_on(c, 4, 8)).collect();
        assert_eq!(all, (1..=8).collect());
        // If they do not divide evenly, the last share wraps around.
        let all: BTreeSet<i32> = (0..3).flat_map(|c| worked_on(c, 3, 10)).collect();
        assert_eq!(all, (1..=10).collect());
        // More clients than warehouses.
        assert_eq!(worked_on(9, 16, 4), BTreeSet::from([2]));
    }
}
