//! `pg_stat_statements`: the cost of the database's statements within the measured window.

use std::collections::BTreeMap;
use std::time::Instant;

use pgdyno_net::AdminError;
use pgdyno_samples::SampleUnit;
use pgdyno_samples::statements::{COUNTERS, SOURCE};

use super::session::Session;
use super::traits::ServerTraits;
use crate::Frame;

pub(super) const NAME: &str = SOURCE.name;
/// The extension that counts them.
pub(super) const COUNTED_BY: &str = "pg_stat_statements";

/// Number of statements that are kept. A workload has up to 128 scripts, which may have several statements each.
const MOST: usize = 400;

/// Places in [`COUNTERS`].
const CALLS: usize = 0;
const TIME: usize = 1;

type Counted = [f64; COUNTERS.len()];

/// Origin of the statements' counters, or why there is none.
pub(super) fn place(traits: &ServerTraits) -> Result<String, String> {
    match (traits.statements_tracked.as_deref(), &traits.statements_schema) {
        (None, there) => Err(format!(
            "the server does not count statements: set shared_preload_libraries = 'pg_stat_statements' and restart{}",
            if there.is_some() { "" } else { ", then CREATE EXTENSION pg_stat_statements" }
        )),
        (Some("none"), _) => Err(
            "pg_stat_statements.track is none: top counts statements, at a cost (--set pg_stat_statements.track=top)"
                .to_owned(),
        ),
        (Some(_), None) => Err("run CREATE EXTENSION pg_stat_statements in this database".to_owned()),
        (Some(_), Some(_)) if traits.statements_version.as_deref().is_some_and(is_old) => Err(
            "its extension pg_stat_statements is older than PostgreSQL 13: ALTER EXTENSION pg_stat_statements UPDATE"
                .to_owned(),
        ),
        (Some(_), Some(schema)) => Ok(format!("{schema}.pg_stat_statements")),
    }
}

/// Returns true for a version of the extension whose view has other columns: a server that was upgraded keeps it.
fn is_old(version: &str) -> bool {
    let minor = version.strip_prefix("1.").and_then(|minor| minor.parse::<u32>().ok());
    minor.is_some_and(|minor| minor < 8)
}

/// Counters of all statements at one time, and the time of their last reset.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Snapshot {
    by_query: BTreeMap<String, Counted>,
    reset: Option<String>,
}

impl Snapshot {
    /// Takes a snapshot without texts, which are expensive to read.
    pub(super) fn take(session: &mut Session, place: &str, traits: &ServerTraits) -> Result<Option<Self>, AdminError> {
        let sums: Vec<_> =
            COUNTERS.iter().filter_map(|counter| Some(format!("sum({})", counter.sql(traits.version)?))).collect();
        let sql = |sums: &[String]| {
            format!(
                "SELECT {} queryid, {} FROM {place}(false) WHERE queryid IS NOT NULL \
                 AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) GROUP BY queryid",
                super::MARK,
                sums.join(", ")
            )
        };
        // An extension that is older than its server lacks the last one.
        let rows = match session.ask(&sql(&sums))? {
            None => session.ask(&sql(&sums[..sums.len().min(COUNTERS.len() - 1)]))?,
            rows => rows,
        };
        let Some(rows) = rows else { return Ok(None) };
        let reset = match traits.is_at_least(14) {
            true => session.ask(&format!("SELECT {} stats_reset FROM {place}_info", super::MARK))?,
            false => None,
        };
        let number = |cell: &Option<String>| cell.as_ref().and_then(|cell| cell.parse().ok()).unwrap_or_default();
        let entry = |row: Vec<Option<String>>| {
            let mut counted = Counted::default();
            counted.iter_mut().zip(row.iter().skip(1)).for_each(|(counter, cell)| *counter = number(cell));
            Some((row.into_iter().next()??, counted))
        };
        Ok(Some(Self {
            by_query: rows.into_iter().filter_map(entry).collect(),
            reset: reset.and_then(|rows| rows.into_iter().next()?.into_iter().next()?),
        }))
    }

    /// Returns the difference since `before`, the most expensive first; `None` if the counters were reset in between.
    fn since(&self, before: &Self) -> Option<Vec<(&str, Counted)>> {
        if self.reset != before.reset {
            return None;
        }
        // PostgreSQL 13 does not report a reset; missing statements show it.
        if self.reset.is_none() && before.by_query.keys().any(|query| !self.by_query.contains_key(query)) {
            return None;
        }
        let mut grown = Vec::new();
        for (query, now) in &self.by_query {
            let mut counted = *now;
            if let Some(then) = before.by_query.get(query) {
                counted.iter_mut().zip(then).for_each(|(counter, then)| *counter -= then);
            }
            if counted[CALLS] < 0.0 {
                return None;
            }
            if counted[CALLS] > 0.0 {
                grown.push((query.as_str(), counted));
            }
        }
        grown.sort_by(|a, b| b.1[TIME].total_cmp(&a.1[TIME]));
        Some(grown)
    }
}

/// Returns the statements between two snapshots as a frame, without the sampler's own; `None` if the counters were
/// reset in between.
pub(super) fn frame(
    session: &mut Session,
    place: &str,
    version: u32,
    before: &Snapshot,
    after: &Snapshot,
) -> Result<Option<Frame>, AdminError> {
    let at = Instant::now();
    let Some(grown) = after.since(before) else { return Ok(None) };
    // The sampler has few statements.
    let ids: Vec<_> = grown.iter().take(MOST + MOST / 5).map(|(query, _)| *query).collect();
    let sql = format!(
        "SELECT {} queryid, min(query) FROM {place} WHERE queryid IN ({}) AND query NOT LIKE '%pgdyno sampler%' GROUP BY queryid",
        super::MARK,
        if ids.is_empty() { "NULL".to_owned() } else { ids.join(", ") }
    );
    let texts: BTreeMap<_, _> = session
        .ask(&sql)?
        .unwrap_or_default()
        .into_iter()
        .filter_map(|row| {
            let mut row = row.into_iter();
            Some((row.next()??, row.next()??))
        })
        .collect();
    let row = |(query, counted): &(&str, Counted)| {
        let text = texts.get(*query)?;
        let mut cells = vec![Some((*query).to_owned()), Some(text.clone())];
        for (column, counter) in COUNTERS.iter().zip(counted) {
            let is_time = column.unit() == Some(SampleUnit::Milliseconds);
            let cell = if is_time { format!("{counter:.3}") } else { counter.to_string() };
            cells.push(column.sql(version).map(|_| cell));
            if *column == COUNTERS[TIME] {
                cells.push(Some(format!("{:.6}", counter / counted[CALLS])));
            }
        }
        Some(cells)
    };
    let rows = grown.iter().filter_map(row).take(MOST).collect();
    Ok(Some(Frame { source: NAME, at, columns: SOURCE.names, rows }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(entries: &[(&str, f64, f64)], reset: &str) -> Snapshot {
        let counted = |calls, time| {
            let mut counted = Counted::default();
            (counted[CALLS], counted[TIME]) = (calls, time);
            counted
        };
        let by_query = entries.iter().map(|(query, calls, time)| ((*query).to_owned(), counted(*calls, *time)));
        Snapshot { by_query: by_query.collect(), reset: Some(reset.to_owned()) }
    }

    #[test]
    fn what_grew_comes_the_weightiest_first_and_what_did_not_grow_does_not_come() {
        let before = snapshot(&[("1", 10.0, 100.0), ("2", 5.0, 900.0)], "x");
        let after = snapshot(&[("1", 30.0, 160.0), ("2", 5.0, 900.0), ("3", 2.0, 70.0)], "x");
        let grown = after.since(&before).unwrap();
        let brief: Vec<_> = grown.iter().map(|(query, counted)| (*query, counted[CALLS], counted[TIME])).collect();
        assert_eq!(brief, [("3", 2.0, 70.0), ("1", 20.0, 60.0)]);
    }

    #[test]
    fn an_extension_of_before_an_upgrade_is_named_with_the_remedy() {
        let of = |version: &str| {
            let traits = ServerTraits {
                statements_tracked: Some("top".to_owned()),
                statements_schema: Some("public".to_owned()),
                statements_version: Some(version.to_owned()),
                ..ServerTraits::default()
            };
            place(&traits)
        };
        assert!(of("1.7").unwrap_err().contains("ALTER EXTENSION pg_stat_statements UPDATE"));
        assert_eq!(["1.8", "1.12", "2.0"].map(|version| of(version).unwrap()), ["public.pg_stat_statements"; 3]);
    }

    #[test]
    fn across_a_reset_nothing_is_known() {
        let before = snapshot(&[("1", 10.0, 100.0)], "x");
        assert_eq!(snapshot(&[("1", 11.0, 101.0)], "y").since(&before), None);
        // PostgreSQL 13 does not report a reset, and its counters show it.
        assert_eq!(snapshot(&[("1", 9.0, 90.0)], "x").since(&before), None);
        let silent = |entries: &[_]| Snapshot { reset: None, ..snapshot(entries, "") };
        assert_eq!(silent(&[("2", 1.0, 1.0)]).since(&silent(&[("1", 10.0, 100.0)])), None);
    }
}
