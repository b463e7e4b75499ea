//! A machine: its CPUs, memory, disks and network.

use pgdyno_results::Samples;

use super::super::chart::{Chart, Part};
use super::layers::Layers;
use super::processes::with_cpus;
use super::{drawn, inked, seen, series, times};

/// The server's machine.
const MACHINE: &str = "machine";

/// What CPUs were busy with.
pub(super) fn cpu(samples: &Samples, source: &str) -> Option<Chart> {
    let table = samples.of(source);
    let whose = if source == MACHINE { "server" } else { "driver" };
    let mut bands = Vec::new();
    for (name, column, ink) in [
        ("programs", "user_cpus", "tcpu"),
        ("kernel", "system_cpus", "tio"),
        ("waiting for disks", "iowait_cpus", "tlwlock"),
        ("taken by the hypervisor", "steal_cpus", "tlock"),
    ] {
        let mut layers = Layers::at(table.rows().iter().map(|(at_s, _)| *at_s));
        layers.add_all(name, &table.gauge(column));
        bands.extend(layers.series(1, "").into_iter().map(|band| inked(band, ink)));
    }
    if bands.is_empty() {
        // A monitoring API may know the sum only.
        bands.push(inked(series("busy", table.gauge("busy_cpus")), "tcpu"));
    }
    drawn(with_cpus(
        samples,
        source,
        Chart {
            title: format!("CPU of the {whose}'s machine, by kind of work"),
            note: "CPUs in use, and CPUs that were idle while something waited for a disk.".to_owned(),
            unit: "CPUs".to_owned(),
            stacked: true,
            part: Part::Machines,
            series: seen(bands),
            ..Chart::default()
        },
    ))
}

/// How busy all CPUs were together, where that is all that is known: monitoring APIs tell no more.
pub(super) fn percent(samples: &Samples) -> Option<Chart> {
    let table = samples.of(MACHINE);
    if table.gauge("busy_cpus").values.iter().any(Option::is_some) {
        return None;
    }
    drawn(Chart {
        title: "CPU of the server's machine".to_owned(),
        note: "All CPUs and all programs together.".to_owned(),
        unit: "%".to_owned(),
        part: Part::Machines,
        series: seen([inked(series("busy", table.gauge("cpu_percent")), "tcpu")]),
        ..Chart::default()
    })
}

/// What of the memory is available, and what waits to be written.
pub(super) fn memory(samples: &Samples) -> Option<Chart> {
    let of = |name, column| series(name, samples.of(MACHINE).gauge(column));
    drawn(Chart {
        title: "Memory of the server's machine".to_owned(),
        note: "Available without swapping; dirty is what the system's file cache has yet to write to disks.".to_owned(),
        unit: "bytes".to_owned(),
        part: Part::Machines,
        series: seen([of("available", "available_bytes"), of("dirty", "dirty_bytes")]),
        ..Chart::default()
    })
}

/// What the disks read and wrote.
pub(super) fn disks(samples: &Samples) -> Option<Chart> {
    let of = |name, column| series(name, samples.of(MACHINE).gauge(column));
    drawn(Chart {
        title: "Disks of the server's machine".to_owned(),
        note: "As the operating system counts them, all disks and all programs together.".to_owned(),
        unit: "bytes/s".to_owned(),
        part: Part::Machines,
        series: seen([of("read", "disk_read_bytes_per_s"), of("written", "disk_write_bytes_per_s")]),
        ..Chart::default()
    })
}

/// How busy the busiest disk was.
pub(super) fn busy(samples: &Samples) -> Option<Chart> {
    let busy = times(samples.of(MACHINE).gauge("disk_busy"), 100.0);
    drawn(Chart {
        title: "The busiest disk".to_owned(),
        note: "Share of time in which it had something to do. A disk that does many things at once may be at 100 % and have \
               room."
            .to_owned(),
        unit: "%".to_owned(),
        part: Part::Machines,
        series: seen([series("busy", busy)]),
        ..Chart::default()
    })
}

/// What went over the network.
pub(super) fn network(samples: &Samples) -> Option<Chart> {
    let of = |name, column| series(name, samples.of(MACHINE).gauge(column));
    drawn(Chart {
        title: "Network of the server's machine".to_owned(),
        note: "To and from other machines.".to_owned(),
        unit: "bytes/s".to_owned(),
        part: Part::Machines,
        series: seen([of("received", "net_receive_bytes_per_s"), of("sent", "net_send_bytes_per_s")]),
        ..Chart::default()
    })
}
