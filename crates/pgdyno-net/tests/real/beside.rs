//! libpq itself, by psql: what it connects to, and what it refuses.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::postgres;
use crate::skipped::skipped;

/// Whether there is a psql; says so if there is none.
pub(crate) fn available(test: &str) -> bool {
    let there = postgres::program("psql").exists();
    if !there {
        skipped(&format!("{test}: no psql"));
    }
    there
}

/// What psql made of a connection string.
#[derive(Debug)]
pub(crate) struct Verdict {
    /// The first value that the query brought.
    pub(crate) value: Option<String>,
    pub(crate) said: String,
}

impl Verdict {
    /// Whether there was no connection at all, and not one that was lost during the query.
    pub(crate) fn refused(&self) -> bool {
        self.value.is_none() && !self.said.contains("connection to server was lost")
    }
}

/// Asks for the server's port over a connection of libpq, in surroundings that say nothing.
pub(crate) fn libpq(dsn: &str) -> Verdict {
    libpq_in(dsn, Path::new("/nonexistent"))
}

/// The same with this home directory.
pub(crate) fn libpq_in(dsn: &str, home: &Path) -> Verdict {
    let output = Command::new(postgres::program("psql"))
        .args(["-XAtw", "-c", "show port", dsn])
        .env_clear()
        .envs([("LC_ALL", "C"), ("HOME", home.to_str().unwrap())])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let value = String::from_utf8_lossy(&output.stdout).lines().next().map(str::to_owned);
    Verdict { value, said: String::from_utf8_lossy(&output.stderr).into_owned() }
}
