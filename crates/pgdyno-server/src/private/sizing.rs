//! Settings of the private server, sized to its machine. Pure: the same facts give the same settings.

use serde::{Deserialize, Serialize};

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// A setting of the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// Its name.
    pub name: String,
    /// Its value, as in `postgresql.conf`, without quotes.
    pub value: String,
    /// The reason, in a few words.
    pub why: String,
}

impl Setting {
    /// Returns a setting with its reason.
    #[must_use]
    pub fn new(name: impl Into<String>, value: impl Into<String>, why: impl Into<String>) -> Self {
        Self { name: name.into(), value: value.into(), why: why.into() }
    }
}

/// The kind of work that a private server is sized for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Purpose {
    /// Many short transactions at the same time.
    #[default]
    Transactions,
    /// Few queries that read much.
    Analysis {
        /// Concurrent queries.
        queries: u32,
    },
}

/// Facts on which the settings depend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizingFacts {
    /// Usable memory in bytes.
    pub ram_bytes: u64,
    /// Usable CPUs.
    pub cpus: u32,
    /// Free space for the data in bytes.
    pub disk_free_bytes: u64,
    /// Size of the file system for shared memory between processes (`/dev/shm`) in bytes, if there is one. Containers
    /// often have 64 MB.
    pub shm_bytes: Option<u64>,
    /// Number of concurrent connections.
    pub connections: u32,
    /// Whether the library of `pg_stat_statements` exists.
    pub has_pg_stat_statements: bool,
    /// The kind of work.
    pub purpose: Purpose,
}

/// Returns the settings for a server with these facts.
///
/// The settings for durability (`fsync`, `full_page_writes`, `synchronous_commit`) keep PostgreSQL's defaults, and
/// are listed so that users see them. Source: PostgreSQL documentation, "Server Configuration" and "Populating a
/// Database".
#[must_use]
pub fn settings(facts: &SizingFacts) -> Vec<Setting> {
    let ram = facts.ram_bytes.max(256 * MIB);
    let shared_buffers = (ram / 4).clamp(64 * MIB, 16 * GIB);
    let maintenance_work_mem = (ram / 16).clamp(64 * MIB, 2 * GIB);
    // WAL may take half of the free space at worst: max_wal_size is no hard limit. In few steps: a disk has a little more or less
    // free space at each run, and runs with different settings are hard to compare.
    let eighth = (facts.disk_free_bytes / 8).clamp(512 * MIB, 16 * GIB);
    let max_wal_size = 1 << eighth.ilog2();
    // 3 for superusers, which PostgreSQL reserves, and some for connections that are not measured: the admin
    // connection, samplers, a psql.
    let max_connections = facts.connections.saturating_add(20).max(100);
    let work_mem = (ram / 4 / u64::from(max_connections)).clamp(4 * MIB, 64 * MIB);
    let workers = facts.cpus.max(8);

    let mut settings = Vec::new();
    let mut set = |name: &str, value: String, why: &str| {
        settings.push(Setting::new(name, value, why));
    };
    set("shared_buffers", size(shared_buffers), "a quarter of the memory, at most 16 GB");
    set("effective_cache_size", size(ram / 4 * 3), "three quarters of the memory");
    set("maintenance_work_mem", size(maintenance_work_mem), "a sixteenth of the memory, at most 2 GB");
    if facts.purpose == Purpose::Transactions {
        set("work_mem", size(work_mem), "a quarter of the memory over all connections, 4 to 64 MB");
    }
    set("max_connections", max_connections.to_string(), "the clients and 20 more, at least 100");
    set("max_wal_size", size(max_wal_size), "an eighth of the free disk or less, a power of two, at most 16 GB");
    set("min_wal_size", size(max_wal_size / 4), "WAL files are reused, not created anew");
    set("checkpoint_timeout", "15min".to_owned(), "a short run is not split by a checkpoint");
    set("wal_level", "minimal".to_owned(), "no standby will read its WAL, and loads into new tables need not write it");
    set("max_wal_senders", "0".to_owned(), "wal_level minimal requires it");
    set("random_page_cost", "1.1".to_owned(), "the data is cached or on solid state disks");
    if facts.cpus > 8 {
        set("max_worker_processes", workers.to_string(), "one per CPU");
        set("max_parallel_workers", workers.to_string(), "one per CPU");
    }
    if let Purpose::Analysis { queries } = facts.purpose {
        let queries = queries.max(1);
        // PostgreSQL's default is 2.
        let gathered = (facts.cpus / queries).clamp(2, 8);
        let work_mem = ram / 8 / u64::from(queries.saturating_mul(gathered + 1));
        let why = "an eighth of the memory over all processes of the concurrent queries, 16 MB to 1 GB";
        set("work_mem", size(work_mem.clamp(16 * MIB, GIB)), why);
        set("hash_mem_multiplier", "2".to_owned(), "PostgreSQL's default from 15 on");
        let why = "the CPUs over the concurrent queries, 2 to 8";
        set("max_parallel_workers_per_gather", gathered.to_string(), why);
        let why = "indexes are built by half of the CPUs, 2 to 8";
        set("max_parallel_maintenance_workers", (facts.cpus / 2).clamp(2, 8).to_string(), why);
        set("jit", "off".to_owned(), "compiling takes longer than it saves while the data is small");
    }
    if facts.shm_bytes.is_some_and(|bytes| bytes < 512 * MIB) {
        // With the default, parallel queries would fail with "could not resize shared memory segment".
        set("dynamic_shared_memory_type", "mmap".to_owned(), "/dev/shm is too small for parallel queries");
    }
    if facts.has_pg_stat_statements {
        set("shared_preload_libraries", "pg_stat_statements".to_owned(), "counts statements: their time, JIT and WAL");
        set("pg_stat_statements.track", "top".to_owned(), "PostgreSQL's default");
    }
    for name in ["fsync", "full_page_writes", "synchronous_commit"] {
        set(name, "on".to_owned(), "as in production: commits survive a crash");
    }
    settings
}

/// Formats a size as PostgreSQL does, rounded down to a megabyte.
fn size(bytes: u64) -> String {
    if bytes.is_multiple_of(GIB) { format!("{}GB", bytes / GIB) } else { format!("{}MB", bytes / MIB) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAPTOP: SizingFacts = SizingFacts {
        ram_bytes: 16 * GIB,
        cpus: 8,
        disk_free_bytes: 200 * GIB,
        shm_bytes: Some(8 * GIB),
        connections: 16,
        has_pg_stat_statements: true,
        purpose: Purpose::Transactions,
    };

    fn value(facts: &SizingFacts, name: &str) -> Option<String> {
        settings(facts).into_iter().find(|setting| setting.name == name).map(|setting| setting.value)
    }

    #[test]
    fn a_laptop_gets_a_quarter_of_its_memory() {
        for (name, expected) in [
            ("shared_buffers", "4GB"),
            ("effective_cache_size", "12GB"),
            ("maintenance_work_mem", "1GB"),
            ("work_mem", "40MB"),
            ("max_connections", "100"),
            ("max_wal_size", "16GB"),
            ("min_wal_size", "4GB"),
        ] {
            assert_eq!(value(&LAPTOP, name).as_deref(), Some(expected), "{name}");
        }
        assert_eq!(value(&LAPTOP, "max_worker_processes"), None);
        assert_eq!(value(&LAPTOP, "dynamic_shared_memory_type"), None);
    }

    #[test]
    fn large_and_small_machines_stay_within_bounds() {
        let large = SizingFacts { ram_bytes: 1024 * GIB, cpus: 128, ..LAPTOP };
        assert_eq!(value(&large, "shared_buffers").as_deref(), Some("16GB"));
        assert_eq!(value(&large, "max_worker_processes").as_deref(), Some("128"));
        let small = SizingFacts {
            ram_bytes: 0,
            disk_free_bytes: 0,
            shm_bytes: Some(64 * MIB),
            has_pg_stat_statements: false,
            ..LAPTOP
        };
        assert_eq!(value(&small, "shared_buffers").as_deref(), Some("64MB"));
        assert_eq!(value(&small, "work_mem").as_deref(), Some("4MB"));
        assert_eq!(value(&small, "max_wal_size").as_deref(), Some("512MB"));
        assert_eq!(value(&small, "min_wal_size").as_deref(), Some("128MB"));
        assert_eq!(value(&small, "dynamic_shared_memory_type").as_deref(), Some("mmap"));
        assert_eq!(value(&small, "shared_preload_libraries"), None);
    }

    #[test]
    fn an_analysis_has_memory_and_workers_for_few_queries() {
        let of = |facts: SizingFacts, queries| {
            let facts = SizingFacts { purpose: Purpose::Analysis { queries }, ..facts };
            ["work_mem", "max_parallel_workers_per_gather", "jit", "random_page_cost", "max_connections"]
                .map(|name| value(&facts, name).unwrap())
        };
        assert_eq!(of(LAPTOP, 1), ["227MB", "8", "off", "1.1", "100"]);
        assert_eq!(of(LAPTOP, 4), ["170MB", "2", "off", "1.1", "100"]);
        assert_eq!(of(SizingFacts { ram_bytes: GIB, cpus: 1, ..LAPTOP }, 40)[..2], ["16MB", "2"]);
        assert_eq!(of(SizingFacts { ram_bytes: 1024 * GIB, cpus: 128, ..LAPTOP }, 1)[..2], ["1GB", "8"]);
        assert_eq!(value(&LAPTOP, "jit"), None);
    }

    #[test]
    fn a_little_more_or_less_free_disk_changes_nothing() {
        for free in [50 * GIB, 50 * GIB - 300 * MIB, 60 * GIB] {
            let facts = SizingFacts { disk_free_bytes: free, ..LAPTOP };
            assert_eq!(value(&facts, "max_wal_size").as_deref(), Some("4GB"), "{free}");
        }
    }

    #[test]
    fn every_client_finds_a_place() {
        let crowd = SizingFacts { connections: 5000, ..LAPTOP };
        assert_eq!(value(&crowd, "max_connections").as_deref(), Some("5020"));
        assert_eq!(value(&crowd, "work_mem").as_deref(), Some("4MB"));
    }

    #[test]
    fn what_makes_commits_safe_stays_on() {
        for name in ["fsync", "full_page_writes", "synchronous_commit"] {
            assert_eq!(value(&LAPTOP, name).as_deref(), Some("on"), "{name}");
        }
    }
}
