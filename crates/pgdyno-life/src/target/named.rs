//! Targets with a name in `pgdyno.toml`.

use pgdyno_plan::targets::{self, Targets};
use pgdyno_plan::{TargetName, TargetOrder};
use pgdyno_results::TargetRecord;

use crate::exit_code::Code;
use crate::failure::{CommandError, OrFail, Result};

/// A target and its name.
#[derive(Clone, Debug)]
pub struct Named {
    pub(crate) name: String,
    pub(crate) entry: targets::NamedTarget,
}

impl Named {
    /// Returns the target that the order names, or is shown as; none if the order gives only a connection string, or
    /// nothing.
    ///
    /// # Errors
    /// When there is no such name, or the file has an error.
    pub(crate) fn find(order: &TargetOrder) -> Result<Option<Self>> {
        let word = order.shown_as.as_ref().or(order.target.as_ref());
        let Some(name) = word.filter(|word| word.kind().is_name()).map(TargetName::as_str) else { return Ok(None) };
        let file = order.config().display().to_string();
        let text = match std::fs::read_to_string(order.config()) {
            Ok(text) => text,
            // Without the default file there are no names: then the word may be a misspelt connection string.
            Err(e) if e.kind() == std::io::ErrorKind::NotFound && file == targets::FILE => return Ok(None),
            Err(e) => {
                let error = format!("failed to read {file} for target '{name}': {e}");
                return Err(CommandError::new(Code::Start, error).hint("--config names the file with the targets"));
            }
        };
        let targets = Targets::read(&file, &text).or_fail(Code::Start)?;
        let Some(entry) = targets.find(name) else {
            let error = format!("{file} has no target '{name}'");
            let known: Vec<_> = targets.target.keys().map(String::as_str).collect();
            return Err(CommandError::new(Code::Start, error).hint(match targets.nearest(name) {
                Some(nearest) => format!("did you mean {nearest}?"),
                None if known.is_empty() => "it has none; a target begins with a line [target.NAME]".to_owned(),
                None => format!("it has {}", known.join(", ")),
            }));
        };
        Ok(Some(Self { name: name.to_owned(), entry: entry.clone() }))
    }

    /// Returns what a record says about it.
    pub(crate) fn record(&self) -> TargetRecord {
        let entry = &self.entry;
        TargetRecord {
            name: self.name.clone(),
            kind: entry.kind.clone(),
            labels: entry.labels.clone(),
            vcpus: entry.vcpus,
            memory_bytes: entry.memory.map(|memory| memory.0),
            price_per_hour: entry.price_per_hour,
            currency: entry.price_per_hour.map_or_else(String::new, |_| entry.currency.clone()),
        }
    }
}

/// Adds to an error about a connection string that the word is no name either.
pub(super) fn explain(failure: CommandError, order: &TargetOrder) -> CommandError {
    match order.target.as_ref().filter(|word| word.kind().is_name()) {
        Some(word) if !order.config().exists() => {
            failure.hint(format!("for targets with names there must be a {} that has '{word}'", targets::FILE))
        }
        _ => failure,
    }
}
