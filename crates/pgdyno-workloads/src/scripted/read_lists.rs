//! Lists of values that were read, from which all clients draw.

use pgdyno_script::{DrawValues, Slot, Variables};
use pgdyno_wire::StmtId;
use pgdyno_workload::{Rng, ValueRows};

/// Lists that were read.
pub(super) struct ReadLists {
    pub(super) rows: Vec<ValueRows>,
    /// For each command of all scripts, the columns that it stores, each with its variable.
    pub(super) slots: Vec<Vec<(usize, Slot)>>,
}

impl ReadLists {
    /// Draws a row of the list of a command, and sets the variables. A NULL leaves its variable without a value.
    #[inline]
    pub(super) fn draw(&self, command: StmtId, draw: &DrawValues, rng: &mut Rng, variables: &mut Variables) {
        let rows = &self.rows[draw.list];
        // An empty list is refused before.
        let row = rng.up_to(rows.rows().saturating_sub(1) as u64) as usize;
        for (column, slot) in &self.slots[command.0 as usize] {
            match rows.value(row, *column) {
                Some(value) => variables.set_text(*slot, value),
                None => variables.unset(*slot),
            }
        }
    }
}
