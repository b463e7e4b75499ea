//! Reads and writes of a machine's disks.

use std::collections::BTreeMap;

use super::proc::Malformed;

/// Bytes of a sector in `/proc/diskstats`, whatever the disk's own size is.
const SECTOR: u64 = 512;

/// Devices that consist of others, whose work would count twice, or of memory.
const NOT_DISKS: [&str; 7] = ["loop", "ram", "zram", "dm-", "md", "sr", "fd"];

/// Work of each disk since the machine's start. Source: the kernel's documentation, `admin-guide/iostats`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Disks {
    disks: BTreeMap<String, Disk>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Disk {
    read_bytes: u64,
    written_bytes: u64,
    busy_ms: u64,
    /// Completed reads and writes.
    requests: u64,
    /// Time of these requests, added up.
    requests_ms: u64,
    /// Time of all requests, those in flight included, added up.
    queued_ms: u64,
}

/// Work of the disks between two looks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct DiskUse {
    pub(crate) read_bytes_per_s: f64,
    pub(crate) write_bytes_per_s: f64,
    /// Share of the time that the busiest disk was busy, 0 to 1. A disk that serves many requests at once is not
    /// saturated at 1.
    pub(crate) busy: f64,
    /// Mean time of a request of the busiest disk, in milliseconds; `None` if it had none.
    pub(crate) wait_ms: Option<f64>,
    /// Mean number of its requests that were queued or served.
    pub(crate) queue: f64,
}

impl Disks {
    /// Reads `/proc/diskstats`: whole disks, not their partitions.
    ///
    /// # Errors
    /// When a line is too short, or has words instead of numbers. An empty text is no error: there are no disks then.
    pub(crate) fn parse(diskstats: &str) -> Result<Self, Malformed> {
        let mut disks = BTreeMap::new();
        for line in diskstats.lines() {
            let malformed = || Malformed::new("diskstats", line);
            let fields: Vec<&str> = line.split_whitespace().collect();
            let [_, _, name, ref counts @ ..] = fields[..] else { return Err(malformed()) };
            let count = |nth: usize| counts.get(nth).and_then(|count| count.parse::<u64>().ok()).ok_or_else(malformed);
            let bytes = |nth: usize| Ok(count(nth)?.saturating_mul(SECTOR));
            let disk = Disk {
                read_bytes: bytes(2)?,
                written_bytes: bytes(6)?,
                busy_ms: count(9)?,
                requests: count(0)?.saturating_add(count(4)?),
                requests_ms: count(3)?.saturating_add(count(7)?),
                queued_ms: count(10)?,
            };
            if !NOT_DISKS.iter().any(|prefix| name.starts_with(prefix)) {
                disks.insert(name.to_owned(), disk);
            }
        }
        let names: Vec<String> = disks.keys().cloned().collect();
        disks.retain(|name, _| !names.iter().any(|whole| is_partition(name, whole)));
        Ok(Self { disks })
    }

    /// Returns the work since an earlier look, `seconds` ago.
    pub(crate) fn since(&self, earlier: &Self, seconds: f64) -> DiskUse {
        let mut used = DiskUse::default();
        for (name, now) in &self.disks {
            // A new disk was plugged in: its earlier work is unknown.
            let Some(then) = earlier.disks.get(name) else { continue };
            used.read_bytes_per_s += now.read_bytes.saturating_sub(then.read_bytes) as f64 / seconds;
            used.write_bytes_per_s += now.written_bytes.saturating_sub(then.written_bytes) as f64 / seconds;
            let grown = |of: fn(&Disk) -> u64| of(now).saturating_sub(of(then)) as f64;
            let busy = (grown(|disk| disk.busy_ms) / 1e3 / seconds).min(1.0);
            if busy > used.busy {
                let requests = grown(|disk| disk.requests);
                used.busy = busy;
                used.wait_ms = (requests > 0.0).then(|| grown(|disk| disk.requests_ms) / requests);
                used.queue = grown(|disk| disk.queued_ms) / 1e3 / seconds;
            }
        }
        used
    }
}

/// Returns true if `name` is a partition of `whole`: `sda1` of `sda`, `nvme0n1p2` of `nvme0n1`.
fn is_partition(name: &str, whole: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    name.strip_prefix(whole).is_some_and(|rest| {
        if whole.ends_with(|c: char| c.is_ascii_digit()) {
            rest.strip_prefix('p').is_some_and(digits)
        } else {
            digits(rest)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_disks_count_once() {
        let text = |read: u64, busy: u64| {
            let (requests, spent, queued) = (busy / 10, busy / 2, 3 * busy);
            format!(
                "   7       0 loop0 9 9 999 9 9 9 999 9 0 9 9 0 0 0 0 0 0\n\
                 259       0 nvme0n1 {requests} 0 {read} {spent} 7 0 40 6 0 {busy} {queued} 0 0 0 0 0 0\n\
                 259       1 nvme0n1p1 10 0 {read} 5 7 0 40 6 0 {busy} 11 0 0 0 0 0 0\n\
                 252       0 dm-0 10 0 {read} 5 7 0 40 6 0 {busy} 11\n\
                   8       0 sda 1 0 8 1 1 0 {read} 1 0 100 1\n\
                   8       1 sda1 1 0 8 1 1 0 {read} 1 0 100 1\n\
                 202       1 xvda1 0 0 0 0 0 0 0 0 0 0 0\n"
            )
        };
        let (before, after) = (Disks::parse(&text(100, 50)).unwrap(), Disks::parse(&text(300, 1050)).unwrap());
        assert_eq!(before.disks.keys().collect::<Vec<_>>(), ["nvme0n1", "sda", "xvda1"]);
        let used = after.since(&before, 2.0);
        assert_eq!((used.read_bytes_per_s, used.write_bytes_per_s, used.busy), (51_200.0, 51_200.0, 0.5));
        assert_eq!((used.wait_ms, used.queue), (Some(5.0), 1.5));
        assert_eq!(after.since(&Disks::default(), 2.0), DiskUse::default());
        assert_eq!(after.since(&before, 0.5).busy, 1.0);
    }

    #[test]
    fn what_is_no_diskstats_is_refused_and_none_is_none() {
        assert_eq!(Disks::parse(""), Ok(Disks::default()));
        for text in ["8 0\n", "8 0 sda 1 2 3\n", "8 0 sda a b c d e f g h i j k\n"] {
            assert!(Disks::parse(text).is_err(), "{text:?}");
        }
    }
}
