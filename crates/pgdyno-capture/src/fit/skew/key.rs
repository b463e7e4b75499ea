//! Statements that look up one row by a unique key.

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

impl UniqueKey {
    /// Finds the key of a statement, if it reads or updates rows of one table, and compares the columns of a unique index with one
    /// parameter each.
    pub(in crate::fit) fn find(
        copy: &mut Copy,
        capture: &CaptureRecord,
        plan: &Value,
        roles: &Roles,
    ) -> Result<Option<Self>, FitError> {
        let [source] = &roles::sources(plan)[..] else { return Ok(None) };
        // A row is deleted once.
        if roles::nodes(plan).iter().any(|node| node["Operation"] == "Delete") {
            return Ok(None);
        }
        let mut equal = Vec::new();
        for (parameter, role) in roles {
            match role {
                Role::Column(How::Equal, of, column) if of.alias == source.alias => equal.push((column, *parameter)),
                Role::Column(How::Written, ..) => {}
                // Ranges and lists find other numbers of rows.
                Role::Column(..) | Role::Elements => return Ok(None),
                _ => {}
            }
        }
        let mut columns: Vec<_> = equal.iter().map(|(column, _)| quote::literal(column)).collect();
        columns.sort_unstable();
        if columns.is_empty() || columns.windows(2).any(|pair| pair[0] == pair[1]) {
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
        format!("{}({})", self.source.table.replace('"', ""), self.columns.join(", "))
    }
}
