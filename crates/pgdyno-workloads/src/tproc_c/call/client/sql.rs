//! All statements of the client.

use pgdyno_wire::{ParamType, Statement, StmtId};
use pgdyno_workload::{ScriptStatement, Statements};

use crate::tproc_c::txns::TxnKind;

/// A statement, named by its effect; its number is its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sql {
    Begin,
    Commit,
    /// Rolls back an order with an unused item.
    Rollback,
    NewOrderDistrict,
    NewOrderCustomer,
    NewOrderItems,
    NewOrderOrders,
    NewOrderNewOrder,
    /// Stock of one warehouse and the lines from there, so that a server that distributes tables routes it to one
    /// node. An item without stock has no district information: its replacement is no number, so the server refuses
    /// it and shows it in its message (22P02).
    NewOrderLines,
    PaymentByName,
    PaymentCustomer,
    PaymentDistrict,
    PaymentHistory,
    PaymentWarehouse,
    OrderStatusByName,
    OrderStatus,
    DeliveryOldest,
    DeliveryDelete,
    /// orders, order_line and customer.
    DeliveryDeliver,
    StockLevel,
}

/// Statements in the order of their ids.
const ALL: [Sql; 20] = [
    Sql::Begin,
    Sql::Commit,
    Sql::Rollback,
    Sql::NewOrderDistrict,
    Sql::NewOrderCustomer,
    Sql::NewOrderItems,
    Sql::NewOrderOrders,
    Sql::NewOrderNewOrder,
    Sql::NewOrderLines,
    Sql::PaymentByName,
    Sql::PaymentCustomer,
    Sql::PaymentDistrict,
    Sql::PaymentHistory,
    Sql::PaymentWarehouse,
    Sql::OrderStatusByName,
    Sql::OrderStatus,
    Sql::DeliveryOldest,
    Sql::DeliveryDelete,
    Sql::DeliveryDeliver,
    Sql::StockLevel,
];

/// Returns the statements.
pub(in crate::tproc_c::call) fn statements() -> Statements {
    ALL.into_iter().map(Sql::statement).collect()
}

const BY_NAME: &str = "SELECT c_id FROM customer WHERE c_w_id = $1 AND c_d_id = $2 AND c_last = $3 \
                       ORDER BY c_first, c_id";

impl Sql {
    #[inline]
    pub(super) fn id(self) -> StmtId {
        StmtId(self as u32)
    }

    fn statement(self) -> ScriptStatement {
        let Row { kind, params, text } = self.row();
        ScriptStatement {
            statement: Statement::new(text, params),
            txn: kind.map(TxnKind::id),
            // Six of ten transactions name the customer.
            is_counted: matches!(self, Self::PaymentByName | Self::OrderStatusByName),
        }
    }

    fn row(self) -> Row {
        use ParamType::{Int4, Int4Array, Numeric, Text};
        use TxnKind::{Delivery, NewOrder, OrderStatus, Payment, StockLevel};
        match self {
            Self::Begin => Row { kind: None, params: &[], text: "BEGIN" },
            Self::Commit => Row { kind: None, params: &[], text: "COMMIT" },
            Self::Rollback => Row::of(NewOrder, &[], "ROLLBACK"),
            Self::NewOrderDistrict => Row::of(
                NewOrder,
                &[Int4, Int4],
                "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = $1 AND d_id = $2 \
                 RETURNING d_next_o_id - 1, d_tax",
            ),
            Self::NewOrderCustomer => Row::of(
                NewOrder,
                &[Int4, Int4, Int4],
                "SELECT c_last, c_credit, c_discount, w_tax FROM customer, warehouse \
                 WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3 AND w_id = $1",
            ),
            Self::NewOrderItems => {
                Row::of(NewOrder, &[Int4Array], "SELECT i_id, i_price, i_name, i_data FROM item WHERE i_id = ANY ($1)")
            }
            Self::NewOrderOrders => Row::of(
                NewOrder,
                &[Int4, Int4, Int4, Int4, Int4, Int4],
                "INSERT INTO orders (o_entry_d, o_id, o_w_id, o_c_id, o_d_id, o_carrier_id, o_ol_cnt, o_all_local) \
                 VALUES (current_timestamp, $4, $1, $3, $2, NULL, $5, $6)",
            ),
            Self::NewOrderNewOrder => Row::of(
                NewOrder,
                &[Int4, Int4, Int4],
                "INSERT INTO new_order (no_w_id, no_o_id, no_d_id) VALUES ($1, $3, $2)",
            ),
            Self::NewOrderLines => Row::of(
                NewOrder,
                &[Int4, Int4, Int4, Int4, Int4Array, Int4Array, Int4Array, Int4Array],
                include_str!("lines.sql"),
            ),
            Self::PaymentByName => Row::of(Payment, &[Int4, Int4, Text], BY_NAME),
            Self::PaymentCustomer => Row::of(
                Payment,
                &[Int4, Int4, Int4, Numeric, Int4, Int4],
                "UPDATE customer SET c_balance = c_balance - $4, c_ytd_payment = c_ytd_payment + $4, \
                 c_payment_cnt = (c_payment_cnt + 1) & 32767, c_data = CASE WHEN c_credit = 'BC' THEN \
                 left(c_id::text || ' ' || c_d_id::text || ' ' || c_w_id::text || ' ' || $6::text || ' ' || $5::text || ' ' || \
                 $4::text || '|' || c_data, 500) ELSE c_data END \
                 WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3 \
                 RETURNING c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_since, \
                 c_credit, c_credit_lim, c_discount, c_balance, CASE WHEN c_credit = 'BC' THEN left(c_data, 200) END",
            ),
            Self::PaymentDistrict => Row::of(
                Payment,
                &[Int4, Int4, Numeric],
                "UPDATE district SET d_ytd = d_ytd + $3 WHERE d_w_id = $1 AND d_id = $2 \
                 RETURNING d_name, d_street_1, d_street_2, d_city, d_state, d_zip",
            ),
            Self::PaymentHistory => Row::of(
                Payment,
                &[Int4, Int4, Int4, Numeric, Int4, Int4],
                "INSERT INTO history (h_date, h_c_id, h_c_w_id, h_w_id, h_c_d_id, h_d_id, h_amount, h_data) \
                 SELECT current_timestamp, $3, $1, $5, $2, $6, $4, w_name || '    ' || d_name \
                 FROM warehouse, district WHERE w_id = $5 AND d_w_id = $5 AND d_id = $6",
            ),
            Self::PaymentWarehouse => Row::of(
                Payment,
                &[Int4, Numeric],
                "UPDATE warehouse SET w_ytd = w_ytd + $2 WHERE w_id = $1 \
                 RETURNING w_name, w_street_1, w_street_2, w_city, w_state, w_zip",
            ),
            Self::OrderStatusByName => Row::of(OrderStatus, &[Int4, Int4, Text], BY_NAME),
            Self::OrderStatus => Row::of(OrderStatus, &[Int4, Int4, Int4], include_str!("order_status.sql")),
            Self::DeliveryOldest => Row::of(
                Delivery,
                &[Int4],
                "SELECT d.d_id, n.no_o_id FROM generate_series(1, 10) AS d (d_id) CROSS JOIN LATERAL \
                 (SELECT no_o_id FROM new_order WHERE no_w_id = $1 AND no_d_id = d.d_id \
                 ORDER BY no_o_id LIMIT 1 FOR UPDATE) AS n",
            ),
            Self::DeliveryDelete => Row::of(
                Delivery,
                &[Int4, Int4Array, Int4Array],
                "DELETE FROM new_order USING unnest($2, $3) AS picked (d_id, o_id) \
                 WHERE no_w_id = $1 AND no_d_id = d_id AND no_o_id = o_id",
            ),
            Self::DeliveryDeliver => {
                Row::of(Delivery, &[Int4, Int4Array, Int4Array, Int4], include_str!("deliver.sql"))
            }
            Self::StockLevel => Row::of(StockLevel, &[Int4, Int4, Int4], include_str!("stock_level.sql")),
        }
    }
}

/// A statement: the transaction that alone executes it, its parameters and its text.
struct Row {
    kind: Option<TxnKind>,
    params: &'static [ParamType],
    text: &'static str,
}

impl Row {
    fn of(kind: TxnKind, params: &'static [ParamType], text: &'static str) -> Self {
        Self { kind: Some(kind), params, text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_places_and_parameters_are_numbered_without_a_gap() {
        for (place, sql) in ALL.into_iter().enumerate() {
            assert_eq!(sql as usize, place);
            let Row { params, text, .. } = sql.row();
            let numbers = |n: usize| text.contains(&format!("${n}"));
            assert!((1..=params.len()).all(numbers), "{sql:?}");
            assert!(!numbers(params.len() + 1), "{sql:?}");
        }
    }
}
