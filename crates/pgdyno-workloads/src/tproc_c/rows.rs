//! The initial rows of clause 4.3.3.1, each chunk a pure function of the seed and its number.
//!
//! The large tables have ten chunks per warehouse (a district, or a tenth of the stock), so that a chunk has a few
//! megabytes and a single warehouse can be loaded over several connections.

mod customer;
mod district;
mod item;
mod order;
mod stock;
mod warehouse;

use pgdyno_workload::Timestamp;

use super::DISTRICTS;

pub(super) use customer::{Customers, Histories};
pub(super) use district::Districts;
pub(super) use item::Items;
pub(super) use order::{NewOrders, OrderLines, Orders, order_lines};
pub(super) use stock::Stocks;
pub(super) use warehouse::Warehouses;

/// The date and time of the load in every row. A constant, because rows depend only on the seed; with the zone,
/// because the session's must not matter.
const LOADED_AT: Timestamp = Timestamp { text: "2026-01-01 00:00:00+00", unix_s: 1_767_225_600 };

/// Returns warehouse and district, both from 1, of a chunk of a table with a chunk for each district.
fn place(chunk: u64) -> (i64, i64) {
    let districts = u64::from(DISTRICTS);
    ((chunk / districts + 1) as i64, (chunk % districts + 1) as i64)
}

#[cfg(test)]
mod tests;
