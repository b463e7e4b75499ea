//! Digests of tables: those of rows made in process, compared with those that the server makes of its own.

use std::sync::atomic::{AtomicU64, Ordering};

use md5::{Digest as _, Md5};
use pgdyno_workload::{Check, CheckCost, CheckSql, CopyBuf, Expect, RowSource};

/// Rows of a table, and the sum of a hash of each: their order does not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TableDigest {
    pub(crate) table: &'static str,
    pub(crate) rows: u64,
    /// The sum of the first 32 bits of each row's MD5.
    pub(crate) sum: u64,
}

/// Returns the check of digests, of which `sql` returns those that differ.
pub(crate) fn check(condition: &'static str, sql: CheckSql) -> Check {
    Check { name: "digests", condition, sql, parts: None, screen: None, expect: Expect::NoRow, cost: CheckCost::Heavy }
}

/// Reads lines of table, rows and digest; `None` if one is none.
pub(crate) fn known(lines: &'static str) -> Option<Vec<TableDigest>> {
    let of_table = |line: &'static str| {
        let (table, figures) = line.split_once('|')?;
        let (rows, digest) = figures.split_once('|')?;
        Some(TableDigest { table, rows: rows.parse().ok()?, sum: digest.parse().ok()? })
    };
    lines.lines().map(of_table).collect()
}

/// Returns SQL whose rows are the tables with other rows than these; `columns` returns names and types of the columns of a table.
pub(crate) fn differences<C: Iterator<Item = (&'static str, &'static str)>>(
    expected: &[TableDigest],
    columns: impl Fn(&'static str) -> C,
) -> String {
    let found = |digest: &TableDigest| {
        let name = digest.table;
        let fields: Vec<_> = columns(name).map(text_of).collect();
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

/// Returns SQL for a field as text, as COPY writes it.
fn text_of((name, kind): (&str, &str)) -> String {
    let text = if kind == "date" { format!("to_char({name}, 'YYYY-MM-DD')") } else { format!("{name}::text") };
    format!("coalesce({text}, '\\N')")
}

/// Makes all rows of a table, in parallel, and returns their digest; `None` if `stop` returned true.
pub(crate) fn of_table(
    table: &'static str,
    source: &dyn RowSource,
    stop: &(dyn Fn() -> bool + Sync),
) -> Option<TableDigest> {
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
