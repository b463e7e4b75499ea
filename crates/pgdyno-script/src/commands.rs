//! What a script is once it is parsed.

use std::ops::Range;

use pgdyno_workload::Rng;

use crate::{EvalError, Expr, Extended, SetShell, Shell, Sleep, Slot, Template, Variables};

/// A parsed script: at least one command, and every `\if` with its `\endif`.
#[derive(Clone, Debug)]
pub struct Script {
    /// As its source names it: a file, `-`, or `<builtin: select only>`.
    pub name: String,
    /// In their order.
    pub commands: Vec<Command>,
    /// Where SQL names variables outside of quotes and comments, as offsets in the source.
    pub(crate) mentions: Vec<Range<usize>>,
}

/// A command of a script.
#[derive(Clone, Debug)]
pub struct Command {
    /// What reports show: of SQL the first line and at most 127 bytes of it, of a backslash command all of it.
    pub text: Vec<u8>,
    /// Where it begins, from 1.
    pub line: u32,
    /// The words of a backslash command without its backslash, as spelled; an expression is none of them.
    pub words: Vec<Vec<u8>>,
    /// What it does.
    pub kind: Kind,
}

/// What a command does.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Kind {
    /// SQL is sent.
    Sql(Sql),
    /// `\set name expression`
    Set(Set),
    /// `\if expression`: where it is not true, go on at `otherwise`.
    If {
        /// Of which the truth decides.
        condition: Expr,
        /// The index of the `\elif`, `\else` or `\endif` that follows. An `\elif` reached this way evaluates its
        /// condition; an `\else` reached this way does nothing.
        otherwise: usize,
    },
    /// `\elif expression`. Reached from the command before it, a branch has just ended: go on at `end`.
    Elif {
        /// As of `\if`.
        condition: Expr,
        /// As of `\if`.
        otherwise: usize,
        /// The index of the `\endif`.
        end: usize,
    },
    /// `\else`. Reached from the command before it, a branch has just ended: go on at `end`.
    Else {
        /// The index of the `\endif`.
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
    /// `\startpipeline`. Where pipelines are allowed is a question of how the script runs: of the query mode, and of
    /// the branches that are taken.
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
    pub simple: Template,
    /// For the extended protocol, prepared or not.
    pub extended: Extended,
    /// What becomes of its rows.
    pub collect: Collect,
    /// One more than it has `\;`.
    pub statements: u32,
}

/// What becomes of the rows of a command. A column goes into the variable whose name is the prefix and the column's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Collect {
    /// They are read and dropped.
    Nothing,
    /// `\gset [prefix]`: the last result, which must be one row.
    Gset {
        /// Before the columns' names; may be empty.
        prefix: Vec<u8>,
    },
    /// `\aset [prefix]`: of every result the last row; empty ones change nothing.
    Aset {
        /// Before the columns' names; may be empty.
        prefix: Vec<u8>,
    },
}

/// `\set name expression`
#[derive(Clone, Debug)]
pub struct Set {
    /// The value.
    pub expr: Expr,
    pub(crate) name: Box<[u8]>,
    /// None where the name is not allowed, which is an error only when it runs.
    pub(crate) slot: Option<Slot>,
    /// The command as it is spelled, for messages.
    pub(crate) command: Box<str>,
}

impl Set {
    /// Evaluates the expression and sets the variable. For `debug`, see [`Expr::eval`].
    ///
    /// # Errors
    /// Those of the expression; then, that the variable may not be called that.
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

impl Command {
    /// Whether it is SQL.
    #[must_use]
    pub fn is_sql(&self) -> bool {
        matches!(self.kind, Kind::Sql(_))
    }

    /// The text of reports, as far as it is UTF-8.
    #[must_use]
    pub fn label(&self) -> String {
        String::from_utf8_lossy(&self.text).into_owned()
    }

    /// What pgbench prints under `--debug` after `client 0 executing `: `\set x`. Of SQL, nothing.
    #[must_use]
    pub fn invocation(&self) -> String {
        match self.words.is_empty() {
            true => String::new(),
            false => format!("\\{}", String::from_utf8_lossy(&self.words.join(&b' '))),
        }
    }

    /// What pgbench calls the command in `client 0 aborted in command 1 (…) of script 0; ` when it failed with
    /// `error`. What follows there is [`EvalError::consequence`].
    #[must_use]
    pub fn name_for(&self, error: &EvalError) -> String {
        let name = match &self.kind {
            Kind::Sql(_) => "SQL",
            Kind::Sleep(_) => "sleep",
            Kind::Shell(_) => "shell",
            Kind::SetShell(_) => "setshell",
            Kind::Set(_) if matches!(error, EvalError::InvalidName { .. }) => "set",
            _ => return self.words.first().map(|w| String::from_utf8_lossy(w).into_owned()).unwrap_or_default(),
        };
        name.to_owned()
    }
}
