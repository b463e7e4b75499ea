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
pub(super) enum Kind {
    NewOrder,
    Payment,
    OrderStatus,
    Delivery,
    StockLevel,
}

impl Kind {
    pub(super) const ALL: [Self; 5] =
        [Self::NewOrder, Self::Payment, Self::OrderStatus, Self::Delivery, Self::StockLevel];

    pub(super) fn id(self) -> TxnId {
        TxnId(self as u8)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::NewOrder => "new-order",
            Self::Payment => "payment",
            Self::OrderStatus => "order-status",
            Self::Delivery => "delivery",
            Self::StockLevel => "stock-level",
        }
    }
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
    /// `d_id` is the terminal's district for Stock-Level, if it has one.
    pub(super) fn draw(kind: Kind, w_id: i32, d_id: Option<i32>, draw: &mut Draw<'_>) -> Self {
        match kind {
            Kind::NewOrder => Self::NewOrder(NewOrder::draw(w_id, draw)),
            Kind::Payment => Self::Payment(Payment::draw(w_id, draw)),
            Kind::OrderStatus => Self::OrderStatus(OrderStatus::draw(w_id, draw)),
            Kind::Delivery => Self::Delivery(Delivery::draw(w_id, draw)),
            Kind::StockLevel => Self::StockLevel(StockLevel::draw(w_id, d_id, draw)),
        }
    }

    #[inline]
    pub(super) fn kind(&self) -> Kind {
        match self {
            Self::NewOrder(_) => Kind::NewOrder,
            Self::Payment(_) => Kind::Payment,
            Self::OrderStatus(_) => Kind::OrderStatus,
            Self::Delivery(_) => Kind::Delivery,
            Self::StockLevel(_) => Kind::StockLevel,
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
