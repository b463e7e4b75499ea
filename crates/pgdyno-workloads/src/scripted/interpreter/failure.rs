//! Errors in scripts: pgbench's actions in the drop-in, else pgdyno's.

use pgdyno_script::CommandKind;
use pgdyno_wire::{QueryMode, StmtId, libpq};
use pgdyno_workload::{Failure, FailureAction, Note};

use super::Interpreter;
use crate::scripted::PgbenchErrors;
use crate::scripted::words;

impl Interpreter {
    /// Returns the action for the client, and appends messages for the user.
    pub(super) fn answer(&self, failure: &Failure<'_>, notes: &mut Vec<Note>) -> FailureAction {
        match failure {
            Failure::LeftOpen => {
                let why = "aborted: end of script reached without completing the last transaction";
                notes.push(Note::Error(format!("client {} {why}", self.client)));
                FailureAction::Abort
            }
            Failure::NotConnected => {
                notes.push(Note::Error(format!("client {} aborted while establishing connection", self.client)));
                FailureAction::Abort
            }
            Failure::Decided { again, tries, elapsed_ns } => {
                if let Some(errors) = self.program.pgbench().filter(|errors| errors.verbose_errors) {
                    let used = errors.latency_limit_ns.map(|limit| 100.0 * *elapsed_ns as f64 / limit as f64);
                    notes.push(Note::Info(words::decided(self.client, *again, *tries, errors.max_tries, used)));
                }
                FailureAction::Count
            }
            Failure::Server { .. } | Failure::Lost { .. } => match self.program.pgbench() {
                Some(errors) => self.as_pgbench(errors, failure, notes),
                None => FailureAction::Count,
            },
        }
    }

    /// Returns the command in pgbench's message: the one whose reply is awaited, else the one that is being prepared.
    fn failed_at(&self) -> usize {
        // The connection may be lost after the last command, a sleep, except for its wait.
        let last = self.program.scripts[self.script].commands.len().saturating_sub(1);
        if self.sent == usize::MAX { self.next.min(last) } else { self.sent }
    }

    /// Returns the text to which a position in the server's message refers, if libpq knows it.
    fn text_of(&self, stmt: Option<StmtId>) -> Option<&[u8]> {
        let id = self.preparing.or(stmt)?;
        match (self.mode, self.preparing) {
            (QueryMode::Simple, _) => Some(&self.text),
            (QueryMode::Prepared, None) => None,
            _ => {
                let index = (id.0 as usize).checked_sub(self.program.first[self.script])?;
                match &self.program.scripts[self.script].commands.get(index)?.kind {
                    CommandKind::Sql(sql) => Some(&sql.extended.text),
                    _ => None,
                }
            }
        }
    }

    /// Returns file and line of the statement that failed. `position` is the server's, in the text sent.
    pub(super) fn line_of(&self, stmt: Option<StmtId>, position: Option<u32>) -> Option<String> {
        let id = self.preparing.or(stmt)?;
        let script = &self.program.scripts[self.script];
        let index = (id.0 as usize).checked_sub(self.program.first[self.script])?;
        let command = script.commands.get(index)?;
        let sent = match (&command.kind, self.mode) {
            (CommandKind::Sql(_), QueryMode::Simple) => self.text.as_slice(),
            (CommandKind::Sql(sql), _) => &sql.extended.text,
            _ => &[],
        };
        let before = position.map_or(0, |position| position.saturating_sub(1) as usize);
        let newlines = String::from_utf8_lossy(sent).chars().take(before).filter(|c| *c == '\n').count();
        Some(format!("{}:{}", script.name, command.line as usize + newlines))
    }

    fn as_pgbench(&self, errors: PgbenchErrors, failure: &Failure<'_>, notes: &mut Vec<Note>) -> FailureAction {
        let at = self.place(self.failed_at());
        match failure {
            Failure::Server { message, .. } if message.severity.is_empty() => {
                notes.push(Note::Error("COPY is not supported in pgbench, aborting".to_owned()));
            }
            Failure::Server { stmt, results, message, .. } => {
                let why = libpq::error(message, &String::from_utf8_lossy(self.text_of(*stmt).unwrap_or_default()));
                if self.preparing.is_some() {
                    // pgbench reports that, and tries to execute it nevertheless.
                    notes.push(Note::Error(why));
                    return FailureAction::Ignore;
                }
                if message.code.class().is_retryable() || errors.continue_on_error {
                    if errors.verbose_errors {
                        notes.push(Note::Info(words::met_error(at, &why)));
                    }
                    return FailureAction::Count;
                }
                let query = match self.mode {
                    QueryMode::Simple => *results,
                    // Results of a pipeline are counted one by one, together with sync points right before them.
                    _ => self.after_syncs.iter().find(|(id, _)| Some(*id) == *stmt).map_or(0, |(_, syncs)| *syncs),
                };
                notes.push(Note::Error(words::refused(at, query, &why)));
            }
            Failure::Lost { .. } if errors.reconnect => return FailureAction::Count,
            // After the first result of a group of statements libpq reports it as a statement's error.
            Failure::Lost { results, said, .. }
                if said.is_some() || (*results > 0 && self.mode == QueryMode::Simple) =>
            {
                let query = if self.mode == QueryMode::Simple { *results } else { 0 };
                notes.push(Note::Error(words::refused(at, query, said.unwrap_or(libpq::LOST))));
            }
            _ => {
                let why = "perhaps the backend died while processing";
                notes.push(Note::Error(words::command_failed(at, "SQL", why)));
            }
        }
        FailureAction::Abort
    }
}
