//! Partitions of `pgbench_accounts`, as in `pgbench -i --partitions`.

use super::ACCOUNTS;

/// Partition method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartitionMethod {
    /// By ranges of `aid`.
    Range,
    /// By its hash.
    Hash,
}

/// pgbench's `--partitions` and `--partition-method`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partitioning {
    /// The method.
    pub method: PartitionMethod,
    /// The number, at least 1.
    pub partitions: u32,
}

/// Returns the name of a partition, counted from 1.
#[must_use]
pub fn partition(number: u32) -> String {
    format!("pgbench_accounts_{number}")
}

impl Partitioning {
    /// Returns the clause after the columns of the whole table: `partition by range (aid)`.
    #[must_use]
    pub fn clause(self) -> &'static str {
        match self.method {
            PartitionMethod::Range => "partition by range (aid)",
            PartitionMethod::Hash => "partition by hash (aid)",
        }
    }

    /// Returns the clause after `for values` of a partition, counted from 1: `from (minvalue) to (50001)`.
    #[must_use]
    pub fn values(self, scale: u64, number: u32) -> String {
        let (count, rows) = (self.partitions, self.rows_each(scale));
        match self.method {
            PartitionMethod::Range => {
                let bound = |partition: u32| (u64::from(partition) * rows + 1).to_string();
                let from = if number == 1 { "minvalue".to_owned() } else { bound(number - 1) };
                let to = if number == count { "maxvalue".to_owned() } else { bound(number) };
                format!("from ({from}) to ({to})")
            }
            PartitionMethod::Hash => format!("with (modulus {count}, remainder {})", number - 1),
        }
    }

    /// Returns the rows of a partition by range; the last ones may have fewer.
    #[must_use]
    pub fn rows_each(self, scale: u64) -> u64 {
        (ACCOUNTS * scale).div_ceil(u64::from(self.partitions))
    }
}
