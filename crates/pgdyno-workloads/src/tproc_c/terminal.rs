//! One terminal, or virtual user: draws a card, draws its inputs, calls the server.

use pgdyno_workload::{Batch, Begin, ClientScript, Next, Reply, Rng, Verdict};

use super::{
    DISTRICTS,
    deck::Deck,
    population::RunConstants,
    procedures,
    txns::{Delivery, Draw, Kind, NewOrder, OrderStatus, Payment, StockLevel},
};

/// Which warehouses a terminal works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Home {
    /// One warehouse, and one district of it for Stock-Level (clause 2.8.1.1), for the whole run.
    Fixed { w_id: i32, d_id: i32 },
    /// Every `step`th warehouse from `first` on, `count` of them, a random one for each transaction.
    Share { first: u32, step: u32, count: u32, warehouses: u32 },
}

impl Home {
    /// Client `client` (from 0) has a warehouse of its own while there are enough of them, then a district
    /// of its own.
    pub(super) fn fixed(client: u32, warehouses: u32) -> Self {
        Self::Fixed {
            // Below the number of warehouses, which an integer of 32 bits holds.
            w_id: (client % warehouses + 1) as i32,
            d_id: (client / warehouses % DISTRICTS + 1) as i32,
        }
    }

    /// All warehouses are dealt out among the clients, as HammerDB does it ("use all warehouses"): with
    /// fewer clients than warehouses no two clients meet, except at remote warehouses.
    pub(super) fn share(client: u32, clients: u32, warehouses: u32) -> Self {
        let clients = clients.max(1);
        Self::Share { first: client % warehouses, step: clients, count: warehouses.div_ceil(clients), warehouses }
    }

    /// Warehouse, and the district for Stock-Level where it is fixed.
    #[inline]
    fn draw(self, rng: &mut Rng) -> (i32, Option<i32>) {
        match self {
            Self::Fixed { w_id, d_id } => (w_id, Some(d_id)),
            Self::Share { first, step, count, warehouses } => {
                let k = rng.up_to(u64::from(count - 1));
                let w = (u64::from(first) + k * u64::from(step)) % u64::from(warehouses);
                ((w + 1) as i32, None)
            }
        }
    }
}

/// The inputs of the transaction at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inputs {
    NewOrder(NewOrder),
    Payment(Payment),
    OrderStatus(OrderStatus),
    Delivery(Delivery),
    StockLevel(StockLevel),
}

/// One terminal.
pub(super) struct Terminal {
    home: Home,
    warehouses: u32,
    constants: RunConstants,
    rng: Rng,
    deck: Deck,
    inputs: Inputs,
    /// Whether New-Order was sent and its answer is awaited.
    sent: bool,
}

impl Terminal {
    pub(super) fn new(home: Home, warehouses: u32, constants: RunConstants, rng: Rng) -> Self {
        Self {
            home,
            warehouses,
            constants,
            rng,
            deck: Deck::new(),
            inputs: Inputs::Delivery(Delivery { w_id: 1, carrier_id: 1 }),
            sent: false,
        }
    }
}

impl ClientScript for Terminal {
    fn begin(&mut self) -> Begin {
        let kind = self.deck.draw(&mut self.rng);
        let (w_id, d_id) = self.home.draw(&mut self.rng);
        let draw = &mut Draw { rng: &mut self.rng, constants: self.constants, warehouses: self.warehouses };
        self.inputs = match kind {
            Kind::NewOrder => Inputs::NewOrder(NewOrder::draw(w_id, draw)),
            Kind::Payment => Inputs::Payment(Payment::draw(w_id, draw)),
            Kind::OrderStatus => Inputs::OrderStatus(OrderStatus::draw(w_id, draw)),
            Kind::Delivery => Inputs::Delivery(Delivery::draw(w_id, draw)),
            Kind::StockLevel => Inputs::StockLevel(StockLevel::draw(w_id, d_id, draw)),
        };
        self.sent = false;
        Begin::now(kind.id())
    }

    #[inline]
    fn step(&mut self, reply: Reply<'_>, batch: &mut Batch<'_>) -> Next {
        match &self.inputs {
            Inputs::NewOrder(inputs) => {
                if self.sent {
                    self.sent = false;
                    return Next::Finish(procedures::new_order_verdict(reply));
                }
                procedures::new_order(inputs, batch);
                self.sent = true;
                return Next::Await;
            }
            Inputs::Payment(inputs) => procedures::payment(inputs, batch),
            Inputs::OrderStatus(inputs) => procedures::order_status(inputs, batch),
            Inputs::Delivery(inputs) => procedures::delivery(inputs, batch),
            Inputs::StockLevel(inputs) => procedures::stock_level(inputs, batch),
        }
        Next::Finish(Verdict::Committed)
    }

    fn restart(&mut self) {
        self.sent = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn clients_fill_the_warehouses_first_and_then_the_districts() {
        let place = |client| match Home::fixed(client, 3) {
            Home::Fixed { w_id, d_id } => (w_id, d_id),
            home => panic!("{home:?}"),
        };
        assert_eq!([0, 1, 2, 3, 29, 30].map(place), [(1, 1), (2, 1), (3, 1), (1, 2), (3, 10), (1, 1)]);
    }

    fn drawn(client: u32, clients: u32, warehouses: u32) -> BTreeSet<i32> {
        let (home, mut rng) = (Home::share(client, clients, warehouses), Rng::new(1));
        (0..2_000).map(|_| home.draw(&mut rng).0).collect()
    }

    #[test]
    fn all_warehouses_are_dealt_out_and_clients_do_not_meet() {
        assert_eq!(drawn(0, 4, 8), BTreeSet::from([1, 5]));
        assert_eq!(drawn(3, 4, 8), BTreeSet::from([4, 8]));
        let all: BTreeSet<i32> = (0..4).flat_map(|c| drawn(c, 4, 8)).collect();
        assert_eq!(all, (1..=8).collect());
        // Where they do not divide, the last share turns round at the end.
        let all: BTreeSet<i32> = (0..3).flat_map(|c| drawn(c, 3, 10)).collect();
        assert_eq!(all, (1..=10).collect());
        // More clients than warehouses.
        assert_eq!(drawn(9, 16, 4), BTreeSet::from([2]));
    }

    #[test]
    fn a_restart_sends_the_same_inputs() {
        let mut terminal = Terminal::new(Home::fixed(0, 1), 1, super::super::Seed(1).run_constants(), Rng::new(1));
        while terminal.begin().txn != Kind::NewOrder.id() {}
        let statements = procedures::statements();
        let send = |terminal: &mut Terminal| {
            let mut session = pgdyno_wire::Session::new(pgdyno_wire::QueryMode::Simple, statements.len());
            let mut out = Vec::new();
            let mut notes = Vec::new();
            let mut batch = Batch::new(&mut session, &statements, &mut out, &mut notes);
            assert_eq!(terminal.step(Reply::default(), &mut batch), Next::Await);
            batch.close();
            out
        };
        let first = send(&mut terminal);
        terminal.restart();
        assert_eq!(send(&mut terminal), first);
    }
}
