//! Statements that look up rows by a key.

use pgdyno_net::quote;
use serde_json::Value;

use crate::fit::copy::{Copy, FitError};
use crate::fit::roles::{self, How, Role, Roles, Source};
use crate::fit::upserts;
use crate::form::CaptureRecord;

/// A unique index by whose columns a statement looks up one row of its only table.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::fit) struct UniqueKey {
    pub(in crate::fit) source: Source,
    /// Its columns, in the order of the index.
    pub(in crate::fit) columns: Vec<String>,
    /// The parameters that these are compared with.
    pub(super) parameters: Vec<u32>,
    /// Rows of the table on the copy.
    pub(super) keys: f64,
    /// Pages of the captured table.
    pub(super) table_pages: f64,
    /// Pages of the index on the copy.
    pub(super) index_pages: f64,
    /// Whether the statement reads the index alone.
    pub(super) is_index_only: bool,
}

/// By what a statement finds its rows.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::fit) enum Lookup {
    /// It looks up one row of its only table by a unique key.
    Unique(UniqueKey),
    /// By keys whose skew neither a log nor the blocks read show.
    Unknown {
        /// The tables with their columns.
        key: String,
        /// Why not.
        why: &'static str,
    },
    /// By ranges or lists, or by no key.
    None,
}

impl Lookup {
    /// Finds out by what a statement finds its rows, if it reads or updates some.
    pub(in crate::fit) fn find(
        copy: &mut Copy,
        capture: &CaptureRecord,
        plan: &Value,
        roles: &Roles,
    ) -> Result<Self, FitError> {
        // A row is deleted once.
        if roles::nodes(plan).iter().any(|node| node["Operation"] == "Delete") {
            return Ok(Self::None);
        }
        let mut equal = Vec::new();
        for (parameter, role) in roles {
            match role {
                Role::Column(How::Equal, of, column) => equal.push((of, column, *parameter)),
                Role::Column(How::Written, ..) => {}
                // Ranges and lists find other numbers of rows.
                Role::Column(..) | Role::Elements => return Ok(Self::None),
                _ => {}
            }
        }
        if equal.is_empty() {
            return Ok(Self::None);
        }
        let unknown = |why: &'static str| {
            let keys = equal.iter().map(|(source, column, _)| words(&source.table, &[(*column).clone()]));
            Self::Unknown { key: keys.collect::<Vec<_>>().join(", "), why }
        };
        let [source] = &roles::sources(plan)[..] else {
            return Ok(unknown("several tables or partitions are read"));
        };
        let equal_here: Vec<_> = equal.iter().map(|(_, column, parameter)| (*column, *parameter)).collect();
        let unique = UniqueKey::find(copy, capture, plan, source, &equal_here)?;
        Ok(unique.map_or_else(|| unknown("the key is not that of a unique index"), Self::Unique))
    }
}

/// Returns a table and columns.
fn words(table: &str, columns: &[String]) -> String {
    format!("{}({})", table.replace('"', ""), columns.join(", "))
}

impl UniqueKey {
    /// Finds a unique index, each of whose columns is compared with one parameter.
    fn find(
        copy: &mut Copy,
        capture: &CaptureRecord,
        plan: &Value,
        source: &Source,
        equal: &[(&String, u32)],
    ) -> Result<Option<Self>, FitError> {
        let mut columns: Vec<_> = equal.iter().map(|(column, _)| quote::literal(column)).collect();
        columns.sort_unstable();
        if columns.windows(2).any(|pair| pair[0] == pair[1]) {
            return Ok(None);
        }
        let sql = format!(
            "SELECT c.reltuples, c.relpages, i.relpages, array_to_json(names) FROM pg_index x JOIN pg_class c ON c.oid = indrelid \
             JOIN pg_class i ON i.oid = indexrelid CROSS JOIN LATERAL (SELECT array_agg(attname::text ORDER BY place) AS names \
               FROM unnest((indkey::int2[])[0:indnkeyatts - 1]) WITH ORDINALITY k(number, place) \
               LEFT JOIN pg_attribute ON attrelid = indrelid AND attnum = k.number) n \
             WHERE indrelid = {}::regclass AND c.relkind = 'r' AND c.reltuples > 0 AND indisunique AND indisvalid \
             AND indpred IS NULL AND indexprs IS NULL AND names <@ ARRAY[{}] ORDER BY i.relpages LIMIT 1",
            quote::literal(&source.table),
            columns.join(", ")
        );
        let row = copy.ask_or_none("look for a unique key", &sql)?.and_then(|rows| rows.into_iter().next());
        let Some([Some(rows), Some(table_pages), Some(index_pages), Some(names)]) = row.as_deref() else {
            return Ok(None);
        };
        let number = |text: &str| text.parse::<f64>().unwrap_or_default();
        let columns: Vec<String> = serde_json::from_str(names).unwrap_or_default();
        let parameter =
            |column: &String| equal.iter().find(|(name, _)| *name == column).map(|(_, parameter)| *parameter);
        let captured = upserts::relation(capture, &source.table).map(|relation| relation.bytes / super::BLOCK);
        Ok(Some(Self {
            parameters: columns.iter().filter_map(parameter).collect(),
            columns,
            source: source.clone(),
            keys: number(rows),
            table_pages: captured.filter(|pages| *pages > 0.0).unwrap_or_else(|| number(table_pages)),
            index_pages: number(index_pages),
            is_index_only: roles::nodes(plan).iter().any(|node| node["Node Type"] == "Index Only Scan"),
        }))
    }

    /// Returns the table and the columns.
    pub(super) fn words(&self) -> String {
        words(&self.source.table, &self.columns)
    }
}
