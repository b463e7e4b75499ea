//! A directory as a workload: one's own tables, data, scripts and checks.
//!
//! `workload.toml` names the scripts and checks; `schema.sql` and `load.sql` make the data, or it is that of a built-in
//! workload. What the files are taken for is said in docs/workloads/own.md. Nothing here opens a file: the texts are
//! asked for. Some directories are a part of the program ([`embedded`]).

mod directory;
pub mod embedded;
mod files;
mod groups;
mod manifest;
mod meta;
mod source;
mod sql;
mod tables;

use std::sync::Arc;

use pgdyno_workload::{Capabilities, Check, DataSet, Maker, Meta, Params, Routines, SqlData, Table};

pub use directory::{Directory, OwnScript};
pub use groups::OwnGroup;
pub use sql::SqlTextError;

/// The file that makes a directory a workload.
pub const MANIFEST: &str = "workload.toml";
const SCHEMA: &str = "schema.sql";
const LOAD: &str = "load.sql";

/// The size of a directory with data of its own.
const SCALE: &str = "scale";

/// Why a directory is no workload.
#[derive(Debug, thiserror::Error)]
pub enum OwnError {
    /// A file could not be read.
    #[error("failed to read {file}: {source}")]
    Read {
        /// The file.
        file: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file that must be there is not.
    #[error("{directory} has no {file}; a workload of one's own is a directory with {MANIFEST}, {SCHEMA} and scripts")]
    Missing {
        /// The directory.
        directory: String,
        /// The file.
        file: String,
    },
    /// A file says what it cannot say.
    #[error("{file}: {what}")]
    Wrong {
        /// The file.
        file: String,
        /// What is wrong with it.
        what: String,
    },
    /// An SQL file cannot be taken apart.
    #[error("{file}: {source}")]
    Sql {
        /// The file, or the check in `workload.toml`.
        file: String,
        /// What is wrong with it.
        source: SqlTextError,
    },
}

/// Names of a workload are constants everywhere else; there are few directories in the life of the program.
fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

/// Data that SQL files make.
struct Made {
    meta: &'static Meta,
    params: Params,
    sql: SqlData,
    checks: Vec<Check>,
}

impl DataSet for Made {
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

    fn before_run(&self) -> &'static [&'static str] {
        &[]
    }

    fn bytes(&self) -> u64 {
        0
    }
}

/// Data of a built-in workload, under scripts of one's own.
struct Shared {
    meta: &'static Meta,
    params: Params,
    /// The data of that workload.
    of: Arc<dyn DataSet>,
    checks: Vec<Check>,
    /// Whether all checks of that workload hold under these scripts.
    keeps_rules: bool,
}

impl DataSet for Shared {
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
        // Scripts that break some rules of the data may add and remove rows, too.
        tables.into_iter().map(|table| Table { grows: table.grows || !self.keeps_rules, ..table }).collect()
    }

    fn sql_data(&self) -> Option<&SqlData> {
        self.of.sql_data()
    }

    fn routines(&self, caps: &Capabilities) -> Routines {
        // The parameter that says where they are is the other workload's alone.
        Routines { schema: None, ..self.of.routines(caps) }
    }

    fn other_maker(&self) -> Option<&'static Maker> {
        self.of.other_maker()
    }

    fn checks(&self) -> Vec<Check> {
        self.checks.clone()
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
