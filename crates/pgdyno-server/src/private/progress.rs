//! Progress of a start.

use crate::private::programs::version::PgVersion;

/// A step of a start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartStep {
    /// The portable PostgreSQL is being downloaded and unpacked, about 15 MB.
    Fetching {
        /// Its major version.
        major: u32,
    },
    /// Data that an earlier server has loaded is copied.
    Copying,
    /// initdb runs.
    Initialising {
        /// The version of the server.
        version: PgVersion,
    },
    /// The server starts.
    Starting {
        /// Its version.
        version: PgVersion,
    },
}
