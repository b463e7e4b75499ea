//! Random inputs of the five transactions. [`super::call`] sends them to the server.

mod customer;
mod delivery;
mod new_order;
mod order_status;
mod payment;
mod stock_level;

use pgdyno_workload::{Rng, TxnId};

use super::population::RunConstants;

pub(super) use customer::Customer;
pub(super) use delivery::Delivery;
pub(super) use new_order::{MAX_LINES, NewOrder};
pub(super) use order_status::OrderStatus;
pub(super) use payment::Payment;
pub(super) use stock_level::StockLevel;

/// Kind of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TxnKind {
    NewOrder,
    Payment,
    OrderStatus,
    Delivery,
    StockLevel,
}

impl TxnKind {
    pub(super) const ALL: [Self; 5] =
        [Self::NewOrder, Self::Payment, Self::OrderStatus, Self::Delivery, Self::StockLevel];

    pub(super) fn id(self) -> TxnId {
        TxnId(self as u8)
    }

    pub(super) fn name(self) -> &'static str {
        self.row().name
    }

    /// Returns true if it only reads.
    pub(super) fn only_reads(self) -> bool {
        match self {
            Self::OrderStatus | Self::StockLevel => true,
            Self::NewOrder | Self::Payment | Self::Delivery => false,
        }
    }

    /// Returns what the standard and HammerDB say of it.
    pub(super) fn row(self) -> &'static Row {
        match self {
            // district, customer with warehouse, item, orders, new_order, stock, order_line
            Self::NewOrder => &Row {
                name: "new-order",
                cards: 45,
                hammerdb_share: 10,
                keying_s: 18,
                think_s_mean: 12,
                response_s_p90: 5,
                queries: 7,
                has_last_name: false,
            },
            // customer, district, history, warehouse
            Self::Payment => &Row {
                name: "payment",
                cards: 43,
                hammerdb_share: 10,
                keying_s: 3,
                think_s_mean: 12,
                response_s_p90: 5,
                queries: 4,
                has_last_name: true,
            },
            // customer with its last order and lines
            Self::OrderStatus => &Row {
                name: "order-status",
                cards: 4,
                hammerdb_share: 1,
                keying_s: 2,
                think_s_mean: 10,
                response_s_p90: 5,
                queries: 1,
                has_last_name: true,
            },
            // new_order twice, orders, order_line, customer
            Self::Delivery => &Row {
                name: "delivery",
                cards: 4,
                hammerdb_share: 1,
                keying_s: 2,
                think_s_mean: 5,
                response_s_p90: 5,
                queries: 5,
                has_last_name: false,
            },
            Self::StockLevel => &Row {
                name: "stock-level",
                cards: 4,
                hammerdb_share: 1,
                keying_s: 2,
                think_s_mean: 5,
                response_s_p90: 20,
                queries: 1,
                has_last_name: false,
            },
        }
    }
}

/// A kind of transaction: its shares, its times and its size.
pub(super) struct Row {
    pub(super) name: &'static str,
    /// Cards in a deck of a hundred (clause 5.2.4.2: the minima of clause 5.2.3, and the rest for New-Order).
    pub(super) cards: u8,
    /// HammerDB's share, of 23.
    pub(super) hammerdb_share: u8,
    /// Minimum of the keying time before it (clause 5.2.5.7).
    pub(super) keying_s: u64,
    /// Mean of the think time after it (clause 5.2.5.7).
    pub(super) think_s_mean: u64,
    /// Most for the 90th percentile of its response times (clause 5.2.5.3).
    pub(super) response_s_p90: u64,
    /// SELECT, INSERT, UPDATE and DELETE, each counted once however many rows it touches, without the one that finds a
    /// customer by last name.
    pub(super) queries: u32,
    /// Whether six of ten name their customer by last name (clauses 2.5.1.2 and 2.6.1.2).
    pub(super) has_last_name: bool,
}

/// The inputs of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inputs {
    NewOrder(NewOrder),
    Payment(Payment),
    OrderStatus(OrderStatus),
    Delivery(Delivery),
    StockLevel(StockLevel),
}

impl Inputs {
    /// `d_id` is the terminal's district for Stock-Level.
    pub(super) fn draw(kind: TxnKind, w_id: i32, d_id: i32, draw: &mut Draw<'_>) -> Self {
        match kind {
            TxnKind::NewOrder => Self::NewOrder(NewOrder::draw(w_id, draw)),
            TxnKind::Payment => Self::Payment(Payment::draw(w_id, draw)),
            TxnKind::OrderStatus => Self::OrderStatus(OrderStatus::draw(w_id, draw)),
            TxnKind::Delivery => Self::Delivery(Delivery::draw(w_id, draw)),
            TxnKind::StockLevel => Self::StockLevel(StockLevel::draw(w_id, d_id, draw)),
        }
    }

    #[inline]
    pub(super) fn kind(&self) -> TxnKind {
        match self {
            Self::NewOrder(_) => TxnKind::NewOrder,
            Self::Payment(_) => TxnKind::Payment,
            Self::OrderStatus(_) => TxnKind::OrderStatus,
            Self::Delivery(_) => TxnKind::Delivery,
            Self::StockLevel(_) => TxnKind::StockLevel,
        }
    }
}

/// Source of random inputs: the terminal's stream, and the run's constants.
pub(super) struct Draw<'a> {
    pub(super) rng: &'a mut Rng,
    pub(super) constants: RunConstants,
    pub(super) warehouses: u32,
}

impl Draw<'_> {
    /// Draws a uniform number from a range of small numbers.
    #[inline]
    fn uniform(&mut self, low: i32, high: i32) -> i32 {
        // The result is between two 32-bit integers.
        self.rng.uniform(i64::from(low), i64::from(high)) as i32
    }

    /// Returns true with this probability in percent.
    #[inline]
    fn percent(&mut self, share: i32) -> bool {
        self.uniform(1, 100) <= share
    }

    /// Returns a warehouse other than `home`; `home` if there is no other (clauses 2.4.1.5 and 2.5.1.2).
    #[inline]
    fn remote_warehouse(&mut self, home: i32) -> i32 {
        let warehouses = self.warehouses as i32;
        if warehouses == 1 {
            return home;
        }
        let other = self.uniform(1, warehouses - 1);
        // The warehouses without `home`, numbered from 1.
        other + i32::from(other >= home)
    }
}

#[cfg(test)]
mod tests;
