//! Keys of new rows: values that no row has yet.

use pgdyno_net::quote;

use super::SCHEMA;
use super::copy::{Copy, FitError};
use super::roles::Written;

/// Stands for the parameter in SQL that takes its place.
pub(super) const PARAMETER: &str = "$?";

/// Returns SQL for a new key in this share of the executions, and for a key that exists in the others.
pub(super) fn or_existing(new: &str, new_share: f64, existing: &str, data_type: &str) -> String {
    if new_share >= 1.0 {
        return new.to_owned();
    }
    format!("CASE WHEN random() < {new_share:.4} THEN ({new})::{data_type} ELSE {existing}::{data_type} END")
}

/// Returns the columns that a new row gives values to, in order.
pub(super) fn columns(copy: &mut Copy, written: &Written) -> Result<Vec<String>, FitError> {
    if !written.columns.is_empty() {
        return Ok(written.columns.clone());
    }
    let sql = format!(
        "SELECT attname FROM pg_attribute WHERE attrelid = {}::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
        quote::literal(&written.table)
    );
    Ok(copy.ask("read the columns of a table", &sql)?.into_iter().flatten().flatten().collect())
}

/// Returns SQL that makes a new key, where rows with the old ones would violate a unique index; `None` for any other column.
pub(super) fn new_key(copy: &mut Copy, written: &Written, column: &str) -> Result<Option<String>, FitError> {
    let table = quote::literal(&written.table);
    let name = quote::literal(column);
    // Of a unique index the column that belongs to no foreign key, if there is one, and has most values. An index with all columns of the
    // primary key needs no other.
    let sql = format!(
        "SELECT format_type(a.atttypid, NULL), a.atttypmod FROM pg_index i \
         CROSS JOIN LATERAL (SELECT attname, atttypid, atttypmod FROM unnest(i.indkey::int2[]) WITH ORDINALITY k(number, place) \
           JOIN pg_attribute ON attrelid = i.indrelid AND attnum = k.number \
           ORDER BY EXISTS (SELECT FROM pg_constraint WHERE conrelid = i.indrelid AND contype = 'f' AND k.number = ANY (conkey)), \
             (SELECT max(CASE WHEN n_distinct < 0 THEN -n_distinct * greatest(reltuples, 1) ELSE n_distinct END) \
               FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace JOIN pg_stats s \
               ON s.schemaname = nspname AND s.tablename = relname AND s.attname = pg_attribute.attname \
               WHERE c.oid = i.indrelid) DESC NULLS LAST, place LIMIT 1) a \
         WHERE i.indrelid = {table}::regclass AND i.indisunique AND a.attname = {name} \
         AND (i.indisprimary OR NOT EXISTS (SELECT FROM pg_index p WHERE p.indrelid = i.indrelid AND p.indisprimary \
           AND p.indkey::int2[] <@ i.indkey::int2[])) LIMIT 1"
    );
    let Some(row) = copy.ask("look for a unique index", &sql)?.into_iter().next() else { return Ok(None) };
    let mut cells = row.into_iter().map(Option::unwrap_or_default);
    let (data_type, modifier) = (cells.next().unwrap_or_default(), cells.next().unwrap_or_default());
    Ok(match data_type.as_str() {
        "smallint" | "integer" | "bigint" | "numeric" => Some(number(copy, written, column)?),
        "uuid" => Some("gen_random_uuid()".to_owned()),
        "text" | "character varying" | "character" => {
            // The length of a type is its modifier less four.
            let length =
                modifier.parse::<i64>().ok().filter(|modifier| *modifier > 4).map_or(32, |modifier| modifier - 4);
            Some(format!("left(md5(random()::text || clock_timestamp()::text), {length})"))
        }
        _ => None,
    })
}

/// Returns the next number of a sequence that begins above the column's greatest value.
fn number(copy: &mut Copy, written: &Written, column: &str) -> Result<String, FitError> {
    let about = "create a sequence for new keys";
    let plain = |text: &str| text.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect::<String>();
    let name = format!("{SCHEMA}.{}", quote::identifier(&format!("{}_{}", plain(&written.table), plain(column))));
    let greatest = format!("SELECT coalesce(max({}), 0)::bigint + 1 FROM {}", quote::identifier(column), written.table);
    let next = copy.cell(about, &greatest)?.unwrap_or_else(|| "1".to_owned());
    copy.execute(about, &format!("CREATE SEQUENCE IF NOT EXISTS {name} START {next} CACHE 100"))?;
    Ok(format!("nextval({})", quote::literal(&name)))
}
