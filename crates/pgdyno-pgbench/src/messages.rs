//! Standard output and standard error, and pgbench's format of errors: `pgbench: error: …`.

use std::ffi::OsStr;
use std::io::Write;

/// The exit code of a failure before the benchmark: options, scripts, connections, initialization.
pub const EXIT_NOT_STARTED: u8 = 1;

/// Standard output and standard error of one invocation, and the program's name in messages.
pub struct Io<'a> {
    program: String,
    /// Standard output.
    pub out: &'a mut (dyn Write + Send),
    /// Standard error.
    pub err: &'a mut (dyn Write + Send),
    /// Whether standard error is a terminal: the progress of the initialization then stays on one line.
    pub err_is_terminal: bool,
    /// Whether [`Io::debug`] prints anything: `--debug`.
    pub verbose: bool,
}

impl<'a> Io<'a> {
    /// Returns the output of a program that was called as `argv0`; the last part of that is the prefix of its messages.
    pub fn new(argv0: &OsStr, out: &'a mut (dyn Write + Send), err: &'a mut (dyn Write + Send)) -> Self {
        Self { program: program_name(argv0), out, err, err_is_terminal: false, verbose: false }
    }

    /// Returns the prefix of messages.
    #[must_use]
    pub fn program(&self) -> &str {
        &self.program
    }

    /// Prints text to standard error, unchanged.
    pub fn raw(&mut self, text: &str) {
        // If standard error is closed, the message is lost.
        drop(self.err.write_all(text.as_bytes()).and_then(|()| self.err.flush()));
    }

    fn line(&mut self, label: &str, text: &str) {
        let line = format!("{}: {label}{}\n", self.program, text.strip_suffix('\n').unwrap_or(text));
        drop(self.out.flush());
        self.raw(&line);
    }

    /// Prints an error.
    pub fn error(&mut self, text: &str) {
        self.line("error: ", text);
    }

    /// Prints a warning.
    pub fn warning(&mut self, text: &str) {
        self.line("warning: ", text);
    }

    /// Prints details of the previous message.
    pub fn detail(&mut self, text: &str) {
        self.line("detail: ", text);
    }

    /// Prints a remedy for the previous message.
    pub fn hint(&mut self, text: &str) {
        self.line("hint: ", text);
    }

    /// Prints information.
    pub fn info(&mut self, text: &str) {
        self.line("", text);
    }

    /// Prints a message with `--debug` only.
    pub fn debug(&mut self, text: &str) {
        if self.verbose {
            self.line("", text);
        }
    }

    /// Prints a failure, and returns its exit code.
    pub fn fail(&mut self, failure: &ExitReason) -> u8 {
        for said in &failure.said {
            match said {
                Said::Error(text) => self.error(text),
                Said::Detail(text) => self.detail(text),
                Said::Hint(text) => self.hint(text),
                Said::Raw(text) => self.raw(text),
            }
        }
        failure.exit_code
    }
}

/// Returns the last part of a program's path.
fn program_name(argv0: &OsStr) -> String {
    let name = argv0.to_string_lossy();
    name.rsplit('/').next().unwrap_or_default().to_owned()
}

/// One message of a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// After `error: `.
    Error(String),
    /// After `detail: `.
    Detail(String),
    /// After `hint: `.
    Hint(String),
    /// Printed unchanged, including line breaks.
    Raw(String),
}

/// Why the program ends, in pgbench's words and order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExitReason {
    /// The messages on standard error.
    pub said: Vec<Said>,
    /// The exit code of the process.
    pub exit_code: u8,
}

impl ExitReason {
    /// Returns a failure before the benchmark.
    pub fn error(text: impl Into<String>) -> Self {
        Self { said: vec![Said::Error(text.into())], exit_code: EXIT_NOT_STARTED }
    }

    /// Returns a failure that starts with unchanged text.
    pub fn raw(text: impl Into<String>) -> Self {
        Self { said: vec![Said::Raw(text.into())], exit_code: EXIT_NOT_STARTED }
    }

    /// Adds a message.
    #[must_use]
    pub fn and(mut self, said: Said) -> Self {
        self.said.push(said);
        self
    }
}

/// Returns the system's text for an error, as `strerror` does: without the number that Rust adds.
#[must_use]
pub fn system_text(error: &std::io::Error) -> String {
    let text = error.to_string();
    match error.raw_os_error() {
        Some(code) => text.strip_suffix(&format!(" (os error {code})")).unwrap_or(&text).to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_begin_with_the_programs_name_and_their_kind() {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut io = Io::new(OsStr::new("/usr/bin/pgbench"), &mut out, &mut err);
        let failure = ExitReason::error("a\n").and(Said::Detail("b".into())).and(Said::Hint("c".into()));
        assert_eq!(io.fail(&failure), 1);
        io.warning("d");
        io.info("e");
        io.debug("f");
        io.verbose = true;
        io.debug("g");
        io.raw("h\n");
        assert_eq!(
            String::from_utf8(err).unwrap(),
            "pgbench: error: a\npgbench: detail: b\npgbench: hint: c\npgbench: warning: d\npgbench: e\npgbench: g\nh\n"
        );
    }

    #[test]
    fn an_error_of_the_system_has_no_number() {
        let error = std::fs::File::open("/nonexistent/file").unwrap_err();
        assert_eq!(system_text(&error), "No such file or directory");
    }
}
