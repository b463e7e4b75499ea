//! Payment in one round trip, or two for a customer by name (clause 2.5.2).

use pgdyno_wire::ParamValue;
use pgdyno_workload::{Batch, Next, Reply, Verdict};

use super::{middle, missing, sql::Sql};
use crate::tproc_c::{
    call::amount_text,
    txns::{Customer, Payment},
};

pub(super) fn step(inputs: &Payment, step: u8, reply: Reply<'_>, batch: &mut Batch<'_>) -> Next {
    match (&inputs.customer, step) {
        (Customer::Id(c_id), 0) => {
            batch.execute(Sql::Begin.id(), &[]);
            pay(inputs, *c_id, batch)
        }
        (Customer::Name(name), 0) => {
            let place = [inputs.c_w_id, inputs.c_d_id].map(ParamValue::Int4);
            batch.execute(Sql::Begin.id(), &[]);
            batch.fetch(Sql::PaymentByName.id(), &[place[0], place[1], ParamValue::Text(name.as_str())]);
            Next::Await
        }
        (Customer::Name(_), 1) => match middle(reply) {
            Some(c_id) => pay(inputs, c_id, batch),
            None => missing(batch, "customer", inputs.c_w_id),
        },
        // Customer, district and warehouse returned their rows.
        _ if reply.row_count() == 3 => Next::Finish(Verdict::Committed),
        _ => missing(batch, "customer or district", inputs.w_id),
    }
}

/// Adds customer, district and warehouse: the row that most payments share comes last, just before the end.
fn pay(inputs: &Payment, c_id: i32, batch: &mut Batch<'_>) -> Next {
    let mut buffer = [0; 7];
    let amount = ParamValue::Text(amount_text(inputs.amount_cents, &mut buffer));
    let [w_id, d_id] = [inputs.w_id, inputs.d_id].map(ParamValue::Int4);
    let [c_w_id, c_d_id, c_id] = [inputs.c_w_id, inputs.c_d_id, c_id].map(ParamValue::Int4);
    batch.fetch(Sql::PaymentCustomer.id(), &[c_w_id, c_d_id, c_id, amount, w_id, d_id]);
    batch.fetch(Sql::PaymentDistrict.id(), &[w_id, d_id, amount]);
    batch.execute(Sql::PaymentHistory.id(), &[c_w_id, c_d_id, c_id, amount, w_id, d_id]);
    batch.fetch(Sql::PaymentWarehouse.id(), &[w_id, amount]);
    batch.execute(Sql::Commit.id(), &[]);
    Next::Await
}
