//! Computes rows of samples from two looks at `/proc`.

use std::collections::HashMap;
use std::time::Instant;

use pgdyno_samples::machine;

use super::cpu::{CpuTimes, CpuUse};
use super::disk::Disks;
use super::kind::{DRIVER, KERNEL, OTHER};
use super::memory::{Memory, first_number};
use super::net::Interfaces;
use super::pressure::Pressure;
use super::proc::{Malformed, ProcTexts};
use super::process::Process;
use super::tally::Tally;
use super::{DRIVER_MACHINE, DRIVER_PROCESSES, MACHINE, MACHINE_COLUMNS, PROCESS_COLUMNS, PROCESSES};
use crate::Frame;

/// A look at a machine.
#[derive(Debug, Default)]
pub(crate) struct MachineReading {
    pub(crate) texts: ProcTexts,
    /// All its processes, if they were looked at.
    pub(crate) processes: Option<Vec<Process>>,
    /// Titles of some of them.
    pub(crate) titles: HashMap<i32, String>,
}

/// Computes rows from looks.
#[derive(Debug)]
pub(crate) struct Observer {
    machine: &'static str,
    processes: &'static str,
    pub(crate) tally: Tally,
    /// Whether unknown processes are other programs: not if a server is among them that could not be found.
    knows_others: bool,
    before: Option<Reading>,
    /// CPU times when processes were last looked at.
    processes_before: Option<CpuTimes>,
}

/// Figures of the machine itself in a look.
#[derive(Debug)]
struct Reading {
    cpu: CpuTimes,
    memory: Memory,
    disks: Disks,
    net: Interfaces,
    pressure: Pressure,
    load: f64,
    uptime_s: f64,
}

impl Reading {
    fn parse(texts: &ProcTexts) -> Result<Self, Malformed> {
        Ok(Self {
            cpu: CpuTimes::parse(texts.file("stat"))?,
            memory: Memory::parse(texts.file("meminfo"))?,
            disks: Disks::parse(texts.file("diskstats"))?,
            net: Interfaces::parse(texts.file("net/dev"))?,
            pressure: Pressure::parse(texts),
            load: first_number("loadavg", texts.file("loadavg"))?,
            uptime_s: first_number("uptime", texts.file("uptime"))?,
        })
    }

    /// A row of [`MACHINE_COLUMNS`].
    fn row(&self, before: &Self) -> Vec<Option<String>> {
        let seconds = self.uptime_s - before.uptime_s;
        let used = self.cpu.since(&before.cpu);
        let cpus = |of: fn(&CpuUse) -> f64| used.as_ref().map(|used| format!("{:.3}", of(used)));
        let bytes = |bytes: u64| Some(bytes.to_string());
        let mut row = vec![None; machine::SOURCE.columns.len()];
        let mut set = |column, cell| row[machine::SOURCE.place(column)] = cell;
        set(machine::CPUS, Some(self.cpu.cpus.to_string()));
        set(machine::BUSY_CPUS, cpus(CpuUse::busy));
        set(machine::USER_CPUS, cpus(|used| used.user));
        set(machine::SYSTEM_CPUS, cpus(|used| used.system));
        set(machine::IOWAIT_CPUS, cpus(|used| used.iowait));
        set(machine::STEAL_CPUS, cpus(|used| used.steal));
        set(machine::CPU_PERCENT, used.as_ref().map(|used| format!("{:.1}", used.busy() / used.cpus * 100.0)));
        set(machine::MEMORY_BYTES, bytes(self.memory.total_bytes));
        set(machine::AVAILABLE_BYTES, self.memory.available_bytes.and_then(bytes));
        set(machine::DIRTY_BYTES, self.memory.dirty_bytes.and_then(bytes));
        if seconds > 0.0 {
            let disks = self.disks.since(&before.disks, seconds);
            let (received, sent) = self.net.since(&before.net, seconds);
            let whole = |n: f64| Some(format!("{n:.0}"));
            set(machine::DISK_READ_BYTES_PER_S, whole(disks.read_bytes_per_s));
            set(machine::DISK_WRITE_BYTES_PER_S, whole(disks.write_bytes_per_s));
            set(machine::DISK_BUSY, Some(format!("{:.3}", disks.busy)));
            set(machine::NET_RECEIVE_BYTES_PER_S, whole(received));
            set(machine::NET_SEND_BYTES_PER_S, whole(sent));
            let exact = |n: f64| format!("{n:.3}");
            set(machine::DISK_WAIT_MS, disks.wait_ms.map(exact));
            set(machine::DISK_QUEUE, Some(exact(disks.queue)));
            let pressure = self.pressure.since(&before.pressure, seconds);
            set(machine::SWAP_IN_PAGES, pressure.swap_in_pages.map(exact));
            set(machine::SWAP_OUT_PAGES, pressure.swap_out_pages.map(exact));
            set(machine::CPU_PRESSURE, pressure.cpu.map(exact));
            set(machine::IO_PRESSURE, pressure.io.map(exact));
            set(machine::MEMORY_PRESSURE, pressure.memory.map(exact));
            set(machine::TCP_RETRANSMITTED, pressure.retransmitted.map(|share| format!("{share:.5}")));
        }
        set(machine::LOAD_1MIN, Some(format!("{:.2}", self.load)));
        row
    }
}

impl Observer {
    /// Returns an observer of the server's machine.
    pub(crate) fn of_server(tally: Tally) -> Self {
        Self::new(MACHINE, PROCESSES, tally, false)
    }

    /// Returns an observer of the driver's machine, if the server may run on another one.
    pub(crate) fn of_driver(tally: Tally) -> Self {
        let knows_others = !tally.seeks_server();
        Self::new(DRIVER_MACHINE, DRIVER_PROCESSES, tally, knows_others)
    }

    /// Returns the source of rows about the machine.
    pub(crate) fn machine(&self) -> &'static str {
        self.machine
    }

    fn new(machine: &'static str, processes: &'static str, tally: Tally, knows_others: bool) -> Self {
        Self { machine, processes, tally, knows_others, before: None, processes_before: None }
    }

    /// Returns the source of rows about its processes.
    pub(crate) fn processes(&self) -> &'static str {
        self.processes
    }

    /// Returns rows of the time since the look before; none for the first one.
    ///
    /// # Errors
    /// When a text is not in Linux's format.
    pub(crate) fn digest(&mut self, look: &MachineReading, at: Instant) -> Result<Vec<Frame>, Malformed> {
        let now = Reading::parse(&look.texts)?;
        let mut frames = Vec::new();
        if let Some(before) = &self.before {
            let rows = vec![now.row(before)];
            frames.push(Frame { source: self.machine, at, columns: MACHINE_COLUMNS, rows });
        }
        if let Some(processes) = &look.processes {
            let rows = self.process_rows(processes, &look.titles, now.cpu);
            if !rows.is_empty() {
                frames.push(Frame { source: self.processes, at, columns: PROCESS_COLUMNS, rows });
            }
        }
        self.before = Some(now);
        Ok(frames)
    }

    /// Rows of [`PROCESS_COLUMNS`].
    fn process_rows(
        &mut self,
        processes: &[Process],
        titles: &HashMap<i32, String>,
        now: CpuTimes,
    ) -> Vec<Vec<Option<String>>> {
        let mut shares = self.tally.look(processes, titles);
        let before = self.processes_before.replace(now);
        let Some(used) = before.and_then(|before| now.since(&before)) else { return Vec::new() };
        shares.entry(KERNEL).or_default();
        let row = |kind: &str, cpus: f64, count: usize| {
            vec![Some(kind.to_owned()), Some(format!("{cpus:.3}")), Some(count.to_string())]
        };
        let (mut rows, mut known, mut counted) = (Vec::new(), 0.0, 0);
        for (kind, share) in &shares {
            let interrupts = if *kind == KERNEL { used.interrupts } else { 0.0 };
            let cpus = share.ticks as f64 * used.cpus_of_tick + interrupts;
            known += cpus;
            counted += share.count;
            rows.push(row(kind, cpus, share.count));
        }
        if self.knows_others || self.tally.has_server() {
            rows.push(row(OTHER, (used.busy() - known).max(0.0), processes.len().saturating_sub(counted)));
        }
        // The driver may be on another machine.
        rows.retain(|row| row[0].as_deref() != Some(DRIVER) || row[2].as_deref() != Some("0"));
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::server::ServerSession;

    /// Returns a machine with two CPUs after so many seconds, with `own` ticks of the driver, `server` of the server,
    /// `interrupts` of nobody, and the rest up to a tick in two of another program.
    fn look(seconds: u64, own: u64, server: u64) -> MachineReading {
        let ticks = seconds * 200;
        let stat =
            format!("cpu  {} 0 0 {} 0 0 {} 0 0 0\ncpu0 0\ncpu1 0\n", ticks / 2, ticks / 2 - ticks / 20, ticks / 20);
        let files = [
            stat,
            "MemTotal: 1000 kB\nMemAvailable: 500 kB\nDirty: 10 kB\n".to_owned(),
            format!("8 0 sda 1 0 {} 1 1 0 {} 1 0 {} 1\n", seconds * 2, seconds * 4, seconds * 500),
            format!("head\nhead\neth0: {} 0 0 0 0 0 0 0 {} 0\n", seconds * 1000, seconds * 2000),
            "1.50 1 1 1/1 1\n".to_owned(),
            format!("{seconds}.00 1.0\n"),
            "a-b-c\n".to_owned(),
            format!("pswpin {}\npswpout 0\n", seconds * 3),
            String::new(),
            format!("some avg10=0 avg60=0 avg300=0 total={}\n", seconds * 250_000),
            String::new(),
            String::new(),
        ];
        let process = |pid, parent, own_ticks| Process { pid, parent, own_ticks, reaped_ticks: 0, started: 1 };
        let driver = std::process::id() as i32;
        let processes = vec![process(driver, 0, own), process(-7, 0, 0), process(-8, -7, server), process(-9, 0, 5)];
        let titles = HashMap::from([(-8, "postgres: me bench [local] idle".to_owned())]);
        MachineReading { texts: ProcTexts { files, ..ProcTexts::default() }, processes: Some(processes), titles }
    }

    fn cells(frame: &Frame, row: usize) -> Vec<&str> {
        frame.rows[row].iter().map(|cell| cell.as_deref().unwrap_or("")).collect()
    }

    #[test]
    fn two_looks_make_a_row_of_each_source() {
        let mut observer = Observer::of_driver(Tally::here(None));
        let at = Instant::now();
        assert_eq!(observer.digest(&look(10, 100, 0), at), Ok(Vec::new()));
        let frames = observer.digest(&look(12, 140, 0), at).unwrap();
        assert_eq!(frames[0].source, "driver_machine");
        assert_eq!(
            cells(&frames[0], 0),
            [
                "2", "1.100", "1.000", "0.100", "0.000", "0.000", "55.0", "1024000", "512000", "10240", "1024", "2048",
                "0.500", "1000", "2000", "1.50", "", "0.000", "3.000", "0.000", "0.250", "", "", ""
            ]
        );
        assert_eq!(frames[1].source, "driver_processes");
        let rows: Vec<_> = (0..frames[1].rows.len()).map(|nth| cells(&frames[1], nth)).collect();
        assert_eq!(rows, [["driver", "0.200", "1"], ["kernel", "0.100", "0"], ["other", "0.800", "3"]]);
    }

    #[test]
    fn a_server_that_is_not_found_is_not_taken_for_other_programs() {
        let at = Instant::now();
        let kinds = |session| {
            let mut observer = Observer::of_server(Tally::elsewhere(session));
            observer.digest(&look(10, 100, 30), at).unwrap();
            let frames = observer.digest(&look(11, 120, 90), at).unwrap();
            assert_eq!(frames[1].source, "processes");
            (0..frames[1].rows.len()).map(|nth| cells(&frames[1], nth).join(" ")).collect::<Vec<_>>()
        };
        assert_eq!(
            kinds(Some(ServerSession::sample(-8))),
            ["client backend 0.600 1", "kernel 0.100 0", "postmaster 0.000 1", "other 0.400 2"]
        );
        assert_eq!(kinds(Some(ServerSession::sample(-9))), ["kernel 0.100 0"]);
    }

    #[test]
    fn a_text_that_is_none_of_proc_is_an_error() {
        let mut broken = look(1, 1, 1);
        broken.texts.files[1] = "bash: cat: not found".to_owned();
        let error = Observer::of_driver(Tally::here(None)).digest(&broken, Instant::now()).unwrap_err();
        assert_eq!(error.to_string(), "/proc/meminfo has an unexpected format: \"bash: cat: not found\"");
    }
}
