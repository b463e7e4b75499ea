//! Free space of file systems.

use std::path::Path;

/// Returns the free space of the file system with this directory, in bytes; `None` if the system does not say.
#[must_use]
pub fn free_bytes(directory: &Path) -> Option<u64> {
    rustix::fs::statvfs(directory).ok().map(|fs| fs.f_bavail.saturating_mul(fs.f_frsize))
}

/// Returns the free bytes for this user at `path`, and whether it is in memory.
pub(super) fn space(path: &Path) -> (u64, bool) {
    let free = free_bytes(path).unwrap_or(u64::MAX);
    #[cfg(target_os = "linux")]
    let in_memory = {
        // TMPFS_MAGIC and RAMFS_MAGIC of linux/magic.h; the field's type differs between systems.
        const IN_MEMORY: [u32; 2] = [0x0102_1994, 0x8584_58f6];
        rustix::fs::statfs(path).is_ok_and(|fs| IN_MEMORY.contains(&(fs.f_type as u32)))
    };
    #[cfg(not(target_os = "linux"))]
    let in_memory = false;
    (free, in_memory)
}
