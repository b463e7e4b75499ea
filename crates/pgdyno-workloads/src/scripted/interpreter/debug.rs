//! Output of `--debug`, as in pgbench.

use pgdyno_script::{Command, CommandKind};
use pgdyno_wire::{QueryMode, StmtId};
use pgdyno_workload::{Batch, Note, ShellOutcome};

use super::Interpreter;

/// State of the output: a command that is executed again after a wait is reported once.
#[derive(Debug, Default)]
pub(super) struct State {
    script: bool,
    /// Last command.
    command: Option<usize>,
    /// Sync points of the pipeline in progress.
    syncs: u32,
}

impl State {
    /// Handles the start of a transaction.
    pub(super) fn begin(&mut self) {
        self.script = false;
    }

    /// Handles the start of its first command, again after a retry.
    pub(super) fn restart(&mut self) {
        self.command = None;
        self.syncs = 0;
    }
}

impl Interpreter {
    fn say(&self, what: &str, batch: &mut Batch<'_>) {
        batch.note(Note::Info(format!("client {} {what}", self.client)));
    }

    /// Reports the script before its first command.
    pub(super) fn print_script(&mut self, batch: &mut Batch<'_>) {
        let Some(debug_state) = &mut self.debug_state else { return };
        if !std::mem::replace(&mut debug_state.script, true) {
            self.say(&format!("executing script \"{}\"", self.program.scripts[self.script].name), batch);
        }
    }

    /// Reports a command.
    pub(super) fn print_command(&mut self, command: &Command, batch: &mut Batch<'_>) {
        let Some(debug_state) = &mut self.debug_state else { return };
        let again = debug_state.command.replace(self.next) == Some(self.next);
        match &command.kind {
            CommandKind::Sql(sql) => {
                let id = self.id(self.next);
                let what = match batch.mode() {
                    QueryMode::Simple => {
                        let mut text = Vec::new();
                        sql.simple.render(&self.variables, &mut text);
                        text
                    }
                    QueryMode::Extended => sql.extended.text.to_vec(),
                    QueryMode::Prepared if !batch.is_prepared(id) => return self.print_preparing(id, batch),
                    QueryMode::Prepared => self.program.prepared_names[id.0 as usize].clone(),
                };
                self.say(&format!("sending {}", String::from_utf8_lossy(&what)), batch);
                if !self.in_pipeline {
                    self.say("receiving", batch);
                }
            }
            _ if again => {}
            kind => {
                match kind {
                    CommandKind::StartPipeline => debug_state.syncs = 0,
                    CommandKind::SyncPipeline | CommandKind::EndPipeline => debug_state.syncs += 1,
                    _ => {}
                }
                self.say(&format!("executing {}", command.invocation()), batch);
                if matches!(kind, CommandKind::EndPipeline) && self.in_pipeline {
                    self.say("receiving", batch);
                }
            }
        }
    }

    /// Reports the preparation of a statement.
    pub(super) fn print_preparing(&self, id: StmtId, batch: &mut Batch<'_>) {
        if self.debug_state.is_some() {
            let name = &self.program.prepared_names[id.0 as usize];
            self.say(&format!("preparing {}", String::from_utf8_lossy(name)), batch);
        }
    }

    /// Reports the reply to a pipeline, with each sync point.
    pub(super) fn print_reply(&self, commands: &[Command], batch: &mut Batch<'_>) {
        let Some(debug_state) = &self.debug_state else { return };
        if !commands.get(self.sent).is_some_and(|command| matches!(command.kind, CommandKind::EndPipeline)) {
            return;
        }
        for left in (1..=debug_state.syncs).rev() {
            self.say(&format!("pipeline ending, ongoing syncs: {left}"), batch);
            if left > 1 {
                self.say("receiving", batch);
            }
        }
    }

    /// Reports `\setshell`: its program, the program's first argument, and the first line of its output.
    pub(super) fn print_output(&self, command: &Command, outcome: &ShellOutcome, batch: &mut Batch<'_>) {
        if self.debug_state.is_none() || !matches!(command.kind, CommandKind::SetShell(_)) {
            return;
        }
        let invocation = command.invocation().to_string();
        let mut words = invocation.split_whitespace().skip(2);
        let (program, argument) = (words.next().unwrap_or_default(), words.next().unwrap_or("(null)"));
        let output = String::from_utf8_lossy(outcome.output.as_deref().unwrap_or_default());
        let line = output.split_inclusive('\n').next().unwrap_or_default();
        let text = format!("{program}: shell parameter name: \"{argument}\", value: \"{line}\"");
        batch.note(Note::Info(text));
    }
}
