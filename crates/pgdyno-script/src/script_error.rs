//! Mistakes in scripts, in two forms: pgbench's, and a better one for users.

use std::fmt::{self, Write as _};
use std::ops::Range;

/// Limit of characters of a line that are shown.
const SHOWN: usize = 110;

/// A mistake at a place in a script.
#[derive(Clone, Debug)]
pub(crate) struct Mistake {
    /// pgbench's words.
    pub(crate) message: &'static str,
    /// pgbench's addition in parentheses.
    pub(crate) more: Option<Box<[u8]>>,
    /// The wrong bytes of the script.
    pub(crate) span: Range<usize>,
    /// Position of pgbench's caret, as an offset in the script; `None` for most commands without an expression.
    pub(crate) caret: Option<usize>,
    /// The remedy.
    pub(crate) hint: Option<Box<str>>,
    /// Whether the line was read to its end before.
    pub(crate) ends_line: bool,
}

impl Mistake {
    /// Returns a mistake in an expression: pgbench's caret is under the end of the token.
    pub(crate) fn at(span: Range<usize>, message: &'static str) -> Self {
        let caret = Some(span.end.saturating_sub(1));
        Self { message, more: None, span, caret, hint: None, ends_line: false }
    }

    pub(crate) fn more(mut self, more: &[u8]) -> Self {
        self.more = Some(more.into());
        self
    }

    pub(crate) fn hint(mut self, hint: &str) -> Self {
        self.hint = (!hint.is_empty()).then(|| hint.into());
        self
    }

    /// Moves or removes pgbench's caret.
    pub(crate) fn caret(mut self, caret: Option<usize>) -> Self {
        self.caret = caret;
        self
    }
}

/// The error when a script cannot be parsed.
#[derive(Clone, Debug)]
pub struct ScriptError(Box<Inner>);

#[derive(Clone, Debug)]
struct Inner {
    source: String,
    /// pgbench's output, first line and others.
    pgbench: String,
    message: String,
    hint: Option<Box<str>>,
    place: Option<ErrorPlace>,
}

/// A part of a line of a script.
#[derive(Clone, Debug)]
struct ErrorPlace {
    /// From 1.
    line: u32,
    /// From 1, in characters.
    column: usize,
    text: String,
    /// Characters before the caret, and under it.
    before: usize,
    width: usize,
}

/// Position of a backslash command.
#[derive(Clone, Debug)]
pub(crate) struct Site<'a> {
    pub(crate) source: &'a str,
    /// The whole script.
    pub(crate) text: &'a [u8],
    /// The line of the backslash, from 1.
    pub(crate) line: u32,
}

impl Site<'_> {
    /// Returns a mistake in a backslash command: its name as written, and the bytes that pgbench shows.
    pub(crate) fn command(&self, mistake: &Mistake, name: &[u8], shown: Option<Range<usize>>) -> ScriptError {
        let mut message = mistake.message.to_owned();
        if let Some(more) = &mistake.more {
            let _ = write!(message, " ({})", String::from_utf8_lossy(more));
        }
        if !name.is_empty() {
            let _ = write!(message, " in command \"{}\"", String::from_utf8_lossy(name));
        }
        let mut pgbench = format!("{}:{}: {message}", self.source, self.line);
        if let Some(range) = shown {
            let _ = write!(pgbench, "\n{}", String::from_utf8_lossy(&self.text[range.clone()]));
            if let Some(caret) = mistake.caret {
                let _ = write!(pgbench, "\n{:>1$} error found here", '^', caret.saturating_sub(range.start) + 1);
            }
        }
        self.error(pgbench, message, mistake.hint.clone(), Some(mistake.span.clone()))
    }

    /// Returns any other mistake: pgbench's words, which name the script, and this program's.
    pub(crate) fn other(&self, pgbench: String, message: &str, hint: &str, span: Option<Range<usize>>) -> ScriptError {
        self.error(pgbench, message.to_owned(), (!hint.is_empty()).then(|| hint.into()), span)
    }

    fn error(
        &self,
        pgbench: String,
        message: String,
        hint: Option<Box<str>>,
        span: Option<Range<usize>>,
    ) -> ScriptError {
        let place = span.map(|span| ErrorPlace::new(self.text, span));
        ScriptError(Box::new(Inner { source: self.source.to_owned(), pgbench, message, hint, place }))
    }
}

impl ErrorPlace {
    fn new(text: &[u8], span: Range<usize>) -> Self {
        let (before, rest) = text.split_at(span.start.min(text.len()));
        let start = before.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
        let line = before.iter().filter(|b| **b == b'\n').count() + 1;
        let end = rest.iter().position(|b| *b == b'\n').map_or(text.len(), |at| before.len() + at);
        let characters = |bytes: &[u8]| String::from_utf8_lossy(bytes).chars().count();
        // Bytes first, so that a line of megabytes is cheap.
        let from = span.start.saturating_sub(SHOWN / 2).max(start);
        let to = (from + SHOWN).min(end);
        let marked = span.start..span.end.clamp(span.start, to.max(span.start));
        let shown = String::from_utf8_lossy(&text[from..to]);
        let clean = |c: char| if c.is_control() && c != '\t' { '\u{fffd}' } else { c };
        let cut = |yes| if yes { "…" } else { "" };
        let shown: String = shown.trim_end_matches('\r').chars().map(clean).collect();
        Self {
            line: u32::try_from(line).unwrap_or(u32::MAX),
            column: characters(&text[start..span.start.min(text.len())]) + 1,
            text: format!("{}{shown}{}", cut(from > start), cut(to < end)),
            before: usize::from(from > start) + characters(&text[from..span.start.min(text.len())]),
            width: characters(&text[marked.start.min(text.len())..marked.end.min(text.len())]).max(1),
        }
    }
}

impl ScriptError {
    /// Returns the output of pgbench 18, line by line; the first line comes after `pgbench: error: `.
    #[must_use]
    pub fn pgbench_lines(&self) -> Vec<String> {
        self.0.pgbench.split('\n').map(str::to_owned).collect()
    }

    /// Returns file, line, column, the message, the line of the script with a caret under the mistake, and a hint.
    #[must_use]
    pub fn render(&self) -> String {
        self.to_string()
    }

    /// Returns the script's name.
    #[must_use]
    pub fn script(&self) -> &str {
        &self.0.source
    }

    /// Returns the line of the mistake and its column in characters, both from 1; `None` for a script without
    /// commands.
    #[must_use]
    pub fn line_and_column(&self) -> Option<(u32, usize)> {
        self.0.place.as_ref().map(|place| (place.line, place.column))
    }

    /// Returns the mistake, without the place.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the remedy.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { source, message, hint, place, .. } = &*self.0;
        match place {
            None => write!(f, "{source}: {message}")?,
            Some(ErrorPlace { line, column, text, before, width }) => {
                let gutter = line.to_string().len();
                let indent: String = text.chars().take(*before).map(|c| if c == '\t' { c } else { ' ' }).collect();
                writeln!(f, "{source}:{line}:{column}: {message}")?;
                writeln!(f, " {line} | {text}")?;
                write!(f, " {:gutter$} | {indent}{}", "", "^".repeat(*width))?;
            }
        }
        match hint {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ScriptError {}
