//! Parses a script.

use std::ops::Range;

use crate::commands::{Collect, Command, CommandKind, Script, Sql};
use crate::meta::{self, Meta};
use crate::names::VariableNames;
use crate::scan::{Collected, Scanner, Stop};
use crate::script_error::{Mistake, ScriptError, Site};
use crate::template::SqlTemplate;

/// Length of the part of a SQL command's first line in reports.
const MAX_TEXT: usize = 127;
/// Limit of parameters of a statement in the extended protocol.
const MAX_PARAMETERS: usize = 255;

/// A script before parsing.
#[derive(Clone, Copy, Debug)]
pub struct ScriptText<'a> {
    /// Name in errors and reports: a file's, or `-`.
    pub name: &'a str,
    /// Any bytes. The first zero byte ends the script.
    pub text: &'a [u8],
}

/// Parses a script. Its variables get slots in `names`, which all scripts of a run share.
///
/// # Errors
/// Returns the first mistake. Only backslash commands can have one, because the server checks SQL.
pub fn parse(source: &ScriptText<'_>, names: &mut VariableNames) -> Result<Script, ScriptError> {
    parse_for(source, names, None)
}

/// Parses a script that may draw from these lists of values by `\values`, which pgbench does not have.
///
/// # Errors
/// As [`parse`]; and when a list is unknown.
pub fn parse_with_lists(
    source: &ScriptText<'_>,
    names: &mut VariableNames,
    lists: &[String],
) -> Result<Script, ScriptError> {
    parse_for(source, names, Some(lists))
}

/// Returns true unless a script that may draw from these lists surely runs no command on the machine of its clients: it has neither
/// `\shell` nor `\setshell`, and no mistake.
#[must_use]
pub fn may_run_commands(source: &ScriptText<'_>, lists: &[String]) -> bool {
    let script = parse_with_lists(source, &mut VariableNames::new(), lists);
    script.map_or(true, |script| script.commands.iter().any(Command::runs_command))
}

fn parse_for(
    source: &ScriptText<'_>,
    names: &mut VariableNames,
    lists: Option<&[String]>,
) -> Result<Script, ScriptError> {
    let text = source.text.split(|b| *b == 0).next().unwrap_or_default();
    let mut parser = Parser {
        name: source.name,
        text,
        names,
        lists,
        commands: Vec::new(),
        starts: Vec::new(),
        mentions: Vec::new(),
    };
    let mut scanner = Scanner::new(text);
    let mut lines = Lines { text, at: 0, line: 1 };
    loop {
        let (mut found, stop) = scanner.command();
        if !found.sql.is_empty() {
            parser.mentions.append(&mut found.mentions);
            parser.sql(&found, lines.of(found.start));
        }
        match stop {
            Stop::Semicolon => {}
            Stop::Backslash => {
                let start = scanner.at - 1;
                parser.meta(start, lines.of(start), &mut scanner.at)?;
            }
            Stop::End => break,
        }
    }
    parser.finish()
}

/// Counts lines on demand.
struct Lines<'a> {
    text: &'a [u8],
    at: usize,
    line: u32,
}

impl Lines<'_> {
    /// Returns the line of an offset, from 1. Offsets must not decrease.
    fn of(&mut self, offset: usize) -> u32 {
        let passed = self.text[self.at..offset].iter().filter(|b| **b == b'\n').count();
        self.at = offset;
        self.line = self.line.saturating_add(u32::try_from(passed).unwrap_or(u32::MAX));
        self.line
    }
}

struct Parser<'a, 'n> {
    name: &'a str,
    text: &'a [u8],
    names: &'n mut VariableNames,
    /// Names of the lists for `\values`; `None` if there is no such command.
    lists: Option<&'a [String]>,
    commands: Vec<Command>,
    /// Start of each command, for mistakes that are detected at the end.
    starts: Vec<usize>,
    /// Positions of variables in SQL.
    mentions: Vec<Range<usize>>,
}

impl Parser<'_, '_> {
    fn sql(&mut self, found: &Collected, line: u32) {
        let shown = &found.sql[..found.sql.len().min(MAX_TEXT)];
        let first = shown.split(|b| matches!(b, b'\n' | b'\r')).next().unwrap_or_default();
        let simple = SqlTemplate::new(&found.sql, self.names);
        let extended = simple.extended();
        let sql = Sql { simple, extended, collect: Collect::Nothing, statements: found.joined + 1 };
        self.commands.push(Command { text: first.to_vec(), line, words: Vec::new(), kind: CommandKind::Sql(sql) });
        self.starts.push(found.start);
    }

    fn site(&self, line: u32) -> Site<'_> {
        Site { source: self.name, text: self.text, line }
    }

    fn meta(&mut self, start: usize, line: u32, at: &mut usize) -> Result<(), ScriptError> {
        let site = Site { source: self.name, text: self.text, line };
        match meta::command(&site, self.names, self.lists, start, at)? {
            None => {}
            Some(Meta::Command(command)) => {
                self.commands.push(command);
                self.starts.push(start);
            }
            Some(Meta::Collect(how)) => match self.commands.last_mut() {
                Some(Command { kind: CommandKind::Sql(Sql { collect: collect @ Collect::Nothing, .. }), .. }) => {
                    *collect = how
                }
                last => {
                    // pgbench says \gset for \aset as well, and names the command before it unless that is SQL.
                    let before = last.filter(|c| !c.is_sql()).map(|c| c.text.clone());
                    let mut mistake = Mistake::at(start..*at, "\\gset must follow an SQL command");
                    mistake.more = before.map(Into::into);
                    mistake.span.end = mistake.span.start + self.text[start..*at].trim_ascii_end().len();
                    let mistake = mistake.hint(
                        "\\gset and \\aset take the place of the semicolon: SELECT 1 AS one \\gset; \
                         a command can have one of them",
                    );
                    return Err(self.site(line).command(&mistake, b"", None));
                }
            },
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Script, ScriptError> {
        if self.commands.is_empty() {
            let pgbench = format!("empty command list for script \"{}\"", self.name);
            return Err(self.site(1).other(pgbench, "there is no command in it", "", None));
        }
        self.branches()?;
        Ok(Script { name: self.name.to_owned(), commands: self.commands, mentions: self.mentions, key: None })
    }

    fn condition_error(&self, number: usize, at: usize, message: &str) -> ScriptError {
        let pgbench = format!("condition error in script \"{}\" command {number}: {message}", self.name);
        let (start, line) = (self.starts[at], self.commands[at].line);
        let span = start..start + self.commands[at].text.len();
        self.site(line).other(pgbench, message, "", Some(span))
    }

    /// Checks that every `\if` has its `\endif`, and sets the targets of the commands.
    fn branches(&mut self) -> Result<(), ScriptError> {
        // Every open \if, with its \elif and \else.
        let mut open: Vec<Vec<usize>> = Vec::new();
        for at in 0..self.commands.len() {
            let chained = |me: &Self, chain: Option<&mut Vec<usize>>, name: &str| match chain {
                None => Err(me.condition_error(at + 1, at, &format!("\\{name} without matching \\if"))),
                Some(chain) => {
                    let after =
                        chain.last().is_some_and(|last| matches!(me.commands[*last].kind, CommandKind::Else { .. }));
                    match after {
                        true => Err(me.condition_error(at + 1, at, &format!("\\{name} after \\else"))),
                        false => {
                            chain.push(at);
                            Ok(())
                        }
                    }
                }
            };
            match self.commands[at].kind {
                CommandKind::If { .. } => open.push(vec![at]),
                CommandKind::Elif { .. } => chained(self, open.last_mut(), "elif")?,
                CommandKind::Else { .. } => chained(self, open.last_mut(), "else")?,
                CommandKind::EndIf => match open.pop() {
                    Some(chain) => self.link(&chain, at),
                    None => return Err(self.condition_error(at + 1, at, "\\endif without matching \\if")),
                },
                _ => {}
            }
        }
        match open.last() {
            Some(chain) => {
                Err(self.condition_error(self.commands.len() + 1, chain[0], "\\if without matching \\endif"))
            }
            None => Ok(()),
        }
    }

    fn link(&mut self, chain: &[usize], endif: usize) {
        let following = chain.iter().skip(1).copied().chain([endif]);
        for (at, next) in chain.iter().zip(following) {
            match &mut self.commands[*at].kind {
                CommandKind::If { otherwise, .. } => *otherwise = next,
                CommandKind::Elif { otherwise, end, .. } => (*otherwise, *end) = (next, endif),
                CommandKind::Else { end } => *end = endif,
                _ => {}
            }
        }
    }
}

impl Script {
    /// Checks that the extended protocol can send it, which supports at most 255 variables in a command.
    ///
    /// # Errors
    /// Returns the first command with more, in pgbench's words. pgbench checks this only after all scripts are
    /// parsed.
    pub fn check_extended(&self) -> Result<(), ScriptError> {
        for command in &self.commands {
            let CommandKind::Sql(sql) = &command.kind else { continue };
            if sql.extended.params.len() > MAX_PARAMETERS {
                let site = Site { source: &self.name, text: sql.simple.text(), line: command.line };
                let text = String::from_utf8_lossy(sql.simple.text());
                let pgbench = format!("statement has too many arguments (maximum is {MAX_PARAMETERS}): {text}");
                let message = format!(
                    "the command in line {} names variables {} times, and the extended protocol takes {MAX_PARAMETERS}",
                    command.line,
                    sql.extended.params.len()
                );
                return Err(site.other(pgbench, &message, "the simple protocol has no such limit: -M simple", None));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
