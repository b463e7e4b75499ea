//! This machine, by its own `/proc`.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use super::beat::{Beat, Wake};
use super::cgroup::Groups;
use super::observer::{MachineReading, Observer};
use super::proc::{BOOT, FILES, ProcTexts};
use super::process::{self, Process};
use super::report::{MachineReport, Sink};
use super::server::title_of;
use super::tally::Tally;
use super::{MACHINE, PROCESSES};

/// CPU time a second for looking at processes. If a look takes more, looks are less frequent.
const BUDGET: Duration = Duration::from_millis(5);

/// Looks at this machine every second until it is stopped.
pub(crate) fn watch(mut observer: Observer, wake: &Receiver<Wake>, report: &Sink) {
    let source = observer.machine();
    if !Path::new("/proc/stat").exists() {
        let why = "machines are sampled through /proc, which only Linux has".to_owned();
        return report(MachineReport::LeftOut { source, why });
    }
    let seeks_server = observer.tally.seeks_server() && source == MACHINE;
    let (mut seconds_per_look, mut until_next) = (1, 0);
    let mut cost_before: Option<Duration> = None;
    let mut groups = Groups::find(observer.tally.postmaster());
    let mut beat = Beat::begin();
    loop {
        let with_processes = until_next == 0;
        let began = thread_cpu();
        let look = look(&observer.tally, with_processes);
        let frames = observer.digest(&look, Instant::now());
        let own_cost = thread_cpu().saturating_sub(began);
        match frames {
            Ok(frames) => {
                let frames = frames.into_iter().chain(groups.look(Instant::now()));
                frames.for_each(|frame| report(MachineReport::Frame(frame)));
            }
            Err(malformed) => return report(MachineReport::LeftOut { source, why: malformed.to_string() }),
        }
        if with_processes {
            // Not because of a single expensive look, such as the first one.
            let cost = own_cost.min(cost_before.unwrap_or_default());
            let wanted = cost.div_duration_f64(BUDGET).ceil().max(1.0) as u32;
            if wanted > seconds_per_look {
                let count = look.processes.as_ref().map_or(0, Vec::len);
                let ms = cost.as_secs_f64() * 1e3;
                let why = format!("sampling {count} processes takes {ms:.0} ms of CPU, so it is done every {wanted} s");
                report(MachineReport::LeftOut { source: observer.processes(), why });
                seconds_per_look = wanted;
            }
            if seeks_server && cost_before.is_none() && !observer.tally.has_server() {
                report(MachineReport::LeftOut {
                    source: PROCESSES,
                    why: "the server's processes are not among those of this machine, or hidden: a container or a \
                          tunnel may lie between; give --os-metrics to sample its machine"
                        .to_owned(),
                });
            }
            cost_before = Some(own_cost);
            until_next = seconds_per_look;
        }
        until_next -= 1;
        if beat.wait(wake).is_some() {
            return;
        }
    }
}

/// Returns an id of this start of this machine; empty without `/proc`.
pub(crate) fn boot() -> String {
    read(&format!("/proc/{BOOT}"))
}

/// Returns the text of a file; empty if it cannot be read.
fn read(path: &str) -> String {
    fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

/// Reads `/proc`.
fn look(tally: &Tally, with_processes: bool) -> MachineReading {
    let files = FILES.map(|file| read(&format!("/proc/{file}")));
    let mut look = MachineReading { texts: ProcTexts { files, ..ProcTexts::default() }, ..MachineReading::default() };
    if with_processes {
        let processes: Vec<Process> = process::all().filter_map(Process::look).collect();
        let title = |pid| (pid, title_of(&fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default()));
        look.titles = tally.wanted(&processes).into_iter().map(title).collect::<HashMap<_, _>>();
        look.processes = Some(processes);
    }
    look
}

fn thread_cpu() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}
