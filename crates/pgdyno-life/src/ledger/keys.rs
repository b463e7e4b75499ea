//! Rows that scripts of the user insert and name: whether they can be looked for, and which of them are there.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use pgdyno_net::{Admin, AdminError, quote};
use pgdyno_results::LedgerEntry;
use pgdyno_workload::MarkerKey;

use super::account::Present;
use crate::exit_code::Code;
use crate::failure::{CommandError, OrFail, Result};

/// Keys of one query.
const KEYS_AT_ONCE: usize = 10_000;
/// Types of keys, and those as which keys are sent.
const TYPES: [(&str, &str); 6] = [
    ("smallint", "bigint"),
    ("integer", "bigint"),
    ("bigint", "bigint"),
    ("uuid", "uuid"),
    ("text", "text"),
    ("character varying", "text"),
];
/// The third number of markers whose key is a text.
const OF_TEXT: i64 = 1;

/// Returns the name of a table for SQL.
fn table(key: &MarkerKey) -> String {
    key.table.iter().map(|name| quote::identifier(name)).collect::<Vec<_>>().join(".")
}

/// Checks that tables and columns exist. Returns warnings about keys that can be there twice.
///
/// # Errors
/// When there is no such table or column, or its values cannot be looked for.
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
            (Some("t"), Some(kind)) if sent_as(kind).is_some() => {}
            (Some("t"), Some(kind)) => {
                let error = format!("{}: the ledger cannot look for {} of type {kind}", key.place, shown(key));
                let types = TYPES.map(|(name, _)| name).join(", ");
                return failed(error, &format!("name a column of one of these types: {types}"));
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

/// Returns the type as which keys of this type are sent.
fn sent_as(kind: &str) -> Option<&'static str> {
    TYPES.iter().find(|(name, _)| *name == kind).map(|(_, sent)| *sent)
}

/// Commits whose markers are numbers, also where their keys are texts.
pub(super) struct NumberedKeys {
    pub(super) entries: Vec<LedgerEntry>,
    /// The texts by their numbers.
    texts: Vec<Box<str>>,
}

/// Gives each key that is a text a number, by which its commits are compared.
pub(super) fn numbered(entries: &[LedgerEntry]) -> NumberedKeys {
    let mut numbers: HashMap<Box<str>, i64> = HashMap::new();
    let mut texts = Vec::new();
    let number = |entry: &LedgerEntry| {
        let mut entry = entry.clone();
        if let (Some([place, ..]), Some(key)) = (entry.marker, &entry.key) {
            let number = *numbers.entry(key.clone()).or_insert_with(|| {
                texts.push(key.clone());
                texts.len() as i64 - 1
            });
            entry.marker = Some([place, number, OF_TEXT]);
        }
        entry
    };
    let entries = entries.iter().map(number).collect();
    NumberedKeys { entries, texts }
}

/// Looks for the rows of these commits, in one snapshot.
///
/// # Errors
/// When the server refuses.
pub(super) fn find(
    keys: &[MarkerKey],
    commits: &NumberedKeys,
    admin: &mut Admin,
) -> std::result::Result<Present, AdminError> {
    let mut wanted: BTreeMap<i64, BTreeSet<[i64; 2]>> = BTreeMap::new();
    for [place, key, is_text] in commits.entries.iter().filter_map(|entry| entry.marker) {
        wanted.entry(place).or_default().insert([key, is_text]);
    }
    let spelled = |[key, is_text]: &[i64; 2]| match usize::try_from(*key).ok().filter(|_| *is_text == OF_TEXT) {
        Some(number) => quoted(commits.texts.get(number).map_or("", |text| text)),
        None => key.to_string(),
    };
    let mut present = Present::default();
    admin.execute("begin isolation level repeatable read read only")?;
    for (place, values) in wanted {
        let Some(key) = usize::try_from(place).ok().and_then(|place| keys.get(place)) else { continue };
        let values: Vec<[i64; 2]> = values.into_iter().collect();
        let kind = admin.query_one(&type_of(key))?;
        let kind = sent_as(&kind).unwrap_or("text");
        for some in values.chunks(KEYS_AT_ONCE) {
            let list: Vec<String> = some.iter().map(spelled).collect();
            for row in admin.query(&lookup(key, kind, &list))?.rows {
                let number = |nth: usize| row.get(nth)?.as_deref()?.parse::<usize>().ok();
                let value = number(0).and_then(|nth| some.get(nth.checked_sub(1)?));
                if let (Some([value, is_text]), Some(times)) = (value, number(1)) {
                    present.times.insert([place, *value, *is_text], times as u64);
                }
            }
        }
    }
    admin.execute("commit")?;
    Ok(present)
}

/// Returns a query for the type of a key.
fn type_of(key: &MarkerKey) -> String {
    let (relation, column) = (quote::literal(&table(key)), quote::literal(&key.column));
    format!(
        "select atttypid::regtype::text from pg_attribute where attrelid = {relation}::regclass and attname = {column} and attnum > 0 and \
         not attisdropped"
    )
}

/// Returns a query for the rows with some keys: the place of each key among these, from 1, and the number of its rows.
fn lookup(key: &MarkerKey, kind: &str, values: &[String]) -> String {
    let (table, column) = (table(key), quote::identifier(&key.column));
    let list = quote::literal(&format!("{{{}}}", values.join(",")));
    format!(
        "select k.place, count(*) from unnest({list}::{kind}[]) with ordinality k (value, place) join {table} t on t.{column} = k.value \
         group by 1"
    )
}

/// Returns a text as an element of an array.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_in_the_query() {
        let names = ["Shop", "a\"b"].map(str::to_owned).into();
        let key = MarkerKey { place: "a.sql:1".to_owned(), table: names, column: "id".to_owned() };
        assert_eq!(
            lookup(&key, "bigint", &["-1".to_owned(), "7".to_owned()]),
            "select k.place, count(*) from unnest('{-1,7}'::bigint[]) with ordinality k (value, place) join \"Shop\".\"a\"\"b\" t on \
             t.\"id\" = k.value group by 1"
        );
        assert_eq!(quoted("a\\b\"c"), "\"a\\\\b\\\"c\"");
    }

    #[test]
    fn a_key_that_is_a_text_has_one_number() {
        use pgdyno_results::MarkerClass::{Acknowledged, Unknown};

        use super::super::account::tests::entry;
        let of = |key: Option<&str>, entry: LedgerEntry| LedgerEntry { key: key.map(Box::from), ..entry };
        let entries = [
            of(Some("b"), entry(7, Acknowledged, 1.0)),
            of(Some("a"), entry(7, Acknowledged, 1.0)),
            of(Some("b"), entry(8, Unknown, 2.0)),
            of(None, entry(0, Acknowledged, 3.0)),
        ];
        let NumberedKeys { entries, texts } = numbered(&entries);
        let markers: Vec<_> = entries.iter().filter_map(|entry| entry.marker).collect();
        assert_eq!(markers, [[1, 0, 1], [1, 1, 1], [1, 0, 1], [1, 0, 0]], "the last one is a number");
        assert_eq!(texts, ["b".into(), "a".into()]);
    }
}
