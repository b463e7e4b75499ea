//! Memory of a machine, and its load.

use super::proc::Malformed;

/// Memory, in bytes. Source: proc_meminfo(5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Memory {
    pub(crate) total_bytes: u64,
    /// Memory that programs could get without swapping; Linux 3.14 and later.
    pub(crate) available_bytes: Option<u64>,
    /// Memory to be written to disks.
    pub(crate) dirty_bytes: Option<u64>,
}

impl Memory {
    /// Reads `/proc/meminfo`.
    ///
    /// # Errors
    /// When it does not have the total memory.
    pub(crate) fn parse(meminfo: &str) -> Result<Self, Malformed> {
        let bytes = |name: &str| -> Option<u64> {
            let line = meminfo.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
            line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
        };
        let total_bytes = bytes("MemTotal").ok_or_else(|| Malformed::new("meminfo", meminfo))?;
        Ok(Self { total_bytes, available_bytes: bytes("MemAvailable"), dirty_bytes: bytes("Dirty") })
    }
}

/// Returns the first number of a text such as `/proc/loadavg` (the load of the last minute) or `/proc/uptime`
/// (seconds since the machine's start).
///
/// # Errors
/// When it does not begin with a number.
pub(crate) fn first_number(file: &'static str, text: &str) -> Result<f64, Malformed> {
    let number = text.split_whitespace().next().and_then(|word| word.parse::<f64>().ok());
    number.filter(|n| n.is_finite() && *n >= 0.0).ok_or_else(|| Malformed::new(file, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_in_bytes() {
        let memory =
            Memory::parse("MemTotal:       2048 kB\nMemFree:  1 kB\nMemAvailable:  1024 kB\nDirty:   3 kB\n").unwrap();
        assert_eq!(memory, Memory { total_bytes: 2 << 20, available_bytes: Some(1 << 20), dirty_bytes: Some(3072) });
        // Kernels before 3.14.
        assert_eq!(Memory::parse("MemTotal: 2 kB\n").unwrap().available_bytes, None);
    }

    #[test]
    fn what_is_no_text_of_proc_is_refused() {
        for text in ["", "MemTotal: many kB\n", "MemTotal: 5\n", "Dirty: 1 kB\n"] {
            assert!(Memory::parse(text).is_err(), "{text:?}");
        }
        assert_eq!(first_number("loadavg", "1.96 2.37 1.74 2/102 28265\n"), Ok(1.96));
        for text in ["", "much", "-1 2", "NaN"] {
            assert!(first_number("loadavg", text).is_err(), "{text:?}");
        }
    }
}
