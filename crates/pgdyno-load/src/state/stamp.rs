//! The stamp: a row that describes the data in the database.

use std::fmt;

use pgdyno_net::{Admin, AdminError, quote};
use pgdyno_text::hex;
use pgdyno_workload::{DataSet, SqlData};
use sha2::{Digest as _, Sha256};

use crate::state::schema::Schema;

pub use pgdyno_workload::STAMP_TABLE;

/// Beginning of every mark on a table or routine.
pub(crate) const MARK: &str = "loaded by pgdyno: ";

/// Name of the hash of SQL files among the parameters.
const FILES: &str = "files";

/// Description of a data set, and when it was loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// Its name: `pgbench`, `tproc-c`.
    pub dataset: String,
    /// The workload that loaded it.
    pub workload: String,
    /// The version of its rows.
    pub version: u32,
    /// Scale factor or warehouses.
    pub scale: u64,
    /// All parameters that shape the rows: `seed=1 warehouses=10`.
    pub params: String,
    /// See [`identity`].
    pub identity: String,
    /// Rows that each table has, in the order of the data set: right after the load, or after a run that noted
    /// `changes`. Zeros before the end of the load.
    pub rows: Vec<(String, u64)>,
    /// The version of pgdyno that loaded it.
    pub pgdyno: String,
    /// When the load began, by the server's clock and time zone. Empty before that.
    pub begun_at: String,
    /// When it was complete.
    pub loaded_at: Option<String>,
    /// What runs have changed since, in the workload's words: `refresh 3`.
    pub changes: Option<String>,
}

impl Stamp {
    /// Returns the stamp of a load of `data`, with tables of these names.
    pub(crate) fn planned(data: &dyn DataSet, tables: &[&str]) -> Self {
        let meta = data.meta();
        Self {
            dataset: meta.dataset.to_owned(),
            workload: meta.id.to_owned(),
            version: meta.version,
            scale: data.scale(),
            params: load_params(data),
            identity: identity(data),
            rows: tables.iter().map(|name| ((*name).to_owned(), 0)).collect(),
            pgdyno: env!("CARGO_PKG_VERSION").to_owned(),
            ..Self::default()
        }
    }

    /// Returns impossible values, in words: the stamp was changed by hand.
    pub(crate) fn contradiction(&self, scale_name: &str) -> Option<String> {
        let size = self.load_params().find(|(name, _)| *name == scale_name).map(|(_, value)| value);
        if self.identity != hash(&self.dataset, self.version, &self.params) {
            return Some(format!("the stamp names {}, but its identity belongs to other data", self.params));
        }
        let size = size.filter(|size| *size != self.scale.to_string() && !is_rounded_up(size, self.scale))?;
        Some(format!("the stamp says {scale_name} {} and {scale_name} {size}", self.scale))
    }

    /// Returns the parameters that shaped the rows, with their values.
    pub fn load_params(&self) -> impl Iterator<Item = (&str, String)> {
        let params = self.params.split(' ').filter_map(|word| word.split_once('='));
        params.filter(|(name, _)| *name != FILES).map(|(name, value)| (name, unword(value)))
    }
}

/// `data set tproc-c with seed=1 warehouses=10, loaded 2026-01-01 00:00:00+00 by pgdyno 0.1.0`.
impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "data set {} with {} (version {} of its rows)", self.dataset, self.params, self.version)?;
        match &self.loaded_at {
            Some(at) => {
                write!(f, ", loaded {at} by pgdyno {}", self.pgdyno)?;
                self.changes.iter().try_for_each(|changes| write!(f, ", changed by {changes}"))
            }
            None if self.begun_at.is_empty() => Ok(()),
            None => write!(f, ", begun {} by pgdyno {} and not finished", self.begun_at, self.pgdyno),
        }
    }
}

/// Returns true if `scale` is a fraction such as `0.01`, rounded up.
fn is_rounded_up(size: &str, scale: u64) -> bool {
    size.contains('.') && size.parse::<f64>().is_ok_and(|size| size.ceil() == scale as f64)
}

/// Returns the identity of a load: 16 hexadecimal digits of a hash over the data set's name, the version of its rows,
/// and all parameters that shape them. Workloads that share a data set share it.
#[must_use]
pub fn identity(data: &dyn DataSet) -> String {
    let meta = data.meta();
    hash(meta.dataset, meta.version, &load_params(data))
}

fn hash(dataset: &str, version: u32, params: &str) -> String {
    let text = format!("{dataset}\n{version}\n{params}");
    hex(&Sha256::digest(text)[..8])
}

/// Returns `seed=1 warehouses=10`: parameters by name, without those whose value is as before the parameter existed.
/// For data that SQL makes, it includes `files=` and a hash of the files.
fn load_params(data: &dyn DataSet) -> String {
    let identifies = |name, value: &str| data.meta().params.iter().any(|p| p.name == name && p.identifies_data(value));
    let params = data.params().iter().filter(|(name, value)| identifies(*name, value));
    let mut params: Vec<_> = params.map(|(name, value)| format!("{name}={}", word(value))).collect();
    if let Some(sql) = data.sql_data() {
        params.insert(0, format!("{FILES}={}", files(sql)));
    }
    params.join(" ")
}

/// Returns the command that loads the data of `stamp`.
pub(crate) fn command(data: &dyn DataSet, stamp: &Stamp) -> String {
    let meta = data.meta();
    let mut command = format!("pgdyno load {}", meta.id);
    for (name, value) in stamp.load_params() {
        let param = meta.params.iter().find(|param| param.name == name && !param.is_fixed());
        let Some(param) = param else { continue };
        let value =
            if value.contains([' ', '\'', '"', '$']) { format!("'{}'", value.replace('\'', r"'\''")) } else { value };
        match param.name {
            "warehouses" | "scale" => command += &format!(" --{name} {value}"),
            _ if value != param.default => command += &format!(" -D {name}={value}"),
            _ => {}
        }
    }
    command
}

/// Returns a value as one word: bytes that would end it are written as `%20`.
fn word(value: &str) -> String {
    let escape = |c: char| match c {
        '%' | ' ' | '\t' | '\n' | '\r' => format!("%{:02x}", u32::from(c)),
        c => c.to_string(),
    };
    value.chars().map(escape).collect()
}

fn unword(word: &str) -> String {
    let mut parts = word.split('%');
    let mut value = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let code = part.get(..2).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match code {
            Some(code) => {
                value.push(char::from(code));
                value.push_str(&part[2..]);
            }
            None => value.push_str(part),
        }
    }
    value
}

/// Returns a hash over the texts of SQL files, in eight digits.
fn files(data: &SqlData) -> String {
    let mut hash = Sha256::new();
    for file in &data.files {
        // The boundary between two files is part of it.
        hash.update((file.text.len() as u64).to_be_bytes());
        hash.update(&file.text);
    }
    hex(&hash.finalize()[..4])
}

/// Returns the comment on a table or routine of a data set.
pub(crate) fn mark(dataset: &str, identity: &str) -> String {
    format!("{MARK}{dataset} {identity}")
}

/// Returns the mark on objects of a load of `data`, as a literal.
pub(crate) fn mark_sql(data: &dyn DataSet) -> String {
    quote::literal(&mark(data.meta().dataset, &identity(data)))
}

/// Returns the identity in a comment, if it is a mark of this data set.
pub(crate) fn marked<'a>(comment: &'a str, dataset: &str) -> Option<&'a str> {
    let (found, identity) = comment.strip_prefix(MARK)?.split_once(' ')?;
    (found == dataset).then_some(identity)
}

/// Returns the data set that a mark in a comment names, if there is one.
pub(crate) fn dataset_of(comment: &str) -> Option<&str> {
    let rest = comment.rsplit('\n').next()?.strip_prefix(MARK)?;
    let is_identity = |word: &str| word.len() == 16 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    // The schema of objects that SQL made follows.
    let mut words = rest.match_indices(' ').map(|(at, _)| (&rest[..at], &rest[at + 1..]));
    words.find(|(_, after)| after.split(' ').next().is_some_and(is_identity)).map(|(dataset, _)| dataset)
}

/// Returns a pattern for LIKE: a comment begins with the mark of this data set.
pub(crate) fn mark_pattern(dataset: &str) -> String {
    mark(dataset, "").replace('\\', r"\\").replace('%', r"\%").replace('_', r"\_") + "%"
}

/// Returns the mark on objects that SQL made, in any schema: it names the schema that the data belongs to. A comment
/// that the SQL itself made stays above it.
pub(crate) fn mark_of_made(dataset: &str, identity: &str, home: &str, comment: Option<&str>) -> String {
    let own = comment.map_or(String::new(), |comment| format!("{}\n", before_mark(comment)));
    format!("{}{MARK}{dataset} {identity} {home}", if own == "\n" { "" } else { &own })
}

/// Returns the identity in a comment, if it has the mark of this data set and schema.
pub(crate) fn marked_as_made<'a>(comment: &'a str, dataset: &str, home: &str) -> Option<&'a str> {
    let last = comment.rsplit('\n').next()?;
    let (identity, found) = marked(last, dataset)?.split_once(' ')?;
    (found == home).then_some(identity)
}

/// Returns a comment without a mark in its last line.
fn before_mark(comment: &str) -> &str {
    match comment.rfind(MARK) {
        Some(at) if at == 0 || comment[..at].ends_with('\n') => comment[..at].trim_end_matches('\n'),
        _ => comment,
    }
}

/// Returns SQL that creates the table of stamps if it does not exist.
pub(crate) fn create_sql(schema: &str) -> String {
    format!(
        "create table if not exists {schema}.{STAMP_TABLE} (dataset text primary key, workload text not null, \
         version int not null, scale bigint not null, params text not null, identity text not null, \
         tables text[] not null, rows bigint[] not null, pgdyno text not null, \
         begun_at timestamptz not null default now(), loaded_at timestamptz, \
         complete boolean not null default false, layout text, changes text)"
    )
}

/// Returns SQL that adds the columns that a table of stamps of an older pgdyno lacks; `None` if it has them.
pub(crate) fn upgrade_sql(admin: &mut Admin, schema: &str) -> Result<Option<String>, AdminError> {
    let table = quote::literal(&format!("{schema}.{STAMP_TABLE}"));
    let sql = format!(
        "select string_agg('add column ' || name || ' text', ', ') from unnest(array['layout', 'changes']) as name \
         where not exists (select from pg_attribute where attrelid = to_regclass({table}) and attname = name)"
    );
    Ok(admin.query_opt(&sql)?.map(|columns| format!("alter table {schema}.{STAMP_TABLE} {columns}")))
}

/// Returns SQL that notes the start of a load, and replaces the stamp of the data set.
pub(crate) fn begin_sql(schema: &str, stamp: &Stamp) -> String {
    format!(
        "{}; insert into {schema}.{STAMP_TABLE} (dataset, workload, version, scale, params, identity, tables, rows, pgdyno) \
         values ({}, {}, {}, {}, {}, {}, array[{}]::text[], array[{}]::bigint[], {})",
        delete_sql(schema, &stamp.dataset),
        quote::literal(&stamp.dataset),
        quote::literal(&stamp.workload),
        stamp.version,
        stamp.scale,
        quote::literal(&stamp.params),
        quote::literal(&stamp.identity),
        tables_list(stamp),
        rows_list(stamp),
        quote::literal(&stamp.pgdyno),
    )
}

/// Returns SQL that notes the end of the load, and what it made, if that is known.
pub(crate) fn complete_sql(schema: &str, stamp: &Stamp, layout: Option<&Schema>) -> String {
    format!(
        "update {schema}.{STAMP_TABLE} set complete = true, loaded_at = now(), tables = array[{}]::text[], \
         rows = array[{}]::bigint[], layout = {} where dataset = {} and identity = {}",
        tables_list(stamp),
        rows_list(stamp),
        layout.map_or_else(|| "null".to_owned(), |layout| quote::literal(&layout.to_text())),
        quote::literal(&stamp.dataset),
        quote::literal(&stamp.identity),
    )
}

/// Returns SQL that notes another schema of a data set that is complete.
pub(crate) fn layout_sql(schema: &str, dataset: &str, layout: &Schema) -> String {
    let (layout, dataset) = (quote::literal(&layout.to_text()), quote::literal(dataset));
    format!("update {schema}.{STAMP_TABLE} set layout = {layout} where dataset = {dataset}")
}

/// Returns the schema of a data set as it was loaded; `None` if the stamp does not keep it. The table of stamps must
/// exist.
pub(crate) fn layout(admin: &mut Admin, schema: &str, dataset: &str) -> Result<Option<Schema>, AdminError> {
    let dataset = quote::literal(dataset);
    // A table of an older pgdyno lacks this column.
    let sql =
        format!("select to_jsonb(s) ->> 'layout' from {schema}.{STAMP_TABLE} s where dataset = {dataset} and complete");
    Ok(admin.query_opt(&sql)?.map(|text| Schema::from_text(&text)))
}

/// Returns SQL that deletes the stamp of a data set.
pub(crate) fn delete_sql(schema: &str, dataset: &str) -> String {
    format!("delete from {schema}.{STAMP_TABLE} where dataset = {}", quote::literal(dataset))
}

fn tables_list(stamp: &Stamp) -> String {
    stamp.rows.iter().map(|(name, _)| quote::literal(name)).collect::<Vec<_>>().join(", ")
}

fn rows_list(stamp: &Stamp) -> String {
    stamp.rows.iter().map(|(_, rows)| rows.to_string()).collect::<Vec<_>>().join(", ")
}

/// Returns the stamp of a data set, and whether it is complete. The table of stamps must exist.
pub(crate) fn read(admin: &mut Admin, schema: &str, dataset: &str) -> Result<Option<(Stamp, bool)>, AdminError> {
    read_with(admin, schema, dataset, "null").map(|read| read.map(|(stamp, is_complete, _)| (stamp, is_complete)))
}

/// Returns the same, and the schema of the data as it was loaded; `None` if the stamp does not keep it.
pub(crate) fn read_with_layout(
    admin: &mut Admin,
    schema: &str,
    dataset: &str,
) -> Result<Option<(Stamp, bool, Option<Schema>)>, AdminError> {
    // A table of an older pgdyno lacks this column.
    let read = read_with(admin, schema, dataset, "to_jsonb(s) ->> 'layout'")?;
    Ok(read.map(|(stamp, is_complete, layout)| (stamp, is_complete, layout.map(|text| Schema::from_text(&text)))))
}

/// Returns the stamp, whether it is complete, and the value of `more`, an expression of its row.
fn read_with(
    admin: &mut Admin,
    schema: &str,
    dataset: &str,
    more: &str,
) -> Result<Option<(Stamp, bool, Option<String>)>, AdminError> {
    let dataset = quote::literal(dataset);
    let results = admin.query_all(&format!(
        "select dataset, workload, version, scale, params, identity, pgdyno, begun_at::timestamptz(0)::text, \
         loaded_at::timestamptz(0)::text, complete::text, to_jsonb(s) ->> 'changes', {more} from {schema}.{STAMP_TABLE} s \
         where dataset = {dataset}; \
         select t, r from {schema}.{STAMP_TABLE}, unnest(tables, rows) as u (t, r) where dataset = {dataset}"
    ))?;
    let mut results = results.into_iter();
    let (rows, tables) = (results.next().unwrap_or_default(), results.next().unwrap_or_default());
    let Some(row) = rows.rows.into_iter().next() else {
        return Ok(None);
    };
    let text = |at: usize| row.get(at).cloned().flatten().unwrap_or_default();
    let number = |text: &Option<String>| text.as_deref().and_then(|n| n.parse().ok()).unwrap_or_default();
    let stamp = Stamp {
        dataset: text(0),
        workload: text(1),
        version: text(2).parse().unwrap_or_default(),
        scale: text(3).parse().unwrap_or_default(),
        params: text(4),
        identity: text(5),
        rows: tables.rows.into_iter().map(|r| (r[0].clone().unwrap_or_default(), number(&r[1]))).collect(),
        pgdyno: text(6),
        begun_at: text(7),
        loaded_at: row.get(8).cloned().flatten(),
        // A table of an older pgdyno lacks this column.
        changes: row.get(10).cloned().flatten(),
    };
    Ok(Some((stamp, text(9) == "true", row.get(11).cloned().flatten())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_names_its_data_set() {
        let identity = "0123456789abcdef";
        for name in ["tproc-c", "my data", "a 0123"] {
            assert_eq!(dataset_of(&mark(name, identity)), Some(name));
            assert_eq!(dataset_of(&mark_of_made(name, identity, "\"my schema\"", Some("own"))), Some(name));
        }
        for comment in ["", "customers", "loaded by pgdyno: it says", "loaded by pgdyno: tproc-c"] {
            assert_eq!(dataset_of(comment), None, "{comment}");
        }
    }

    #[test]
    fn a_mark_stands_below_a_comment_and_belongs_to_one_schema() {
        for comment in [None, Some(""), Some("sensors"), Some("two\nlines"), Some("loaded by pgdyno: it says")] {
            let marked = mark_of_made("iot", "0123abcd", "public", comment);
            assert_eq!(marked_as_made(&marked, "iot", "public"), Some("0123abcd"), "{marked}");
            assert_eq!(marked_as_made(&marked, "iot", "other"), None);
            assert_eq!(marked_as_made(&marked, "io", "public"), None);
            // After another marking it has one mark.
            let again = mark_of_made("iot", "89ef", "public", Some(&marked));
            assert_eq!(again, marked.replace("0123abcd", "89ef"));
        }
        assert_eq!(mark_of_made("iot", "1", "s", Some("sensors")), "sensors\nloaded by pgdyno: iot 1 s");
        assert_eq!(marked_as_made("loaded by pgdyno: iot 0123abcd", "iot", "public"), None, "that of a built-in one");
    }

    #[test]
    fn parameters_come_back_from_a_stamp() {
        let values = [("a", "x y"), ("b", "100%\t"), ("c", ""), ("d", "5")];
        let words: Vec<_> = values.iter().map(|(name, value)| format!("{name}={}", word(value))).collect();
        let stamp = Stamp { params: format!("files=00 {}", words.join(" ")), ..Stamp::default() };
        let back: Vec<_> = stamp.load_params().collect();
        assert_eq!(back.iter().map(|(n, v)| (*n, v.as_str())).collect::<Vec<_>>(), values);
    }
}
