//! `\shell` and `\setshell`: the command line, and the use of the output. The caller runs it.

use crate::numbers::{is_space, leading_int};
use crate::{EvalError, Slot, Value, Variables};

/// Limit of a command line in bytes.
const MAX_LINE: usize = 254;
/// Limit of the first line of output, as in pgbench.
const MAX_ANSWER: usize = 63;

/// The words of a shell command.
#[derive(Clone, Debug, PartialEq)]
pub struct Shell {
    words: Vec<(Box<[u8]>, Option<Slot>)>,
}

impl Shell {
    /// Words as in the script, and the variable that each names.
    pub(crate) fn new(words: Vec<(Box<[u8]>, Option<Slot>)>) -> Self {
        Self { words }
    }

    /// Returns the first word as in the script: pgbench's name of the command in messages.
    #[must_use]
    pub fn program(&self) -> Box<str> {
        let first = self.words.first().map(|(word, _)| &**word);
        String::from_utf8_lossy(first.unwrap_or_default()).into()
    }

    /// Returns the command line: words with one space between them; `:name` is replaced, `::name` becomes `:name`.
    ///
    /// # Errors
    /// When a variable has no value, or the line has more than 254 bytes.
    pub fn command_line(&self, variables: &Variables) -> Result<Vec<u8>, EvalError> {
        let mut line = Vec::new();
        for (n, (word, slot)) in self.words.iter().enumerate() {
            if n > 0 {
                line.push(b' ');
            }
            match slot {
                Some(slot) if variables.text(*slot, &mut line) => {}
                Some(_) => {
                    let name = String::from_utf8_lossy(word).into();
                    return Err(EvalError::UndefinedIn { context: self.program(), name });
                }
                None => line.extend_from_slice(word.strip_prefix(b":").unwrap_or(word)),
            }
            if line.len() > MAX_LINE {
                return Err(EvalError::ShellTooLong(self.program()));
            }
        }
        Ok(line)
    }

    /// Returns the error of a command that could not be started or, with `\shell`, did not succeed.
    #[must_use]
    pub fn could_not_launch(&self) -> EvalError {
        EvalError::ShellLaunch(self.program())
    }
}

/// `\setshell`: stores the first line of a command's output in a variable.
#[derive(Clone, Debug, PartialEq)]
pub struct SetShell {
    /// The command.
    pub shell: Shell,
    pub(crate) name: Box<[u8]>,
    /// The variable; `None` if the name is not allowed.
    pub(crate) slot: Option<Slot>,
}

impl SetShell {
    /// Sets the variable from the command's output.
    ///
    /// # Errors
    /// When there is no output, it is not an integer, or the variable's name is not allowed.
    pub fn store(&self, output: &[u8], variables: &mut Variables) -> Result<(), EvalError> {
        let program = || self.shell.program();
        if output.is_empty() {
            return Err(EvalError::ShellSilent(program()));
        }
        let line = output.split_inclusive(|b| *b == b'\n').next().unwrap_or_default();
        let line = &line[..line.len().min(MAX_ANSWER)];
        let line = line.split(|b| *b == 0).next().unwrap_or_default();
        let (value, used) = leading_int(line);
        if line.is_empty() || !line[used..].iter().all(|b| is_space(*b)) {
            let text = String::from_utf8_lossy(line).into();
            return Err(EvalError::ShellNoInteger { program: program(), text });
        }
        let Some(slot) = self.slot else {
            let name = String::from_utf8_lossy(&self.name).into();
            return Err(EvalError::InvalidName { context: "setshell".into(), name });
        };
        // A C int, by C's conversion.
        variables.set_value(slot, Value::Int(i64::from(value as i32)));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::VariableNames;
    use std::sync::Arc;

    fn variables() -> (Variables, Slot, Slot) {
        let mut names = VariableNames::new();
        let (a, b) = (names.slot(b"a"), names.slot(b"b"));
        let mut variables = Variables::new(&Arc::new(names));
        variables.set_value(a, Value::Int(5));
        (variables, a, b)
    }

    fn shell(words: &[(&str, Option<Slot>)]) -> Shell {
        Shell::new(words.iter().map(|(word, slot)| (word.as_bytes().into(), *slot)).collect())
    }

    #[test]
    fn words_are_joined_and_variables_replaced() {
        let (variables, a, b) = variables();
        let line = shell(&[("echo", None), (":a", Some(a)), ("::a", None), ("x:a", None)]).command_line(&variables);
        assert_eq!(line.unwrap(), b"echo 5 :a x:a");
        let error = shell(&[("echo", None), (":b", Some(b))]).command_line(&variables).unwrap_err();
        assert_eq!(error.to_string(), "echo: undefined variable \":b\"");
        let long = |n| shell(&[("true", None), (&"a".repeat(n), None)]).command_line(&variables);
        assert_eq!(long(249).unwrap().len(), 254);
        assert_eq!(long(250).unwrap_err().to_string(), "true: shell command is too long");
    }

    #[test]
    fn the_first_line_must_be_an_integer() {
        let (mut variables, a, _) = variables();
        let set = SetShell { shell: shell(&[("prog", None)]), name: b"a"[..].into(), slot: Some(a) };
        for (output, value) in
            [("7\n8\n", 7), (" -3 \n", -3), ("\n", 0), ("4294967297", 1), ("99999999999999999999", -1)]
        {
            set.store(output.as_bytes(), &mut variables).unwrap();
            assert_eq!(variables.value(a), Ok(Value::Int(value)), "{output}");
        }
        for (output, error) in [
            ("", "prog: could not read result of shell command"),
            ("abc\n", "prog: shell command must return an integer (not \"abc\n\")"),
            ("1.5", "prog: shell command must return an integer (not \"1.5\")"),
            ("\0", "prog: shell command must return an integer (not \"\")"),
        ] {
            assert_eq!(set.store(output.as_bytes(), &mut variables).unwrap_err().to_string(), error);
        }
        let unnamed = SetShell { name: b"1x"[..].into(), slot: None, ..set };
        let error = unnamed.store(b"1", &mut variables).unwrap_err();
        assert_eq!(error.to_string(), "setshell: invalid variable name: \"1x\"");
        assert_eq!(error.consequence(), "execution of meta-command failed");
    }
}
