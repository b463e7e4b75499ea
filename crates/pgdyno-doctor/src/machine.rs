//! This machine: where the driver runs, and a private server beside it.

mod clock;
mod cpu_limit;
mod files;
mod flush;
mod governor;
mod huge_pages;
mod memory;
mod open_files;
mod other_programs;
mod ports;
mod pressure;
mod scheduler;
mod steal;
mod topology;
mod usage;

use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use pgdyno_server::MachineFacts;
use pgdyno_text::units;

use crate::examination::Examined;
use crate::finding::Finding;
use files::Files;
use usage::Usage;

/// How long the CPUs are watched.
const WATCH: Duration = Duration::from_secs(1);
/// Time limit of the check that writes to a disk. The others read what the kernel has in memory.
const FLUSH: Duration = Duration::from_secs(20);

/// Examines this machine. Files are flushed in `directory`, where a private server has its data. Takes about two seconds.
#[must_use]
pub fn examine(directory: &Path) -> Examined {
    let files = Files::of_this_machine();
    let machine = MachineFacts::look();
    let usage = Usage::watch(&files, WATCH);
    let found = [
        governor::check(&files),
        cpu_limit::check(&machine),
        usage.as_ref().and_then(steal::check),
        usage.as_ref().and_then(other_programs::check),
        pressure::check(&files),
        memory::check(&files),
        huge_pages::check(&files),
        scheduler::check(&files),
        topology::check(&files),
        clock::check(&pgdyno_engine::Clock::measure()),
        open_files::check(),
        ports::check(&files),
        flush_in_time(directory.to_owned(), FLUSH),
    ];
    Examined { name: "machine", description: describe(&machine), findings: found.into_iter().flatten().collect() }
}

/// Times flushes in a thread of its own, which is left behind if the disk hangs.
fn flush_in_time(directory: PathBuf, limit: Duration) -> Option<Finding> {
    let (done, end) = mpsc::channel();
    // If no thread can be started, or it ends too late, its result is dropped.
    let started = std::thread::Builder::new().name("pgdyno-flush".to_owned()).spawn(move || {
        drop(done.send(flush::check(&directory)));
    });
    started.ok()?;
    end.recv_timeout(limit).unwrap_or_else(|_| {
        let found = Finding::passed("disk-flush", format!("did not end within {} s", limit.as_secs()));
        Some(found.error(
            "The disk with the data of private servers hangs: a run would, too.",
            "Look at the kernel's log and at what else writes there.",
        ))
    })
}

/// Returns what the machine is: `2 CPUs, 23.4 GiB, Linux 6.1.0, AMD EPYC`.
fn describe(machine: &MachineFacts) -> String {
    let cpus = machine.usable_cpus();
    let mut text = units::plain_plural(cpus.into(), "CPU");
    for part in [machine.usable_ram_bytes().map(units::bytes), Some(machine.kernel.clone()), machine.cpu_model.clone()]
    {
        text.extend(part.into_iter().map(|part| format!(", {part}")));
    }
    text
}

/// Returns the severity of what a check found, for tests; without a finding it passed.
#[cfg(test)]
fn severity(found: &Option<crate::Finding>) -> crate::FindingSeverity {
    found.as_ref().map_or(crate::FindingSeverity::Passed, |finding| finding.severity)
}
