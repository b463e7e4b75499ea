//! The programs on the CPUs of the server's machine.

use pgdyno_results::Samples;
use pgdyno_samples::{SampleSource, machine, processes};

use super::super::chart::{Chart, ChartPart, ChartSeries, Ink};
use super::layers::Layers;
use super::{drawn, series, with_values};

/// Maximum number of kinds with their own band.
const KINDS_MAX: usize = 8;

/// The name of pgdyno in the samples.
const DRIVER: &str = "driver";

/// The name of the kernel's threads.
const KERNEL: &str = "kernel";

/// The name of processes of the server that ended between two samples, whose kind is unknown.
const ENDED: &str = "ended";

/// The name of all other programs.
const OTHER: &str = "other";

/// Returns the CPUs in use by the server's kinds of processes, by pgdyno, and by all other programs; with the number of
/// CPUs.
pub(super) fn chart(samples: &Samples) -> Option<Chart> {
    let table = samples.of(processes::SOURCE);
    let mut layers = Layers::at(table.rows().iter().map(|(at_s, _)| *at_s));
    for (at_s, row) in table.rows() {
        let cpus = table.cell(row, processes::CPUS).and_then(|cell| cell.parse().ok()).unwrap_or(0.0);
        layers.add(table.cell(row, processes::KIND).unwrap_or(OTHER), *at_s, cpus);
    }
    let mut bands = with_values(layers.series(KINDS_MAX, "the server's other processes"));
    // The server is at the bottom; other programs that take CPUs from it are on top.
    bands.sort_by_key(|band| [KERNEL, DRIVER, OTHER].iter().position(|kind| *kind == band.name).map_or(0, |at| at + 1));
    for band in &mut bands {
        band.ink = Some(Ink(ink(&band.name), 0));
        match band.name.as_str() {
            DRIVER => band.name = "pgdyno".to_owned(),
            OTHER => band.name = "other programs".to_owned(),
            ENDED => band.name = "processes of the server that ended".to_owned(),
            _ => {}
        }
    }
    drawn(with_cpus(
        samples,
        machine::SOURCE,
        Chart {
            title: "CPU of the server's machine, by program".to_owned(),
            note: "CPUs in use. CPUs that other programs use are not available to the server.".to_owned(),
            unit: "CPUs".to_owned(),
            stacked: true,
            wide: true,
            part: ChartPart::Machines,
            series: bands,
            ..Chart::default()
        },
    ))
}

/// Returns the chart with a line at the number of CPUs of the machine, if the chart has series.
pub(super) fn with_cpus(samples: &Samples, source: SampleSource, mut chart: Chart) -> Chart {
    let cpus = series("CPUs of the machine", samples.of(source).gauge(machine::CPUS));
    if !chart.series.is_empty() {
        let line = |cpus: ChartSeries| ChartSeries { over: true, ink: Some(Ink("ink", 0)), ..cpus };
        chart.series.extend(with_values([cpus]).into_iter().map(line));
    }
    chart
}

fn ink(kind: &str) -> &'static str {
    match kind {
        DRIVER => "c6",
        OTHER => "tback",
        KERNEL => "ttime",
        "client backend" => "c0",
        "checkpointer" => "c1",
        "autovacuum worker" | "autovacuum launcher" => "c2",
        "walwriter" => "c3",
        "walsender" | "io worker" => "c4",
        "background writer" => "c5",
        "parallel worker" => "c7",
        _ => "tclient",
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{samples, values};
    use super::*;

    #[test]
    fn the_server_is_the_floor_and_a_line_shows_how_many_cpus_there_are() {
        let mut samples = samples(
            "processes",
            &["kind", "cpus", "count"],
            &[
                (1.0, &["other", "1.5", "40"]),
                (1.0, &["driver", "0.5", "1"]),
                (1.0, &["client backend", "1", "8"]),
                (1.0, &["walwriter", "0", "1"]),
            ],
        );
        let of_machine = super::super::tests::samples("machine", &["cpus"], &[(1.0, &["4"])]);
        samples.insert("machine", of_machine.of(machine::SOURCE).clone());
        let chart = chart(&samples).unwrap();
        let some = |n: f64| vec![Some(n)];
        let bands = [("client backend", some(1.0)), ("pgdyno", some(0.5)), ("other programs", some(1.5))];
        assert_eq!(values(&chart), [&bands[..], &[("CPUs of the machine", some(4.0))]].concat());
        assert_eq!(chart.series.iter().map(|s| s.over).collect::<Vec<_>>(), [false, false, false, true]);
    }
}
