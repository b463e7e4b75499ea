//! The transactions of `tproc-c` with inputs of one's own, in each call form.

use pgdyno_wire::{Capture, ParamValue, QueryMode, Session, Statement, StmtId, backend};
use pgdyno_workload::Capabilities;

use crate::support::{Connection, Failure, Row, tproc_c};

/// The values of the parameter `call`.
pub(crate) const FORMS: [&str; 3] = ["procedure", "function", "client"];

/// A line of an order: item, supplying warehouse, quantity.
pub(crate) type Line = (i32, i32, i32);

/// A call form, driven by hand.
pub(crate) struct Form {
    pub(crate) name: &'static str,
    statements: Vec<Statement>,
}

/// How a customer is named.
#[derive(Clone, Copy)]
pub(crate) enum Who<'a> {
    Id(i32),
    Name(&'a str),
}

fn int_of(row: &Row, column: usize) -> i32 {
    row[column].as_ref().unwrap().parse().unwrap()
}

fn array(numbers: &[i32]) -> String {
    format!("'{{{}}}'::int4[]", numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(","))
}

impl Form {
    pub(crate) fn new(name: &'static str) -> Self {
        Self { name, statements: tproc_c(&[("call", name)]).drive.statements(&Capabilities::default()) }
    }

    /// Calls a routine.
    fn call(&self, sql: &mut Connection, routine: &str, inputs: &str) -> Result<Vec<Row>, Failure> {
        match self.name {
            "procedure" => sql.try_query(&format!("call pgdyno_{routine}({inputs})")),
            _ => sql.try_query(&format!("select * from pgdyno_{routine}_fn({inputs})")),
        }
    }

    fn is_client(&self) -> bool {
        self.name == "client"
    }

    /// Sends the client's statement that begins so.
    fn send(&self, sql: &mut Connection, beginning: &str, values: &[ParamValue<'_>]) -> Vec<Row> {
        self.try_send(sql, beginning, values).unwrap_or_else(|e| panic!("{e}: {beginning}"))
    }

    fn try_send(&self, sql: &mut Connection, beginning: &str, values: &[ParamValue<'_>]) -> Result<Vec<Row>, Failure> {
        let place = self.statements.iter().position(|s| s.sql().starts_with(beginning)).unwrap();
        let (mut session, mut out) = (Session::new(QueryMode::Simple, self.statements.len()), Vec::new());
        let id = StmtId(u32::try_from(place).unwrap());
        session.execute(id, &self.statements[place], values, Capture::Nothing, &mut out);
        let message = backend::next_message(&out).unwrap().unwrap();
        let text = std::str::from_utf8(message.body.strip_suffix(b"\0").unwrap()).unwrap();
        sql.try_query(text)
    }

    /// The order's number; `None` where it was rolled back.
    pub(crate) fn new_order(&self, sql: &mut Connection, customer: [i32; 3], lines: &[Line]) -> Option<i32> {
        self.try_new_order(sql, customer, lines).unwrap_or_else(|e| panic!("{e}"))
    }

    /// The same, where it may fail. Of the client's it then leaves the transaction to be rolled back.
    pub(crate) fn try_new_order(
        &self,
        sql: &mut Connection,
        [w_id, d_id, c_id]: [i32; 3],
        lines: &[Line],
    ) -> Result<Option<i32>, Failure> {
        let column = |f: fn(&Line) -> i32| lines.iter().map(f).collect::<Vec<_>>();
        let (items, supply, quantities) = (column(|l| l.0), column(|l| l.1), column(|l| l.2));
        if !self.is_client() {
            let arrays = [&items, &supply, &quantities].map(|all| array(all)).join(", ");
            return match self.call(sql, "new_order", &format!("{w_id}, {d_id}, {c_id}, {arrays}")) {
                Ok(rows) => Ok(rows[0][0].as_ref().map(|o_id| o_id.parse().unwrap())),
                Err(error) if self.name == "function" && error.code.as_str() == "PD001" => Ok(None),
                Err(error) => Err(error),
            };
        }
        let [w, d, c] = [w_id, d_id, c_id].map(ParamValue::Int4);
        self.send(sql, "BEGIN", &[]);
        let o_id = int_of(&self.send(sql, "UPDATE district SET d_next", &[w, d])[0], 0);
        assert_eq!(self.send(sql, "SELECT c_last", &[w, d, c]).len(), 1);
        let found = self.send(sql, "SELECT i_id", &[ParamValue::Int4Array(&items)]);
        let cents = |item: i32| {
            let row = found.iter().find(|row| int_of(row, 0) == item)?;
            row[1].as_ref().unwrap().replace('.', "").parse::<i32>().ok()
        };
        // Number, line, amount.
        let known: Vec<(i32, &Line, i32)> =
            (1..).zip(lines).filter_map(|(n, line)| Some((n, line, cents(line.0)? * line.2))).collect();
        let all_local = i32::from(supply.iter().all(|w| *w == w_id));
        let (o, count) = (ParamValue::Int4(o_id), ParamValue::Int4(i32::try_from(lines.len()).unwrap()));
        self.send(sql, "INSERT INTO orders", &[w, d, c, o, count, ParamValue::Int4(all_local)]);
        self.send(sql, "INSERT INTO new_order", &[w, d, o]);
        let mut suppliers = supply.clone();
        suppliers.sort_unstable();
        suppliers.dedup();
        for supplier in suppliers {
            let of = || known.iter().filter(|(_, line, _)| line.1 == supplier);
            let column = |f: fn(&(i32, &Line, i32)) -> i32| of().map(f).collect::<Vec<_>>();
            let arrays = [column(|l| l.1.0), column(|l| l.1.2), column(|l| l.2), column(|l| l.0)];
            let [items, quantities, amounts, numbers] = [0, 1, 2, 3].map(|n: usize| ParamValue::Int4Array(&arrays[n]));
            let values = [w, d, o, ParamValue::Int4(supplier), items, quantities, amounts, numbers];
            self.try_send(sql, "WITH line", &values)?;
        }
        let is_whole = known.len() == lines.len();
        self.send(sql, if is_whole { "COMMIT" } else { "ROLLBACK" }, &[]);
        Ok(is_whole.then_some(o_id))
    }

    /// The client's way from a name to a number.
    fn number(&self, sql: &mut Connection, [w_id, d_id]: [i32; 2], who: Who<'_>) -> i32 {
        match who {
            Who::Id(c_id) => c_id,
            Who::Name(name) => {
                let values = [ParamValue::Int4(w_id), ParamValue::Int4(d_id), ParamValue::Text(name)];
                let rows = self.send(sql, "SELECT c_id", &values);
                int_of(&rows[(rows.len() - 1) / 2], 0)
            }
        }
    }

    fn named(who: Who<'_>) -> String {
        match who {
            Who::Id(c_id) => format!("{c_id}, null"),
            Who::Name(name) => format!("null, '{name}'"),
        }
    }

    /// The customer's number; begins and ends no transaction.
    pub(crate) fn payment(
        &self,
        sql: &mut Connection,
        [w_id, d_id]: [i32; 2],
        [c_w_id, c_d_id]: [i32; 2],
        who: Who<'_>,
        amount: &str,
    ) -> i32 {
        if !self.is_client() {
            let inputs = format!("{w_id}, {d_id}, {c_w_id}, {c_d_id}, {}, {amount}", Self::named(who));
            return int_of(&self.call(sql, "payment", &inputs).unwrap()[0], 0);
        }
        let c_id = self.number(sql, [c_w_id, c_d_id], who);
        let [w, d, c_w, c_d, c] = [w_id, d_id, c_w_id, c_d_id, c_id].map(ParamValue::Int4);
        let amount = ParamValue::Text(amount);
        assert_eq!(self.send(sql, "UPDATE customer", &[c_w, c_d, c, amount, w, d]).len(), 1);
        assert_eq!(self.send(sql, "UPDATE district SET d_ytd", &[w, d, amount]).len(), 1);
        self.send(sql, "INSERT INTO history", &[c_w, c_d, c, amount, w, d]);
        assert_eq!(self.send(sql, "UPDATE warehouse", &[w, amount]).len(), 1);
        c_id
    }

    /// First name, middle name, last name, balance, number of the last order.
    pub(crate) fn order_status(&self, sql: &mut Connection, [w_id, d_id]: [i32; 2], who: Who<'_>) -> Row {
        if !self.is_client() {
            let inputs = format!("{w_id}, {d_id}, {}", Self::named(who));
            return self.call(sql, "order_status", &inputs).unwrap()[0][1..6].to_vec();
        }
        let c_id = self.number(sql, [w_id, d_id], who);
        self.send(sql, "SELECT c_first", &[w_id, d_id, c_id].map(ParamValue::Int4))[0][..5].to_vec()
    }

    /// Begins and ends no transaction.
    pub(crate) fn delivery(&self, sql: &mut Connection, w_id: i32, carrier_id: i32) {
        if !self.is_client() {
            self.call(sql, "delivery", &format!("{w_id}, {carrier_id}")).unwrap();
            return;
        }
        let w = ParamValue::Int4(w_id);
        let oldest = self.send(sql, "SELECT d.d_id", &[w]);
        let [d_ids, o_ids] = [0, 1].map(|n| oldest.iter().map(|row| int_of(row, n)).collect::<Vec<_>>());
        let (d, o) = (ParamValue::Int4Array(&d_ids), ParamValue::Int4Array(&o_ids));
        self.send(sql, "DELETE FROM new_order", &[w, d, o]);
        self.send(sql, "WITH picked", &[w, d, o, ParamValue::Int4(carrier_id)]);
    }

    pub(crate) fn stock_level(&self, sql: &mut Connection, inputs: [i32; 3]) -> i32 {
        if !self.is_client() {
            let inputs = inputs.map(|n| n.to_string()).join(", ");
            return int_of(&self.call(sql, "stock_level", &inputs).unwrap()[0], 0);
        }
        int_of(&self.send(sql, "WITH next", &inputs.map(ParamValue::Int4))[0], 0)
    }
}
