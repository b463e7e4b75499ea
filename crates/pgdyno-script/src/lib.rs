//! pgbench's script language (version 18), from bytes to values. No I/O and no clock: the caller reads the file,
//! sends the SQL, sleeps and runs the shell.
//!
//! - [`parse`] turns a [`ScriptText`] into a [`Script`]: a list of [`Command`]s, each of one [`CommandKind`];
//! - [`parse_with_lists`] also takes `\values`, pgdyno's own command, which draws a row of a list;
//! - [`Script::find_key`] reads the line that names the row which the script inserts, pgdyno's own;
//! - [`VariableNames`] numbers the variables of all scripts of a run; [`Variables`] holds one client's values;
//! - [`Expr::eval`] evaluates, [`SqlTemplate::render`] fills values into SQL, [`Sleep`] and [`Shell`] describe the
//!   caller's actions;
//! - [`ScriptError`] prints a mistake as pgbench does and, better, with a caret under all of it;
//! - [`EvalError`] is the error of a running command, in pgbench's words;
//! - [`builtin`] has the three built-in scripts.
//!
//! ```
//! use std::sync::Arc;
//! use pgdyno_script::{CommandKind, ScriptText, Value, VariableNames, Variables, parse};
//! use pgdyno_workload::Rng;
//!
//! let mut names = VariableNames::new();
//! let source = ScriptText { name: "double.sql", text: b"\\set n 2 * :scale\nSELECT :n;" };
//! let script = parse(&source, &mut names)?;
//! let names = Arc::new(names);
//! let mut variables = Variables::new(&names);
//! variables.set_value(names.find(b"scale").expect("the script names it"), Value::Int(21));
//! let (mut rng, mut sql) = (Rng::new(1), Vec::new());
//! for command in &script.commands {
//!     match &command.kind {
//!         CommandKind::Set(set) => set.run(&mut variables, &mut rng, &mut |_| {})?,
//!         CommandKind::Sql(statement) => statement.simple.render(&variables, &mut sql),
//!         _ => {}
//!     }
//! }
//! assert_eq!(sql, b"SELECT 42;");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod builtin;
mod calls;
mod code;
mod commands;
mod defined;
mod eval_error;
mod functions;
mod grammar;
mod key_line;
mod lists;
mod literals;
mod meta;
mod names;
mod numbers;
mod operators;
mod parse;
mod scan;
mod script_error;
mod shell;
mod sleep;
mod template;
mod tokens;
mod tree;
mod value;
mod variables;

pub use code::Expr;
pub use commands::{Collect, Command, CommandKind, DrawValues, Script, Set, Sql};
pub use defined::Defined;
pub use eval_error::EvalError;
pub use key_line::ScriptKey;
pub use names::{Slot, VariableNames, valid_variable_name};
pub use parse::{ScriptText, may_run_commands, parse, parse_with_lists};
pub use script_error::ScriptError;
pub use shell::{SetShell, Shell};
pub use sleep::{Amount, Sleep};
pub use template::{Extended, SqlTemplate};
pub use value::Value;
pub use variables::{NewKey, Variables};

/// The most scripts of a run, as in pgbench.
pub const SCRIPTS_MAX: usize = 128;
