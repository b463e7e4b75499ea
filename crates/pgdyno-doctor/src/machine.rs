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

use std::path::Path;
use std::time::Duration;

use pgdyno_report::units;
use pgdyno_server::Machine;

use crate::examination::Place;
use files::Files;
use usage::Usage;

/// How long the CPUs are watched.
const WATCH: Duration = Duration::from_secs(1);

/// Examines this machine. Files are flushed in `directory`, where a private server has its data. Takes about two seconds.
#[must_use]
pub fn examine(directory: &Path) -> Place {
    let files = Files::of_this_machine();
    let machine = Machine::look();
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
        flush::check(directory),
    ];
    Place { name: "machine", description: describe(&machine), findings: found.into_iter().flatten().collect() }
}

/// Returns what the machine is: `2 CPUs, 23.4 GiB, Linux 6.1.0, AMD EPYC`.
fn describe(machine: &Machine) -> String {
    let cpus = machine.usable_cpus();
    let mut text = format!("{cpus} CPU{}", if cpus == 1 { "" } else { "s" });
    for part in [machine.usable_ram_bytes().map(units::bytes), Some(machine.kernel.clone()), machine.cpu_model.clone()]
    {
        text.extend(part.into_iter().map(|part| format!(", {part}")));
    }
    text
}

/// Returns the severity of what a check found, for tests; without a finding it passed.
#[cfg(test)]
fn severity(found: &Option<crate::Finding>) -> crate::Severity {
    found.as_ref().map_or(crate::Severity::Passed, |finding| finding.severity)
}
