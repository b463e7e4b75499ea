//! The transactions as procedures and as functions: one statement, one round trip.
//!
//! The client draws all random inputs, so that the server does only the transaction's own work. Outputs are INOUT
//! parameters with defaults, so that a call has only the inputs.
//!
//! A function is its procedure with another head and another rollback: a procedure may ROLLBACK, a function may only
//! fail, with an SQLSTATE of its own.

use pgdyno_wire::{ParamType, ParamValue, Statement, StmtId};
use pgdyno_workload::{Batch, Capabilities, Next, Reply, Routine, Verdict};

use super::{amount_text, customer};
use crate::tproc_c::txns::{Inputs, NewOrder, Payment};

/// The SQLSTATE of an order that a function rolls back because of its unused item.
pub(in crate::tproc_c) const ROLLED_BACK: &str = "PD001";

/// Its signature as a procedure and as a function, and its body.
macro_rules! routine {
    ($name:literal, $arguments:literal) => {
        (
            concat!("pgdyno_", $name, "(", $arguments, ")"),
            concat!("pgdyno_", $name, "_fn(", $arguments, ")"),
            include_str!(concat!("routines/", $name, ".sql")),
        )
    };
}

/// Routines in the order of the kinds.
const ROUTINES: [(&str, &str, &str); 5] = [
    routine!(
        "new_order",
        "int, int, int, int[], int[], int[], int, timestamptz, varchar, char, \
         numeric, numeric, numeric, numeric, varchar[], int[], text, numeric[], numeric[]"
    ),
    routine!(
        "payment",
        "int, int, int, int, int, varchar, numeric, timestamptz, text, text, \
         varchar, char, varchar, text, char, timestamptz, char, numeric, numeric, numeric, varchar"
    ),
    routine!(
        "order_status",
        "int, int, int, varchar, varchar, char, varchar, numeric, int, \
         timestamptz, int, int[], int[], int[], numeric[], timestamptz[]"
    ),
    routine!("delivery", "int, int, int[], int[]"),
    routine!("stock_level", "int, int, int, int"),
];

/// New-Order for tables that are distributed by warehouse.
const NEW_ORDER_DISTRIBUTED: &str = include_str!("routines/new_order_distributed.sql");

/// Returns five procedures and five functions. If tables are distributed, each may run on the node of its warehouse,
/// which is its first argument.
pub(super) fn routines(caps: &Capabilities) -> Vec<Routine> {
    let mut texts = ROUTINES;
    if caps.distributed_tables {
        texts[0].2 = NEW_ORDER_DISTRIBUTED;
    }
    let routine =
        |signature, ddl| Routine { signature, ddl, distribution: Some((1, "warehouse")), read_only_call: None };
    let procedures = texts.map(|(signature, _, sql)| routine(signature, sql.to_owned()));
    let functions = texts.map(|(_, signature, sql)| routine(signature, function(sql)));
    procedures.into_iter().chain(functions).collect()
}

/// Returns the function of a procedure.
fn function(procedure: &str) -> String {
    let (before, head) = procedure.split_once("CREATE OR REPLACE PROCEDURE ").unwrap_or((procedure, ""));
    let (name, rest) = head.split_once('(').unwrap_or((head, ""));
    let fail = format!("RAISE SQLSTATE '{ROLLED_BACK}' USING MESSAGE = 'the order names an unused item';");
    let rest = rest.replace("ROLLBACK;", &fail);
    format!("{before}CREATE OR REPLACE FUNCTION {name}_fn({rest}")
}

pub(super) fn calls(schema: Option<&str>) -> Vec<Statement> {
    let place = place(schema);
    statements(|name, inputs| format!("CALL {place}pgdyno_{name}({inputs})"))
}

pub(super) fn selects(schema: Option<&str>) -> Vec<Statement> {
    let place = place(schema);
    statements(|name, inputs| format!("SELECT * FROM {place}pgdyno_{name}_fn({inputs})"))
}

/// Returns the prefix of a routine's name.
fn place(schema: Option<&str>) -> String {
    schema.map_or_else(String::new, |schema| format!("{schema}."))
}

/// Returns the statements in the order of the kinds.
fn statements(text: impl Fn(&str, &str) -> String) -> Vec<Statement> {
    let (int, array) = (ParamType::Int4, ParamType::Int4Array);
    let (name, numeric) = (ParamType::Text, ParamType::Numeric);
    let inputs: [(&str, &[ParamType]); 5] = [
        ("new_order", &[int, int, int, array, array, array]),
        ("payment", &[int, int, int, int, int, name, numeric]),
        ("order_status", &[int, int, int, name]),
        ("delivery", &[int, int]),
        ("stock_level", &[int, int, int]),
    ];
    inputs
        .into_iter()
        .map(|(name, params)| {
            let numbers: Vec<String> = (1..=params.len()).map(|n| format!("${n}")).collect();
            Statement::new(text(name, &numbers.join(", ")), params)
        })
        .collect()
}

/// Adds the one statement; the reply to New-Order is read, too.
#[inline]
pub(super) fn step(inputs: &Inputs, step: u8, reply: Reply<'_>, batch: &mut Batch<'_>) -> Next {
    let id = StmtId(u32::from(inputs.kind().id().0));
    let int = ParamValue::Int4;
    match inputs {
        Inputs::NewOrder(_) if step > 0 => return Next::Finish(new_order_verdict(reply)),
        Inputs::NewOrder(inputs) => {
            new_order(id, inputs, batch);
            return Next::Await;
        }
        Inputs::Payment(inputs) => payment(id, inputs, batch),
        Inputs::OrderStatus(inputs) => {
            let (c_id, c_last) = customer(&inputs.customer);
            batch.execute(id, &[int(inputs.w_id), int(inputs.d_id), c_id, c_last]);
        }
        Inputs::Delivery(inputs) => batch.execute(id, &[int(inputs.w_id), int(inputs.carrier_id)]),
        Inputs::StockLevel(inputs) => {
            batch.execute(id, &[int(inputs.w_id), int(inputs.d_id), int(inputs.threshold)]);
        }
    }
    Next::Finish(Verdict::Committed)
}

fn new_order(id: StmtId, inputs: &NewOrder, batch: &mut Batch<'_>) {
    batch.fetch(
        id,
        &[
            ParamValue::Int4(inputs.w_id),
            ParamValue::Int4(inputs.d_id),
            ParamValue::Int4(inputs.c_id),
            ParamValue::Int4Array(inputs.items()),
            ParamValue::Int4Array(inputs.supply_warehouses()),
            ParamValue::Int4Array(inputs.quantities()),
        ],
    );
}

/// The procedure returns no order number for an order that it has rolled back.
fn new_order_verdict(reply: Reply<'_>) -> Verdict {
    let o_id = reply.first().and_then(|row| row.columns().next()).flatten();
    if o_id.is_some() { Verdict::Committed } else { Verdict::RolledBack }
}

fn payment(id: StmtId, inputs: &Payment, batch: &mut Batch<'_>) {
    let (c_id, c_last) = customer(&inputs.customer);
    let mut amount = [0; 7];
    batch.execute(
        id,
        &[
            ParamValue::Int4(inputs.w_id),
            ParamValue::Int4(inputs.d_id),
            ParamValue::Int4(inputs.c_w_id),
            ParamValue::Int4(inputs.c_d_id),
            c_id,
            c_last,
            ParamValue::Text(amount_text(inputs.amount_cents, &mut amount)),
        ],
    );
}

#[cfg(test)]
mod tests {
    use pgdyno_workload::ReplyBuffer;

    use super::*;
    use crate::tproc_c::txns::TxnKind;

    #[test]
    fn a_new_order_without_a_number_was_rolled_back() {
        let mut rows = ReplyBuffer::new();
        let row = |body| pgdyno_wire::backend::DataRow::new(body);
        rows.row(row(b"\0\x02\xff\xff\xff\xff\0\0\0\x01x")).unwrap();
        assert_eq!(new_order_verdict(rows.reply()), Verdict::RolledBack);
        rows.clear();
        rows.row(row(b"\0\x01\0\0\0\x043001")).unwrap();
        assert_eq!(new_order_verdict(rows.reply()), Verdict::Committed);
    }

    #[test]
    fn statements_and_routines_stand_in_the_order_of_the_kinds() {
        let (calls, selects) = (calls(None), selects(None));
        for (kind, nth) in TxnKind::ALL.into_iter().zip(0..) {
            let name = kind.name().replace('-', "_");
            assert!(calls[nth].sql().starts_with(&format!("CALL pgdyno_{name}($1, $2")));
            assert!(selects[nth].sql().starts_with(&format!("SELECT * FROM pgdyno_{name}_fn($1, $2")));
            assert!(ROUTINES[nth].0.starts_with(&format!("pgdyno_{name}(int, ")));
        }
    }

    #[test]
    fn functions_have_a_head_and_a_way_back_of_their_own() {
        for distributed_tables in [false, true] {
            let caps = Capabilities { distributed_tables, ..Capabilities::default() };
            for routine in &routines(&caps)[5..] {
                let name = routine.signature.split('(').next().unwrap();
                assert_eq!(routine.ddl.matches(&format!("CREATE OR REPLACE FUNCTION {name}(")).count(), 1, "{name}");
                assert!(!routine.ddl.contains("PROCEDURE") && !routine.ddl.contains("ROLLBACK"), "{name}");
                let fails = routine.ddl.matches("RAISE SQLSTATE 'PD001' USING").count();
                assert_eq!(fails, usize::from(name == "pgdyno_new_order_fn"), "{name}");
            }
        }
    }

    #[test]
    fn both_texts_of_new_order_have_the_same_arguments() {
        let head = |sql: &'static str| sql.split_once("CREATE OR REPLACE").unwrap().1.split_once("LANGUAGE").unwrap().0;
        assert_eq!(head(NEW_ORDER_DISTRIBUTED), head(ROUTINES[0].2));
    }
}
