//! State that all clients of a run share: the scripts, and the start of a client.

use std::sync::{Arc, OnceLock};

use pgdyno_script::{CommandKind, Defined, Script, ScriptError, Value, VariableNames, Variables};
use pgdyno_wire::QueryMode;

use super::keys::{self, KeyOfScript};
use super::mix::Mix;
use super::read_lists::ReadLists;
use super::seeds::Seeds;
use super::{ErrorHandling, PgbenchErrors, Spec};

/// Variables that are set without a script.
pub(super) const AUTOMATIC: [&str; 4] = ["scale", "client_id", "random_seed", "default_seed"];

/// State that all clients share.
pub(super) struct Program {
    pub(super) scripts: Vec<Script>,
    /// The place of each script's first command among all commands: a command's number in reports.
    pub(super) first: Vec<usize>,
    /// Name of each prepared command on the server: `P_0`, `P_1`, … over all scripts.
    pub(super) prepared_names: Vec<Vec<u8>>,
    /// The scripts of each group of clients.
    mixes: Vec<Mix>,
    /// Variables of a client at its start, without `client_id`.
    pub(super) variables: Variables,
    errors: ErrorHandling,
    /// Lists of values, once they are read.
    pub(super) lists: OnceLock<ReadLists>,
    /// The row that each script inserts, if it names one.
    pub(super) keys: Vec<Option<KeyOfScript>>,
}

impl Program {
    pub(super) fn new(scripts: Vec<Script>, mut names: VariableNames, spec: &Spec, seeds: &Seeds) -> Self {
        let [scale, _, random_seed, default_seed] = AUTOMATIC.map(|name| names.slot(name.as_bytes()));
        let defines: Vec<_> = spec.defines.iter().map(|(name, text)| (names.slot(name.as_bytes()), text)).collect();
        let mut variables = Variables::new(&Arc::new(names));
        variables.set_value(scale, Value::Int(spec.scale as i64));
        variables.set_value(random_seed, Value::Int(spec.seed as i64));
        if let Some(seed) = seeds.default_seed() {
            variables.set_value(default_seed, Value::Int(seed));
        }
        for (slot, text) in defines {
            variables.set_text(slot, text);
        }
        let (mut first, mut prepared_names, mut statements) = (Vec::new(), Vec::new(), 0usize);
        for script in &scripts {
            first.push(prepared_names.len());
            for command in &script.commands {
                let name =
                    if let CommandKind::Sql(_) = command.kind { format!("P_{statements}") } else { String::new() };
                statements += usize::from(!name.is_empty());
                prepared_names.push(name.into_bytes());
            }
        }
        let mixes = Mix::all(&spec.scripts, spec.groups.as_ref());
        let keys = keys::of_scripts(&scripts);
        Self { scripts, first, prepared_names, mixes, variables, errors: spec.errors, lists: OnceLock::new(), keys }
    }

    pub(super) fn scripts(&self) -> &[Script] {
        &self.scripts
    }

    /// Checks that each variable in SQL is one that something can set. `columns` are those of each list of values, once they
    /// are known.
    pub(super) fn check_variables(
        &self,
        spec: &Spec,
        mode: QueryMode,
        columns: Option<&[&[String]]>,
    ) -> Result<(), ScriptError> {
        let given = AUTOMATIC.into_iter().chain(spec.defines.iter().map(|(name, _)| name.as_str()));
        let defined = Defined::new(&self.scripts, given, columns);
        spec.modes(mode).into_iter().try_for_each(|(at, mode)| {
            defined.check(&self.scripts[at], &spec.scripts[at].source(), mode == QueryMode::Simple)
        })
    }

    /// Returns the scripts of a group.
    pub(super) fn mix(&self, group: &str) -> &Mix {
        // Without groups there is one mix for all clients.
        self.mixes.iter().find(|mix| mix.group == Some(group)).unwrap_or(&self.mixes[0])
    }

    pub(super) fn pgbench(&self) -> Option<PgbenchErrors> {
        match self.errors {
            ErrorHandling::Pgdyno => None,
            ErrorHandling::Pgbench(errors) => Some(errors),
        }
    }
}
