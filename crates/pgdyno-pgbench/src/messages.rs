//! Where output goes, and pgbench's way of saying what is wrong: `pgbench: error: …`.

use std::ffi::OsStr;
use std::io::Write;

/// The exit code of a failure before the benchmark: options, scripts, connections, initialization.
pub const EXIT_NOT_STARTED: u8 = 1;

/// Standard output and standard error of one invocation, and the name it goes by.
pub struct Io<'a> {
    program: String,
    /// Standard output.
    pub out: &'a mut (dyn Write + Send),
    /// Standard error.
    pub err: &'a mut (dyn Write + Send),
    /// Whether standard error is a terminal: then progress of the initialization stays on one line.
    pub err_is_terminal: bool,
    /// Whether [`Io::debug`] says anything: `--debug`.
    pub verbose: bool,
}

impl<'a> Io<'a> {
    /// Output of a program that was called as `argv0`; its messages begin with the last part of that.
    pub fn new(argv0: &OsStr, out: &'a mut (dyn Write + Send), err: &'a mut (dyn Write + Send)) -> Self {
        Self { program: program_name(argv0), out, err, err_is_terminal: false, verbose: false }
    }

    /// The name in front of messages.
    #[must_use]
    pub fn program(&self) -> &str {
        &self.program
    }

    /// Text for standard error as it is.
    pub fn raw(&mut self, text: &str) {
        // There is nowhere left to complain to.
        drop(self.err.write_all(text.as_bytes()).and_then(|()| self.err.flush()));
    }

    fn line(&mut self, label: &str, text: &str) {
        let line = format!("{}: {label}{}\n", self.program, text.strip_suffix('\n').unwrap_or(text));
        drop(self.out.flush());
        self.raw(&line);
    }

    /// What went wrong.
    pub fn error(&mut self, text: &str) {
        self.line("error: ", text);
    }

    /// What may go wrong.
    pub fn warning(&mut self, text: &str) {
        self.line("warning: ", text);
    }

    /// More about the message before.
    pub fn detail(&mut self, text: &str) {
        self.line("detail: ", text);
    }

    /// What to do about the message before.
    pub fn hint(&mut self, text: &str) {
        self.line("hint: ", text);
    }

    /// What is worth knowing.
    pub fn info(&mut self, text: &str) {
        self.line("", text);
    }

    /// What is only said with `--debug`.
    pub fn debug(&mut self, text: &str) {
        if self.verbose {
            self.line("", text);
        }
    }

    /// Says a failure, and returns the exit code that goes with it.
    pub fn fail(&mut self, failure: &Failure) -> u8 {
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

/// The last part of the path that a program was called by.
fn program_name(argv0: &OsStr) -> String {
    let name = argv0.to_string_lossy();
    name.rsplit('/').next().unwrap_or_default().to_owned()
}

/// One thing that a failure says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// After `error: `.
    Error(String),
    /// After `detail: `.
    Detail(String),
    /// After `hint: `.
    Hint(String),
    /// As it is, line breaks included.
    Raw(String),
}

/// Why it does not go on, in the words and the order that pgbench has for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What is printed to standard error.
    pub said: Vec<Said>,
    /// What the process exits with.
    pub exit_code: u8,
}

impl Failure {
    /// A failure before the benchmark.
    pub fn error(text: impl Into<String>) -> Self {
        Self { said: vec![Said::Error(text.into())], exit_code: EXIT_NOT_STARTED }
    }

    /// One that begins with text as it is.
    pub fn raw(text: impl Into<String>) -> Self {
        Self { said: vec![Said::Raw(text.into())], exit_code: EXIT_NOT_STARTED }
    }

    /// And says this too.
    #[must_use]
    pub fn and(mut self, said: Said) -> Self {
        self.said.push(said);
        self
    }
}

/// What the system says of an error, as `strerror` does: without Rust's number behind it.
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
        let failure = Failure::error("a\n").and(Said::Detail("b".into())).and(Said::Hint("c".into()));
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
