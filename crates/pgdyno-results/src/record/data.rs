//! Data of a run: its copy, its load, its checks.

use serde::{Deserialize, Serialize};

/// A fresh copy of a database, made for the run and dropped after it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CopyRecord {
    /// The database copied.
    pub template: String,
    /// The name of the copy.
    pub database: String,
    /// Time of the copy, including the checkpoint after it.
    pub seconds: f64,
    /// Size of the copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// How the server copied its files: `copy`, or `clone`, which lets the file system share their blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
}

/// Data that an earlier run has loaded, and that the private server of this run began with a copy of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CachedDataRecord {
    /// When it was loaded.
    pub loaded_at: String,
    /// Size of the data directory in bytes.
    pub bytes: u64,
}

/// A load.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadRecord {
    /// Number of connections.
    pub loaders: usize,
    /// From the first CREATE TABLE to the stamp.
    pub seconds: f64,
    /// Seconds by phase, in their order.
    pub phases: Vec<(String, f64)>,
    /// Its tables.
    pub tables: Vec<LoadTable>,
}

impl LoadRecord {
    /// Returns this load and the `next` one as one.
    #[must_use]
    pub fn and(mut self, next: Self) -> Self {
        self.loaders = self.loaders.max(next.loaders);
        self.seconds += next.seconds;
        for (phase, seconds) in next.phases {
            match self.phases.iter_mut().find(|(name, _)| *name == phase) {
                Some((_, sum)) => *sum += seconds,
                None => self.phases.push((phase, seconds)),
            }
        }
        self.tables.extend(next.tables);
        self
    }
}

/// A loaded table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadTable {
    /// Its name.
    pub name: String,
    /// Rows that were loaded.
    pub rows: u64,
    /// Bytes of COPY data.
    pub copy_bytes: u64,
    /// Time of COPY in seconds, summed over its loaders.
    pub copy_s: f64,
}

/// All checks at one time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheckSet {
    /// `after load`, `before run`, `after run`.
    pub when: String,
    /// The checks.
    pub checks: Vec<CheckRecord>,
}

/// A check and its result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheckRecord {
    /// The clause or a name.
    pub name: String,
    /// The condition.
    pub condition: String,
    /// Whether the condition holds.
    pub holds: bool,
    /// Why it need not hold: a known deviation of another program that made or drove the data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<String>,
    /// Why it was not made: the server cannot run its query, and says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// How long it took.
    pub seconds: f64,
    /// The first rows that violate it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub violations: Vec<String>,
}

impl CheckRecord {
    /// Returns true unless the condition is broken: it holds, is known not to, or could not be checked.
    #[must_use]
    pub fn passes(&self) -> bool {
        self.holds || self.known.is_some() || self.refused.is_some()
    }
}

impl CheckSet {
    /// Returns the names of conditions that are known not to hold.
    #[must_use]
    pub fn known(&self) -> Vec<&str> {
        let known = self.checks.iter().filter(|check| !check.holds && check.known.is_some());
        known.map(|check| check.name.as_str()).collect()
    }

    /// Returns the names of conditions that were not checked, because the server cannot run their queries.
    #[must_use]
    pub fn refused(&self) -> Vec<&str> {
        self.checks.iter().filter(|check| check.refused.is_some()).map(|check| check.name.as_str()).collect()
    }
}
