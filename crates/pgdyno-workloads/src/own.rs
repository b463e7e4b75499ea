//! Directories as workloads: tables, data, scripts and checks of a user.
//!
//! `workload.toml` names the scripts, checks and lists of values; `schema.sql` and `load.sql` make the data, or it is that of a
//! built-in workload. docs/workloads/own.md describes the files. Nothing here opens a file: the caller reads them.
//! Some directories are part of the program ([`embedded`]).

mod directory;
pub mod embedded;
mod files;
mod groups;
mod manifest;
mod meta;
mod script_entry;
mod source;
mod sql;
mod tables;
mod value_lists;

use std::sync::Arc;

use pgdyno_workload::{Capabilities, Changed, Check, DataSet, Maker, Meta, Params, Routines, SqlData, Table};

pub use directory::{OwnScript, WorkloadDirectory};
pub use groups::OwnGroup;
pub use manifest::RunDefaults;
pub use sql::SqlTextError;

/// Name of the file that makes a directory a workload.
pub const MANIFEST: &str = "workload.toml";
const SCHEMA: &str = "schema.sql";
const LOAD: &str = "load.sql";

/// Name of the size of a directory with data of its own.
const SCALE: &str = "scale";

/// The error when a directory is not a valid workload.
#[derive(Debug, thiserror::Error)]
pub enum OwnError {
    /// A file could not be read.
    #[error("failed to read {file}: {source}")]
    Read {
        /// The file.
        file: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// A necessary file is missing.
    #[error("{directory} has no {file}; your own workload is a directory with {MANIFEST}, {SCHEMA} and scripts")]
    Missing {
        /// The directory.
        directory: String,
        /// The file.
        file: String,
    },
    /// A file has wrong content.
    #[error("{file}: {what}")]
    Wrong {
        /// The file.
        file: String,
        /// The mistake.
        what: String,
    },
    /// An SQL file cannot be parsed.
    #[error("{file}: {source}")]
    Sql {
        /// The file, or the check in `workload.toml`.
        file: String,
        /// The mistake.
        source: SqlTextError,
    },
}

/// Returns a constant: names of workloads are constants everywhere else, and the program reads few directories.
fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

/// Data that SQL files make.
struct SqlDataSet {
    meta: &'static Meta,
    params: Params,
    sql: SqlData,
    checks: Vec<Check>,
}

impl DataSet for SqlDataSet {
    fn meta(&self) -> &'static Meta {
        self.meta
    }

    fn params(&self) -> &Params {
        &self.params
    }

    fn scale(&self) -> u64 {
        scale(self.meta, &self.params)
    }

    fn tables(&self, _: &Capabilities) -> Vec<Table> {
        Vec::new()
    }

    fn sql_data(&self) -> Option<&SqlData> {
        Some(&self.sql)
    }

    fn routines(&self, _: &Capabilities) -> Routines {
        Routines::default()
    }

    fn other_maker(&self) -> Option<&'static Maker> {
        None
    }

    fn checks(&self) -> Vec<Check> {
        self.checks.clone()
    }

    fn changed(&self, _: &str) -> Changed {
        Changed { checks: self.checks(), repair: None }
    }

    fn before_run(&self) -> &'static [&'static str] {
        &[]
    }

    fn bytes(&self) -> u64 {
        0
    }
}

/// Data of a built-in workload, under scripts of a user.
struct BuiltInDataSet {
    meta: &'static Meta,
    params: Params,
    /// The data of the built-in workload.
    of: Arc<dyn DataSet>,
    checks: Vec<Check>,
    /// Whether all checks of the built-in workload hold under these scripts.
    keeps_rules: bool,
}

impl DataSet for BuiltInDataSet {
    fn meta(&self) -> &'static Meta {
        self.meta
    }

    fn params(&self) -> &Params {
        &self.params
    }

    fn scale(&self) -> u64 {
        scale(self.meta, &self.params)
    }

    fn tables(&self, caps: &Capabilities) -> Vec<Table> {
        let tables = self.of.tables(caps);
        // Scripts that violate some checks may add and remove rows, too.
        tables.into_iter().map(|table| Table { grows: table.grows || !self.keeps_rules, ..table }).collect()
    }

    fn sql_data(&self) -> Option<&SqlData> {
        self.of.sql_data()
    }

    fn routines(&self, caps: &Capabilities) -> Routines {
        // The parameter for their schema belongs to the other workload alone.
        Routines { schema: None, ..self.of.routines(caps) }
    }

    fn other_maker(&self) -> Option<&'static Maker> {
        self.of.other_maker()
    }

    fn checks(&self) -> Vec<Check> {
        self.checks.clone()
    }

    fn changed(&self, changes: &str) -> Changed {
        let of = self.of.changed(changes);
        let built_in: Vec<_> = self.of.checks().iter().map(|check| check.name).collect();
        let own = self.checks.iter().filter(|check| !built_in.contains(&check.name)).cloned();
        let is_kept = |check: &Check| self.checks.iter().any(|kept| kept.name == check.name);
        Changed { checks: of.checks.into_iter().filter(is_kept).chain(own).collect(), repair: of.repair }
    }

    fn before_run(&self) -> &'static [&'static str] {
        self.of.before_run()
    }

    fn bytes(&self) -> u64 {
        self.of.bytes()
    }
}

fn scale(meta: &Meta, params: &Params) -> u64 {
    params.integer(meta.scale_name).unsigned_abs()
}
