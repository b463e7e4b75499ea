//! The tables of the database over the window.

use std::collections::BTreeMap;

use pgdyno_samples::tables;

use crate::facts::Facts;

/// A table at the end of the window, and what was counted since it was first looked at.
pub(crate) struct Table {
    pub(crate) name: String,
    pub(crate) dead: f64,
    pub(crate) live: f64,
    pub(crate) updates: f64,
    pub(crate) hot: f64,
    pub(crate) vacuums: f64,
    pub(crate) seq_scans: f64,
    /// Rows that they read.
    pub(crate) rows_scanned: f64,
    /// Its blocks that were not in shared buffers; `None` in records that do not have them.
    pub(crate) blocks_read: Option<f64>,
    /// Size of its main fork; `None` where it is unknown.
    pub(crate) heap_bytes: Option<f64>,
    /// Time of the first look.
    pub(crate) since_s: f64,
    /// Seconds between the first look and the last one.
    pub(crate) seconds: f64,
}

impl Table {
    /// Returns the tables as they were at the first look after the window, or else at the last one.
    pub(crate) fn at_end(facts: &Facts<'_>) -> Vec<Self> {
        let samples = facts.samples.of(tables::SOURCE);
        let mut first = BTreeMap::new();
        let mut last = BTreeMap::new();
        // The sampler looks once when the window has closed.
        let end_s = samples.rows().iter().map(|(at, _)| *at).find(|at| *at >= facts.until_s);
        for (at, row) in samples.rows().iter().filter(|(at, _)| end_s.is_none_or(|end_s| *at <= end_s)) {
            let cell = |column| samples.cell(row, column).unwrap_or_default();
            let key = (cell(tables::SCHEMA), cell(tables::TABLE));
            first.entry(key).or_insert((*at, row));
            last.insert(key, (*at, row));
        }
        let number = |row: &[String], column| samples.cell(row, column).and_then(|cell| cell.parse::<f64>().ok());
        let table = |(key, (at, now)): ((&str, &str), (f64, &Vec<String>))| {
            let (since, before) = first.get(&key)?;
            let grown = |column| {
                let grown = number(now, column)? - number(before, column)?;
                Some(grown).filter(|n| *n >= 0.0)
            };
            let counted = |column| grown(column).unwrap_or_default();
            Some(Self {
                name: key.1.to_owned(),
                dead: number(now, tables::N_DEAD_TUP)?,
                live: number(now, tables::N_LIVE_TUP)?,
                updates: counted(tables::N_TUP_UPD),
                hot: counted(tables::N_TUP_HOT_UPD),
                vacuums: counted(tables::AUTOVACUUM_COUNT) + counted(tables::VACUUM_COUNT),
                seq_scans: counted(tables::SEQ_SCAN),
                // Records of 0.2.0 do not have them.
                rows_scanned: grown(tables::SEQ_TUP_READ)
                    .unwrap_or_else(|| counted(tables::SEQ_SCAN) * number(now, tables::N_LIVE_TUP).unwrap_or_default()),
                blocks_read: grown(tables::HEAP_BLKS_READ),
                heap_bytes: number(now, tables::HEAP_BYTES),
                since_s: *since,
                seconds: at - since,
            })
        };
        last.into_iter().filter_map(table).collect()
    }
}
