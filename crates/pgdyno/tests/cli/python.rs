//! Python with packages that some tests compare with or are validated by.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::skipped;

/// Returns a Python that has these modules: that of `target/python` or `target/cloud`, which `.ci/run` makes, or else the
/// system's. Skips aloud without one.
pub(crate) fn python(modules: &[&str], what: &str) -> Option<PathBuf> {
    let own = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target").join(name).join("bin/python3");
    let imports = format!("import {}", modules.join(", "));
    let has = |python: &PathBuf| {
        let mut command = program(python);
        command.args(["-c", &imports]).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let found = [own("python"), own("cloud"), "python3".into()].into_iter().find(has);
    if found.is_none() {
        skipped::skipped(&format!("no Python with {}, which {what}", modules.join(" and ")));
    }
    found
}

/// Returns a command of Python, or of a program in it, which keeps the bytecode of its packages whatever the environment says: to
/// compile them takes as long as most of these programs run.
pub(crate) fn program(path: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(path);
    command.env_remove("PYTHONDONTWRITEBYTECODE");
    command
}
