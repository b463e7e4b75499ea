//! The transactions as stored procedures: one `CALL`, one round trip.
//!
//! Everything random is drawn by the client and passed in, so that the server does the transaction's own
//! work only. Outputs are INOUT parameters with defaults, so that a `CALL` names the inputs alone.
//!
//! A procedure locks rows in one order, whatever its inputs: new_order or district, then stock by (warehouse,
//! item), or customer, then district, then warehouse. So transactions wait for each other but never in a
//! circle.

use pgdyno_wire::{ParamType, Statement, StmtId, Value};
use pgdyno_workload::{Batch, Reply, Routine, Verdict};

use super::txns::{Customer, Delivery, NewOrder, OrderStatus, Payment, StockLevel};

const NEW_ORDER: StmtId = StmtId(0);
const PAYMENT: StmtId = StmtId(1);
const ORDER_STATUS: StmtId = StmtId(2);
const DELIVERY: StmtId = StmtId(3);
const STOCK_LEVEL: StmtId = StmtId(4);

pub(super) fn routines() -> Vec<Routine> {
    [
        (
            "pgdyno_new_order(int, int, int, int[], int[], int[], int, timestamptz, varchar, char, \
             numeric, numeric, numeric, numeric, varchar[], int[], text, numeric[], numeric[])",
            include_str!("new_order.sql"),
        ),
        (
            "pgdyno_payment(int, int, int, int, int, varchar, numeric, timestamptz, text, text, \
             varchar, char, varchar, text, char, timestamptz, char, numeric, numeric, numeric, varchar)",
            include_str!("payment.sql"),
        ),
        (
            "pgdyno_order_status(int, int, int, varchar, varchar, char, varchar, numeric, int, \
             timestamptz, int, int[], int[], int[], numeric[], timestamptz[])",
            include_str!("order_status.sql"),
        ),
        ("pgdyno_delivery(int, int, int[], int[])", include_str!("delivery.sql")),
        ("pgdyno_stock_level(int, int, int, int)", include_str!("stock_level.sql")),
    ]
    .map(|(signature, ddl)| Routine { signature, ddl: ddl.to_owned(), distribution: None })
    .to_vec()
}

/// In the order of their ids.
pub(super) fn statements() -> Vec<Statement> {
    let (int, array) = (ParamType::Int4, ParamType::Int4Array);
    let (text, numeric) = (ParamType::Text, ParamType::Numeric);
    vec![
        Statement::new("CALL pgdyno_new_order($1, $2, $3, $4, $5, $6)", &[int, int, int, array, array, array]),
        Statement::new("CALL pgdyno_payment($1, $2, $3, $4, $5, $6, $7)", &[int, int, int, int, int, text, numeric]),
        Statement::new("CALL pgdyno_order_status($1, $2, $3, $4)", &[int, int, int, text]),
        Statement::new("CALL pgdyno_delivery($1, $2)", &[int, int]),
        Statement::new("CALL pgdyno_stock_level($1, $2, $3)", &[int, int, int]),
    ]
}

pub(super) fn new_order(inputs: &NewOrder, batch: &mut Batch<'_>) {
    batch.fetch(
        NEW_ORDER,
        &[
            Value::Int4(inputs.w_id),
            Value::Int4(inputs.d_id),
            Value::Int4(inputs.c_id),
            Value::Int4Array(inputs.items()),
            Value::Int4Array(inputs.supply_warehouses()),
            Value::Int4Array(inputs.quantities()),
        ],
    );
}

/// The procedure returns no order number for an order that it has rolled back.
pub(super) fn new_order_verdict(reply: Reply<'_>) -> Verdict {
    let o_id = reply.first().and_then(|row| row.columns().next()).flatten();
    if o_id.is_some() { Verdict::Committed } else { Verdict::RolledBack }
}

pub(super) fn payment(inputs: &Payment, batch: &mut Batch<'_>) {
    let (c_id, c_last) = customer(&inputs.customer);
    let mut amount = [0; 7];
    batch.execute(
        PAYMENT,
        &[
            Value::Int4(inputs.w_id),
            Value::Int4(inputs.d_id),
            Value::Int4(inputs.c_w_id),
            Value::Int4(inputs.c_d_id),
            c_id,
            c_last,
            Value::Text(amount_text(inputs.amount_cents, &mut amount)),
        ],
    );
}

pub(super) fn order_status(inputs: &OrderStatus, batch: &mut Batch<'_>) {
    let (c_id, c_last) = customer(&inputs.customer);
    batch.execute(ORDER_STATUS, &[Value::Int4(inputs.w_id), Value::Int4(inputs.d_id), c_id, c_last]);
}

pub(super) fn delivery(inputs: &Delivery, batch: &mut Batch<'_>) {
    batch.execute(DELIVERY, &[Value::Int4(inputs.w_id), Value::Int4(inputs.carrier_id)]);
}

pub(super) fn stock_level(inputs: &StockLevel, batch: &mut Batch<'_>) {
    batch.execute(STOCK_LEVEL, &[Value::Int4(inputs.w_id), Value::Int4(inputs.d_id), Value::Int4(inputs.threshold)]);
}

/// Number and last name; the one that is NULL is not known.
fn customer(customer: &Customer) -> (Value<'static>, Value<'_>) {
    match customer {
        Customer::Id(c_id) => (Value::Int4(*c_id), Value::Null),
        Customer::Name(name) => (Value::Null, Value::Text(name.as_str())),
    }
}

/// `1234.56` of 123456, without an allocation. Four digits before the point at most.
fn amount_text(cents: i32, buffer: &mut [u8; 7]) -> &str {
    debug_assert!((0..1_000_000).contains(&cents), "{cents}");
    let mut rest = cents;
    let mut at = buffer.len();
    while at > 0 && (rest > 0 || at > 3) {
        at -= 1;
        if at == 4 {
            buffer[at] = b'.';
        } else {
            buffer[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
    }
    // Digits and a point.
    std::str::from_utf8(&buffer[at..]).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use pgdyno_workload::ReplyBuffer;

    use super::*;

    #[test]
    fn amounts_are_written_with_two_decimals() {
        for (cents, text) in [
            (100, "1.00"),
            (500_000, "5000.00"),
            (123_456, "1234.56"),
            (205, "2.05"),
            (7, "0.07"),
            (0, "0.00"),
            (999_999, "9999.99"),
        ] {
            assert_eq!(amount_text(cents, &mut [0; 7]), text);
        }
    }

    #[test]
    fn a_new_order_without_a_number_was_rolled_back() {
        let mut rows = ReplyBuffer::new();
        let row = |body| pgdyno_wire::backend::DataRow::new(body);
        rows.row(row(b"\0\x02\xff\xff\xff\xff\0\0\0\x01x"));
        assert_eq!(new_order_verdict(rows.reply()), Verdict::RolledBack);
        rows.clear();
        rows.row(row(b"\0\x01\0\0\0\x043001"));
        assert_eq!(new_order_verdict(rows.reply()), Verdict::Committed);
    }
}
