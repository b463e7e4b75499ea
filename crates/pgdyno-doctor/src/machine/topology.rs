//! What the CPUs are: of several sockets, threads of one core, virtual.

use super::files::Files;
use crate::finding::Finding;

pub(super) fn check(files: &Files) -> Option<Finding> {
    let nodes = files.names("sys/devices/system/node");
    let nodes = nodes.iter().filter(|name| name.strip_prefix("node").is_some_and(|n| n.parse::<u32>().is_ok())).count();
    let threads = files.number("sys/devices/system/cpu/smt/active") == Some(1);
    let info = files.text("proc/cpuinfo")?;
    let mut flags = info.lines().filter(|line| line.starts_with("flags"));
    let is_virtual = flags.next().is_some_and(|line| line.split_whitespace().any(|flag| flag == "hypervisor"));
    let parts = [
        (is_virtual, "virtual machine".to_owned()),
        (threads, "two threads a core".to_owned()),
        (nodes > 1, format!("{nodes} NUMA nodes")),
    ];
    let parts: Vec<_> = parts.into_iter().filter(|(is, _)| *is).map(|(_, text)| text).collect();
    let figure = if parts.is_empty() { "one thread a core, one NUMA node".to_owned() } else { parts.join(", ") };
    let found = Finding::passed("topology", figure);
    if nodes <= 1 {
        return Some(found);
    }
    Some(found.note(
        "A process that moves to another node reads its memory more slowly: runs differ by where their processes happen to be.",
        "Keep driver and server on nodes of their own: numactl for the server, taskset or --pin for pgdyno.",
    ))
}

#[cfg(test)]
mod tests {
    use super::super::files::Made;
    use super::*;
    use crate::FindingSeverity;

    #[test]
    fn several_nodes_are_a_note() {
        let info = ("proc/cpuinfo", "processor: 0\nflags\t: fpu hypervisor sse\n");
        let one = check(&Made::of(&[info, ("sys/devices/system/node/node0/cpulist", "0")]).files()).unwrap();
        assert_eq!((one.severity, one.figure.as_str()), (FindingSeverity::Passed, "virtual machine"));
        let two = [info, ("sys/devices/system/node/node0/x", ""), ("sys/devices/system/node/node1/x", "")];
        let two = check(&Made::of(&two).files()).unwrap();
        assert_eq!((two.severity, two.figure.as_str()), (FindingSeverity::Note, "virtual machine, 2 NUMA nodes"));
    }
}
