//! A directory as a workload: one's own tables, data, scripts and checks.
//!
//! `workload.toml` names the scripts and checks; `schema.sql` and `load.sql` make the data, or it is that of a built-in
//! workload. What the files are taken for is said in docs/workloads/own.md. Nothing here opens a file: the texts are
//! asked for. Some directories are a part of the program ([`embedded`]).

mod directory;
pub mod embedded;
mod files;
mod manifest;
mod meta;
mod source;
mod sql;
mod tables;

use pgdyno_wire::Statement;
use pgdyno_workload::{
    Capabilities, Check, ClientContext, ClientScript, Maker, Meta, Params, Routine, SqlData, Table, Txn, Workload,
};

pub use directory::{Directory, OwnScript};
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

/// The workload.
struct Own {
    meta: &'static Meta,
    params: Params,
    data: Data,
    checks: Vec<Check>,
    /// Whether all checks of the workload that the tables are of hold under these scripts.
    keeps_rules: bool,
    driver: Box<dyn Workload>,
}

/// What makes its data.
enum Data {
    Sql(SqlData),
    /// The workload that the tables are of.
    BuiltIn(Box<dyn Workload>),
}

impl Own {
    /// The workload that the tables are of, where they are not its own.
    fn built_in(&self) -> Option<&dyn Workload> {
        match &self.data {
            Data::Sql(_) => None,
            Data::BuiltIn(workload) => Some(&**workload),
        }
    }
}

impl Workload for Own {
    fn meta(&self) -> &'static Meta {
        self.meta
    }

    fn params(&self) -> &Params {
        &self.params
    }

    fn scale(&self) -> u64 {
        self.params.integer(self.meta.scale_name).unsigned_abs()
    }

    fn tables(&self, caps: &Capabilities) -> Vec<Table> {
        let tables = self.built_in().map_or_else(Vec::new, |workload| workload.tables(caps));
        // Scripts that break some rules of the data may add and remove rows, too.
        tables.into_iter().map(|table| Table { grows: table.grows || !self.keeps_rules, ..table }).collect()
    }

    fn sql_data(&self) -> Option<&SqlData> {
        match &self.data {
            Data::Sql(data) => Some(data),
            Data::BuiltIn(_) => None,
        }
    }

    fn routines(&self, caps: &Capabilities) -> Vec<Routine> {
        self.built_in().map_or_else(Vec::new, |workload| workload.routines(caps))
    }

    fn other_maker(&self) -> Option<&'static Maker> {
        self.built_in()?.other_maker()
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

    fn is_read_only(&self) -> bool {
        self.driver.is_read_only()
    }

    fn before_run(&self) -> &'static [&'static str] {
        self.built_in().map_or(&[], |workload| workload.before_run())
    }

    fn data_bytes(&self) -> u64 {
        self.built_in().map_or(0, |workload| workload.data_bytes())
    }

    fn client(&self, context: &ClientContext) -> Box<dyn ClientScript> {
        self.driver.client(context)
    }

    fn advice(&self, clients: u32) -> Vec<String> {
        self.driver.advice(clients)
    }
}
