//! Digests of the tables: those of tpchgen's rows, made in process, compared with those that the server makes of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use md5::{Digest as _, Md5};
use pgdyno_workload::{Check, CheckCost, CheckSql, CopyBuf, Expect, RowSource as _};

use super::current::{CurrentRows, TABLES};
use super::scale::ScaleFactor;
use super::{answers, schema};

/// Rows of a table, and the sum of a hash of each: their order does not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TableDigest {
    pub(super) table: &'static str,
    pub(super) rows: u64,
    /// The sum of the first 32 bits of each row's MD5.
    pub(super) sum: u64,
}

/// Returns the check of the rows of all tables after so many pairs of refresh functions.
pub(super) fn check(scale: ScaleFactor, pairs: u32) -> Check {
    let known = loaded(scale).filter(|_| pairs == 0);
    let sql = match known {
        Some(known) => CheckSql::Text(differences(&known)),
        None => CheckSql::Made(Arc::new(move |stop| of_rows(scale, pairs, stop).map(|digests| differences(&digests)))),
    };
    Check {
        name: "digests",
        condition: "the rows of each table are those of dbgen, by the sum of a hash of each",
        sql,
        parts: None,
        expect: Expect::NoRow,
        cost: CheckCost::Heavy,
    }
}

/// Returns rows and digest of each table as it was loaded, if they are known without its rows.
fn loaded(scale: ScaleFactor) -> Option<Vec<TableDigest>> {
    let (_, section) = answers::sections(scale).find(|(section, _)| *section == "tables")?;
    let of_table = |line: &'static str| {
        let (table, figures) = line.split_once('|')?;
        let (rows, digest) = figures.split_once('|')?;
        Some(TableDigest { table, rows: rows.parse().ok()?, sum: digest.parse().ok()? })
    };
    section.lines().map(of_table).collect()
}

/// Returns SQL whose rows are the tables with other rows than these.
fn differences(expected: &[TableDigest]) -> String {
    let found = |digest: &TableDigest| {
        let name = digest.table;
        let fields: Vec<_> = schema::columns(name).map(text_of).collect();
        let md5 = format!("left(md5(concat_ws('|', {})), 8)", fields.join(", "));
        format!("select '{name}' as name, count(*) as rows, sum(('x' || {md5})::bit(32)::bigint) as digest from {name}")
    };
    let value = |digest: &TableDigest| format!("('{}', {}, {})", digest.table, digest.rows, digest.sum);
    format!(
        "select name as table, e.rows as rows_expected, f.rows as rows_found, e.digest as digest_expected, f.digest as \
         digest_found\n  from (values {}) as e (name, rows, digest)\n  join ({}) as f using (name)\n where (e.rows, \
         e.digest) is distinct from (f.rows, f.digest)",
        expected.iter().map(value).collect::<Vec<_>>().join(", "),
        expected.iter().map(found).collect::<Vec<_>>().join(" union all ")
    )
}

/// Returns SQL for a field as text, as COPY and DuckDB write it.
fn text_of((name, kind): (&str, &str)) -> String {
    if kind == "date" { format!("to_char({name}, 'YYYY-MM-DD')") } else { format!("{name}::text") }
}

/// Makes all rows after so many pairs, in parallel, and returns their digests; `None` if `stop` returned true.
fn of_rows(scale: ScaleFactor, pairs: u32, stop: &(dyn Fn() -> bool + Sync)) -> Option<Vec<TableDigest>> {
    TABLES.iter().map(|(table, of)| of_table(table, &CurrentRows::of(*of, scale, pairs), stop)).collect()
}

fn of_table(table: &'static str, source: &CurrentRows, stop: &(dyn Fn() -> bool + Sync)) -> Option<TableDigest> {
    let chunks = source.chunks();
    let (next, rows, sum) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    let work = || {
        let mut out = CopyBuf::new();
        loop {
            let chunk = next.fetch_add(1, Ordering::Relaxed);
            if chunk >= chunks || stop() {
                return;
            }
            out.clear();
            source.write(chunk, &mut out);
            rows.fetch_add(out.rows(), Ordering::Relaxed);
            sum.fetch_add(sum_of(out.bytes()), Ordering::Relaxed);
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(chunks as usize);
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    (!stop()).then(|| TableDigest { table, rows: rows.into_inner(), sum: sum.into_inner() })
}

/// Returns the sum of the hashes of rows in COPY's text format.
fn sum_of(rows: &[u8]) -> u64 {
    let mut fields = Vec::new();
    let hash = |row: &[u8]| {
        fields.clear();
        fields.extend(row.iter().map(|byte| if *byte == b'\t' { b'|' } else { *byte }));
        let md5 = Md5::digest(&fields);
        u64::from(u32::from_be_bytes([md5[0], md5[1], md5[2], md5[3]]))
    };
    rows.split(|byte| *byte == b'\n').filter(|row| !row.is_empty()).map(hash).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_of_the_rows_are_those_that_another_program_made() {
        let scale = ScaleFactor::of_thousandths(10);
        assert_eq!(of_rows(scale, 0, &|| false), loaded(scale));
        assert_eq!(of_rows(scale, 0, &|| true), None);
        assert_eq!(loaded(ScaleFactor::of_thousandths(20)), None);
    }

    #[test]
    fn a_pair_changes_orders_and_lines_and_keeps_the_number_of_orders() {
        let scale = ScaleFactor::of_thousandths(2);
        let [before, after] = [0, 2].map(|pairs| of_rows(scale, pairs, &|| false).unwrap());
        assert_eq!(before[..6], after[..6]);
        assert!(before[6].rows == after[6].rows && before[6].sum != after[6].sum, "{before:?} {after:?}");
        assert_ne!(before[7], after[7]);
    }
}
