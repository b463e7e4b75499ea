//! The scripts of a run: pgbench's own and the user's files, read in the order of the options.

use std::ffi::OsStr;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;

use pgdyno_script::{ScriptError, ScriptText, VariableNames, builtin, parse};
use pgdyno_wire::QueryMode;
use pgdyno_workloads::scripted;

use crate::messages::{ExitReason, Said, system_text};
use crate::options::{BuiltinChoice, RunOptions, ScriptReader, ScriptSource};

/// Reads scripts from files.
#[derive(Debug, Default)]
pub struct Library {
    /// The files in the order of the options.
    files: Vec<(String, Vec<u8>)>,
}

impl Library {
    /// Returns the scripts of the options, in order.
    #[must_use]
    pub fn sources(self, options: &RunOptions) -> Vec<scripted::WeightedScript> {
        let mut files = self.files.into_iter();
        options
            .scripts
            .iter()
            .filter_map(|choice| {
                let (name, text) = match &choice.source {
                    ScriptSource::Builtin(name) => {
                        let found = builtin::ALL.iter().find(|b| b.name == name)?;
                        (found.description.to_owned(), found.text.as_bytes().to_vec())
                    }
                    ScriptSource::File(_) => files.next()?,
                };
                Some(scripted::WeightedScript { name, text, weight: choice.weight, read_only: None })
            })
            .collect()
    }
}

impl ScriptReader for Library {
    fn all(&self) -> Vec<BuiltinChoice> {
        builtin::ALL.iter().map(as_option).collect()
    }

    fn find(&self, prefix: &str) -> Result<BuiltinChoice, String> {
        builtin::find(prefix).map(as_option).map_err(|error| error.to_string())
    }

    fn file(&mut self, path: &OsStr) -> Result<(), ExitReason> {
        let name = path.to_string_lossy().into_owned();
        let mut text = Vec::new();
        let read = if path == "-" {
            std::io::stdin().lock().read_to_end(&mut text).map(drop)
        } else {
            match std::fs::File::open(path) {
                Ok(mut file) => file.read_to_end(&mut text).map(drop),
                Err(error) => {
                    let text = format!("could not open file \"{name}\": {}", system_text(&error));
                    return Err(ExitReason::error(text));
                }
            }
        };
        if let Err(error) = read {
            return Err(ExitReason::error(format!("could not read file \"{name}\": {}", system_text(&error))));
        }
        // All scripts are parsed again when the run starts: here only errors matter.
        let shown = String::from_utf8_lossy(path.as_bytes());
        parse(&ScriptText { name: &shown, text: &text }, &mut VariableNames::new()).map_err(|error| refused(&error))?;
        self.files.push((name, text));
        Ok(())
    }

    fn complete(&mut self, mode: QueryMode) -> Result<(), ExitReason> {
        if mode == QueryMode::Simple {
            return Ok(());
        }
        for (name, text) in &self.files {
            let script =
                parse(&ScriptText { name, text }, &mut VariableNames::new()).map_err(|error| refused(&error))?;
            script.check_extended().map_err(|error| refused(&error))?;
        }
        Ok(())
    }
}

fn as_option(found: &builtin::Builtin) -> BuiltinChoice {
    BuiltinChoice {
        name: found.name.to_owned(),
        description: found.description.to_owned(),
        text: found.text.to_owned(),
    }
}

/// Returns a script's error in pgbench's words.
pub(crate) fn refused(error: &ScriptError) -> ExitReason {
    let mut lines = error.pgbench_lines().into_iter();
    let first = ExitReason::error(lines.next().unwrap_or_default());
    lines.fold(first, |failure, line| failure.and(Said::Raw(format!("{line}\n"))))
}
