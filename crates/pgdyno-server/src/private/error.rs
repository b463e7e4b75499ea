//! Errors of starting a private server.

use std::io;
use std::path::PathBuf;

use crate::private::account::AccountError;
use crate::private::programs::build::InstallationError;
use crate::private::programs::portable::PortableError;
use crate::private::server::PasswordError;

/// The error when there is no private server.
#[derive(Debug, thiserror::Error)]
pub enum EmbeddedError {
    /// There is no account that it could run as.
    #[error(transparent)]
    Account(#[from] AccountError),
    /// None is installed, and the portable one is not available.
    #[error(transparent)]
    Portable(#[from] PortableError),
    /// The given one cannot be started.
    #[error(transparent)]
    Build(#[from] InstallationError),
    /// Its directory is unusable.
    #[error("cannot use {} for the private server; set PGDYNO_CACHE to a writable directory on a disk", .path.display())]
    Place {
        /// The directory.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// An invalid setting.
    #[error("cannot set '{name}' for the private server: {reason}")]
    Setting {
        /// Its name.
        name: String,
        /// The reason.
        reason: &'static str,
    },
    /// The supervisor does not start.
    #[error("cannot start {} as the supervisor of the private server", .program.display())]
    Supervisor {
        /// The program.
        program: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// It has no password, which TCP needs.
    #[error(transparent)]
    Password(#[from] PasswordError),
    /// PostgreSQL does not start, or ends.
    #[error("the private PostgreSQL {version} ({}) failed: {what}{}", .bindir.display(), log_text(.log))]
    Start {
        /// Its version.
        version: String,
        /// Its programs.
        bindir: PathBuf,
        /// The cause.
        what: String,
        /// The last lines of its log.
        log: Vec<String>,
    },
}

pub(crate) fn log_text(log: &[String]) -> String {
    if log.is_empty() { String::new() } else { format!("; its log ends:\n  {}", log.join("\n  ")) }
}
