//! Sessions that wait for locks, and their waiting time.

use pgdyno_results::Samples;
use pgdyno_samples::{database, locks};

use super::super::chart::{Chart, Ink};
use super::layers::Layers;
use super::{drawn, greatest, inked, with_values};

/// Maximum number of kinds of locks with their own band.
const LOCKS_MAX: usize = 3;

/// Returns the times of this source and of another one, because this one has rows only while sessions wait.
fn moments(samples: &Samples) -> impl Iterator<Item = f64> {
    let rows = samples.of(locks::SOURCE).rows();
    let all = super::waits::lonely(rows, samples.of(database::SOURCE).rows());
    rows.iter().map(|(at_s, _)| *at_s).chain(all)
}

/// Returns the number of waiting sessions, by kind of lock.
pub(super) fn waiting(samples: &Samples) -> Option<Chart> {
    let table = samples.of(locks::SOURCE);
    let mut layers = Layers::at(moments(samples));
    for (at_s, row) in table.rows() {
        let cell = |column| table.cell(row, column);
        let of = cell(locks::RELATION).map_or_else(String::new, |relation| format!(" of {relation}"));
        let name = format!("{}{of}, {}", cell(locks::LOCKTYPE).unwrap_or("?"), cell(locks::MODE).unwrap_or("?"));
        layers.add(&name, *at_s, cell(locks::WAITING).and_then(|n| n.parse().ok()).unwrap_or(0.0));
    }
    let mut bands = with_values(layers.series(LOCKS_MAX, "other locks"));
    bands.iter_mut().enumerate().for_each(|(nth, band)| band.ink = Some(Ink("tlock", nth)));
    drawn(Chart {
        title: "Sessions waiting for locks".to_owned(),
        note: "Sessions that were waiting for a lock at the time of each sample.".to_owned(),
        unit: "sessions".to_owned(),
        stacked: true,
        series: bands,
        ..Chart::default()
    })
}

/// Returns the longest waiting time.
pub(super) fn longest(samples: &Samples) -> Option<Chart> {
    let table = samples.of(locks::SOURCE);
    let mut layers = Layers::at(moments(samples));
    for look in table.rows().chunk_by(|a, b| a.0 == b.0) {
        let waits = look.iter().filter_map(|(_, row)| table.cell(row, locks::LONGEST_WAIT_S)?.parse::<f64>().ok());
        layers.add("longest wait", look[0].0, waits.fold(0.0, f64::max) * 1e3);
    }
    let longest = layers.series(1, "");
    drawn(Chart {
        title: "Longest wait for a lock".to_owned(),
        note: "Length of the longest wait in progress at the time of each sample.".to_owned(),
        unit: "ms".to_owned(),
        series: with_values(longest.into_iter().map(|series| greatest(inked(series, "tlock")))),
        ..Chart::default()
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{samples, values};
    use super::*;

    #[test]
    fn where_nobody_waits_there_is_no_row_and_nobody_waits() {
        let columns = ["locktype", "mode", "relation", "waiting", "longest_wait_s"];
        let mut samples = samples(
            "locks",
            &columns,
            &[
                (1.0, &["transactionid", "ShareLock", "", "3", "0.5"]),
                (1.0, &["relation", "RowExclusiveLock", "public.t", "1", "2.5"]),
            ],
        );
        assert_eq!(longest(&samples).map(|chart| values(&chart).len()), Some(1));
        let looks = [(0.0, &["0"][..]), (1.1, &["0"]), (2.0, &["0"])];
        samples
            .insert("database", super::super::tests::samples("database", &["x"], &looks).of(database::SOURCE).clone());
        let chart = waiting(&samples).unwrap();
        let some = |n: f64| vec![Some(0.0), Some(n), Some(0.0)];
        let relation = "relation of public.t, RowExclusiveLock";
        assert_eq!(values(&chart), [("transactionid, ShareLock", some(3.0)), (relation, some(1.0))]);
        assert_eq!(values(&longest(&samples).unwrap()), [("longest wait", some(2500.0))]);
    }
}
