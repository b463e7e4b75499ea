//! The share of rows with new keys among those that `INSERT … ON CONFLICT` is given.

use super::roles::Written;
use crate::form::{CaptureRecord, CapturedRelation, CapturedStatement, RelationActivity};
use crate::tokens::significant;

/// How far the rows that a table's counters have may be from those of a statement that alone writes them.
const TOLERANCE: f64 = 0.1;

/// What a statement writes, and the share of new keys among those that it inserts.
pub(super) struct Inserting<'a> {
    pub(super) written: &'a Written,
    pub(super) new_share: f64,
}

impl<'a> Inserting<'a> {
    /// Rows of a plain INSERT are all new. Where the capture does not show how many of an upsert are, all keys exist.
    pub(super) fn new(capture: &CaptureRecord, statement: &CapturedStatement, written: &'a Written) -> Self {
        let new_share =
            if written.on_conflict { new_share(capture, statement, written).unwrap_or_default() } else { 1.0 };
        Self { written, new_share }
    }
}

/// Returns the share of new keys, from 0 to 1, as far as the capture shows it: in the rows that DO NOTHING inserted, or in the counters of
/// the table if no other statement inserts or updates its rows.
fn new_share(capture: &CaptureRecord, statement: &CapturedStatement, written: &Written) -> Option<f64> {
    let rows = statement.rows;
    let activity = relation(capture, &written.table).and_then(|relation| relation.activity);
    if written.does_nothing {
        // A list of values has a parameter for each row and column.
        let per_call = written.values.iter().filter(|(place, _)| *place == written.values[0].0).count();
        let given = (per_call > 0 && written.arrays.is_empty()).then_some(statement.calls * per_call as f64)?;
        return Some((rows / given).clamp(0.0, 1.0));
    }
    let RelationActivity { rows_inserted, rows_updated, .. } = activity?;
    let all = rows_inserted + rows_updated;
    let is_only_writer = all > 0.0 && (all - rows).abs() <= TOLERANCE * rows;
    is_only_writer.then(|| rows_inserted / all)
}

/// Returns the table that a statement names, if the capture has one of this name.
pub(super) fn relation<'a>(capture: &'a CaptureRecord, table: &str) -> Option<&'a CapturedRelation> {
    let names: Vec<_> = significant(table).iter().filter_map(|token| token.name()).collect();
    let (name, schema) = (names.last()?, names.len().checked_sub(2).and_then(|at| names.get(at)));
    let is_named = |schema_of: &str| schema.is_none_or(|schema| schema == schema_of);
    let mut of_name = capture.relations.iter().filter(|of| of.name == *name && is_named(&of.schema));
    // Two schemas may have such a table.
    let (first, second) = (of_name.next()?, of_name.next());
    Some(first).filter(|_| second.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::roles;
    use crate::tests::capture;

    fn share(text: &str, calls: f64, rows: f64, counted: (f64, f64)) -> Option<f64> {
        let mut capture = capture();
        let (rows_inserted, rows_updated) = counted;
        capture.relations[0].activity =
            Some(RelationActivity { rows_inserted, rows_updated, ..RelationActivity::default() });
        let statement = CapturedStatement { calls, rows, ..capture.statements[1].clone() };
        new_share(&capture, &statement, &roles::written(text)[0])
    }

    #[test]
    fn rows_and_counters_show_the_share_of_new_keys() {
        let nothing = "insert into orders (id, n) values ($1, $2) on conflict do nothing";
        assert_eq!(share(nothing, 100.0, 25.0, (0.0, 0.0)), Some(0.25));
        let several = "insert into orders (id, n) values ($1, $2), ($3, $4) on conflict (id) do nothing";
        assert_eq!(share(several, 100.0, 50.0, (0.0, 0.0)), Some(0.25));
        let update = "insert into public.orders values ($1) on conflict (id) do update set n = 1";
        assert_eq!(share(update, 100.0, 100.0, (30.0, 68.0)), Some(30.0 / 98.0));
        // Another statement writes the table, too.
        assert_eq!(share(update, 100.0, 100.0, (30.0, 170.0)), None);
        assert_eq!(
            share("insert into other.orders values ($1) on conflict (id) do update set n = 1", 9.0, 9.0, (9.0, 0.0)),
            None
        );
    }
}
