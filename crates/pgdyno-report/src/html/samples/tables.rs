//! The tables of the workload.

use std::collections::BTreeMap;

use pgdyno_results::{SampleTable, Samples};
use pgdyno_samples::{SampleColumn, tables};

use super::super::chart::{Chart, ChartPart};
use super::layers::Layers;
use super::{drawn, with_values};

/// Maximum number of tables with their own band.
const TABLES_MAX: usize = 6;

/// Returns a number of each table at each sample, by its name, without the schema `public`.
fn by_table(samples: &Samples, value: impl Fn(&SampleTable, &[String]) -> Option<f64>) -> Vec<(String, f64, f64)> {
    let table = samples.of(tables::SOURCE);
    let rows = table.rows().iter();
    rows.filter_map(|(at_s, row)| {
        let name = table.cell(row, tables::TABLE)?;
        let schema = table.cell(row, tables::SCHEMA).filter(|schema| *schema != "public");
        Some((schema.map_or_else(|| name.to_owned(), |schema| format!("{schema}.{name}")), *at_s, value(table, row)?))
    })
    .collect()
}

fn number(table: &SampleTable, row: &[String], column: SampleColumn) -> Option<f64> {
    table.cell(row, column)?.parse().ok()
}

/// Returns the dead rows that vacuum has not removed yet.
pub(super) fn dead(samples: &Samples) -> Option<Chart> {
    let found = by_table(samples, |table, row| number(table, row, tables::N_DEAD_TUP));
    let mut layers = Layers::at(found.iter().map(|(_, at_s, _)| *at_s));
    found.iter().for_each(|(name, at_s, rows)| layers.add(name, *at_s, *rows));
    drawn(Chart {
        title: "Dead rows".to_owned(),
        note: "Old row versions that wait for vacuum, as the server estimates them.".to_owned(),
        unit: "rows".to_owned(),
        stacked: true,
        part: ChartPart::Tables,
        series: with_values(layers.series(TABLES_MAX, "other tables")),
        ..Chart::default()
    })
}

/// Returns how much tables have grown, with their indexes, since the first sample.
pub(super) fn growth(samples: &Samples) -> Option<Chart> {
    let size = |table: &SampleTable, row: &[String]| {
        Some(number(table, row, tables::HEAP_BYTES)? + number(table, row, tables::INDEX_BYTES).unwrap_or(0.0))
    };
    let found = by_table(samples, size);
    let mut layers = Layers::at(found.iter().map(|(_, at_s, _)| *at_s));
    let mut first: BTreeMap<&str, f64> = BTreeMap::new();
    for (name, at_s, bytes) in &found {
        let begun = *first.entry(name).or_insert(*bytes);
        // A table that has become smaller has grown by nothing.
        layers.add(name, *at_s, (bytes - begun).max(0.0));
    }
    drawn(Chart {
        title: "Growth of the tables".to_owned(),
        note: "Growth of tables and their indexes since the first sample.".to_owned(),
        unit: "bytes".to_owned(),
        stacked: true,
        part: ChartPart::Tables,
        series: with_values(layers.series(TABLES_MAX, "other tables")),
        ..Chart::default()
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{samples, values};
    use super::*;

    #[test]
    fn growth_counts_from_the_first_look() {
        let columns = ["schema", "table", "heap_bytes", "index_bytes"];
        let samples = samples(
            "tables",
            &columns,
            &[
                (0.0, &["public", "a", "1000", "100"]),
                (0.0, &["own", "b", "50", ""]),
                (10.0, &["public", "a", "1500", "120"]),
                (10.0, &["own", "b", "40", ""]),
            ],
        );
        let chart = growth(&samples).unwrap();
        assert_eq!(values(&chart), [("a", vec![Some(0.0), Some(520.0)])]);
        assert_eq!(dead(&samples), None);
    }
}
