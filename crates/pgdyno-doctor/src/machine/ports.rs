//! Ports for connections by TCP. Source: ip(7); the kernel's documentation of ip-sysctl.

use pgdyno_text::units;

use super::files::Files;
use crate::finding::Finding;

/// Fewer ports than this are few.
const FEW: u64 = 10_000;

pub(super) fn check(files: &Files) -> Option<Finding> {
    let range = files.text("proc/sys/net/ipv4/ip_local_port_range")?;
    let mut bounds = range.split_whitespace().filter_map(|bound| bound.parse::<u64>().ok());
    let ports = bounds.next().zip(bounds.next()).map(|(low, high)| (high + 1).saturating_sub(low))?;
    let sockets = files.text("proc/net/sockstat").unwrap_or_default();
    let tcp = sockets.lines().find(|line| line.starts_with("TCP:")).unwrap_or_default();
    let mut words = tcp.split_whitespace().skip_while(|word| *word != "tw").skip(1);
    let waiting = words.next().and_then(|number| number.parse::<u64>().ok()).unwrap_or_default();
    let left = ports.saturating_sub(waiting);
    let mut figure = format!("{} for outgoing TCP connections", units::count(ports));
    if waiting > 0 {
        figure += &format!(", {} in TIME_WAIT", units::count(waiting));
    }
    let found = Finding::passed("ports", figure).measured(left as f64, "ports");
    if left >= FEW {
        return Some(found);
    }
    Some(found.note(
        "A run with more clients than that, or with a connection for each transaction (--connect), runs out of them.",
        "Widen the range: sysctl net.ipv4.ip_local_port_range=\"10000 65535\", or wait a minute.",
    ))
}

#[cfg(test)]
mod tests {
    use super::super::files::Made;
    use super::*;
    use crate::FindingSeverity;

    #[test]
    fn ports_that_wait_are_not_free() {
        let of = |waiting: &str| {
            let sockets = format!("sockets: used 9\nTCP: inuse 4 orphan 0 tw {waiting} alloc 7 mem 1\n");
            let range = ("proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n");
            check(&Made::of(&[range, ("proc/net/sockstat", &sockets)]).files()).unwrap()
        };
        assert_eq!((of("0").severity, of("0").value), (FindingSeverity::Passed, Some(28_232.0)));
        let few = of("20000");
        assert_eq!(few.severity, FindingSeverity::Note);
        assert_eq!(few.figure, "28,232 for outgoing TCP connections, 20,000 in TIME_WAIT");
    }
}
