//! A directory as a workload: one's own tables, data, scripts and checks.
//!
//! `workload.toml` names the scripts and checks, `schema.sql` and `load.sql` make the data. What the files are taken
//! for is said in docs/workloads/own.md. Nothing here opens a file: the texts are asked for.

mod directory;
mod manifest;
mod sql;

use pgdyno_wire::Statement;
use pgdyno_workload::{Capabilities, Check, ClientContext, ClientScript, Meta, Params, SqlData, Table, Txn, Workload};

pub use directory::{Directory, OwnScript};
pub use sql::SqlTextError;

/// The file that makes a directory a workload.
pub const MANIFEST: &str = "workload.toml";
const SCHEMA: &str = "schema.sql";
const LOAD: &str = "load.sql";

/// The parameter that every directory has.
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

/// The workload.
struct Own {
    meta: &'static Meta,
    params: Params,
    data: SqlData,
    checks: Vec<Check>,
    driver: Box<dyn Workload>,
}

impl Workload for Own {
    fn meta(&self) -> &'static Meta {
        self.meta
    }

    fn params(&self) -> &Params {
        &self.params
    }

    fn scale(&self) -> u64 {
        self.params.integer(SCALE).unsigned_abs()
    }

    fn tables(&self, _: &Capabilities) -> Vec<Table> {
        Vec::new()
    }

    fn sql_data(&self) -> Option<&SqlData> {
        Some(&self.data)
    }

    fn checks(&self) -> Vec<Check> {
        self.checks.clone()
    }

    fn txns(&self) -> Vec<Txn> {
        self.driver.txns()
    }

    fn statements(&self, caps: &Capabilities) -> Vec<Statement> {
        self.driver.statements(caps)
    }

    fn is_counted_query(&self, statement: usize) -> bool {
        self.driver.is_counted_query(statement)
    }

    fn txn_of_statement(&self, statement: usize) -> Option<usize> {
        self.driver.txn_of_statement(statement)
    }

    fn data_bytes(&self) -> u64 {
        0
    }

    fn client(&self, context: &ClientContext) -> Box<dyn ClientScript> {
        self.driver.client(context)
    }

    fn advice(&self, clients: u32) -> Vec<String> {
        self.driver.advice(clients)
    }
}
