//! The transactions as SQL of the client: statements in one or two pipelines, each one round trip.
//!
//! Locks that many transactions need are taken in the last pipeline, which ends with COMMIT, so that other clients
//! wait for a row no longer than a network round trip; New-Order, which needs the order's number first, takes them in
//! the first pipeline.

mod new_order;
mod payment;
mod sql;

use pgdyno_wire::ParamValue;
use pgdyno_wire::backend::DataRow;
use pgdyno_workload::{Batch, Next, Note, Reply, Verdict};

use crate::tproc_c::{
    DISTRICTS,
    txns::{Customer, Delivery, Inputs, OrderStatus},
};
use sql::Sql;

pub(super) use sql::statements;

/// Adds the next pipeline of a transaction.
#[inline]
pub(super) fn step(inputs: &Inputs, step: u8, reply: Reply<'_>, batch: &mut Batch<'_>) -> Next {
    match inputs {
        Inputs::NewOrder(inputs) => new_order::step(inputs, step, reply, batch),
        Inputs::Payment(inputs) => payment::step(inputs, step, reply, batch),
        Inputs::OrderStatus(inputs) => order_status(inputs, step, reply, batch),
        Inputs::Delivery(inputs) => delivery(inputs, step, reply, batch),
        Inputs::StockLevel(inputs) => {
            let values = [inputs.w_id, inputs.d_id, inputs.threshold].map(ParamValue::Int4);
            batch.execute(Sql::StockLevel.id(), &values);
            Next::Finish(Verdict::Committed)
        }
    }
}

/// Adds one statement; before it another for the number of a customer by name.
fn order_status(inputs: &OrderStatus, step: u8, reply: Reply<'_>, batch: &mut Batch<'_>) -> Next {
    let [w_id, d_id] = [inputs.w_id, inputs.d_id].map(ParamValue::Int4);
    match (&inputs.customer, step) {
        (Customer::Id(c_id), 0) => {
            batch.fetch(Sql::OrderStatus.id(), &[w_id, d_id, ParamValue::Int4(*c_id)]);
            Next::Await
        }
        (Customer::Name(name), 0) => {
            batch.execute(Sql::Begin.id(), &[]);
            batch.fetch(Sql::OrderStatusByName.id(), &[w_id, d_id, ParamValue::Text(name.as_str())]);
            Next::Await
        }
        (Customer::Name(_), 1) => {
            let Some(c_id) = middle(reply) else {
                return missing(batch, "customer", inputs.w_id);
            };
            batch.fetch(Sql::OrderStatus.id(), &[w_id, d_id, ParamValue::Int4(c_id)]);
            batch.execute(Sql::Commit.id(), &[]);
            Next::Await
        }
        _ if reply.row_count() == 0 => missing(batch, "customer", inputs.w_id),
        _ => Next::Finish(Verdict::Committed),
    }
}

/// Adds the oldest order of each district, locked, then everything that follows from them.
fn delivery(inputs: &Delivery, step: u8, reply: Reply<'_>, batch: &mut Batch<'_>) -> Next {
    let w_id = ParamValue::Int4(inputs.w_id);
    if step == 0 {
        batch.execute(Sql::Begin.id(), &[]);
        batch.fetch(Sql::DeliveryOldest.id(), &[w_id]);
        return Next::Await;
    }
    let (mut d_ids, mut o_ids) = ([0; DISTRICTS as usize], [0; DISTRICTS as usize]);
    let mut orders = 0;
    for (row, (d_id, o_id)) in reply.rows().zip(d_ids.iter_mut().zip(&mut o_ids)) {
        let mut columns = row.columns();
        (*d_id, *o_id) = (next_int(&mut columns).unwrap_or_default(), next_int(&mut columns).unwrap_or_default());
        orders += 1;
    }
    if orders > 0 {
        let (d_ids, o_ids) = (ParamValue::Int4Array(&d_ids[..orders]), ParamValue::Int4Array(&o_ids[..orders]));
        batch.execute(Sql::DeliveryDelete.id(), &[w_id, d_ids, o_ids]);
        batch.execute(Sql::DeliveryDeliver.id(), &[w_id, d_ids, o_ids, ParamValue::Int4(inputs.carrier_id)]);
    }
    batch.execute(Sql::Commit.id(), &[]);
    Next::Finish(Verdict::Committed)
}

/// Returns the number at n/2, rounded up, of n (clauses 2.5.2.2 and 2.6.2.2).
fn middle(reply: Reply<'_>) -> Option<i32> {
    let rows = reply.row_count() as usize;
    let row = reply.rows().nth(rows.checked_sub(1)? / 2)?;
    first_int(&row)
}

fn first_int(row: &DataRow<'_>) -> Option<i32> {
    next_int(&mut row.columns())
}

/// Returns the next column, if it is a whole number.
fn next_int<'a>(columns: &mut impl Iterator<Item = Option<&'a [u8]>>) -> Option<i32> {
    std::str::from_utf8(columns.next()??).ok()?.parse().ok()
}

/// Aborts if a row was not found: the transaction did not succeed.
fn missing(batch: &mut Batch<'_>, what: &str, w_id: i32) -> Next {
    batch.note(Note::Error(format!(
        "a {what} of warehouse {w_id} is not in the database: its data is not whole; `pgdyno check tproc-c` says more"
    )));
    Next::Abort
}

#[cfg(test)]
mod tests;
