//! A machine: its CPUs, memory, disks and network.

use pgdyno_results::Samples;
use pgdyno_samples::{SampleSource, machine};

use super::super::chart::{Chart, ChartPart};
use super::layers::Layers;
use super::processes::with_cpus;
use super::{drawn, inked, series, times, with_values};

/// Returns the use of CPUs.
pub(super) fn cpu(samples: &Samples, source: SampleSource) -> Option<Chart> {
    let table = samples.of(source);
    let whose = if source == machine::SOURCE { "server" } else { "driver" };
    let mut bands = Vec::new();
    for (name, column, ink) in [
        ("programs", machine::USER_CPUS, "tcpu"),
        ("kernel", machine::SYSTEM_CPUS, "ttime"),
        ("waiting for disks", machine::IOWAIT_CPUS, "tlwlock"),
        ("taken by the hypervisor", machine::STEAL_CPUS, "tlock"),
    ] {
        let mut layers = Layers::at(table.rows().iter().map(|(at_s, _)| *at_s));
        layers.add_all(name, &table.gauge(column));
        bands.extend(layers.series(1, "").into_iter().map(|band| inked(band, ink)));
    }
    if bands.is_empty() {
        // A monitoring API may have only the sum.
        bands.push(inked(series("busy", table.gauge(machine::BUSY_CPUS)), "tcpu"));
    }
    drawn(with_cpus(
        samples,
        source,
        Chart {
            title: format!("CPU of the {whose}'s machine, by kind of work"),
            note: "CPUs in use, and CPUs that were idle while a program waited for a disk.".to_owned(),
            unit: "CPUs".to_owned(),
            stacked: true,
            part: ChartPart::Machines,
            series: with_values(bands),
            ..Chart::default()
        },
    ))
}

/// Returns the use of all CPUs together, if nothing else is known, as with monitoring APIs.
pub(super) fn percent(samples: &Samples) -> Option<Chart> {
    let table = samples.of(machine::SOURCE);
    if table.gauge(machine::BUSY_CPUS).values.iter().any(Option::is_some) {
        return None;
    }
    drawn(Chart {
        title: "CPU of the server's machine".to_owned(),
        note: "All CPUs and all programs together.".to_owned(),
        unit: "%".to_owned(),
        part: ChartPart::Machines,
        series: with_values([inked(series("busy", table.gauge(machine::CPU_PERCENT)), "tcpu")]),
        ..Chart::default()
    })
}

/// Returns the available memory, and dirty pages.
pub(super) fn memory(samples: &Samples) -> Option<Chart> {
    let of = |name, column| series(name, samples.of(machine::SOURCE).gauge(column));
    drawn(Chart {
        title: "Memory of the server's machine".to_owned(),
        note: "Available without swapping. Dirty: pages of the file cache that are not yet on disk.".to_owned(),
        unit: "bytes".to_owned(),
        part: ChartPart::Machines,
        series: with_values([of("available", machine::AVAILABLE_BYTES), of("dirty", machine::DIRTY_BYTES)]),
        ..Chart::default()
    })
}

/// Returns what the disks read and wrote.
pub(super) fn disks(samples: &Samples) -> Option<Chart> {
    let of = |name, column| series(name, samples.of(machine::SOURCE).gauge(column));
    drawn(Chart {
        title: "Disks of the server's machine".to_owned(),
        note: "As the operating system counts them: all disks, all programs.".to_owned(),
        unit: "bytes/s".to_owned(),
        part: ChartPart::Machines,
        series: with_values([
            of("read", machine::DISK_READ_BYTES_PER_S),
            of("written", machine::DISK_WRITE_BYTES_PER_S),
        ]),
        ..Chart::default()
    })
}

/// Returns how busy the busiest disk was.
pub(super) fn busy(samples: &Samples) -> Option<Chart> {
    let busy = times(samples.of(machine::SOURCE).gauge(machine::DISK_BUSY), 100.0);
    drawn(Chart {
        title: "The busiest disk".to_owned(),
        note: "Share of time with a request in progress. A disk that serves several requests at once may have room at \
               100 %."
            .to_owned(),
        unit: "%".to_owned(),
        part: ChartPart::Machines,
        series: with_values([series("busy", busy)]),
        ..Chart::default()
    })
}

/// Returns the network traffic.
pub(super) fn network(samples: &Samples) -> Option<Chart> {
    let of = |name, column| series(name, samples.of(machine::SOURCE).gauge(column));
    drawn(Chart {
        title: "Network of the server's machine".to_owned(),
        note: "To and from other machines.".to_owned(),
        unit: "bytes/s".to_owned(),
        part: ChartPart::Machines,
        series: with_values([
            of("received", machine::NET_RECEIVE_BYTES_PER_S),
            of("sent", machine::NET_SEND_BYTES_PER_S),
        ]),
        ..Chart::default()
    })
}
