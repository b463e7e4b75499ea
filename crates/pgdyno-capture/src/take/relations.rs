//! Tables: their columns, indexes and constraints, and what was counted of them.

use std::collections::BTreeMap;

use super::TakeError;
use super::session::{MARK, Rows, Session, is_true, number, text};
use crate::form::{CapturedColumn, CapturedRelation, RelationActivity};

/// Relations that are read: databases with a schema for each customer have many more.
const RELATIONS_MAX: usize = 5_000;

/// The relations of users, the largest first, whose `oid` follows.
const OURS: &str = "(SELECT c.* FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace \
     WHERE relkind IN ('r', 'p', 'm', 'f') AND relpersistence <> 't' AND n.nspname NOT IN ('pg_catalog', 'information_schema') \
     AND n.nspname !~ '^pg_toast' ORDER BY relpages DESC, c.oid LIMIT 5000) c";

/// Counters of the tables at one time, by `oid`.
#[derive(Clone, Debug, Default)]
pub(super) struct Activity {
    by_table: BTreeMap<String, RelationActivity>,
}

impl Activity {
    pub(super) fn read(session: &mut Session) -> Result<Self, TakeError> {
        let sql = format!(
            "SELECT {MARK} relid, seq_scan, seq_tup_read, idx_scan, n_tup_ins, n_tup_upd, n_tup_hot_upd, n_tup_del \
             FROM pg_stat_user_tables"
        );
        let rows = session.ask("read the counters of tables", &sql)?;
        let entry = |row: Vec<Option<String>>| {
            let at = |place: usize| number(row.get(place));
            let counted = RelationActivity {
                seq_scans: at(1),
                seq_rows_read: at(2),
                index_scans: at(3),
                rows_inserted: at(4),
                rows_updated: at(5),
                rows_hot_updated: at(6),
                rows_deleted: at(7),
            };
            Some((row.into_iter().next()??, counted))
        };
        Ok(Self { by_table: rows.into_iter().filter_map(entry).collect() })
    }

    /// Returns what a table has grown by since `before`; `None` if by nothing.
    fn since(&self, before: &Self, table: &str) -> Option<RelationActivity> {
        let now = self.by_table.get(table)?;
        let then = before.by_table.get(table).copied().unwrap_or_default();
        let grown = |now: f64, then: f64| (now - then).max(0.0);
        let grown = RelationActivity {
            seq_scans: grown(now.seq_scans, then.seq_scans),
            seq_rows_read: grown(now.seq_rows_read, then.seq_rows_read),
            index_scans: grown(now.index_scans, then.index_scans),
            rows_inserted: grown(now.rows_inserted, then.rows_inserted),
            rows_updated: grown(now.rows_updated, then.rows_updated),
            rows_hot_updated: grown(now.rows_hot_updated, then.rows_hot_updated),
            rows_deleted: grown(now.rows_deleted, then.rows_deleted),
        };
        (grown != RelationActivity::default()).then_some(grown)
    }
}

/// Returns the relations of the database, with what was counted of them between two times.
pub(super) fn read(
    session: &mut Session,
    [before, after]: [&Activity; 2],
    warnings: &mut Vec<String>,
) -> Result<Vec<CapturedRelation>, TakeError> {
    let relations = session.ask(
        "read the tables",
        &format!(
            "SELECT {MARK} c.oid, n.nspname, relname, relkind, reltuples, \
             relpages::bigint * current_setting('block_size')::bigint, \
             (SELECT count(*) FROM pg_trigger WHERE tgrelid = c.oid AND NOT tgisinternal) \
             FROM {OURS} JOIN pg_namespace n ON n.oid = relnamespace ORDER BY n.nspname, relname"
        ),
    )?;
    if relations.len() == RELATIONS_MAX {
        warnings.push(format!("only the {RELATIONS_MAX} largest tables are in the capture"));
    }
    let columns = by_table(session.ask(
        "read the columns of tables",
        &format!(
            "SELECT {MARK} attrelid, attname, format_type(atttypid, atttypmod), attnotnull, \
             atthasdef OR attidentity <> '' OR attgenerated <> '' \
             FROM pg_attribute JOIN {OURS} ON c.oid = attrelid WHERE attnum > 0 AND NOT attisdropped ORDER BY attrelid, attnum"
        ),
    )?);
    let indexes = by_table(session.ask(
        "read the indexes",
        &format!(
            "SELECT {MARK} indrelid, pg_get_indexdef(indexrelid) FROM pg_index JOIN {OURS} ON c.oid = indrelid \
             ORDER BY indrelid, indexrelid"
        ),
    )?);
    let constraints = by_table(session.ask(
        "read the constraints",
        &format!(
            "SELECT {MARK} conrelid, pg_get_constraintdef(k.oid) FROM pg_constraint k JOIN {OURS} ON c.oid = conrelid \
             ORDER BY conrelid, k.oid"
        ),
    )?);
    let definitions = |of: &BTreeMap<String, Rows>, table: &str| {
        let rows = of.get(table).map(Vec::as_slice).unwrap_or_default();
        rows.iter().map(|row| text(row.get(1))).collect::<Vec<_>>()
    };
    let column = |row: &Vec<Option<String>>| CapturedColumn {
        name: text(row.get(1)),
        data_type: text(row.get(2)),
        not_null: is_true(row.get(3)),
        has_default: is_true(row.get(4)),
    };
    let relation = |row: &Vec<Option<String>>| {
        let table = text(row.first());
        CapturedRelation {
            schema: text(row.get(1)),
            name: text(row.get(2)),
            kind: text(row.get(3)),
            rows: number(row.get(4)),
            bytes: number(row.get(5)),
            columns: columns.get(&table).into_iter().flatten().map(column).collect(),
            indexes: definitions(&indexes, &table),
            constraints: definitions(&constraints, &table),
            triggers: number(row.get(6)) as u64,
            activity: after.since(before, &table),
        }
    };
    Ok(relations.iter().map(relation).collect())
}

/// Returns rows by their first cell.
fn by_table(rows: Rows) -> BTreeMap<String, Rows> {
    let mut by_table: BTreeMap<String, Rows> = BTreeMap::new();
    for row in rows {
        by_table.entry(text(row.first())).or_default().push(row);
    }
    by_table
}
