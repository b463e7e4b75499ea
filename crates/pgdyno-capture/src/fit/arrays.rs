//! Values of arrays that are unnested: the columns that their elements belong to. Arrays of one call have elements of the same rows.

use pgdyno_net::quote;

use super::copy::{Copy, FitError};
use super::keys::{self, PARAMETER};
use super::roles::{How, Role, Roles, Source, Written};
use super::types::Typed;
use super::unnested::{self, Unnested};
use super::upserts::Inserting;
use super::values::new_rows;
use super::wording;
use crate::tokens::significant;

/// An array that is unnested.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Array {
    pub(super) parameter: u32,
    /// The columns that its elements may belong to, the likeliest first.
    pub(super) columns: Vec<ElementColumn>,
}

/// A column that elements of an array belong to.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ElementColumn {
    source: Source,
    name: String,
    data_type: String,
    /// The place of the INSERT that writes them.
    insert: Option<usize>,
}

impl ElementColumn {
    /// Returns the type of an array of its values.
    pub(super) fn array_type(&self) -> String {
        format!("{}[]", self.data_type)
    }
}

/// A column of a table that the statement names.
struct NamedColumn {
    /// Schema and table, as in SQL.
    table: String,
    /// The name of the table alone.
    table_name: String,
    name: String,
    data_type: String,
}

/// Returns the arrays of each call of `unnest`.
pub(super) fn of(copy: &mut Copy, text: &str, written: &[Written]) -> Result<Vec<Vec<Array>>, FitError> {
    let calls = unnested::calls(text);
    if calls.is_empty() {
        return Ok(Vec::new());
    }
    let known = named_columns(copy, text)?;
    let array = |unnested: Unnested| Array {
        columns: inserted(&unnested, written, &known).into_iter().chain(compared(&unnested, &known)).collect(),
        parameter: unnested.parameter,
    };
    Ok(calls.into_iter().map(|call| call.into_iter().map(array).collect()).collect())
}

/// Returns the columns that elements are compared with.
fn compared(unnested: &Unnested, known: &[NamedColumn]) -> Vec<ElementColumn> {
    let column = |column: &NamedColumn| ElementColumn {
        source: Source { table: column.table.clone(), alias: "(unnested)".to_owned() },
        name: column.name.clone(),
        data_type: column.data_type.clone(),
        insert: None,
    };
    unnested.names.iter().flat_map(|name| known.iter().filter(move |of| of.name == *name)).map(column).collect()
}

/// Returns the columns that elements are inserted into.
fn inserted(unnested: &Unnested, written: &[Written], known: &[NamedColumn]) -> Vec<ElementColumn> {
    let mut found = Vec::new();
    for (insert, written) in written.iter().enumerate() {
        let table = significant(&written.table).last().and_then(|token| token.name());
        let of_table: Vec<_> = known.iter().filter(|column| Some(&column.table_name) == table.as_ref()).collect();
        let arrays = written.arrays.iter().filter(|(_, parameter)| *parameter == unnested.parameter);
        let names = written.names.iter().filter(|(_, name)| Some(name) == unnested.name.as_ref());
        for place in arrays.map(|(place, _)| *place).chain(names.map(|(place, _)| *place)) {
            let column = match written.columns.get(place) {
                Some(name) => of_table.iter().find(|column| column.name == *name),
                None if written.columns.is_empty() => of_table.get(place),
                None => None,
            };
            found.extend(column.map(|column| ElementColumn {
                source: new_rows(&column.table),
                name: column.name.clone(),
                data_type: column.data_type.clone(),
                insert: Some(insert),
            }));
        }
    }
    found
}

/// Gives the roles of the arrays of a call. Their elements come from rows of the table that most of them belong to, of the same rows as
/// the other parameters of this table.
pub(super) fn roles_of(call: &[Array], roles: &mut Roles) {
    let sources: Vec<_> = call.iter().flat_map(|array| &array.columns).map(|column| &column.source).collect();
    let of_scalars = |source: &Source| {
        roles.values().find_map(|role| match role {
            Role::Column(How::Equal, other, _) if other.table == source.table => Some(other.clone()),
            _ => None,
        })
    };
    let covers = |source: &Source| {
        let covered = call.iter().filter(|array| array.columns.iter().any(|column| column.source == *source)).count();
        (covered, usize::from(of_scalars(source).is_some()))
    };
    // The first of equals.
    let best = sources.into_iter().rev().max_by_key(|source| covers(source));
    let with_source = |array: &Array| {
        let column = array.columns.iter().find(|column| Some(&column.source) == best).or(array.columns.first());
        let role = column.map(|column| {
            let source = of_scalars(&column.source).unwrap_or_else(|| column.source.clone());
            Role::Column(How::AnyOf, source, column.name.clone())
        });
        (array.parameter, role.unwrap_or(Role::Elements))
    };
    let found: Vec<_> = call.iter().map(with_source).collect();
    for (parameter, role) in found {
        roles.entry(parameter).or_insert(role);
    }
}

/// Returns SQL with new keys in place of the array where rows with other ones would violate a unique index.
pub(super) fn new_elements(
    copy: &mut Copy,
    array: &Array,
    typed: &Typed,
    written: &[Inserting<'_>],
) -> Result<Option<String>, FitError> {
    let Some(data_type) = typed.types.get(array.parameter as usize - 1) else { return Ok(None) };
    let Some(element) = data_type.strip_suffix("[]") else { return Ok(None) };
    if wording::occurrences(&typed.text, array.parameter) != 1 {
        return Ok(None);
    }
    for column in &array.columns {
        let Some(Inserting { written, new_share }) = column.insert.and_then(|insert| written.get(insert)) else {
            continue;
        };
        if *new_share == 0.0 {
            continue;
        }
        if let Some(key) = keys::new_key(copy, written, &column.name)? {
            let key = keys::or_existing(&key, *new_share, "e", element);
            return Ok(Some(format!("ARRAY(SELECT ({key})::{element} FROM unnest({PARAMETER}::{data_type}) e)")));
        }
    }
    Ok(None)
}

/// Returns the columns of the tables that the statement names.
fn named_columns(copy: &mut Copy, text: &str) -> Result<Vec<NamedColumn>, FitError> {
    let mut names: Vec<_> = significant(text).iter().filter_map(|token| token.name()).collect();
    names.sort_unstable();
    names.dedup();
    let names = names.iter().map(|name| quote::literal(name)).collect::<Vec<_>>().join(", ");
    let sql = format!(
        "SELECT nspname, relname, attname, format_type(atttypid, NULL) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace \
         JOIN pg_attribute ON attrelid = c.oid WHERE relkind IN ('r', 'p', 'm', 'f', 'v') AND relname IN ({names}) \
         AND (pg_table_is_visible(c.oid) OR nspname IN ({names})) AND nspname NOT IN ('pg_catalog', 'information_schema') \
         AND attnum > 0 AND NOT attisdropped ORDER BY 1, 2, attnum LIMIT 2000"
    );
    let column = |row: Vec<Option<String>>| {
        let [schema, table, name, data_type] = row.try_into().ok()?;
        let (schema, table_name) = (schema?, table?);
        let table = format!("{}.{}", quote::identifier(&schema), quote::identifier(&table_name));
        Some(NamedColumn { table, table_name, name: name?, data_type: data_type? })
    };
    Ok(copy.ask("read the columns of tables", &sql)?.into_iter().filter_map(column).collect())
}
