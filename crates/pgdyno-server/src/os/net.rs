//! Network traffic of a machine.

use std::collections::BTreeMap;

use super::proc::Malformed;

/// Interfaces that lead nowhere, or whose traffic also goes through another one.
const NOT_COUNTED: [&str; 14] =
    ["lo", "veth", "docker", "br-", "virbr", "ifb", "dummy", "bond", "team", "tun", "tap", "wg", "cni", "cali"];

/// Bytes received and sent by each interface since the machine's start. Source: proc_pid_net(5), `dev`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Interfaces {
    interfaces: BTreeMap<String, (u64, u64)>,
}

impl Interfaces {
    /// Reads `/proc/net/dev`.
    ///
    /// # Errors
    /// When a line below the header has no name, or too few numbers.
    pub(crate) fn parse(dev: &str) -> Result<Self, Malformed> {
        let mut interfaces = BTreeMap::new();
        // The header has two lines.
        for line in dev.lines().skip(2) {
            let malformed = || Malformed::new("net/dev", line);
            let (name, counts) = line.split_once(':').ok_or_else(malformed)?;
            let counts: Vec<u64> = counts.split_whitespace().map_while(|count| count.parse().ok()).collect();
            let [received, _, _, _, _, _, _, _, sent, ..] = counts[..] else { return Err(malformed()) };
            let name = name.trim();
            // `eth0.5` is part of `eth0`.
            if !NOT_COUNTED.iter().any(|prefix| name.starts_with(prefix)) && !name.contains('.') {
                interfaces.insert(name.to_owned(), (received, sent));
            }
        }
        Ok(Self { interfaces })
    }

    /// Returns bytes a second received and sent since an earlier look, `seconds` ago.
    pub(crate) fn since(&self, earlier: &Self, seconds: f64) -> (f64, f64) {
        let both = self.interfaces.iter().filter_map(|(name, now)| Some((now, earlier.interfaces.get(name)?)));
        let grown = both.map(|(now, then)| (now.0.saturating_sub(then.0), now.1.saturating_sub(then.1)));
        let (received, sent) = grown.fold((0.0, 0.0), |sum, more| (sum.0 + more.0 as f64, sum.1 + more.1 as f64));
        (received / seconds, sent / seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_to_other_machines_counts_once() {
        let text = |received: u64, sent: u64| {
            format!(
                "Inter-|   Receive                        |  Transmit\n \
                 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n\
                 \x20   lo: {received} 29 0 0 0 0 0 0 {sent} 29 0 0 0 0 0 0\n\
                 \x20 eth0:{received} 8361 0 0 0 0 0 0 {sent} 3972 0 0 0 0 0 0\n\
                 eth0.7: {received} 8361 0 0 0 0 0 0 {sent} 3972 0 0 0 0 0 0\n\
                 docker0: {received} 8361 0 0 0 0 0 0 {sent} 3972 0 0 0 0 0 0\n"
            )
        };
        let (before, after) = (Interfaces::parse(&text(100, 10)).unwrap(), Interfaces::parse(&text(700, 30)).unwrap());
        assert_eq!(after.since(&before, 2.0), (300.0, 10.0));
        // A counter that decreased has started again.
        assert_eq!(before.since(&after, 2.0), (0.0, 0.0));
    }

    #[test]
    fn what_is_no_net_dev_is_refused() {
        assert_eq!(Interfaces::parse(""), Ok(Interfaces::default()));
        for line in ["eth0 1 2 3", "eth0: 1 2 3", "eth0: a b c d e f g h i"] {
            assert!(Interfaces::parse(&format!("head\nhead\n{line}\n")).is_err(), "{line:?}");
        }
    }
}
