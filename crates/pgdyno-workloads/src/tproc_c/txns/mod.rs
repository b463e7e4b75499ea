//! The five transactions: what each draws. How it reaches the server is the business of
//! [`super::procedures`].

mod customer;
mod delivery;
mod new_order;
mod order_status;
mod payment;
mod stock_level;

use pgdyno_workload::{Rng, Txn, TxnId};

use super::population::RunConstants;

pub(super) use customer::Customer;
pub(super) use delivery::Delivery;
pub(super) use new_order::NewOrder;
pub(super) use order_status::OrderStatus;
pub(super) use payment::Payment;
pub(super) use stock_level::StockLevel;

/// Which transaction.
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

    fn name(self) -> &'static str {
        match self {
            Self::NewOrder => "new-order",
            Self::Payment => "payment",
            Self::OrderStatus => "order-status",
            Self::Delivery => "delivery",
            Self::StockLevel => "stock-level",
        }
    }

    /// Its cards in the deck of a hundred (clause 5.2.4.2): the shares of clause 5.2.3, and what is left
    /// for New-Order.
    pub(super) fn cards(self) -> usize {
        match self {
            Self::NewOrder => 45,
            Self::Payment => 43,
            Self::OrderStatus | Self::Delivery | Self::StockLevel => 4,
        }
    }

    /// SELECT, INSERT, UPDATE and DELETE that its procedure does, each counted once however many rows it
    /// touches. Payment and Order-Status need one more for a customer by name (0.6 on average, so 1).
    fn queries(self) -> u32 {
        match self {
            // district, customer with warehouse, orders, new_order, item, stock, order_line
            Self::NewOrder => 7,
            // name, customer, district, warehouse, history
            Self::Payment => 5,
            // name, customer with its last order and lines
            Self::OrderStatus => 2,
            // new_order twice, orders, order_line, customer
            Self::Delivery => 5,
            Self::StockLevel => 1,
        }
    }
}

/// The kinds in the order of their ids.
pub(super) fn kinds() -> Vec<Txn> {
    Kind::ALL
        .into_iter()
        .map(|kind| Txn {
            name: kind.name(),
            weight: kind.cards() as f64,
            queries: kind.queries(),
            is_new_order: kind == Kind::NewOrder,
        })
        .collect()
}

/// What every transaction draws from: the terminal's stream, and what the run agrees on.
pub(super) struct Draw<'a> {
    pub(super) rng: &'a mut Rng,
    pub(super) constants: RunConstants,
    pub(super) warehouses: u32,
}

impl Draw<'_> {
    /// Uniform over a range of small numbers.
    #[inline]
    fn uniform(&mut self, low: i32, high: i32) -> i32 {
        // The result lies between two integers of 32 bits.
        self.rng.uniform(i64::from(low), i64::from(high)) as i32
    }

    /// True so many times in a hundred.
    #[inline]
    fn percent(&mut self, share: i32) -> bool {
        self.uniform(1, 100) <= share
    }

    /// A warehouse other than `home`; `home` where there is no other (clauses 2.4.1.5 and 2.5.1.2).
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
