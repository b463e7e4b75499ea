//! Tables that are missing, and that a workload which only reads does without.

use pgdyno_load::steps::FIND_DATA;
use pgdyno_net::{Admin, quote};
use pgdyno_workload::{Capabilities, Workload};

use crate::data::loaded::loaded;
use crate::exit_code::Code;
use crate::failure::{OrFail, Result};

/// Returns the missing tables if the workload only reads, its size is that of the data, and all tables that its statements
/// name are there; otherwise nothing is spared.
pub(crate) fn spared(admin: &mut Admin, workload: &Workload, caps: &Capabilities) -> Result<Vec<&'static str>> {
    let [data] = workload.data.as_slice() else { return Ok(Vec::new()) };
    if !workload.drive.is_read_only() || data.sql_data().is_some() {
        return Ok(Vec::new());
    }
    let statements = workload.drive.statements(caps);
    let is_read = |table: &str| statements.iter().any(|statement| names(statement.sql(), table));
    let tables: Vec<_> = data.tables(caps).iter().map(|table| table.name).collect();
    let literals: Vec<_> = tables.iter().map(|table| quote::literal(&quote::identifier(table))).collect();
    let sql = format!(
        "select to_regclass(name) from unnest(array[{}]::text[]) with ordinality as t (name, nth) order by nth",
        literals.join(", ")
    );
    let found = FIND_DATA.decide(admin.query(&sql)).or_fail(Code::Load)?.or_warn(drop).unwrap_or_default();
    let is_there = |nth: usize| found.rows.get(nth).is_some_and(|row| row.first().is_some_and(Option::is_some));
    let missing: Vec<_> =
        tables.iter().enumerate().filter(|(nth, _)| !is_there(*nth)).map(|(_, table)| *table).collect();
    if missing.iter().any(|table| is_read(table)) {
        return Ok(Vec::new());
    }
    let is_that_size = !missing.is_empty() && loaded(admin, workload)?.is_some_and(|there| there.size == data.scale());
    Ok(if is_that_size { missing } else { Vec::new() })
}

/// Returns true if the statement contains this name as a word.
fn names(sql: &str, table: &str) -> bool {
    sql.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word.eq_ignore_ascii_case(table))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_named_by_a_whole_word() {
        assert!(names("SELECT abalance FROM pgbench_accounts WHERE aid = $1;", "pgbench_accounts"));
        assert!(!names("SELECT abalance FROM pgbench_accounts_2", "pgbench_accounts"));
    }
}
