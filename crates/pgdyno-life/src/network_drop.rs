//! Packets between this machine and a server that are dropped for a time, by a table of nftables.
//!
//! The address is an element of a set with a time limit: the kernel removes it when its time is over, even if pgdyno was killed. The
//! table itself is removed by pgdyno. One that a killed pgdyno left behind drops nothing, and the next drop removes it.

use std::io::Write as _;
use std::net::{IpAddr, SocketAddr};
use std::process::{Command, Stdio};
use std::time::Duration;

/// The program of nftables.
pub(crate) const PROGRAM: &str = "nft";
/// Tables are called by it and by the process that made them.
const TABLE: &str = "pgdyno_drop_";
/// The kernel removes the address so much later than pgdyno does.
const LATER: Duration = Duration::from_secs(1);
/// A rule is checked with an address that documentation has for itself (RFC 5737).
const NOBODY: SocketAddr = SocketAddr::new(IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1)), 5432);

/// Packets that are being dropped, until this value is dropped or their time is over.
#[derive(Debug)]
pub(crate) struct NetworkDrop {
    table: String,
}

impl NetworkDrop {
    /// Drops all packets between this machine and a server from now on, for a time at most.
    ///
    /// # Errors
    /// When nft refuses.
    pub(crate) fn begin(server: SocketAddr, time: Duration) -> Result<Self, String> {
        remove_left_behind();
        let table = format!("{TABLE}{}", std::process::id());
        let drop = Self { table };
        nft(&["-f", "-"], &rules(&drop.table, server, time + LATER))?;
        Ok(drop)
    }

    /// Lets packets through again. Returns the number of packets that were dropped.
    ///
    /// # Errors
    /// When nft refuses.
    pub(crate) fn end(self) -> Result<u64, String> {
        let counter = nft(&["-j", "list", "counter", "inet", &self.table, "dropped"], "")?;
        let packets = packets(&counter).ok_or_else(|| "nft does not say how many packets were dropped".to_owned());
        nft(&["delete", "table", "inet", &self.table], "")?;
        packets
    }
}

impl Drop for NetworkDrop {
    fn drop(&mut self) {
        // Fails if it is gone already. Otherwise the kernel lets packets through when their time is over.
        let _ = nft(&["delete", "table", "inet", &self.table], "");
    }
}

/// Returns why packets cannot be dropped here; `None` if they can. Changes nothing.
pub(crate) fn missing() -> Option<String> {
    nft(&["--check", "-f", "-"], &rules(TABLE, NOBODY, LATER)).err()
}

/// Returns the rules that drop packets to and from a server.
fn rules(table: &str, server: SocketAddr, time: Duration) -> String {
    let (family, kind) = match server.ip() {
        IpAddr::V4(_) => ("ip", "ipv4_addr"),
        IpAddr::V6(_) => ("ip6", "ipv6_addr"),
    };
    let (ip, port, time_ms) = (server.ip(), server.port(), time.as_millis());
    // Before the tracking of connections.
    let hook = |name: &str| format!("add chain inet {table} {name} {{ type filter hook {name} priority -300; }}\n");
    format!(
        "add table inet {table}\n\
         add counter inet {table} dropped\n\
         add set inet {table} servers {{ type {kind} . inet_service; flags timeout; }}\n\
         {}{}\
         add rule inet {table} input {family} saddr . tcp sport @servers counter name dropped drop\n\
         add rule inet {table} output {family} daddr . tcp dport @servers counter name dropped drop\n\
         add element inet {table} servers {{ {ip} . {port} timeout {time_ms}ms }}\n",
        hook("input"),
        hook("output"),
    )
}

/// Removes the tables of processes that were killed.
fn remove_left_behind() {
    let Ok(tables) = nft(&["list", "tables"], "") else { return };
    for table in tables.lines().filter_map(|line| line.strip_prefix("table inet ")) {
        let owner = table.strip_prefix(TABLE).and_then(|pid| pid.parse().ok()).and_then(rustix::process::Pid::from_raw);
        let has_ended = |pid| rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH);
        if owner.is_some_and(has_ended) {
            // Another process may remove it at the same time.
            let _ = nft(&["delete", "table", "inet", table], "");
        }
    }
}

/// Returns the packets of the counter in the JSON of nft.
fn packets(json: &str) -> Option<u64> {
    let listed: serde_json::Value = serde_json::from_str(json).ok()?;
    listed["nftables"].as_array()?.iter().find_map(|item| item["counter"]["packets"].as_u64())
}

/// Runs nft. Returns its output, or its first message.
fn nft(args: &[&str], input: &str) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("{PROGRAM} cannot be run: {error}");
    let mut command = Command::new(PROGRAM);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        // It may end before it has read all: its message says why.
        let _ = stdin.write_all(input.as_bytes());
    }
    let output = child.wait_with_output().map_err(failed)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let message = String::from_utf8_lossy(&output.stderr);
    let message = message.lines().find(|line| !line.trim().is_empty()).unwrap_or("it says nothing").trim();
    Err(format!("{PROGRAM} failed: {message}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_name_the_address_in_its_family_and_end_by_themselves() {
        let text = rules("t", "10.1.2.3:5433".parse().unwrap(), Duration::from_millis(3500));
        assert!(text.contains("add element inet t servers { 10.1.2.3 . 5433 timeout 3500ms }"), "{text}");
        assert!(
            text.contains("type ipv4_addr . inet_service") && text.contains("output ip daddr . tcp dport"),
            "{text}"
        );
        let text = rules("t", "[fd00::1]:5432".parse().unwrap(), Duration::from_secs(1));
        assert!(text.contains("{ fd00::1 . 5432 timeout 1000ms }") && text.contains("input ip6 saddr"), "{text}");
    }

    #[test]
    fn the_counter_is_found_beside_what_else_nft_writes() {
        let json = r#"{"nftables": [{"metainfo": {"version": "1.0.6"}}, {"counter": {"name": "dropped", "packets": 12, "bytes": 720}}]}"#;
        assert_eq!(packets(json), Some(12));
        assert_eq!((packets("{}"), packets("")), (None, None));
    }
}
