//! Wait events of active sessions: average active sessions by wait event.

use std::collections::HashMap;

use pgdyno_results::Samples;
use pgdyno_samples::{database, waits};

use super::super::chart::{Chart, ChartSeries, Ink};
use super::layers::Layers;
use super::{drawn, with_values};

/// Maximum number of wait events with their own band.
const EVENTS_MAX: usize = 8;

/// The name in the samples of sessions that wait for nothing.
const CPU: &str = "CPU";

/// The name of all processes that serve no client.
const BACKGROUND: &str = "background processes";

/// The name of the other events.
const OTHERS: &str = "other events";

/// Backends that work for a client.
const OF_CLIENTS: [&str; 3] = ["client backend", "parallel worker", "walsender"];

/// Returns the active sessions by wait event, sampled ten times a second and averaged over each second.
pub(super) fn chart(samples: &Samples) -> Option<Chart> {
    let table = samples.of(waits::SOURCE);
    let others = samples.of(database::SOURCE).rows();
    let looked = table.rows().iter().map(|(at_s, _)| *at_s);
    // A sample without active sessions has no row, but other sources have rows at that time.
    let mut layers = Layers::at(looked.chain(lonely(table.rows(), others)));
    for (at_s, row) in table.rows() {
        let cell = |column| table.cell(row, column);
        let number = |column| cell(column).and_then(|cell| cell.parse::<f64>().ok());
        let (Some(count), Some(looks)) = (number(waits::SAMPLES), number(waits::LOOKS)) else { continue };
        let backend = cell(waits::BACKEND_TYPE).unwrap_or_default();
        let name = match (cell(waits::WAIT_EVENT_TYPE), cell(waits::WAIT_EVENT)) {
            _ if !OF_CLIENTS.contains(&backend) => BACKGROUND.to_owned(),
            (Some(CPU) | None, _) => CPU.to_owned(),
            (Some(kind), event) => format!("{kind}: {}", event.unwrap_or("?")),
        };
        layers.add(&name, *at_s, count / looks.max(1.0));
    }
    let mut series = with_values(layers.series(EVENTS_MAX, OTHERS));
    // CPU is at the bottom, below the waits; the unnamed rest is on top.
    series.sort_by_key(|s| if s.name == CPU { 0 } else { 1 + usize::from(s.name == BACKGROUND || s.name == OTHERS) });
    colour(&mut series);
    drawn(Chart {
        title: "What active sessions waited for".to_owned(),
        note: "Average active sessions by wait event, from ten samples a second of pg_stat_activity. CPU: sessions \
               without a wait event, which ran or were ready to run."
            .to_owned(),
        unit: "active sessions".to_owned(),
        stacked: true,
        wide: true,
        series,
        ..Chart::default()
    })
}

/// Returns the times of other sources that are not near a row of this one.
pub(super) fn lonely<'a>(
    rows: &'a [(f64, Vec<String>)],
    others: &'a [(f64, Vec<String>)],
) -> impl Iterator<Item = f64> + 'a {
    const NEAR_S: f64 = 0.7;
    others.iter().map(|(at_s, _)| *at_s).filter(move |at_s| {
        let nth = rows.partition_point(|(known, _)| known < at_s);
        let near = |nth: usize| rows.get(nth).is_some_and(|(known, _)| (known - at_s).abs() < NEAR_S);
        !(near(nth) || nth > 0 && near(nth - 1))
    })
}

/// Sets colours: a kind of wait has the same colour in every report, and its events are shades of it.
fn colour(series: &mut [ChartSeries]) {
    let mut used: HashMap<&str, usize> = HashMap::new();
    for series in series {
        let ink = ink(&series.name);
        let shade = used.entry(ink).or_default();
        series.ink = Some(Ink(ink, *shade));
        *shade += 1;
    }
}

fn ink(name: &str) -> &'static str {
    let (kind, event) = name.split_once(": ").unwrap_or((name, ""));
    match kind {
        CPU => "tcpu",
        BACKGROUND => "tback",
        // A session that writes WAL and one that waits for it both belong to WAL.
        "IO" | "LWLock" | "IPC" if event.to_ascii_lowercase().starts_with("wal") => "twal",
        "IO" => "tio",
        "Lock" => "tlock",
        "LWLock" => "tlwlock",
        "Client" => "tclient",
        "IPC" => "tipc",
        "Timeout" | "Activity" => "ttime",
        "BufferPin" | "Buffer" | "Extension" | "InjectionPoint" => "text",
        _ => "trest",
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{samples, values};
    use super::*;

    const COLUMNS: [&str; 5] = ["backend_type", "wait_event_type", "wait_event", "samples", "looks"];

    #[test]
    fn sessions_are_averaged_over_the_looks_and_cpu_is_the_floor() {
        let client = |kind, event, count| ["client backend", kind, event, count, "10"];
        let mut samples = samples(
            "waits",
            &COLUMNS,
            &[
                (1.0, &client("LWLock", "WALWrite", "40")),
                (1.0, &client("CPU", "CPU", "5")),
                (1.0, &["walwriter", "IO", "WalSync", "9", "10"]),
                (3.0, &client("CPU", "CPU", "10")),
            ],
        );
        let looks = [(1.1, &["0"][..]), (2.1, &["0"]), (3.1, &["0"])];
        samples
            .insert("database", super::super::tests::samples("database", &["x"], &looks).of(database::SOURCE).clone());
        let chart = chart(&samples).unwrap();
        assert_eq!(chart.series[0].seconds, [1.0, 2.1, 3.0]);
        let some = |values: [f64; 3]| values.map(Some).to_vec();
        let (cpu, wal, background) = (some([0.5, 0.0, 1.0]), some([4.0, 0.0, 0.0]), some([0.9, 0.0, 0.0]));
        assert_eq!(values(&chart), [("CPU", cpu), ("LWLock: WALWrite", wal), (BACKGROUND, background)]);
    }

    #[test]
    fn a_kind_of_wait_keeps_its_colour() {
        let named = |name: &str| ChartSeries { name: name.to_owned(), ..ChartSeries::default() };
        let mut series = ["CPU", "Lock: tuple", "IO: DataFileRead", "Lock: transactionid", "IO: WalSync"].map(named);
        colour(&mut series);
        let inks: Vec<_> = series.iter().map(|s| s.ink.unwrap()).map(|Ink(name, shade)| (name, shade)).collect();
        assert_eq!(inks, [("tcpu", 0), ("tlock", 0), ("tio", 0), ("tlock", 1), ("twal", 0)]);
    }
}
