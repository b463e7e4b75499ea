//! Parsed scripts.

use std::ops::Range;

use pgdyno_workload::Rng;

use crate::{EvalError, Expr, Extended, ScriptKey, SetShell, Shell, Sleep, Slot, SqlTemplate, Variables};

/// A parsed script: at least one command, and every `\if` with its `\endif`.
#[derive(Clone, Debug)]
pub struct Script {
    /// Name of the source: a file, `-`, or `<builtin: select only>`.
    pub name: String,
    /// The commands, in order.
    pub commands: Vec<Command>,
    /// Positions of variables in SQL outside of quotes and comments, as offsets in the source.
    pub(crate) mentions: Vec<Range<usize>>,
    /// The row that it inserts, once it was looked for.
    pub(crate) key: Option<ScriptKey>,
}

/// A command of a script.
#[derive(Clone, Debug)]
pub struct Command {
    /// Text in reports: the first line of SQL, at most 127 bytes of it; a whole backslash command.
    pub text: Vec<u8>,
    /// Line in which it begins, from 1.
    pub line: u32,
    /// The words of a backslash command without its backslash, as written, without expressions.
    pub words: Vec<Vec<u8>>,
    /// Its kind.
    pub kind: CommandKind,
}

/// Kind of a command.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum CommandKind {
    /// Sends SQL.
    Sql(Sql),
    /// `\set name expression`
    Set(Set),
    /// `\if expression`: if it is not true, continues at `otherwise`.
    If {
        /// The condition.
        condition: Expr,
        /// Index of the next `\elif`, `\else` or `\endif`. An `\elif` reached this way evaluates its condition; an
        /// `\else` reached this way does nothing.
        otherwise: usize,
    },
    /// `\elif expression`. If reached from the command before it, a branch has ended: continue at `end`.
    Elif {
        /// As in `\if`.
        condition: Expr,
        /// As in `\if`.
        otherwise: usize,
        /// Index of the `\endif`.
        end: usize,
    },
    /// `\else`. If reached from the command before it, a branch has ended: continue at `end`.
    Else {
        /// Index of the `\endif`.
        end: usize,
    },
    /// `\endif`
    EndIf,
    /// `\sleep number [us|ms|s]`
    Sleep(Sleep),
    /// `\setshell name command …`
    SetShell(SetShell),
    /// `\shell command …`
    Shell(Shell),
    /// `\values list [prefix]`
    Values(DrawValues),
    /// `\startpipeline`. Whether a pipeline is allowed depends on the run: on the query mode, and on the branches
    /// taken.
    StartPipeline,
    /// `\syncpipeline`
    SyncPipeline,
    /// `\endpipeline`
    EndPipeline,
}

/// SQL, for either protocol.
#[derive(Clone, Debug)]
pub struct Sql {
    /// For the simple protocol.
    pub simple: SqlTemplate,
    /// For the extended protocol, prepared or not.
    pub extended: Extended,
    /// Treatment of its rows.
    pub collect: Collect,
    /// Number of statements: one more than its `\;`.
    pub statements: u32,
}

/// Treatment of a command's rows. A column is stored in the variable whose name is the prefix and the column's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Collect {
    /// They are discarded.
    Nothing,
    /// `\gset [prefix]`: stores the last result, which must have one row.
    Gset {
        /// Prefix of the columns' names; may be empty.
        prefix: Vec<u8>,
    },
    /// `\aset [prefix]`: stores the last row of every result; empty results change nothing.
    Aset {
        /// Prefix of the columns' names; may be empty.
        prefix: Vec<u8>,
    },
}

/// `\set name expression`
#[derive(Clone, Debug)]
pub struct Set {
    /// The value.
    pub expr: Expr,
    pub(crate) name: Box<[u8]>,
    /// The variable; `None` if the name is not allowed, which is an error only when it runs.
    pub(crate) slot: Option<Slot>,
    /// The command as written, for messages.
    pub(crate) command: Box<str>,
}

impl Set {
    /// Evaluates the expression and sets the variable. For `debug`, see [`Expr::eval`].
    ///
    /// # Errors
    /// Errors of the expression; then a name that is not allowed.
    #[inline]
    pub fn run(&self, variables: &mut Variables, rng: &mut Rng, debug: &mut dyn FnMut(&str)) -> Result<(), EvalError> {
        let value = self.expr.eval(variables, rng, debug)?;
        match self.slot {
            Some(slot) => {
                variables.set_value(slot, value);
                Ok(())
            }
            None => Err(EvalError::InvalidName {
                context: self.command.clone(),
                name: String::from_utf8_lossy(&self.name).into(),
            }),
        }
    }
}

/// `\values list [prefix]`: draws a row of a list, and sets one variable for each column. pgdyno's own.
#[derive(Clone, Debug)]
pub struct DrawValues {
    /// The list's place among those of the run.
    pub list: usize,
    /// Prefix of the columns' names; may be empty.
    pub(crate) prefix: Box<[u8]>,
    /// The command in the source.
    pub(crate) span: Range<usize>,
}

impl DrawValues {
    /// Returns the name of the variable for a column.
    pub(crate) fn variable(&self, column: &str) -> Vec<u8> {
        [&self.prefix, column.as_bytes()].concat()
    }
}

impl Command {
    /// Returns true if it runs a command on the machine of its client: `\shell` or `\setshell`.
    #[must_use]
    pub fn runs_command(&self) -> bool {
        matches!(self.kind, CommandKind::Shell(_) | CommandKind::SetShell(_))
    }

    /// Returns true if it is SQL.
    #[must_use]
    pub fn is_sql(&self) -> bool {
        matches!(self.kind, CommandKind::Sql(_))
    }

    /// Returns the text of reports, converted to UTF-8.
    #[must_use]
    pub fn label(&self) -> String {
        String::from_utf8_lossy(&self.text).into_owned()
    }

    /// Returns the text that pgbench prints under `--debug` after `client 0 executing `: `\set x`. Empty for SQL.
    #[must_use]
    pub fn invocation(&self) -> String {
        match self.words.is_empty() {
            true => String::new(),
            false => format!("\\{}", String::from_utf8_lossy(&self.words.join(&b' '))),
        }
    }

    /// Returns pgbench's name of the command in `client 0 aborted in command 1 (…) of script 0; ` if it failed with
    /// `error`. The rest of that line is [`EvalError::consequence`].
    #[must_use]
    pub fn name_for(&self, error: &EvalError) -> String {
        let name = match &self.kind {
            CommandKind::Sql(_) => "SQL",
            CommandKind::Sleep(_) => "sleep",
            CommandKind::Shell(_) => "shell",
            CommandKind::SetShell(_) => "setshell",
            CommandKind::Set(_) if matches!(error, EvalError::InvalidName { .. }) => "set",
            _ => return self.words.first().map(|w| String::from_utf8_lossy(w).into_owned()).unwrap_or_default(),
        };
        name.to_owned()
    }
}
