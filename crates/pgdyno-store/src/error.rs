//! Errors of the central store.

use std::io;
use std::path::{Path, PathBuf};

use pgdyno_net::{AdminError, ConnectError};
use pgdyno_results::StoreError;
use pgdyno_untrusted::TerminalText;

use crate::VERSION;

/// Why the central store cannot be used, or a run not be pushed or pulled.
#[derive(Debug, thiserror::Error)]
pub enum CentralError {
    /// The server cannot be reached.
    #[error("failed to reach the store of results")]
    Connect(#[from] ConnectError),
    /// A statement failed, or the connection was lost.
    #[error("the store of results failed")]
    Statement(#[from] AdminError),
    /// The database has no store.
    #[error("database {database} has no store of results")]
    NoStore {
        /// The database.
        database: String,
    },
    /// The store is of another version.
    #[error("the store of results in database {database} is of version {found}; this program has version {VERSION}")]
    Version {
        /// The database.
        database: String,
        /// Its version.
        found: u32,
    },
    /// What calls itself a store is none.
    #[error("the store of results has the identity {id:?}, which is not a UUID: it was not made by pgdyno")]
    NoIdentity {
        /// What it gives for its identity.
        id: String,
    },
    /// The connection was lost, and the address leads to another store now.
    #[error("database {database} now has another store of results than before")]
    AnotherStore {
        /// The database.
        database: String,
    },
    /// The store takes too long.
    #[error("the store of results took longer than {seconds} s")]
    Slow {
        /// The limit.
        seconds: u64,
    },
    /// Others stored something of this name each time.
    #[error("other processes are pushing {name} at the same time")]
    Contended {
        /// The name.
        name: String,
    },
    /// A record has a name that no run or study can have.
    #[error("the name in the record, {name:?}, is not a valid name of a run or study")]
    NoName {
        /// The name.
        name: String,
    },
    /// The directory of the copies could have been written by another user.
    #[error(transparent)]
    NotOwn(#[from] pgdyno_untrusted::NotOwn),
    /// A thread cannot be started.
    #[error("failed to start a thread")]
    Thread(#[source] io::Error),
    /// The role lacks a privilege.
    #[error("role {role} may not {what} the store of results in database {database}")]
    NotAllowed {
        /// The role.
        role: String,
        /// The database.
        database: String,
        /// `create`, `read` or `write to`.
        what: &'static str,
        /// The server's error.
        source: Box<AdminError>,
    },
    /// The store has something of this name with other files.
    #[error(
        "the store has the {kind} {name} with other files, pushed at {} by {}",
        TerminalText(pushed_at),
        TerminalText(pushed_by)
    )]
    Differs {
        /// `run`, or the kind of a study.
        kind: &'static str,
        /// Its name.
        name: String,
        /// When it was pushed.
        pushed_at: String,
        /// The role that pushed it.
        pushed_by: String,
    },
    /// The directory has something of this name with other files.
    #[error("{} has the {kind} with other files than the store", path.display())]
    DiffersHere {
        /// `run`, or the kind of a study.
        kind: &'static str,
        /// The run's directory, or the study's file.
        path: PathBuf,
    },
    /// The run has not ended.
    #[error("the run {run} goes on")]
    GoesOn {
        /// The run.
        run: String,
    },
    /// Not found in the store.
    #[error("the store has no run {name}")]
    NoSuch {
        /// The name.
        name: String,
    },
    /// The store was made by a version that kept runs only.
    #[error("the store in database {database} has no table for experiments, searches and frontiers yet")]
    NoStudies {
        /// The database.
        database: String,
    },
    /// A file in the store is not what was pushed.
    #[error("the store's file {path} of the {kind} {name} is damaged: {why}")]
    Damaged {
        /// `run`, or the kind of a study.
        kind: &'static str,
        /// Its name.
        name: String,
        /// The file.
        path: String,
        /// What is wrong.
        why: String,
    },
    /// A file changed while it was read.
    #[error("{} changed while it was pushed", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// A local file cannot be read or written.
    #[error("failed to {what} {}: {source}", path.display())]
    Io {
        /// The action.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A local record cannot be read.
    #[error(transparent)]
    Record(#[from] StoreError),
}

impl CentralError {
    /// Returns what to do about it, where the message does not say so.
    #[must_use]
    pub fn remedy(&self) -> Option<String> {
        let text = match self {
            Self::NoStore { .. } => "create it once: pgdyno store init --store …",
            Self::Version { found, .. } if *found > VERSION => "use the newest pgdyno of your team",
            Self::Version { .. } => "pull its runs with the pgdyno that made it, and push them to a new one",
            Self::NotAllowed { role, what: "create", .. } => {
                let role = pgdyno_net::quote::identifier(role);
                return Some(format!(
                    "as an administrator of that database, run once: CREATE SCHEMA pgdyno_results AUTHORIZATION {role}"
                ));
            }
            Self::NotAllowed { .. } => "docs/store.md has the GRANTs for those who write and those who read",
            Self::Differs { .. } => "push it with --replace to store the files that are here",
            Self::DiffersHere { .. } => "pull it into another directory with --out",
            Self::GoesOn { .. } => "push it when it has ended",
            Self::NoStudies { .. } => "add it once, as the owner of the store: pgdyno store init --store …",
            Self::NoSuch { .. } => "`pgdyno store list` names those that are there",
            Self::Damaged { .. } => "push the run again with --replace from where it was made",
            Self::Changed { .. } => "push the run again when nobody writes to it",
            Self::NoIdentity { .. } => "check that --store names the store of your team",
            Self::AnotherStore { .. } => "start the command again to read that one",
            Self::Slow { .. } => "check the store's server and the network to it, and push again",
            Self::Contended { .. } => "push it again when the others have ended",
            Self::NoName { .. } => "push the directory that pgdyno wrote",
            Self::NotOwn(_)
            | Self::Thread(_)
            | Self::Connect(_)
            | Self::Statement(_)
            | Self::Io { .. }
            | Self::Record(_) => return None,
        };
        Some(text.to_owned())
    }

    /// Returns true if the connection was lost, or could not be made: another attempt may succeed.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Connect(_) | Self::Slow { .. } => true,
            Self::Statement(error) => error.is_lost(),
            _ => false,
        }
    }

    /// Returns true if there is no store for this role, which no later attempt changes.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::NoStore { .. } | Self::Version { .. } | Self::NotAllowed { .. } | Self::NoIdentity { .. })
    }

    /// Returns true if something else can be pushed to the same store although this could not.
    #[must_use]
    pub fn is_about_one(&self) -> bool {
        match self {
            Self::Differs { .. }
            | Self::Record(_)
            | Self::Changed { .. }
            | Self::NoStudies { .. }
            | Self::Contended { .. }
            | Self::NoName { .. }
            | Self::Io { .. } => true,
            // Data that the server refuses: exceptions of data and of integrity, and what exceeds its limits.
            Self::Statement(error) => {
                error.code().is_some_and(|code| ["22", "23", "54"].iter().any(|class| code.as_str().starts_with(class)))
            }
            _ => false,
        }
    }
}

pub(crate) fn io_error<'a>(what: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> CentralError + 'a {
    move |source| CentralError::Io { what, path: path.to_owned(), source }
}
