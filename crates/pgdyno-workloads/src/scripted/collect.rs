//! `\gset` and `\aset`: variables from results.

use pgdyno_script::{Collect, Variables, valid_variable_name};
use pgdyno_workload::{Note, Reply, ResultSet};

use super::words::{self, CommandPlace};

/// Stores the variables of `collect` from `reply`. Returns pgbench's message if that is not possible.
pub(super) fn collect(
    reply: Reply<'_>,
    collect: &Collect,
    variables: &mut Variables,
    at: CommandPlace,
) -> Result<(), Vec<Note>> {
    let results: Vec<ResultSet<'_>> = reply.results().collect();
    let last = results.len().saturating_sub(1);
    for (query, result) in (0u32..).zip(&results) {
        match collect {
            Collect::Nothing => {}
            Collect::Gset { prefix } if query as usize == last => {
                if result.row_count != 1 {
                    return Err(vec![Note::Error(words::not_one_row(at, query, result.row_count))]);
                }
                store(result, "gset", prefix, variables, at, query)?;
            }
            Collect::Gset { .. } => {}
            Collect::Aset { prefix } => store(result, "aset", prefix, variables, at, query)?,
        }
    }
    Ok(())
}

/// Stores the last row of a result, each column in the variable of its name. NULL is an empty text, as in pgbench.
fn store(
    result: &ResultSet<'_>,
    command: &str,
    prefix: &[u8],
    variables: &mut Variables,
    at: CommandPlace,
    query: u32,
) -> Result<(), Vec<Note>> {
    let (Some(columns), Some(row)) = (&result.columns, result.last_row) else { return Ok(()) };
    for (column, value) in columns.iter().zip(row.columns()) {
        let name = [prefix, column.as_bytes()].concat();
        if !valid_variable_name(&name) {
            let name = String::from_utf8_lossy(&name).into_owned();
            return Err(vec![
                Note::Error(format!("{command}: invalid variable name: \"{name}\"")),
                Note::Error(words::not_stored(at, query, &name)),
            ]);
        }
        // A variable that no script uses need not be stored.
        if let Some(slot) = variables.names().find(&name) {
            variables.set_text(slot, value.unwrap_or_default());
        }
    }
    Ok(())
}
