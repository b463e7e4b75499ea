//! The memory of index builds.

use pgdyno_net::{Admin, AdminError};

/// Memory limit of one index: beyond it sorting gains little.
const INDEX_MEMORY_BYTES_MAX: u64 = 1 << 30;

/// Raises the memory of one index build above the server's setting, which is 64 MiB by default: up to half of
/// `shared_buffers` for all loaders together, an eighth of the machine's memory with the usual quarter. The share of `idle`
/// loaders is added; PostgreSQL gives an index one worker for each 32 MiB. Never lowers the server's setting. SHOW and SET
/// need no right to a view or function.
pub(crate) fn set_index_memory(
    admin: &mut Admin,
    shared_buffers_bytes: u64,
    loaders: usize,
    idle: usize,
) -> Result<(), AdminError> {
    let share = (shared_buffers_bytes / 2 / loaders.max(1) as u64).saturating_mul(idle as u64 + 1);
    let kib = share.min(INDEX_MEMORY_BYTES_MAX) / 1024;
    let usual = admin.query_opt("reset maintenance_work_mem; show maintenance_work_mem")?;
    if usual.and_then(|usual| kib_of(&usual)).is_some_and(|usual| usual >= kib) {
        return Ok(());
    }
    admin.execute(&format!("set maintenance_work_mem = '{kib}kB'")).map(drop)
}

/// Returns an amount of memory as SHOW prints it, in KiB.
fn kib_of(shown: &str) -> Option<u64> {
    let digits = shown.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &shown[digits.len()..] {
        "kB" => 1,
        "MB" => 1 << 10,
        "GB" => 1 << 20,
        "TB" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_as_show_prints_it() {
        assert_eq!(
            ["64MB", "1GB", "65537kB", "2TB", "-1", ""].map(kib_of).map(Option::unwrap_or_default),
            [65536, 1 << 20, 65537, 2 << 30, 0, 0]
        );
    }
}
