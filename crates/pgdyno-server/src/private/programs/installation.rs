//! An installed PostgreSQL.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::private::programs::version::PgVersion;

/// How an installation was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InstallationOrigin {
    /// `postgres` is on the `PATH`.
    Path,
    /// `pg_config --bindir` names it.
    PgConfig,
    /// It is in a directory of this system's packages.
    Packaged,
    /// It was downloaded.
    Portable,
    /// The user gave its directory.
    Named,
}

/// The programs of one PostgreSQL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Installation {
    /// Directory of `postgres` and `initdb`.
    pub bindir: PathBuf,
    /// Version from `postgres --version`.
    pub version: PgVersion,
    /// How it was found.
    pub origin: InstallationOrigin,
}
