//! Orders, the last 900 of each district as new orders, and their lines.
//!
//! Three tables that may be loaded by three connections at once are consistent, because the number of lines of each
//! order comes from a stream of its own.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use pgdyno_workload::{CopyBuf, Rng, RowCount, RowSource};

use super::{LOADED_AT, place};
use crate::tproc_c::{CUSTOMERS, DISTRICTS, FIRST_NEW_ORDER, ITEMS, ORDERS, population::Seed, strings};

/// Returns O_OL_CNT of the orders of one district, in the order of their numbers: 5 to 15 (clause 4.3.3.1).
fn line_counts(seed: Seed, chunk: u64) -> impl Iterator<Item = (u32, i64)> {
    let mut rng = seed.rng("o_ol_cnt", &[chunk]);
    (1..=ORDERS).map(move |o_id| (o_id, rng.uniform(5, 15)))
}

/// The largest number of warehouses whose order lines are counted: that takes about 0.1 ms per warehouse, for each command.
const COUNTED_MAX: u64 = 200;

/// Returns the rows of `order_line` right after the load: exactly where they are counted in a moment, else a range that holds them.
pub(in crate::tproc_c) fn order_lines(seed: Seed, warehouses: u32) -> RowCount {
    let districts = u64::from(warehouses) * u64::from(DISTRICTS);
    if u64::from(warehouses) > COUNTED_MAX {
        // An order has 10 lines on average: the sum of so many varies by less than a thousandth.
        let thousandth = districts * u64::from(ORDERS) * 10 / 1000;
        return RowCount::Between(thousandth * 999, thousandth * 1001);
    }
    static COUNTED: Mutex<BTreeMap<(u64, u32), u64>> = Mutex::new(BTreeMap::new());
    let mut counted = COUNTED.lock().unwrap_or_else(PoisonError::into_inner);
    let count = || (0..districts).flat_map(|chunk| line_counts(seed, chunk)).map(|(_, lines)| lines as u64).sum();
    RowCount::Exact(*counted.entry((seed.0, warehouses)).or_insert_with(count))
}

/// 3000 orders for each district, one for each of its customers.
pub(in crate::tproc_c) struct Orders {
    pub(in crate::tproc_c) seed: Seed,
    pub(in crate::tproc_c) warehouses: u32,
}

impl RowSource for Orders {
    fn chunks(&self) -> u64 {
        u64::from(self.warehouses) * u64::from(DISTRICTS)
    }

    fn write(&self, chunk: u64, out: &mut CopyBuf) {
        let (w_id, d_id) = place(chunk);
        let mut rng = self.seed.rng("orders", &[chunk]);
        let mut customers: Vec<u32> = (1..=CUSTOMERS).collect();
        rng.shuffle(&mut customers);
        for ((o_id, lines), c_id) in line_counts(self.seed, chunk).zip(customers) {
            // o_entry_d, o_id, o_w_id, o_c_id, o_d_id, o_carrier_id, o_ol_cnt, o_all_local
            out.timestamp(LOADED_AT).int(i64::from(o_id)).int(w_id).int(i64::from(c_id)).int(d_id);
            if o_id < FIRST_NEW_ORDER {
                out.int(rng.uniform(1, 10));
            } else {
                out.null();
            }
            out.int(lines).int(1).end_row();
        }
    }
}

/// The undelivered orders: 900 for each district.
pub(in crate::tproc_c) struct NewOrders {
    pub(in crate::tproc_c) warehouses: u32,
}

impl RowSource for NewOrders {
    fn chunks(&self) -> u64 {
        u64::from(self.warehouses) * u64::from(DISTRICTS)
    }

    fn write(&self, chunk: u64, out: &mut CopyBuf) {
        let (w_id, d_id) = place(chunk);
        for o_id in FIRST_NEW_ORDER..=ORDERS {
            // no_w_id, no_o_id, no_d_id
            out.int(w_id).int(i64::from(o_id)).int(d_id).end_row();
        }
    }
}

/// The lines of all orders.
pub(in crate::tproc_c) struct OrderLines {
    pub(in crate::tproc_c) seed: Seed,
    pub(in crate::tproc_c) warehouses: u32,
}

impl RowSource for OrderLines {
    fn chunks(&self) -> u64 {
        u64::from(self.warehouses) * u64::from(DISTRICTS)
    }

    fn write(&self, chunk: u64, out: &mut CopyBuf) {
        let (w_id, d_id) = place(chunk);
        let mut rng = self.seed.rng("order_line", &[chunk]);
        for (o_id, lines) in line_counts(self.seed, chunk) {
            for number in 1..=lines {
                line(&mut rng, (w_id, d_id, i64::from(o_id), number), out);
            }
        }
    }
}

fn line(rng: &mut Rng, (w_id, d_id, o_id, number): (i64, i64, i64, i64), out: &mut CopyBuf) {
    let delivered = o_id < i64::from(FIRST_NEW_ORDER);
    // ol_delivery_d, ol_o_id, ol_w_id, ol_i_id, ol_supply_w_id, ol_d_id, ol_number, ol_quantity
    if delivered {
        out.timestamp(LOADED_AT);
    } else {
        out.null();
    }
    out.int(o_id).int(w_id).int(rng.uniform(1, i64::from(ITEMS))).int(w_id).int(d_id).int(number).int(5);
    // ol_amount, ol_dist_info
    if delivered {
        out.cents(0);
    } else {
        out.cents(rng.uniform(1, 999_999));
    }
    let mut dist_info = [0; 24];
    strings::fill(rng, &mut dist_info);
    out.plain(&dist_info).end_row();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_up_to_a_size_and_within_a_range_above() {
        let seed = Seed(1);
        let RowCount::Exact(counted) = order_lines(seed, 200) else { panic!("counted") };
        let range = order_lines(seed, 201);
        assert_eq!(range, RowCount::Between(60_300 * 999, 60_300 * 1001));
        let next: u64 =
            (2000..2010).flat_map(|chunk| line_counts(seed, chunk)).map(|(_, lines)| lines.unsigned_abs()).sum();
        assert!(range.admits(counted + next));
    }
}
