//! Counts of the clients beside transactions: inputs whose shares the clauses define.

use super::txns::{Customer, NewOrder, OrderStatus, Payment};

/// A count; its number is its place in [`NAMES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tally {
    OrderLines,
    RemoteOrderLines,
    RemotePayments,
    PaymentsByName,
    OrderStatusByName,
}

/// Counts of transactions that ended without an error, including those rolled back on purpose.
pub(super) const NAMES: &[&str] =
    &["order lines", "remote order lines", "remote payments", "payments by last name", "order-status by last name"];

impl Tally {
    fn add(self, count: usize, counts: &mut [u64]) {
        if let Some(sum) = counts.get_mut(self as usize) {
            *sum += count as u64;
        }
    }

    pub(super) fn new_order(order: &NewOrder, counts: &mut [u64]) {
        let remote = order.supply_warehouses().iter().filter(|w| **w != order.w_id).count();
        Self::OrderLines.add(order.items().len(), counts);
        Self::RemoteOrderLines.add(remote, counts);
    }

    pub(super) fn payment(payment: &Payment, counts: &mut [u64]) {
        Self::RemotePayments.add(usize::from(payment.c_w_id != payment.w_id), counts);
        Self::PaymentsByName.add(by_name(&payment.customer), counts);
    }

    pub(super) fn order_status(order_status: &OrderStatus, counts: &mut [u64]) {
        Self::OrderStatusByName.add(by_name(&order_status.customer), counts);
    }
}

fn by_name(customer: &Customer) -> usize {
    usize::from(matches!(customer, Customer::Name(_)))
}
