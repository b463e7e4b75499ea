//! The interface to scripts that the options need; another module implements it.

use std::ffi::{OsStr, OsString};

use pgdyno_wire::QueryMode;

use crate::messages::{ExitReason, Said};

/// A built-in script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuiltinChoice {
    /// Its name for `-b`.
    pub name: String,
    /// Its name in reports.
    pub description: String,
    /// The script.
    pub text: String,
}

/// The built-in scripts, and a reader of script files.
///
/// Options are parsed in their order, and the first error is reported. A script of `-f` is read and parsed at its turn,
/// so that its errors are in order with the others.
pub trait ScriptReader {
    /// Returns all built-in scripts, in pgbench's order.
    fn all(&self) -> Vec<BuiltinChoice>;

    /// Returns the built-in script whose name starts with `prefix`.
    ///
    /// # Errors
    /// pgbench's error, when there is none or several.
    fn find(&self, prefix: &str) -> Result<BuiltinChoice, String>;

    /// Reads and parses a file; `-` is standard input.
    ///
    /// # Errors
    /// pgbench's error.
    fn file(&mut self, path: &OsStr) -> Result<(), ExitReason>;

    /// Called after all options were parsed; checks the scripts for this query mode.
    ///
    /// # Errors
    /// pgbench's error.
    fn complete(&mut self, _: QueryMode) -> Result<(), ExitReason> {
        Ok(())
    }
}

/// One of the scripts to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptChoice {
    /// The script.
    pub source: ScriptSource,
    /// Its weight, relative to the others.
    pub weight: u32,
}

/// The origin of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptSource {
    /// A built-in script, by its full name.
    Builtin(String),
    /// A file, as passed to [`ScriptReader::file`].
    File(OsString),
}

/// Returns what `-b list` prints to standard error.
#[must_use]
pub fn listing(scripts: &dyn ScriptReader) -> String {
    let lines: String =
        scripts.all().iter().map(|script| format!("  {:>13}: {}\n", script.name, script.description)).collect();
    format!("Available builtin scripts:\n{lines}\n")
}

/// Returns what `--show-script` prints to standard error.
#[must_use]
pub fn shown(script: &BuiltinChoice) -> String {
    format!("-- {}: {}\n{}\n", script.name, script.description, script.text)
}

/// Returns the built-in script of this name, or the error with the list of all.
pub(super) fn find(scripts: &dyn ScriptReader, prefix: &str) -> Result<BuiltinChoice, ExitReason> {
    scripts.find(prefix).map_err(|text| ExitReason::error(text).and(Said::Raw(listing(scripts))))
}
