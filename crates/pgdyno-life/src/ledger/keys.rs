//! Rows that scripts of the user insert and name: whether they can be looked for, and which of them are there.

use std::collections::{BTreeMap, BTreeSet};

use pgdyno_net::{Admin, AdminError, quote};
use pgdyno_results::LedgerEntry;
use pgdyno_workload::MarkerKey;

use super::account::Present;
use crate::exit_code::Code;
use crate::failure::{CommandError, OrFail, Result};

/// Keys of one query.
const KEYS_AT_ONCE: usize = 10_000;
/// Types of keys.
const WHOLE_NUMBERS: [&str; 3] = ["smallint", "integer", "bigint"];

/// Returns the name of a table for SQL.
fn table(key: &MarkerKey) -> String {
    key.table.iter().map(|name| quote::identifier(name)).collect::<Vec<_>>().join(".")
}

/// Checks that tables and columns exist. Returns warnings about keys that can be there twice.
///
/// # Errors
/// When there is no such table or column, or its values are no whole numbers.
pub(super) fn admit(keys: &[MarkerKey], admin: &mut Admin) -> Result<Vec<String>> {
    let mut warnings = Vec::new();
    for key in keys {
        let (relation, column) = (quote::literal(&table(key)), quote::literal(&key.column));
        let sql = format!(
            "select to_regclass({relation}) is not null, a.atttypid::regtype::text, exists (select from pg_index i where i.indrelid = a.attrelid \
             and i.indisunique and i.indisvalid and i.indpred is null and i.indnkeyatts = 1 and i.indkey[0] = a.attnum) \
             from (values (1)) one left join pg_attribute a on a.attrelid = to_regclass({relation}) and a.attname = {column} and a.attnum > 0 \
             and not a.attisdropped"
        );
        let row = admin.query(&sql).or_fail(Code::Start)?.rows.into_iter().next().unwrap_or_default();
        let of = |nth: usize| row.get(nth).and_then(Option::as_deref);
        let failed = |error: String, hint: &str| Err(CommandError::new(Code::Start, error).hint(hint));
        match (of(0), of(1)) {
            (Some("t"), Some(kind)) if WHOLE_NUMBERS.contains(&kind) => {}
            (Some("t"), Some(kind)) => {
                let error = format!("{}: the ledger cannot look for {} of type {kind}", key.place, shown(key));
                return failed(error, "name a column of whole numbers: smallint, integer, bigint");
            }
            (Some("t"), None) => {
                let error = format!("{}: the table {} has no column {}", key.place, table(key), key.column);
                return failed(error, "name a column of it in the line");
            }
            _ => {
                let error = format!("{}: there is no table {}", key.place, table(key));
                return failed(
                    error,
                    "name a table of the target's database, with its schema unless search_path has it",
                );
            }
        }
        if of(2) != Some("t") {
            warnings.push(format!(
                "no unique index has {} alone, the key in {}: the ledger may take the row of another transaction for the one that it looks \
                 for; create one, or name a column that has one",
                shown(key),
                key.place
            ));
        }
    }
    Ok(warnings)
}

fn shown(key: &MarkerKey) -> String {
    format!("{}.{}", table(key), quote::identifier(&key.column))
}

/// Looks for the rows of these commits, in one snapshot.
///
/// # Errors
/// When the server refuses.
pub(super) fn find(
    keys: &[MarkerKey],
    entries: &[LedgerEntry],
    admin: &mut Admin,
) -> std::result::Result<Present, AdminError> {
    let mut wanted: BTreeMap<i64, BTreeSet<i64>> = BTreeMap::new();
    for [place, key, _] in entries.iter().filter_map(|entry| entry.marker) {
        wanted.entry(place).or_default().insert(key);
    }
    let mut present = Present::default();
    admin.execute("begin isolation level repeatable read read only")?;
    for (place, values) in wanted {
        let Some(key) = usize::try_from(place).ok().and_then(|place| keys.get(place)) else { continue };
        let values: Vec<i64> = values.into_iter().collect();
        for some in values.chunks(KEYS_AT_ONCE) {
            for row in admin.query(&lookup(key, some))?.rows {
                let number = |nth: usize| row.get(nth)?.as_deref()?.parse::<i64>().ok();
                if let (Some(value), Some(times)) = (number(0), number(1)) {
                    present.times.insert([place, value, 0], times.unsigned_abs());
                }
            }
        }
    }
    admin.execute("commit")?;
    Ok(present)
}

/// Returns a query for the rows with some keys.
fn lookup(key: &MarkerKey, values: &[i64]) -> String {
    let (table, column) = (table(key), quote::identifier(&key.column));
    let list = values.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
    format!("select {column}, count(*) from {table} where {column} = any('{{{list}}}'::bigint[]) group by 1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_in_the_query() {
        let names = ["Shop", "a\"b"].map(str::to_owned).into();
        let key = MarkerKey { place: "a.sql:1".to_owned(), table: names, column: "id".to_owned() };
        assert_eq!(
            lookup(&key, &[-1, 7]),
            "select \"id\", count(*) from \"Shop\".\"a\"\"b\" where \"id\" = any('{-1,7}'::bigint[]) group by 1"
        );
    }
}
