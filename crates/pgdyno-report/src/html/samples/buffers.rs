//! Shared buffers: cache hits, and who writes them out.

use pgdyno_results::{Points, SampleTable, Samples};
use pgdyno_samples::{bgwriter, checkpointer, database, io};

use super::super::chart::Chart;
use super::layers::Layers;
use super::{drawn, series, with_values};

/// Maximum number of writers with their own band.
const WRITERS_MAX: usize = 5;

/// Returns the share of block reads that needed no read from the operating system.
pub(super) fn hits(samples: &Samples) -> Option<Chart> {
    let table = samples.of(database::SOURCE);
    let (hit, read) = (table.rate(&[], database::BLKS_HIT), table.rate(&[], database::BLKS_READ));
    let share = |(hit, read): (&Option<f64>, &Option<f64>)| {
        let (hit, read) = ((*hit)?, (*read)?);
        (hit + read > 0.0).then(|| 100.0 * hit / (hit + read))
    };
    let values = hit.values.iter().zip(&read.values).map(share).collect();
    drawn(Chart {
        title: "Cache hits in shared buffers".to_owned(),
        note: "Share of block reads that shared buffers answered. The operating system's cache may have answered the rest."
            .to_owned(),
        unit: "%".to_owned(),
        series: with_values([series("hit ratio", Points { at_s: hit.at_s, values })]),
        ..Chart::default()
    })
}

/// Returns the buffers that were written, by writer.
pub(super) fn writers(samples: &Samples) -> Option<Chart> {
    let table = samples.of(io::SOURCE);
    let mut layers = match table.is_empty() {
        true => by_counters(samples),
        false => by_io(table),
    };
    layers.sort_by(|a, b| a.name.cmp(&b.name));
    drawn(Chart {
        title: "Buffers written".to_owned(),
        note: "By process. Buffers that client backends must write themselves keep their clients waiting.".to_owned(),
        unit: "writes/s".to_owned(),
        stacked: true,
        series: with_values(layers),
        ..Chart::default()
    })
}

/// From `pg_stat_io`: relations only, because WAL has its own chart.
fn by_io(all: &SampleTable) -> Vec<super::ChartSeries> {
    let mut layers = Layers::at(all.rows().iter().map(|(at_s, _)| *at_s));
    for (backend, table) in all.by(io::BACKEND_TYPE) {
        for (object, table) in table.by(io::OBJECT) {
            if object != "wal" {
                layers.add_all(&backend, &table.rate(&[io::CONTEXT], io::WRITES));
            }
        }
    }
    layers.series(WRITERS_MAX, "others")
}

/// From the counters of servers without `pg_stat_io`.
fn by_counters(samples: &Samples) -> Vec<super::ChartSeries> {
    let (of_checkpointer, of_bgwriter) = (samples.of(checkpointer::SOURCE), samples.of(bgwriter::SOURCE));
    let rows = of_checkpointer.rows().iter().chain(of_bgwriter.rows());
    let mut layers = Layers::at(rows.map(|(at_s, _)| *at_s));
    layers.add_all("checkpointer", &of_checkpointer.rate(&[], checkpointer::BUFFERS_WRITTEN));
    layers.add_all("background writer", &of_bgwriter.rate(&[], bgwriter::BUFFERS_CLEAN));
    layers.add_all("client backend", &of_bgwriter.rate(&[], bgwriter::BUFFERS_BACKEND));
    layers.series(WRITERS_MAX, "others")
}

#[cfg(test)]
mod tests {
    use super::super::tests::{samples, values};
    use super::*;

    #[test]
    fn hits_are_a_share_and_unknown_where_nothing_was_read() {
        let rows: [(f64, &[&str]); 4] =
            [(0.0, &["0", "0"]), (1.0, &["90", "10"]), (2.0, &["90", "10"]), (3.0, &["91", "10"])];
        let chart = hits(&samples("database", &["blks_hit", "blks_read"], &rows)).unwrap();
        assert_eq!(values(&chart), [("hit ratio", vec![Some(90.0), None, Some(100.0)])]);
    }

    #[test]
    fn writers_are_distinguished_and_wal_is_none_of_theirs() {
        let columns = ["backend_type", "object", "context", "writes"];
        let look = |at: f64, n: &'static [&'static str; 3]| {
            [
                (at, vec!["checkpointer", "relation", "normal", n[0]]),
                (at, vec!["client backend", "relation", "normal", n[1]]),
                (at, vec!["client backend", "wal", "normal", n[2]]),
            ]
        };
        let rows = [look(1.0, &["0", "5", "0"]), look(2.0, &["8", "7", "99"])].concat();
        let rows: Vec<(f64, &[&str])> = rows.iter().map(|(at, cells)| (*at, cells.as_slice())).collect();
        let chart = writers(&samples("io", &columns, &rows)).unwrap();
        let some = |n: f64| vec![Some(0.0), Some(n)];
        assert_eq!(values(&chart), [("checkpointer", some(8.0)), ("client backend", some(2.0))]);
    }
}
