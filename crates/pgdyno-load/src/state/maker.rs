//! Another program that makes tables of the same names: is it the one that the workload knows, and is its data
//! complete?

use std::collections::{HashMap, HashSet};

use pgdyno_net::{Admin, AdminError, quote};
use pgdyno_workload::{Capabilities, DataSet, Maker, Table};

use crate::LoadError;
use crate::state::object::Object;

/// Returns the program that made all tables, if the workload knows it: its routines are there, or the tables have the
/// columns, types and unique keys of that program. The tables of a program without routines are known by their names.
pub(crate) fn of(
    admin: &mut Admin,
    data: &dyn DataSet,
    caps: &Capabilities,
    relations: &[Object],
) -> Result<Option<&'static Maker>, AdminError> {
    let Some(maker) = data.other_maker() else { return Ok(None) };
    let tables = data.tables(caps);
    let theirs = |name: &str| relations.iter().any(|object| object.name == name && object.is_foreign());
    if !tables.iter().all(|table| theirs(table.name)) {
        return Ok(None);
    }
    let known = has_routines(admin, maker)? || lacking(admin, &tables)?.is_empty();
    Ok(known.then_some(maker))
}

/// Returns the columns, types and unique keys that the workload needs and its tables lack, in words.
///
/// # Errors
/// When the catalog cannot be read.
pub fn shortcomings(admin: &mut Admin, data: &dyn DataSet, caps: &Capabilities) -> Result<Vec<String>, LoadError> {
    lacking(admin, &data.tables(caps)).map_err(LoadError::Catalog)
}

/// Returns true if all routines of the program are in the current schema.
pub(super) fn has_routines(admin: &mut Admin, maker: &Maker) -> Result<bool, AdminError> {
    let names: Vec<_> = maker.routines.iter().map(|name| quote::literal(name)).collect();
    let found = admin.query_one(&format!(
        "select count(distinct proname) from pg_proc \
         where pronamespace = (select oid from pg_namespace where nspname = current_schema()) \
         and proname = any (array[{}]::name[])",
        names.join(", ")
    ))?;
    Ok(found == maker.routines.len().to_string())
}

fn lacking(admin: &mut Admin, tables: &[Table]) -> Result<Vec<String>, AdminError> {
    let names: Vec<_> = tables.iter().map(|table| quote::literal(table.name)).collect();
    let of_tables = format!(
        "c.relnamespace = (select oid from pg_namespace where nspname = current_schema()) \
         and c.relname = any (array[{}]::name[])",
        names.join(", ")
    );
    let columns = admin.query(&format!(
        "select c.relname || '.' || a.attname, format_type(a.atttypid, a.atttypmod) from pg_class c \
         join pg_attribute a on a.attrelid = c.oid where {of_tables} and a.attnum > 0 and not a.attisdropped"
    ))?;
    let keys = admin.query(&format!(
        "select c.relname || ' (' || (select string_agg(a.attname, ', ' order by u.n) from unnest(i.indkey::int2[]) \
         with ordinality as u (attnum, n) join pg_attribute a on (a.attrelid, a.attnum) = (c.oid, u.attnum)) || ')' \
         from pg_class c join pg_index i on i.indrelid = c.oid \
         where {of_tables} and i.indisunique and i.indisvalid and i.indpred is null"
    ))?;
    let columns: HashMap<_, _> = columns.rows.into_iter().filter_map(pair).collect();
    let keys: HashSet<_> = keys.rows.into_iter().filter_map(|row| row.into_iter().next().flatten()).collect();
    let mut lacking = Vec::new();
    for table in tables {
        for (name, wanted) in columns_of(&table.ddl) {
            let column = format!("{}.{name}", table.name);
            match columns.get(&column) {
                None => lacking.push(format!("column {column} is missing")),
                Some(found) if !is_as_good(found, &wanted) => {
                    lacking.push(format!("column {column} is {found} instead of {wanted}"));
                }
                Some(_) => {}
            }
        }
        let unique = table.indexes.iter().filter(|sql| is_unique(sql));
        let wanted = unique.filter_map(|sql| Some(format!("{} {}", table.name, brackets(sql)?)));
        lacking
            .extend(wanted.filter(|key| !keys.contains(key)).map(|key| format!("the unique key of {key} is missing")));
    }
    Ok(lacking)
}

fn pair(row: Vec<Option<String>>) -> Option<(String, String)> {
    let [key, value] = <[Option<String>; 2]>::try_from(row).ok()?;
    Some((key?, value?))
}

/// Returns true if the statement makes a key: other indexes may be missing.
fn is_unique(sql: &str) -> bool {
    let sql = sql.to_lowercase();
    sql.contains("primary key") || sql.contains("unique")
}

/// Types of a text whose length does not matter: 255 is the usual number where one has to be written.
const ANY_TEXT: [&str; 2] = ["text", "character varying(255)"];

/// Returns true if a column of type `found` takes the values of a column of type `wanted`. The server says if a text is too
/// long.
fn is_as_good(found: &str, wanted: &str) -> bool {
    let is_text = |name: &str| name == "text" || name.starts_with("character varying");
    found == wanted || (is_text(found) && ANY_TEXT.contains(&wanted))
}

/// Returns the columns of a CREATE TABLE with their types, in the form of `format_type`.
fn columns_of(ddl: &str) -> impl Iterator<Item = (&str, String)> {
    let list = brackets(ddl).and_then(|text| text.get(1..text.len() - 1)).unwrap_or_default();
    list.split(", ").filter_map(|column| {
        let mut words = column.split_whitespace();
        Some((words.next()?, written_out(words.next()?)))
    })
}

/// Returns the name of a type without abbreviations.
fn written_out(name: &str) -> String {
    match name.split_once('(') {
        Some(("varchar", rest)) => format!("character varying({rest}"),
        Some(("char", rest)) => format!("character({rest}"),
        _ if name == "serial" => "integer".to_owned(),
        _ if name == "timestamptz" => "timestamp with time zone".to_owned(),
        _ => name.to_owned(),
    }
}

/// Returns the first text in brackets, with them and with nested ones.
fn brackets(sql: &str) -> Option<&str> {
    let from = &sql[sql.find('(')?..];
    let mut depth = 0;
    let end = from.find(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth == 0
    })?;
    Some(&from[..=end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_and_keys_are_found_in_the_ddl() {
        let ddl = "CREATE TABLE t (a integer NOT NULL, b numeric(4,2), c char(2), d varchar(9) NOT NULL, e timestamptz) \
                   PARTITION BY HASH (a); CREATE TABLE t_1 PARTITION OF t FOR VALUES WITH (MODULUS 1, REMAINDER 0)";
        let columns: Vec<_> = columns_of(ddl).map(|(name, kind)| format!("{name} {kind}")).collect();
        let expected =
            ["a integer", "b numeric(4,2)", "c character(2)", "d character varying(9)", "e timestamp with time zone"];
        assert_eq!(columns, expected);
        assert_eq!(brackets("ALTER TABLE t ADD CONSTRAINT k PRIMARY KEY (a, b)"), Some("(a, b)"));
        assert_eq!(brackets("none"), None);
        assert!(is_unique("alter table t add primary key (id)") && !is_unique("create index k_1 on t (k)"));
    }

    #[test]
    fn texts_of_any_length_are_as_good_as_each_other() {
        let varchar = |length: &str| format!("character varying{length}");
        assert!(is_as_good(&varchar("(64)"), &varchar("(255)")) && is_as_good(&varchar(""), "text"));
        assert!(is_as_good("text", "text") && !is_as_good("integer", "text") && !is_as_good("jsonb", "text"));
        assert!(!is_as_good(&varchar("(9)"), &varchar("(10)")) && !is_as_good("text", "character(120)"));
    }
}
