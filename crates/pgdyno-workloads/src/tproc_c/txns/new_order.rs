use super::{Draw, customer::customer_id};
use crate::tproc_c::{ITEMS, population::number};

/// Largest number of lines of an order (clause 2.4.1.3).
pub(in crate::tproc_c) const MAX_LINES: usize = 15;

/// An item number that no item has (clause 2.4.1.5).
const UNUSED_ITEM: i32 = ITEMS as i32 + 1;

/// The inputs of New-Order (clause 2.4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tproc_c) struct NewOrder {
    pub(in crate::tproc_c) w_id: i32,
    pub(in crate::tproc_c) d_id: i32,
    pub(in crate::tproc_c) c_id: i32,
    lines: usize,
    items: [i32; MAX_LINES],
    supply_warehouses: [i32; MAX_LINES],
    quantities: [i32; MAX_LINES],
}

impl NewOrder {
    pub(in crate::tproc_c) fn draw(w_id: i32, draw: &mut Draw<'_>) -> Self {
        let mut this = Self {
            w_id,
            d_id: draw.uniform(1, 10),
            c_id: customer_id(draw),
            // 5 to 15 (clause 2.4.1.3).
            lines: draw.uniform(5, 15) as usize,
            items: [0; MAX_LINES],
            supply_warehouses: [0; MAX_LINES],
            quantities: [0; MAX_LINES],
        };
        for line in 0..this.lines {
            this.items[line] = number(draw.rng, 8191, ITEMS, draw.constants.i_id);
            this.supply_warehouses[line] = if draw.percent(1) { draw.remote_warehouse(w_id) } else { w_id };
            this.quantities[line] = draw.uniform(1, 10);
        }
        // One order in a hundred has an unused item at its end, and is rolled back (clause 2.4.1.4).
        if draw.percent(1) {
            this.items[this.lines - 1] = UNUSED_ITEM;
        }
        this
    }

    pub(in crate::tproc_c) fn items(&self) -> &[i32] {
        &self.items[..self.lines]
    }

    pub(in crate::tproc_c) fn supply_warehouses(&self) -> &[i32] {
        &self.supply_warehouses[..self.lines]
    }

    pub(in crate::tproc_c) fn quantities(&self) -> &[i32] {
        &self.quantities[..self.lines]
    }
}
