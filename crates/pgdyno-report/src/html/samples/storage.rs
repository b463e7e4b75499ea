//! What the server read and wrote, from `pg_stat_io` (PostgreSQL 16 and newer); its reads from older servers, too.

use pgdyno_results::{Points, SampleTable, Samples};
use pgdyno_samples::{SampleColumn, database, io, wal};

use super::super::chart::{Chart, ChartSeries};
use super::{drawn, series, with_values};

/// Returns bytes per second that the server read, wrote and extended files by.
pub(super) fn server(samples: &Samples) -> Option<Chart> {
    let table = samples.of(io::SOURCE);
    let of = |name: &str, column| series(name, table.rate(&io::KEYS, column));
    drawn(Chart {
        title: "Reads and writes of the server".to_owned(),
        note: "As pg_stat_io counts them. The operating system's cache may answer them without the disks.".to_owned(),
        unit: "bytes/s".to_owned(),
        series: with_values([
            of("read", io::READ_BYTES),
            of("written", io::WRITE_BYTES),
            of("files extended", io::EXTEND_BYTES),
        ]),
        ..Chart::default()
    })
}

/// Returns the blocks per second that servers without `pg_stat_io` read.
pub(super) fn blocks(samples: &Samples) -> Option<Chart> {
    if !samples.of(io::SOURCE).is_empty() {
        return None;
    }
    let reads = samples.of(database::SOURCE).rate(&[], database::BLKS_READ);
    drawn(Chart {
        title: "Reads of the server".to_owned(),
        note: "Blocks that were not in shared buffers. The operating system's cache may answer them without the disks."
            .to_owned(),
        unit: "blocks/s".to_owned(),
        series: with_values([series("read", reads)]),
        ..Chart::default()
    })
}

/// Returns the durations of a read, a write and a sync.
pub(super) fn durations(samples: &Samples) -> Option<Chart> {
    let of_io = samples.of(io::SOURCE);
    let reads = each(of_io, &io::KEYS, io::READS, io::READ_TIME_MS).or_else(|| of_database(samples));
    let syncs = each(samples.of(wal::SOURCE), &[], wal::WAL_SYNC, wal::WAL_SYNC_TIME_MS).or_else(|| {
        let of_wal = of_io.by(io::OBJECT).remove("wal")?;
        each(&of_wal, &io::KEYS, io::FSYNCS, io::FSYNC_TIME_MS)
    });
    let parts = [("read of a block", reads), ("sync of WAL", syncs)];
    let all: Vec<ChartSeries> = parts.into_iter().filter_map(|(name, points)| Some(series(name, points?))).collect();
    drawn(Chart {
        title: "Read and write times".to_owned(),
        note: "Mean of each second, if track_io_timing or track_wal_io_timing is on.".to_owned(),
        unit: "ms".to_owned(),
        series: with_values(all),
        ..Chart::default()
    })
}

/// Returns the reads on servers without `pg_stat_io`.
fn of_database(samples: &Samples) -> Option<Points> {
    each(samples.of(database::SOURCE), &[], database::BLKS_READ, database::BLK_READ_TIME_MS)
}

/// Returns time divided by number for each sample; unknown if the number is 0. None if times were not measured.
fn each(table: &SampleTable, keys: &[SampleColumn], number: SampleColumn, time_ms: SampleColumn) -> Option<Points> {
    let (numbers, times) = (table.rate(keys, number), table.rate(keys, time_ms));
    let value = |(number, time): (&Option<f64>, &Option<f64>)| {
        let (number, time) = ((*number)?, (*time)?);
        (number > 0.0).then(|| time / number)
    };
    let measured = times.values.iter().flatten().any(|time| *time > 0.0);
    let values = numbers.values.iter().zip(&times.values).map(value).collect();
    measured.then_some(Points { at_s: numbers.at_s, values })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{samples, values};
    use super::*;

    #[test]
    fn reads_of_an_older_server_are_those_of_its_database() {
        let rows: [(f64, &[&str]); 3] = [(0.0, &["5"]), (1.0, &["25"]), (3.0, &["25"])];
        let mut all = samples("database", &["blks_read"], &rows);
        assert_eq!(values(&blocks(&all).unwrap()), [("read", vec![Some(20.0), Some(0.0)])]);
        all.insert("io", pgdyno_results::SampleTable::new(&["read_bytes"], vec![(0.0, vec!["1".to_owned()])]));
        assert_eq!(blocks(&all), None);
    }

    #[test]
    fn a_sync_takes_its_share_of_the_time() {
        let rows: [(f64, &[&str]); 3] = [(0.0, &["0", "0"]), (1.0, &["10", "25"]), (2.0, &["10", "25"])];
        let chart = durations(&samples("wal", &["wal_sync", "wal_sync_time_ms"], &rows)).unwrap();
        assert_eq!(values(&chart), [("sync of WAL", vec![Some(2.5), None])]);
        let untimed: [(f64, &[&str]); 2] = [(0.0, &["0", "0"]), (1.0, &["10", "0"])];
        assert_eq!(durations(&samples("wal", &["wal_sync", "wal_sync_time_ms"], &untimed)), None);
    }
}
