//! What the options need to know of scripts, which are somebody else's.

use std::ffi::{OsStr, OsString};

use pgdyno_wire::QueryMode;

use crate::messages::{Failure, Said};

/// A built-in script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Builtin {
    /// What `-b` calls it.
    pub name: String,
    /// What reports call it.
    pub description: String,
    /// The script.
    pub text: String,
}

/// The built-in scripts, and whoever reads files with scripts.
///
/// Options are read in their order, and the first that is wrong is the one that is told; a script of `-f` is
/// read and parsed when its turn comes, so that its errors have their place among the others.
pub trait Scripts {
    /// All built-in scripts, in pgbench's order.
    fn all(&self) -> Vec<Builtin>;

    /// The built-in script whose name begins with `prefix`.
    ///
    /// # Errors
    /// With pgbench's text, when there is none or more than one.
    fn find(&self, prefix: &str) -> Result<Builtin, String>;

    /// Reads and parses a file; `-` is standard input.
    ///
    /// # Errors
    /// With what pgbench says of it.
    fn file(&mut self, path: &OsStr) -> Result<(), Failure>;

    /// All options are read: what is wrong with the scripts in this mode?
    ///
    /// # Errors
    /// With what pgbench says of it.
    fn complete(&mut self, _: QueryMode) -> Result<(), Failure> {
        Ok(())
    }
}

/// One of the scripts to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptChoice {
    /// Which.
    pub source: ScriptSource,
    /// How often, in relation to the others.
    pub weight: u32,
}

/// Where a script comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptSource {
    /// A built-in script, by its whole name.
    Builtin(String),
    /// A file, as it was given to [`Scripts::file`].
    File(OsString),
}

/// What `-b list` prints to standard error.
#[must_use]
pub fn listing(scripts: &dyn Scripts) -> String {
    let lines: String =
        scripts.all().iter().map(|script| format!("  {:>13}: {}\n", script.name, script.description)).collect();
    format!("Available builtin scripts:\n{lines}\n")
}

/// What `--show-script` prints to standard error.
#[must_use]
pub fn shown(script: &Builtin) -> String {
    format!("-- {}: {}\n{}\n", script.name, script.description, script.text)
}

/// The built-in script of this name, or the complaint with the list of all.
pub(super) fn find(scripts: &dyn Scripts, prefix: &str) -> Result<Builtin, Failure> {
    scripts.find(prefix).map_err(|text| Failure::error(text).and(Said::Raw(listing(scripts))))
}
