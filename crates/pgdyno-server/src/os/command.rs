//! A machine by a user's command, such as one for a cloud's monitoring.

use std::process::Command;
use std::sync::mpsc::{Receiver, Sender};
use std::time::{Instant, SystemTime};

use super::beat::Wake;
use super::child::Teller;
use super::report::{MachineReport, Sink};
use super::rows::{Line, Rows};
use super::{MACHINE, MACHINE_COLUMNS};
use crate::Frame;

/// Runs `$1` and ends it, with all processes that it has started, as soon as the other end of standard input is
/// closed: also if pgdyno is killed.
const GUARDED: &str =
    "exec 3<&0 </dev/null; { read -r never; kill -KILL 0; } <&3 >/dev/null 2>&1 & exec sh -c \"$1\" 3<&-";

/// Takes rows that `command` prints of a machine with `cpus` CPUs, until it is asked to stop.
pub(crate) fn watch(command: &str, cpus: Option<f64>, own: &Sender<Wake>, wake: &Receiver<Wake>, report: &Sink) {
    let left_out = |why: String| {
        report(MachineReport::LeftOut { source: MACHINE, why: format!("the command of --os-metrics: {why}") })
    };
    let mut shell = Command::new("sh");
    shell.args(["-c", GUARDED, "sh", command]);
    let mut teller = match Teller::start(&mut shell, own) {
        Ok(teller) => teller,
        Err(error) => return left_out(format!("sh could not be started: {error}")),
    };
    let began = Instant::now();
    let (mut rows, mut count, mut garbage) = (Rows::of(cpus), 0_u64, 0_u64);
    // The sender of events lives as long as this thread.
    for woken in wake {
        match woken {
            Wake::Stop if count == 0 && garbage == 0 => {
                return left_out(format!("it printed no row within {:.0} s", began.elapsed().as_secs_f64()));
            }
            Wake::Stop => return,
            Wake::Ended => return left_out(format!("it ended after {count} rows: {}", teller.epitaph())),
            Wake::Line(line) => match rows.take(&line) {
                Line::Nothing => {}
                Line::Header(complaints) => complaints.into_iter().for_each(left_out),
                Line::Useless(why) => return left_out(why),
                Line::Garbage(why) => {
                    garbage += 1;
                    if garbage == 1 {
                        left_out(format!("{why}; such lines are skipped"));
                    }
                }
                Line::Row(moment, row) => {
                    // The run's clock does not have times before the machine's start.
                    let Some(at) = moment.map_or_else(|| Some(Instant::now()), instant) else { continue };
                    count += 1;
                    report(MachineReport::Frame(Frame {
                        source: MACHINE,
                        at,
                        columns: MACHINE_COLUMNS,
                        rows: vec![row],
                    }));
                }
            },
        }
    }
}

/// Converts a wall-clock time to the clock of the run.
fn instant(moment: SystemTime) -> Option<Instant> {
    let (now, today) = (Instant::now(), SystemTime::now());
    match today.duration_since(moment) {
        Ok(ago) => now.checked_sub(ago),
        Err(ahead) => now.checked_add(ahead.duration()),
    }
}

#[cfg(test)]
mod tests;
