//! The form of transactions: a procedure, a function, or SQL of the client.
//!
//! All forms lock rows in the same order, whatever the inputs: new_order or district, then stock by (warehouse,
//! item), or customer, then district, then warehouse. So transactions wait for each other but never deadlock. They
//! read and write the same rows, too.

mod client;
mod routines;

use pgdyno_wire::{ParamValue, Statement};
use pgdyno_workload::{Batch, Capabilities, Next, ReadOnlyCall, Reply, Routine, ScriptStatement, Statements};

use super::txns::{Customer, Inputs, TxnKind};

pub(super) use routines::ROLLED_BACK;

/// The form of the calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    /// `CALL`: one round trip.
    Procedure,
    /// `SELECT * FROM` a function: one round trip.
    Function,
    /// Statements of the client, pipelined: one or two round trips.
    Client,
}

impl Call {
    /// Returns the form of the parameter's value, which is one of the three words.
    pub(super) fn of(word: &str) -> Self {
        match word {
            "function" => Self::Function,
            "client" => Self::Client,
            _ => Self::Procedure,
        }
    }

    /// Returns the routines in the database. Procedures and functions come together, so that runs may switch between
    /// them.
    pub(super) fn routines(self, schema: Option<&str>, caps: &Capabilities) -> Vec<Routine> {
        let stock_level = usize::from(TxnKind::StockLevel.id().0);
        let called = match self {
            Self::Procedure => stock_level,
            // Functions follow the procedures, in the same order.
            Self::Function => TxnKind::ALL.len() + stock_level,
            Self::Client => return Vec::new(),
        };
        let mut routines = routines::routines(caps);
        let statement = self.statements(schema).list()[stock_level].statement.clone();
        // A warehouse, a district and the threshold.
        routines[called].read_only_call = Some(ReadOnlyCall { statement, parameters: vec![1, 15] });
        routines
    }

    /// Returns the statements. `schema` is that of the routines, if it must be named.
    pub(super) fn statements(self, schema: Option<&str>) -> Statements {
        match self {
            Self::Procedure => of_kinds(routines::calls(schema)),
            Self::Function => of_kinds(routines::selects(schema)),
            Self::Client => client::statements(),
        }
    }

    /// Returns the number of SELECT, INSERT, UPDATE and DELETE in one transaction. A routine needs one more for a
    /// customer by last name (0.6 on average, so 1); the client's are counted one by one.
    pub(super) fn queries(self, kind: TxnKind) -> u32 {
        let row = kind.row();
        row.queries + u32::from(self != Self::Client && row.has_last_name)
    }

    /// Adds the statements of the next step to `batch`. `step` counts from 0.
    #[inline]
    pub(super) fn step(self, inputs: &Inputs, step: u8, reply: Reply<'_>, batch: &mut Batch<'_>) -> Next {
        match self {
            Self::Procedure | Self::Function => routines::step(inputs, step, reply, batch),
            Self::Client => client::step(inputs, step, reply, batch),
        }
    }
}

/// Returns statements of which each is the one of its kind of transaction.
fn of_kinds(statements: Vec<Statement>) -> Statements {
    TxnKind::ALL
        .into_iter()
        .zip(statements)
        .map(|(kind, statement)| ScriptStatement::of(kind.id(), statement))
        .collect()
}

/// Number and last name of a customer; the unknown one is NULL.
fn customer(customer: &Customer) -> (ParamValue<'static>, ParamValue<'_>) {
    match customer {
        Customer::Id(c_id) => (ParamValue::Int4(*c_id), ParamValue::Null),
        Customer::Name(name) => (ParamValue::Null, ParamValue::Text(name.as_str())),
    }
}

/// Formats 123456 as `1234.56`, without an allocation. At most four digits before the point.
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
    fn a_statement_belongs_to_its_transaction() {
        let kinds = |call: Call| call.statements(None).list().iter().map(|sql| sql.txn).collect::<Vec<_>>();
        assert_eq!(kinds(Call::Procedure), TxnKind::ALL.map(|kind| Some(kind.id())));
        assert_eq!(kinds(Call::Function), TxnKind::ALL.map(|kind| Some(kind.id())));
        for sql in Call::Client.statements(None).list() {
            let text = sql.statement.sql();
            let is_block = ["BEGIN", "COMMIT", "ROLLBACK"].contains(&text);
            assert!(sql.txn.is_some() != is_block || text == "ROLLBACK", "{text}: {:?}", sql.txn);
        }
    }

    /// Each statement of the client is counted either with its transaction or by itself.
    #[test]
    fn the_clients_queries_are_as_many_as_its_statements_say() {
        for kind in TxnKind::ALL {
            let statements = Call::Client.statements(None);
            let of_kind = statements.list().iter().filter(|sql| sql.txn == Some(kind.id()) && !sql.is_counted);
            let words: usize = of_kind
                .map(|sql| {
                    let sql = sql.statement.sql().replace("FOR UPDATE", "");
                    let writes = ["INSERT INTO", "UPDATE ", "DELETE FROM"].map(|word| sql.matches(word).count());
                    match writes.iter().sum::<usize>() {
                        0 => usize::from(sql.starts_with("SELECT") || sql.starts_with("WITH")),
                        writes => writes,
                    }
                })
                .sum();
            assert_eq!(words, Call::Client.queries(kind) as usize, "{kind:?}");
        }
    }
}
