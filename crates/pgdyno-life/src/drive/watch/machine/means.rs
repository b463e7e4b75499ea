//! The mean of the samples of a machine.

use std::collections::BTreeMap;

use pgdyno_results::MachineRecord;
use pgdyno_samples::{SampleColumn, machine, processes};
use pgdyno_server::Frame;
use pgdyno_server::os::{DRIVER, KERNEL, OTHER};

/// Sums of samples of one machine.
#[derive(Debug, Default)]
pub(super) struct Means {
    seen_by: String,
    usable_cpus: Option<f64>,
    /// For each column: the sum of its values, and their number.
    machine: BTreeMap<&'static str, (f64, u32)>,
    /// For each kind of process: the sum of its CPUs.
    kinds: BTreeMap<String, f64>,
    /// Samples of processes. A kind that is missing from one of them used no CPU then.
    looks: u32,
}

impl Means {
    /// Returns empty sums for a machine. A container may use `usable_cpus` of its CPUs.
    pub(super) fn of(seen_by: String, usable_cpus: Option<f64>) -> Self {
        Self { seen_by, usable_cpus, ..Self::default() }
    }

    /// Adds a sample of the machine.
    pub(super) fn take_machine(&mut self, frame: &Frame) {
        for row in &frame.rows {
            for (column, value) in frame.columns.iter().zip(row) {
                let Some(value) = value.as_ref().and_then(|value| value.parse::<f64>().ok()) else { continue };
                let (sum, count) = self.machine.entry(column).or_default();
                (*sum, *count) = (*sum + value, *count + 1);
            }
        }
    }

    /// Adds a sample of its processes.
    pub(super) fn take_processes(&mut self, frame: &Frame) {
        self.looks += 1;
        for row in &frame.rows {
            let cell = |column: SampleColumn| row[frame.columns.iter().position(|name| *name == column.name)?].as_ref();
            let (Some(kind), Some(cpus)) = (cell(processes::KIND), cell(processes::CPUS)) else { continue };
            *self.kinds.entry(kind.clone()).or_default() += cpus.parse::<f64>().unwrap_or_default();
        }
    }

    /// Returns the means; `None` without samples.
    pub(super) fn record(self) -> Option<MachineRecord> {
        let mean = |column: SampleColumn| self.machine.get(column.name).map(|(sum, count)| sum / f64::from(*count));
        if self.machine.is_empty() {
            return None;
        }
        let looks = f64::from(self.looks.max(1));
        let mut kinds: BTreeMap<String, f64> =
            self.kinds.iter().map(|(kind, cpus)| (kind.clone(), cpus / looks)).collect();
        let [driver_cpus, kernel_cpus, other_cpus] = [DRIVER, KERNEL, OTHER].map(|kind| kinds.remove(kind));
        let cpus = mean(machine::CPUS);
        Some(MachineRecord {
            cpus,
            usable_cpus: self.usable_cpus.filter(|usable| cpus.is_some_and(|cpus| *usable < cpus)),
            cpu_percent: mean(machine::CPU_PERCENT),
            memory_bytes: mean(machine::MEMORY_BYTES).map(|bytes| bytes as u64),
            busy_cpus: mean(machine::BUSY_CPUS),
            iowait_cpus: mean(machine::IOWAIT_CPUS),
            steal_cpus: mean(machine::STEAL_CPUS),
            server_cpus: kinds,
            driver_cpus,
            kernel_cpus,
            other_cpus,
            disk_read_bytes_per_s: mean(machine::DISK_READ_BYTES_PER_S),
            disk_write_bytes_per_s: mean(machine::DISK_WRITE_BYTES_PER_S),
            disk_busy: mean(machine::DISK_BUSY),
            net_receive_bytes_per_s: mean(machine::NET_RECEIVE_BYTES_PER_S),
            net_send_bytes_per_s: mean(machine::NET_SEND_BYTES_PER_S),
            seen_by: self.seen_by,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    fn frame(columns: &'static [&'static str], rows: &[&[&str]]) -> Frame {
        let cell = |cell: &&str| Some((*cell).to_owned()).filter(|cell| !cell.is_empty());
        let rows = rows.iter().map(|row| row.iter().map(cell).collect()).collect();
        Frame { source: "any", at: Instant::now(), columns, rows }
    }

    #[test]
    fn a_value_that_is_missing_is_no_zero_and_a_kind_that_is_missing_is() {
        let mut means = Means::of("local".to_owned(), Some(1.5));
        assert_eq!(Means::of("local".to_owned(), None).record(), None);
        means.take_machine(&frame(&["cpus", "busy_cpus"], &[&["4", "1"]]));
        means.take_machine(&frame(&["cpus", "busy_cpus"], &[&["4", ""]]));
        means.take_machine(&frame(&["cpus", "busy_cpus"], &[&["4", "2"]]));
        const KINDS: &[&str] = &["kind", "cpus", "count"];
        means.take_processes(&frame(
            KINDS,
            &[&["client backend", "1.0", "4"], &["driver", "0.4", "1"], &["other", "0.2", "9"]],
        ));
        means.take_processes(&frame(KINDS, &[&["client backend", "2.0", "4"], &["autovacuum worker", "0.5", "1"]]));
        let record = means.record().unwrap();
        assert_eq!((record.cpus, record.busy_cpus, record.usable_cpus), (Some(4.0), Some(1.5), Some(1.5)));
        let server: Vec<_> = record.server_cpus.iter().map(|(kind, cpus)| (kind.as_str(), *cpus)).collect();
        assert_eq!(server, [("autovacuum worker", 0.25), ("client backend", 1.5)]);
        assert_eq!((record.driver_cpus, record.other_cpus, record.kernel_cpus), (Some(0.2), Some(0.1), None));
    }
}
