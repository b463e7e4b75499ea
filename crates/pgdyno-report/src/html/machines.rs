//! The use of the machines' CPUs in the measured window: a bar for each machine.

use pgdyno_results::{MachineRecord, RunRecord};
use pgdyno_text::units::bytes;

use super::chart::Ink;
use super::markup::Html;
use super::share_bar::{Share, bar, keys};

/// A machine that pgdyno itself sampled.
const LOCAL: &str = "local";

/// A part of a bar: its name, its colour, which is that of the charts, and CPUs.
type Part = (&'static str, &'static str, f64);

pub(super) fn machines(record: &RunRecord, html: &mut Html) {
    let known = [("Server's machine", &record.server_machine), ("Driver's machine", &record.client_machine)];
    let known: Vec<_> = known.into_iter().filter_map(|(name, machine)| Some((name, machine.as_ref()?))).collect();
    if known.is_empty() {
        return;
    }
    html.heading("CPU use");
    for (name, machine) in known {
        one(name, machine, html);
    }
}

fn one(name: &str, machine: &MachineRecord, html: &mut Html) {
    let parts = parts(machine);
    let used: f64 = parts.iter().map(|(_, _, cpus)| cpus).sum();
    let all = machine.cpus.unwrap_or(used).max(used);
    if all <= 0.0 {
        return;
    }
    html.raw("<div class=\"machine\"><p><b>").text(name).raw("</b> ");
    let cpus = machine.cpus.map_or_else(String::new, |cpus| format!("{cpus} CPUs, "));
    let seen_by = match machine.seen_by.as_str() {
        LOCAL => "where pgdyno ran",
        MachineRecord::CLOUD => "by the cloud's monitoring",
        other => other,
    };
    let mean = machine.cpu_percent.filter(|_| machine.seen_by == MachineRecord::CLOUD);
    let mean = mean.map_or_else(String::new, |percent| format!(", mean CPU {percent:.0} %"));
    html.text(&format!("{cpus}{seen_by}{mean}")).raw("</p>");
    let share =
        |(what, ink, cpus): &Part| Share { words: format!("{what} {cpus:.2}"), share: cpus / all, ink: Ink(ink, 0) };
    let shares: Vec<Share> = parts.iter().map(share).collect();
    bar("", &shares, html);
    keys(&shares, html);
    html.raw("\n");
    let more = more(machine);
    if !more.is_empty() {
        html.raw("<p class=\"note\">").text(&more.join("; ")).raw("</p>");
    }
    html.raw("</div>\n");
}

/// Returns CPUs by use, including the idle ones.
fn parts(machine: &MachineRecord) -> Vec<Part> {
    let mut parts = vec![("the server", "c0", machine.server_cpus.values().sum())];
    let mut part = |what, ink, cpus: Option<f64>| parts.push((what, ink, cpus.unwrap_or(0.0)));
    part("pgdyno", "c6", machine.driver_cpus);
    part("kernel", "ttime", machine.kernel_cpus);
    part("other programs", "tback", machine.other_cpus);
    // If processes are not visible, only their sum is known.
    part("busy (processes not visible)", "tback", machine.busy_cpus.filter(|_| machine.other_cpus.is_none()));
    part("waiting for disks", "tlwlock", machine.iowait_cpus);
    part("taken by the hypervisor", "tlock", machine.steal_cpus);
    // A remainder below the rounding of several samples is ignored.
    parts.retain(|(_, _, cpus)| *cpus >= 0.005);
    let used: f64 = parts.iter().map(|(_, _, cpus)| cpus).sum();
    if let Some(cpus) = machine.cpus {
        parts.push(("idle", "grid", (cpus - used).max(0.0)));
    }
    parts
}

/// Returns further facts about a machine, as text.
fn more(machine: &MachineRecord) -> Vec<String> {
    let mut more = Vec::new();
    let mut kinds: Vec<_> = machine.server_cpus.iter().filter(|(_, cpus)| **cpus >= 0.005).collect();
    kinds.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    if !kinds.is_empty() {
        let kinds: Vec<_> = kinds.into_iter().map(|(kind, cpus)| format!("{kind} {cpus:.2}")).collect();
        more.push(format!("CPUs of the server: {}", kinds.join(", ")));
    }
    more.extend(machine.usable_cpus.map(|usable| format!("of its CPUs the container may use {usable}")));
    more.extend(machine.memory_bytes.map(|n| format!("memory {}", bytes(n))));
    let mut flow = |what: &str, into: Option<f64>, out: Option<f64>, names: [&str; 2]| {
        if let (Some(into), Some(out)) = (into, out) {
            let (into, out) = (bytes(into as u64), bytes(out as u64));
            more.push(format!("{what}: {into}/s {}, {out}/s {}", names[0], names[1]));
        }
    };
    flow("disks", machine.disk_read_bytes_per_s, machine.disk_write_bytes_per_s, ["read", "written"]);
    flow("network", machine.net_receive_bytes_per_s, machine.net_send_bytes_per_s, ["received", "sent"]);
    more
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_has_all_cpus_of_the_machine() {
        let machine = MachineRecord {
            cpus: Some(4.0),
            busy_cpus: Some(3.0),
            server_cpus: [("client backend".to_owned(), 1.0), ("walwriter".to_owned(), 0.5)].into(),
            driver_cpus: Some(0.5),
            other_cpus: Some(1.0),
            ..MachineRecord::default()
        };
        let facts: Vec<_> = parts(&machine).into_iter().map(|(what, _, cpus)| (what, cpus)).collect();
        assert_eq!(facts, [("the server", 1.5), ("pgdyno", 0.5), ("other programs", 1.0), ("idle", 1.0)]);
        let blind = MachineRecord { cpus: Some(4.0), busy_cpus: Some(3.0), ..MachineRecord::default() };
        let facts: Vec<_> = parts(&blind).into_iter().map(|(what, _, cpus)| (what, cpus)).collect();
        assert_eq!(facts, [("busy (processes not visible)", 3.0), ("idle", 1.0)]);
    }
}
