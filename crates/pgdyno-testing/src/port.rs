//! TCP ports reserved for one test.

use std::net::{Ipv4Addr, Ipv6Addr, TcpListener, UdpSocket};
use std::sync::atomic::{AtomicU16, Ordering};

/// A free TCP port of the loopback addresses, reserved for one test. It is outside the range of ephemeral ports. The UDP port
/// of the same number, held open, marks it as taken for other tests.
#[derive(Debug)]
pub struct Port {
    number: u16,
    _mark: UdpSocket,
}

impl Port {
    /// Reserves a free port.
    #[must_use]
    pub fn reserve() -> Self {
        static NEXT: AtomicU16 = AtomicU16::new(0);
        let candidates =
            candidates(&std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default());
        // Processes begin at different places and so rarely try the same ports.
        let first = std::process::id() as usize * 97;
        for _ in 0..candidates.len() {
            let nth = first + NEXT.fetch_add(1, Ordering::Relaxed) as usize;
            let number = candidates[nth % candidates.len()];
            let Ok(mark) = UdpSocket::bind((Ipv4Addr::LOCALHOST, number)) else { continue };
            if is_free(number) {
                return Self { number, _mark: mark };
            }
        }
        panic!("no port is free");
    }

    /// Returns the number of the port.
    #[must_use]
    pub const fn number(&self) -> u16 {
        self.number
    }
}

fn is_free(port: u16) -> bool {
    let ipv6 = TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).is_ok();
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
        && (!ipv6 || TcpListener::bind((Ipv6Addr::LOCALHOST, port)).is_ok())
}

/// Returns the ports outside `range` ("32768 60999"), or all if these are few.
fn candidates(range: &str) -> Vec<u16> {
    let mut ends = range.split_whitespace().filter_map(|end| end.parse().ok());
    let given = ends.next().unwrap_or(32_768)..=ends.next().unwrap_or(60_999);
    let outside: Vec<u16> = (10_000..=65_535).filter(|port| !given.contains(port)).collect();
    if outside.len() >= 1000 { outside } else { (10_000..=65_535).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_ports_differ_and_are_not_the_system_s_to_give() {
        let ports: Vec<_> = (0..100).map(|_| Port::reserve()).collect();
        let numbers: std::collections::BTreeSet<_> = ports.iter().map(Port::number).collect();
        assert_eq!(numbers.len(), 100);
        assert!(candidates("32768 60999").iter().all(|port| !(32_768..=60_999).contains(port)));
        assert_eq!(candidates("1024 65535").len(), 55_536);
        assert_eq!(candidates("1024\t60999\n"), (61_000..=65_535).collect::<Vec<_>>());
    }

    #[test]
    fn a_port_where_someone_listens_is_not_reserved() {
        let port = Port::reserve();
        assert!(is_free(port.number()));
        let _listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port.number())).unwrap();
        assert!(!is_free(port.number()));
    }
}
