//! The figures of several runs in a table.

use super::markup::Html;
use super::{ReportRun, result};
use crate::metric::Headline;
use crate::trust;

/// Writes the figures of several runs, a line for each.
pub(super) fn table(runs: &[ReportRun], html: &mut Html) {
    let of = |run: &ReportRun| -> Vec<Headline> {
        result::result(&run.record).into_iter().chain(result::more(&run.record)).collect()
    };
    let all: Vec<_> = runs.iter().map(of).collect();
    let mut names: Vec<&str> = Vec::new();
    for figure in all.iter().flatten() {
        if !names.contains(&figure.name.as_str()) {
            names.push(&figure.name);
        }
    }
    let columns: Vec<_> =
        [("run", false), ("trust", false)].into_iter().chain(names.iter().map(|n| (*n, true))).collect();
    let row = |(run, figures): (&ReportRun, &Vec<Headline>)| {
        let value = |name: &&str| {
            figures.iter().find(|figure| figure.name == *name).map_or("–".to_owned(), |figure| figure.value.clone())
        };
        let first = [run.name.clone(), trust::of(&run.record).degree().name().to_owned()];
        first.into_iter().chain(names.iter().map(value)).collect()
    };
    let rows: Vec<_> = runs.iter().zip(&all).map(row).collect();
    html.table(&columns, &rows);
}
