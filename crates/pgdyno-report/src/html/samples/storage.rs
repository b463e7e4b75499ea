//! What the server read and wrote, by its own account (`pg_stat_io`, PostgreSQL 16 and newer).

use pgdyno_results::{Points, SampleTable, Samples};

use super::super::chart::{Chart, Series};
use super::{drawn, seen, series};

/// What tells rows of `io` apart.
const KEYS: [&str; 3] = ["backend_type", "object", "context"];

/// Bytes a second that the server read, wrote and added to files.
pub(super) fn server(samples: &Samples) -> Option<Chart> {
    let io = samples.of("io");
    let of = |name: &str, column: &str| series(name, io.rate(&KEYS, column));
    drawn(Chart {
        title: "Reads and writes of the server".to_owned(),
        note: "As pg_stat_io counts them; the operating system's cache may stand between these and the disks."
            .to_owned(),
        unit: "bytes/s".to_owned(),
        series: seen([of("read", "read_bytes"), of("written", "write_bytes"), of("files extended", "extend_bytes")]),
        ..Chart::default()
    })
}

/// How long one read, write and sync took.
pub(super) fn durations(samples: &Samples) -> Option<Chart> {
    let io = samples.of("io");
    let wal = samples.of("wal");
    let reads = each(io, &KEYS, "reads", "read_time_ms").or_else(|| of_database(samples));
    let syncs = each(wal, &[], "wal_sync", "wal_sync_time_ms").or_else(|| {
        let of_wal = io.by("object").remove("wal")?;
        each(&of_wal, &KEYS, "fsyncs", "fsync_time_ms")
    });
    let parts = [("read of a block", reads), ("sync of WAL", syncs)];
    let all: Vec<Series> = parts.into_iter().filter_map(|(name, points)| Some(series(name, points?))).collect();
    drawn(Chart {
        title: "How long storage took".to_owned(),
        note: "Mean of each second, where track_io_timing or track_wal_io_timing has the server measure it.".to_owned(),
        unit: "ms".to_owned(),
        series: seen(all),
        ..Chart::default()
    })
}

/// Reads as servers without `pg_stat_io` tell of them.
fn of_database(samples: &Samples) -> Option<Points> {
    each(samples.of("database"), &[], "blks_read", "blk_read_time_ms")
}

/// Time over number, look by look; unknown where there was none. Absent where no time was measured at all.
fn each(table: &SampleTable, keys: &[&str], number: &str, time_ms: &str) -> Option<Points> {
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
    fn a_sync_takes_its_share_of_the_time() {
        let rows: [(f64, &[&str]); 3] = [(0.0, &["0", "0"]), (1.0, &["10", "25"]), (2.0, &["10", "25"])];
        let chart = durations(&samples("wal", &["wal_sync", "wal_sync_time_ms"], &rows)).unwrap();
        assert_eq!(values(&chart), [("sync of WAL", vec![Some(2.5), None])]);
        let untimed: [(f64, &[&str]); 2] = [(0.0, &["0", "0"]), (1.0, &["10", "0"])];
        assert_eq!(durations(&samples("wal", &["wal_sync", "wal_sync_time_ms"], &untimed)), None);
    }
}
