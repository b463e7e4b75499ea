//! Why there is no private server.

use std::io;
use std::path::PathBuf;

use crate::private::account::AccountError;
use crate::private::programs::build::BuildError;
use crate::private::programs::portable::PortableError;
use crate::private::server::PasswordError;

/// Why there is no private server.
#[derive(Debug, thiserror::Error)]
pub enum EmbeddedError {
    /// There is nobody whom it could run as.
    #[error(transparent)]
    Account(#[from] AccountError),
    /// None is installed, and the portable one cannot be had.
    #[error(transparent)]
    Portable(#[from] PortableError),
    /// The one that was named cannot be started.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// Its place cannot be used.
    #[error("cannot use {} for the private server; set XDG_CACHE_HOME to a place on a disk that you may write", .path.display())]
    Place {
        /// The place.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A setting that cannot be given.
    #[error("cannot set '{name}' for the private server: {reason}")]
    Setting {
        /// Its name.
        name: String,
        /// Why not.
        reason: &'static str,
    },
    /// The supervisor does not start.
    #[error("cannot start {} as the supervisor of the private server", .program.display())]
    Supervisor {
        /// The program.
        program: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It has no password, so that TCP is of no use.
    #[error(transparent)]
    Password(#[from] PasswordError),
    /// PostgreSQL does not start, or does not stay.
    #[error("the private PostgreSQL {version} ({}) failed: {what}{}", .bindir.display(), log_text(.log))]
    Start {
        /// Its version.
        version: String,
        /// Its programs.
        bindir: PathBuf,
        /// What happened.
        what: String,
        /// The last lines of its log.
        log: Vec<String>,
    },
}

pub(crate) fn log_text(log: &[String]) -> String {
    if log.is_empty() { String::new() } else { format!("; its log ends:\n  {}", log.join("\n  ")) }
}
