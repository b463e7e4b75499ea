//! New-Order in two round trips (clause 2.4.2): first reads, then writes.

use pgdyno_wire::ParamValue;
use pgdyno_workload::{Batch, Next, Reply, Verdict};

use super::{first_int, missing, next_int, sql::Sql};
use crate::tproc_c::txns::{MAX_LINES, NewOrder};

pub(super) fn step(inputs: &NewOrder, step: u8, reply: Reply<'_>, batch: &mut Batch<'_>) -> Next {
    match step {
        0 => read(inputs, batch),
        _ => write(inputs, reply, batch),
    }
}

/// Adds the order's number, customer and warehouse, and items.
fn read(inputs: &NewOrder, batch: &mut Batch<'_>) -> Next {
    let [w_id, d_id, c_id] = [inputs.w_id, inputs.d_id, inputs.c_id].map(ParamValue::Int4);
    batch.execute(Sql::Begin.id(), &[]);
    batch.fetch(Sql::NewOrderDistrict.id(), &[w_id, d_id]);
    batch.fetch(Sql::NewOrderCustomer.id(), &[w_id, d_id, c_id]);
    batch.fetch(Sql::NewOrderItems.id(), &[ParamValue::Int4Array(inputs.items())]);
    Next::Await
}

/// Adds the rest, also for an order with an unused item, which is rolled back afterwards (clause 2.4.2.3); only the
/// line of that item is left out.
fn write(inputs: &NewOrder, reply: Reply<'_>, batch: &mut Batch<'_>) -> Next {
    let mut rows = reply.rows();
    let Some(o_id) = rows.next().filter(|row| row.columns().count() == 2).and_then(|row| first_int(&row)) else {
        return missing(batch, "district", inputs.w_id);
    };
    // A customer's row begins with a name, an item's with a number.
    if rows.next().is_none_or(|row| first_int(&row).is_some()) {
        return missing(batch, "customer", inputs.w_id);
    }
    let mut prices = [None; MAX_LINES];
    for row in rows {
        let mut columns = row.columns();
        let i_id = next_int(&mut columns);
        let price = columns.next().flatten().and_then(cents);
        for (item, found) in inputs.items().iter().zip(&mut prices) {
            if i_id == Some(*item) {
                *found = price;
            }
        }
    }
    let [w_id, d_id, c_id, o_id] = [inputs.w_id, inputs.d_id, inputs.c_id, o_id].map(ParamValue::Int4);
    let count = inputs.items().len();
    let all_local = inputs.supply_warehouses().iter().all(|w| *w == inputs.w_id);
    // At most fifteen lines.
    let (ol_cnt, all_local) = (ParamValue::Int4(count as i32), ParamValue::Int4(i32::from(all_local)));
    batch.execute(Sql::NewOrderOrders.id(), &[w_id, d_id, c_id, o_id, ol_cnt, all_local]);
    batch.execute(Sql::NewOrderNewOrder.id(), &[w_id, d_id, o_id]);
    let mut suppliers = [0; MAX_LINES];
    let suppliers = &mut suppliers[..count];
    suppliers.copy_from_slice(inputs.supply_warehouses());
    // Stock is locked by warehouse and item, in ascending order.
    suppliers.sort_unstable();
    let mut sent = 0;
    for supplier in suppliers.chunk_by(|a, b| a == b).map(|same| same[0]) {
        let lines = Lines::from(supplier, inputs, &prices);
        if lines.count > 0 {
            let [items, quantities, amounts, numbers] = lines.arrays();
            let supplier = ParamValue::Int4(supplier);
            batch.execute(Sql::NewOrderLines.id(), &[w_id, d_id, o_id, supplier, items, quantities, amounts, numbers]);
        }
        sent += lines.count;
    }
    if sent == count {
        batch.execute(Sql::Commit.id(), &[]);
        Next::Finish(Verdict::Committed)
    } else {
        batch.execute(Sql::Rollback.id(), &[]);
        Next::Finish(Verdict::RolledBack)
    }
}

/// The lines of one supplying warehouse whose items exist.
#[derive(Default)]
struct Lines {
    count: usize,
    items: [i32; MAX_LINES],
    quantities: [i32; MAX_LINES],
    /// Quantity × price, in hundredths.
    amounts: [i32; MAX_LINES],
    /// From 1.
    numbers: [i32; MAX_LINES],
}

impl Lines {
    fn from(supplier: i32, inputs: &NewOrder, prices: &[Option<i32>; MAX_LINES]) -> Self {
        let mut this = Self::default();
        for (line, supply) in inputs.supply_warehouses().iter().enumerate() {
            let (Some(price), true) = (prices[line], *supply == supplier) else { continue };
            let quantity = inputs.quantities()[line];
            this.items[this.count] = inputs.items()[line];
            this.quantities[this.count] = quantity;
            this.amounts[this.count] = quantity * price;
            // At most fifteen lines.
            this.numbers[this.count] = line as i32 + 1;
            this.count += 1;
        }
        this
    }

    fn arrays(&self) -> [ParamValue<'_>; 4] {
        [&self.items, &self.quantities, &self.amounts, &self.numbers]
            .map(|all| ParamValue::Int4Array(&all[..self.count]))
    }
}

/// Parses an amount with two decimals as hundredths.
fn cents(amount: &[u8]) -> Option<i32> {
    let (whole, decimals) = amount.split_last_chunk::<3>()?;
    let mut cents = 0i32;
    for byte in whole.iter().chain(decimals.strip_prefix(b".")?) {
        let digit = byte.checked_sub(b'0').filter(|digit| *digit < 10)?;
        cents = cents.checked_mul(10)?.checked_add(i32::from(digit))?;
    }
    Some(cents)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_to_the_hundredth() {
        for (text, expected) in [
            ("1.00", Some(100)),
            ("99.99", Some(9_999)),
            ("0.07", Some(7)),
            ("100.00", Some(10_000)),
            ("1", None),
            ("1.5", None),
            ("-1.00", None),
            ("", None),
        ] {
            assert_eq!(cents(text.as_bytes()), expected, "{text}");
        }
    }
}
