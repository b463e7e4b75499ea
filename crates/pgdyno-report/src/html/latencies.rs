//! The latencies of a run, combined into a heat map and percentile curves.

use std::collections::BTreeMap;

use pgdyno_results::{IntervalRecord, LatencyLine};

/// Maximum number of columns of a heat map.
const COLUMNS_MAX: usize = 300;
/// Maximum number of rows of a heat map.
const ROWS_MAX: usize = 60;
/// Rows per tenfold latency while they are counted.
const ROWS_PER_DECADE: f64 = 20.0;
/// The lower edge of the first row.
const FLOOR_NS: f64 = 100.0;
/// Rows while they are counted: up to 10,000 s.
const ROWS: usize = 220;
/// Points of a percentile curve per nine.
const POINTS_PER_NINE: f64 = 40.0;
/// Nines of the last point of a percentile curve: 99.99 %.
const NINES_MAX: f64 = 4.0;

/// The latencies of a run, counted for any number of intervals.
#[derive(Clone, Debug, Default)]
pub struct LatencyCounts {
    /// Start of each interval in milliseconds, and whether it is in the measured window.
    intervals: Vec<(u64, bool)>,
    /// Start and end of each column.
    columns: Vec<(f64, f64)>,
    per_column: usize,
    /// By transaction; response times separate from service times.
    found: BTreeMap<(String, bool), Counts>,
}

#[derive(Clone, Debug, Default)]
struct Counts {
    /// Counts by column, then by row.
    cells: Vec<u64>,
    /// Counts by latency in nanoseconds, in the measured window.
    measured: BTreeMap<u64, u64>,
}

/// A heat map: the number of transactions by time and latency.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Heat {
    /// Start and end of each column, in seconds.
    pub(super) columns: Vec<(f64, f64)>,
    /// The lower edge of the lowest row, in milliseconds.
    pub(super) floor_ms: f64,
    /// The upper edge of a row divided by its lower edge.
    pub(super) ratio: f64,
    /// Counts by column, then by row from the lowest.
    pub(super) cells: Vec<Vec<u64>>,
}

/// A percentile curve: the latencies that shares of transactions do not exceed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Curve {
    /// The transaction.
    pub(super) name: String,
    /// Nines (2 is 99 %, 3 is 99.9 %) and milliseconds.
    pub(super) points: Vec<(f64, f64)>,
}

fn milliseconds(seconds: f64) -> u64 {
    (seconds * 1e3).round() as u64
}

fn row(ns: u64) -> usize {
    let row = (ns as f64 / FLOOR_NS).max(1.0).log10() * ROWS_PER_DECADE;
    (row as usize).min(ROWS - 1)
}

impl LatencyCounts {
    /// Returns empty latencies of a run with these intervals.
    #[must_use]
    pub fn over(intervals: &[IntervalRecord]) -> Self {
        let per_column = intervals.len().div_ceil(COLUMNS_MAX).max(1);
        let edges = |group: &[IntervalRecord]| Some((group.first()?.start_s, group.last()?.end_s));
        Self {
            intervals: intervals.iter().map(|i| (milliseconds(i.start_s), i.is_measured())).collect(),
            columns: intervals.chunks(per_column).filter_map(edges).collect(),
            per_column,
            found: BTreeMap::new(),
        }
    }

    /// Counts the latencies of one transaction in one interval. Ignores lines outside all intervals.
    pub fn add(&mut self, line: &LatencyLine) {
        // The starts in the two files are rounded, so they may differ by a millisecond.
        let start = milliseconds(line.start_s);
        let at = self.intervals.partition_point(|(begin, _)| begin + 1 < start);
        let Some((begin, measured)) = self.intervals.get(at) else { return };
        if begin.abs_diff(start) > 1 {
            return;
        }
        let counts = self.found.entry((line.transaction.clone(), line.response)).or_default();
        counts.cells.resize(self.columns.len() * ROWS, 0);
        let column = at / self.per_column * ROWS;
        for (ns, count) in &line.counts {
            counts.cells[column + row(*ns)] += count;
            if *measured {
                *counts.measured.entry(*ns).or_default() += count;
            }
        }
    }

    /// Returns the response times of each transaction; its service times if they are the same.
    fn responses(&self) -> impl Iterator<Item = (&str, &Counts)> {
        let own = |name: &String| self.found.contains_key(&(name.clone(), true));
        let counts = self.found.iter().filter(move |((name, response), _)| *response || !own(name));
        counts.map(|((name, _), counts)| (name.as_str(), counts))
    }

    /// Returns the heat map of all transactions; none without latencies.
    pub(super) fn heat(&self) -> Option<Heat> {
        let mut cells = vec![0; self.columns.len() * ROWS];
        for (_, counts) in self.responses() {
            cells.iter_mut().zip(&counts.cells).for_each(|(sum, count)| *sum += count);
        }
        let seen = |row: &usize| cells.chunks(ROWS).any(|column| column[*row] > 0);
        let (first, last) = ((0..ROWS).find(seen)?, (0..ROWS).rfind(seen)?);
        let rows_per_cell = (last + 1 - first).div_ceil(ROWS_MAX);
        let cell = |column: &[u64]| column[first..=last].chunks(rows_per_cell).map(|rows| rows.iter().sum()).collect();
        Some(Heat {
            columns: self.columns.clone(),
            floor_ms: FLOOR_NS / 1e6 * 10_f64.powf(first as f64 / ROWS_PER_DECADE),
            ratio: 10_f64.powf(rows_per_cell as f64 / ROWS_PER_DECADE),
            cells: cells.chunks(ROWS).map(cell).collect(),
        })
    }

    /// Returns the curve of all transactions, then one for each if there are several, and the service times of all if
    /// they differ. Only of the measured window.
    pub(super) fn curves(&self) -> Vec<Curve> {
        let each: Vec<_> = self.responses().collect();
        let scheduled = self.found.keys().any(|(_, response)| *response);
        let all = curve("all", each.iter().map(|(_, counts)| &counts.measured));
        let services = self.found.iter().filter(|((_, response), _)| !response).map(|(_, counts)| &counts.measured);
        let service = scheduled.then(|| curve("all, service time", services)).flatten();
        let apart = each.iter().filter(|_| each.len() > 1);
        let apart = apart.filter_map(|(name, counts)| curve(name, std::iter::once(&counts.measured)));
        all.into_iter().chain(service).chain(apart).collect()
    }
}

fn curve<'a>(name: &str, parts: impl Iterator<Item = &'a BTreeMap<u64, u64>>) -> Option<Curve> {
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    for (ns, count) in parts.flatten() {
        *counts.entry(*ns).or_default() += count;
    }
    let all: u64 = counts.values().sum();
    if all == 0 {
        return None;
    }
    // Beyond the share of a single transaction there is only the maximum.
    let nines_last = (all as f64).log10().min(NINES_MAX);
    let steps = (nines_last * POINTS_PER_NINE).floor() as u64;
    let at = (0..=steps).map(|step| step as f64 / POINTS_PER_NINE).chain([nines_last]);
    let mut latencies = counts.into_iter();
    let (mut ns, mut below) = latencies.next()?;
    let point = |nines: f64| {
        let share = 1.0 - 10_f64.powf(-nines);
        // A share such as 0.9 of 1,000 is 900, whatever its last bit is.
        let rank = ((share * all as f64 - 1e-6).ceil() as u64).clamp(1, all);
        while below < rank {
            let (next, count) = latencies.next()?;
            (ns, below) = (next, below + count);
        }
        Some((nines, ns as f64 / 1e6))
    };
    let mut points: Vec<_> = at.map_while(point).collect();
    points.dedup_by_key(|(nines, _)| *nines);
    Some(Curve { name: name.to_owned(), points })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn intervals(n: usize) -> Vec<IntervalRecord> {
        let phase = |i: usize| if i == 0 { "ramp" } else { "measure" };
        let interval = |i: usize| IntervalRecord {
            phase: phase(i).to_owned(),
            start_s: i as f64 * 1.0004,
            end_s: (i + 1) as f64 * 1.0004,
            ..Default::default()
        };
        (0..n).map(interval).collect()
    }

    fn line(name: &str, response: bool, at: usize, counts: &[(u64, u64)]) -> LatencyLine {
        let start_s = (at as f64 * 1.0004 * 1e3).floor() / 1e3;
        LatencyLine { transaction: name.to_owned(), response, start_s, counts: counts.to_vec() }
    }

    #[test]
    fn response_times_stand_for_service_times_where_there_are_any() {
        let mut latencies = LatencyCounts::over(&intervals(3));
        latencies.add(&line("a", false, 1, &[(1_000_000, 4)]));
        latencies.add(&line("a", true, 1, &[(2_000_000, 4)]));
        latencies.add(&line("b", false, 2, &[(4_000_000, 3)]));
        latencies.add(&line("b", false, 7, &[(4_000_000, 100)]));
        let heat = latencies.heat().unwrap();
        let sums: Vec<u64> = heat.cells.iter().map(|column| column.iter().sum()).collect();
        assert_eq!(sums, [0, 4, 3], "by interval; those of no interval are left out");
        let edge = |row: usize| heat.floor_ms * heat.ratio.powi(row as i32);
        let row = heat.cells[1].iter().position(|count| *count > 0).unwrap();
        assert!(edge(row) <= 2.0 && 2.0 < edge(row + 1), "{} to {}", edge(row), edge(row + 1));
        let names: Vec<_> = latencies.curves().into_iter().map(|curve| curve.name).collect();
        assert_eq!(names, ["all", "all, service time", "a", "b"]);
    }

    #[test]
    fn an_hour_fits_and_no_column_is_empty() {
        let mut latencies = LatencyCounts::over(&intervals(3601));
        for at in 0..3601 {
            latencies.add(&line("a", false, at, &[(150, 1), (9_000_000_000_000, 2)]));
        }
        let heat = latencies.heat().unwrap();
        assert!(heat.columns.len() <= COLUMNS_MAX && heat.cells.len() == heat.columns.len());
        assert!(heat.cells.iter().all(|column| column.len() <= ROWS_MAX));
        let sums: Vec<u64> = heat.cells.iter().map(|column| column.iter().sum()).collect();
        assert!(sums.iter().rev().skip(1).all(|sum| *sum == sums[0]), "{sums:?}");
    }

    #[test]
    fn a_curve_is_of_the_measured_window_and_ends_where_its_transactions_do() {
        let mut latencies = LatencyCounts::over(&intervals(2));
        latencies.add(&line("a", false, 0, &[(77_000_000, 1000)]));
        latencies.add(&line("a", false, 1, &[(1_000_000, 899), (2_000_000, 91), (3_000_000, 9), (9_000_000, 1)]));
        let curve = latencies.curves().remove(0);
        let at = |nines: f64| curve.points.iter().find(|(at, _)| (at - nines).abs() < 1e-9).unwrap().1;
        assert_eq!((at(0.0), at(1.0), at(2.0)), (1.0, 2.0, 2.0));
        assert_eq!(curve.points.last().unwrap(), &(3.0, 3.0), "999 of 1,000 are within 3 ms");
        assert!(LatencyCounts::over(&intervals(1)).curves().is_empty());
        assert_eq!(LatencyCounts::over(&intervals(1)).heat(), None);
    }
}
