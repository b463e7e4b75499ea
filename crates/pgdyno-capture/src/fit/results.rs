//! Values that flow from the result of a statement into a later parameter of its transaction.
//!
//! The log has no results. A parameter with a value that no earlier parameter has, compared with a column that an earlier statement
//! returns in its only row, is taken to have that value: a queue's row that is locked and then deleted, a customer that is looked up by a
//! name. Columns that reference one another are the same.

use std::collections::BTreeMap;

use pgdyno_net::quote;
use pgdyno_script::valid_variable_name;

use super::Fitted;
use super::copy::{Copy, FitError};
use super::roles::{How, Role};
use super::values::WHOLE;

/// A column: the identifier of its table, and its name.
type ColumnPlace = (String, String);

/// Rows of a call of a statement that returns one row, if any.
const ONE_ROW: std::ops::RangeInclusive<f64> = 0.3..=1.05;

/// The type of keys that are no numbers.
const UUID: &str = "uuid";

/// Foreign keys that are followed from a column.
const STEPS_MAX: usize = 8;

/// The columns of a statement.
#[derive(Clone, Debug, Default)]
pub(super) struct StatementColumns {
    /// The columns that it returns, with their names, if it returns one row.
    returned: Vec<(ColumnPlace, String)>,
    /// The columns that its captured parameters are equal to, or that reference others and are written.
    needed: BTreeMap<u32, ColumnPlace>,
}

impl StatementColumns {
    /// Returns the name of the column in the result of this statement that has the value of a parameter of a later one.
    pub(super) fn gives(&self, later: &Self, parameter: u32) -> Option<&str> {
        let needed = later.needed.get(&parameter)?;
        // A statement that looks a row up by this column returns what it was given.
        if self.needed.values().any(|own| own == needed) {
            return None;
        }
        self.returned.iter().find(|(place, _)| place == needed).map(|(_, name)| name.as_str())
    }
}

/// Returns the columns of the fitted statements.
pub(super) fn columns(copy: &mut Copy, fitted: &[Fitted]) -> Result<Vec<StatementColumns>, FitError> {
    let mut tables = Tables::read(copy)?;
    fitted.iter().map(|one| of_statement(copy, &mut tables, one)).collect()
}

fn of_statement(copy: &mut Copy, tables: &mut Tables, fitted: &Fitted) -> Result<StatementColumns, FitError> {
    let mut columns = StatementColumns::default();
    let Some(script) = &fitted.script else { return Ok(columns) };
    let statement = &script.statement;
    if ONE_ROW.contains(&fitted.about.captured_rows_per_call) {
        for (table, column) in statement.returned.iter().filter(|(_, column)| valid_variable_name(column.as_bytes())) {
            let place = tables.place(copy, table, column)?;
            columns.returned.extend(place.map(|place| (tables.referenced(place), column.clone())));
        }
    }
    for ((number, role), data_type) in statement.numbers.iter().zip(&statement.roles).zip(&statement.types) {
        let Role::Column(how @ (How::Equal | How::Written), source, column) = role else { continue };
        // Scripts pass on the texts of these as they are.
        if !WHOLE.contains(&data_type.as_str()) && data_type != UUID {
            continue;
        }
        let Some(place) = tables.place(copy, &source.table, column)? else { continue };
        let referenced = tables.referenced(place.clone());
        if *how == How::Equal || referenced != place {
            columns.needed.insert(*number, referenced);
        }
    }
    Ok(columns)
}

/// The tables of the copy.
struct Tables {
    /// Columns that reference others.
    foreign: BTreeMap<ColumnPlace, ColumnPlace>,
    identifiers: BTreeMap<String, Option<String>>,
}

impl Tables {
    fn read(copy: &mut Copy) -> Result<Self, FitError> {
        let sql = "SELECT c.conrelid, a.attname, c.confrelid, f.attname FROM pg_constraint c \
                   CROSS JOIN LATERAL unnest(c.conkey, c.confkey) k (here, there) \
                   JOIN pg_attribute a ON (a.attrelid, a.attnum) = (c.conrelid, k.here) \
                   JOIN pg_attribute f ON (f.attrelid, f.attnum) = (c.confrelid, k.there) WHERE c.contype = 'f' LIMIT 100000";
        let rows = copy.ask("read the foreign keys", sql)?;
        let pair = |row: Vec<Option<String>>| {
            let [here, column, there, other]: [Option<String>; 4] = row.try_into().ok()?;
            Some(((here?, column?), (there?, other?)))
        };
        Ok(Self { foreign: rows.into_iter().filter_map(pair).collect(), identifiers: BTreeMap::new() })
    }

    /// Returns the place of a column, if the table exists.
    fn place(&mut self, copy: &mut Copy, table: &str, column: &str) -> Result<Option<ColumnPlace>, FitError> {
        if !self.identifiers.contains_key(table) {
            let sql = format!("SELECT to_regclass({})::oid", quote::literal(table));
            let found = copy.cell("find a table", &sql)?;
            self.identifiers.insert(table.to_owned(), found);
        }
        let identifier = self.identifiers.get(table).cloned().flatten();
        Ok(identifier.map(|identifier| (identifier, column.to_owned())))
    }

    /// Returns the column that this one references, or the column itself.
    fn referenced(&self, mut place: ColumnPlace) -> ColumnPlace {
        for _ in 0..STEPS_MAX {
            match self.foreign.get(&place) {
                Some(other) => place.clone_from(other),
                None => break,
            }
        }
        place
    }
}

#[cfg(test)]
impl StatementColumns {
    pub(super) fn example(returned: &[(&str, &str)], needed: &[(u32, &str)]) -> Self {
        let place = |of: &str| (of.to_owned(), of.to_owned());
        Self {
            returned: returned.iter().map(|(of, name)| (place(of), (*name).to_owned())).collect(),
            needed: needed.iter().map(|(number, of)| (*number, place(of))).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_gives_a_column_that_its_statement_was_not_given() {
        let queue = StatementColumns::example(&[("queue.id", "id"), ("queue.payload", "payload")], &[]);
        let delete = StatementColumns::example(&[], &[(1, "queue.id"), (2, "other.id")]);
        assert_eq!(
            (queue.gives(&delete, 1), queue.gives(&delete, 2), queue.gives(&delete, 3)),
            (Some("id"), None, None)
        );
        let by_id = StatementColumns::example(&[("queue.id", "id")], &[(1, "queue.id")]);
        assert_eq!(by_id.gives(&delete, 1), None, "it returns what it was given");
    }

    #[test]
    fn a_column_is_the_one_that_it_references() {
        let place = |of: &str, column: &str| (of.to_owned(), column.to_owned());
        let foreign = [
            (place("lines", "order_id"), place("orders", "id")),
            (place("orders", "id"), place("keys", "id")),
            (place("a", "x"), place("a", "x")),
        ];
        let tables = Tables { foreign: foreign.into(), identifiers: BTreeMap::new() };
        assert_eq!(tables.referenced(place("lines", "order_id")), place("keys", "id"));
        assert_eq!(tables.referenced(place("a", "x")), place("a", "x"), "a circle ends");
        assert_eq!(tables.referenced(place("b", "y")), place("b", "y"));
    }
}
