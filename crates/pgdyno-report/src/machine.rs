//! The use of the machines' CPUs, in a line each.

use pgdyno_results::{MachineRecord, RunRecord};

use crate::Extent;

/// Number of kinds of the server's processes that are named.
const NAMED: usize = 3;

/// CPUs below this number are not shown.
const LITTLE: f64 = 0.005;

/// CPUs below this number are not shown in a summary.
const LITTLE_IN_SHORT: f64 = 0.05;

/// Returns a line for each sampled machine. A short one does not name the only machine.
pub(crate) fn lines(record: &RunRecord, extent: Extent) -> Vec<String> {
    let (server, client) = (record.server_machine.as_ref(), record.client_machine.as_ref());
    let server = server.map(|machine| {
        let name = match (extent, machine.seen_by.as_str()) {
            (Extent::Short, _) if client.is_none() => String::new(),
            (Extent::Short, _) => "the server's machine: ".to_owned(),
            (Extent::Full, "local") => "machine: ".to_owned(),
            (Extent::Full, MachineRecord::CLOUD) => "the server's machine, by the cloud's monitoring: ".to_owned(),
            (Extent::Full, seen_by) => format!("the server's machine, by {seen_by}: "),
        };
        line(&name, machine, extent)
    });
    server.into_iter().chain(client.map(|machine| line("the driver's machine: ", machine, extent))).collect()
}

fn line(name: &str, machine: &MachineRecord, extent: Extent) -> String {
    format!("{name}{}", parts(machine, extent).join(", "))
}

/// Returns who used how many CPUs, and all of it which of the server's processes did.
fn parts(machine: &MachineRecord, extent: Extent) -> Vec<String> {
    let (kinds, little) = match extent {
        Extent::Short => (String::new(), LITTLE_IN_SHORT),
        Extent::Full => (kinds(machine), LITTLE),
    };
    let mut parts = Vec::new();
    if let Some(cpus) = machine.cpus {
        let plural = if cpus == 1.0 { "" } else { "s" };
        let usable =
            machine.usable_cpus.map_or_else(String::new, |usable| format!(", of which the container may use {usable}"));
        parts.push(format!("{cpus:.0} CPU{plural}{usable}"));
    }
    if !machine.server_cpus.is_empty() {
        parts.push(format!("server {:.2}{}", machine.server_cpus.values().sum::<f64>(), kinds));
    }
    let mut part = |name: &str, cpus: Option<f64>, least: f64| {
        parts.extend(cpus.filter(|cpus| *cpus >= least).map(|cpus| format!("{name} {cpus:.2}")));
    };
    part("pgdyno", machine.driver_cpus, 0.0);
    part("kernel", machine.kernel_cpus, little);
    part("other programs", machine.other_cpus, if extent == Extent::Short { little } else { 0.0 });
    if machine.other_cpus.is_none() {
        part("busy", machine.busy_cpus, 0.0);
    }
    part("I/O wait", machine.iowait_cpus, little);
    part("taken by the hypervisor", machine.steal_cpus, little);
    part("idle", idle(machine), 0.0);
    match machine.cpu_percent {
        // The figure of the guides, in their words.
        Some(percent) if machine.seen_by == MachineRecord::CLOUD => parts.push(format!("mean CPU {percent:.0} %")),
        Some(percent) if machine.cpus.is_none() => parts.push(format!("busy {percent:.0} %")),
        _ => {}
    }
    parts
}

/// Returns the number of idle CPUs.
fn idle(machine: &MachineRecord) -> Option<f64> {
    let gone = machine.iowait_cpus.unwrap_or_default() + machine.steal_cpus.unwrap_or_default();
    Some((machine.cpus? - machine.busy_cpus? - gone).max(0.0))
}

/// Returns the busiest kinds of the server's processes, with their CPUs.
fn kinds(machine: &MachineRecord) -> String {
    let mut kinds: Vec<_> = machine.server_cpus.iter().filter(|(_, cpus)| **cpus >= LITTLE).collect();
    kinds.sort_by(|a, b| b.1.total_cmp(a.1));
    let several = |kind: &str| if kind.ends_with("backend") || kind.ends_with("worker") { "s" } else { "" };
    let named: Vec<_> =
        kinds.iter().take(NAMED).map(|(kind, cpus)| format!("{kind}{} {cpus:.2}", several(kind))).collect();
    if named.is_empty() { String::new() } else { format!(" ({})", named.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn local() -> MachineRecord {
        let server = [
            ("client backend", 1.1),
            ("walwriter", 0.06),
            ("checkpointer", 0.05),
            ("postmaster", 0.0),
            ("io worker", 0.01),
        ];
        MachineRecord {
            seen_by: "local".to_owned(),
            cpus: Some(2.0),
            busy_cpus: Some(1.95),
            iowait_cpus: Some(0.01),
            steal_cpus: Some(0.004),
            server_cpus: server.map(|(kind, cpus)| (kind.to_owned(), cpus)).into(),
            driver_cpus: Some(0.31),
            kernel_cpus: Some(0.02),
            other_cpus: Some(0.4),
            ..MachineRecord::default()
        }
    }

    #[test]
    fn a_machine_is_shared_out_in_one_line() {
        assert_eq!(
            line("machine: ", &local(), Extent::Full),
            "machine: 2 CPUs, server 1.22 (client backends 1.10, walwriter 0.06, checkpointer 0.05), pgdyno 0.31, kernel 0.02, \
             other programs 0.40, I/O wait 0.01, idle 0.04"
        );
        let limited = MachineRecord { cpus: Some(64.0), usable_cpus: Some(1.5), ..MachineRecord::default() };
        assert_eq!(line("machine: ", &limited, Extent::Full), "machine: 64 CPUs, of which the container may use 1.5");
    }

    #[test]
    fn what_is_not_known_is_not_reported() {
        let percent = MachineRecord { cpu_percent: Some(77.4), ..MachineRecord::default() };
        assert_eq!(line("m: ", &percent, Extent::Full), "m: busy 77 %");
        let busy = MachineRecord { cpus: Some(1.0), busy_cpus: Some(0.75), ..MachineRecord::default() };
        assert_eq!(line("m: ", &busy, Extent::Full), "m: 1 CPU, busy 0.75, idle 0.25");
    }
}
