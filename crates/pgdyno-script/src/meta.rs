//! Backslash commands.

use std::ops::Range;

use crate::commands::{Collect, Command, CommandKind, DrawValues, Set};
use crate::functions::nearest;
use crate::grammar;
use crate::names::{VariableNames, valid_variable_name};
use crate::numbers::leading_int;
use crate::script_error::{Mistake, ScriptError, Site};
use crate::shell::{SetShell, Shell};
use crate::sleep::{Amount, Sleep, unit_ns};
use crate::tokens::Cursor;

/// Limit of words, including the command itself.
const MAX_WORDS: usize = 256;

const COMMANDS: &[&str] = &[
    "set",
    "gset",
    "aset",
    "if",
    "elif",
    "else",
    "endif",
    "sleep",
    "setshell",
    "shell",
    "startpipeline",
    "syncpipeline",
    "endpipeline",
];
/// The command that only scripts of a workload with lists have.
const VALUES: &str = "values";

/// A backslash command, or its effect on the SQL before it.
pub(crate) enum Meta {
    Command(Command),
    Collect(Collect),
}

/// A word of a backslash command.
#[derive(Clone, Debug)]
struct Word<'a> {
    text: &'a [u8],
    span: Range<usize>,
    /// Where pgbench locates it: two or three bytes later, if a backslash and the end of a line follow.
    offset: usize,
}

impl<'a> Cursor<'a> {
    /// Returns the next word of a line; `None` at its end, which is consumed.
    fn word(&mut self) -> Option<Word<'a>> {
        loop {
            match self.text.get(self.at..)? {
                [b' ' | b'\t' | b'\r' | 0x0b | 0x0c, ..] => self.at += 1,
                [b'\\', b'\n', ..] => self.at += 2,
                [b'\\', b'\r', b'\n', ..] => self.at += 3,
                [b'\n', ..] => {
                    self.at += 1;
                    return None;
                }
                [] => return None,
                _ => break,
            }
        }
        let start = self.at;
        let rest = &self.text[start..];
        let ends = |b: &u8| matches!(b, b' ' | b'\t' | b'\r' | 0x0b | 0x0c | b'\n');
        let mut length = rest.iter().position(ends).unwrap_or(rest.len());
        self.at += length;
        if rest[length - 1] == b'\\' {
            let line_end = match rest[length..] {
                [b'\n', ..] => 1,
                [b'\r', b'\n', ..] => 2,
                _ => 0,
            };
            self.at += line_end;
            length -= usize::from(line_end > 0);
        }
        let text = &rest[..length];
        Some(Word { text, span: start..start + length, offset: self.at - length })
    }
}

/// State of a command that is being parsed.
struct Parser<'a, 's, 'n> {
    site: &'s Site<'a>,
    names: &'n mut VariableNames,
    lists: Option<&'a [String]>,
    cursor: Cursor<'a>,
    /// Position of the backslash.
    start: usize,
    words: Vec<Word<'a>>,
}

/// Parses the command after the backslash at `start`; `None` if only blanks follow it. Moves `at` past its line. `lists` are
/// the names for `\values`; `None` if there is no such command.
pub(crate) fn command<'a>(
    site: &Site<'a>,
    names: &mut VariableNames,
    lists: Option<&'a [String]>,
    start: usize,
    at: &mut usize,
) -> Result<Option<Meta>, ScriptError> {
    let cursor = Cursor { text: site.text, at: start + 1 };
    let mut parser = Parser { site, names, lists, cursor, start, words: Vec::new() };
    let result = match parser.cursor.word() {
        Some(word) => {
            parser.words.push(word);
            parser.parse().map(Some)
        }
        None => Ok(None),
    };
    *at = parser.cursor.at;
    result
}

impl Parser<'_, '_, '_> {
    /// Returns the command without the end of its line.
    fn shown(&self) -> Range<usize> {
        let text = &self.site.text[self.start..self.cursor.at];
        let line_end = text.iter().rev().take_while(|b| matches!(b, b'\n' | b'\r')).count();
        self.start..self.cursor.at - line_end
    }

    fn refuse(&self, mistake: &Mistake, shown: Option<Range<usize>>) -> ScriptError {
        self.site.command(mistake, self.words[0].text, shown)
    }

    /// Returns a mistake at one of the words, with or without pgbench's caret.
    fn at_word(&self, n: usize, message: &'static str) -> Mistake {
        let word = &self.words[n];
        Mistake::at(word.span.clone(), message).caret(Some(word.offset))
    }

    /// Returns the mistake that something is missing at the end of the command.
    fn missing(&self, message: &'static str, hint: &str) -> Mistake {
        let end = self.shown().end;
        Mistake::at(end..end, message).caret(None).hint(hint)
    }

    fn all(&self, kind: CommandKind) -> Command {
        Command {
            text: self.site.text[self.shown()].to_vec(),
            line: self.site.line,
            words: self.words.iter().map(|w| w.text.to_vec()).collect(),
            kind,
        }
    }

    fn parse(&mut self) -> Result<Meta, ScriptError> {
        let name = self.words[0].text.to_ascii_lowercase();
        let kind = match &name[..] {
            b"set" | b"if" | b"elif" => self.with_expression(&name)?,
            _ => {
                while let Some(word) = self.cursor.word() {
                    if self.words.len() >= MAX_WORDS {
                        let mistake = Mistake::at(word.span, "too many arguments").caret(None);
                        return Err(self.refuse(&mistake, None));
                    }
                    self.words.push(word);
                }
                match &name[..] {
                    b"gset" | b"aset" => return self.collect(&name).map(Meta::Collect),
                    _ => self.of_words(&name).map_err(|mistake| self.refuse(&mistake, Some(self.shown())))?,
                }
            }
        };
        Ok(Meta::Command(self.all(kind)))
    }

    fn with_expression(&mut self, name: &[u8]) -> Result<CommandKind, ScriptError> {
        if name == b"set" {
            match self.cursor.word() {
                Some(word) => self.words.push(word),
                None => {
                    let mistake =
                        self.missing("missing argument", "\\set takes a name and an expression: \\set n 10 * :scale");
                    return Err(self.refuse(&mistake, None));
                }
            }
        }
        let result = grammar::expression(&mut self.cursor, self.names);
        let expr = result.map_err(|mistake| self.refuse(&mistake, Some(self.shown())))?;
        Ok(match name {
            b"set" => {
                let target = self.words[1].text;
                CommandKind::Set(Set {
                    expr,
                    name: target.into(),
                    slot: valid_variable_name(target).then(|| self.names.slot(target)),
                    command: String::from_utf8_lossy(self.words[0].text).into(),
                })
            }
            // The targets are set when the whole script is parsed.
            b"if" => CommandKind::If { condition: expr, otherwise: 0 },
            _ => CommandKind::Elif { condition: expr, otherwise: 0, end: 0 },
        })
    }

    fn collect(&self, name: &[u8]) -> Result<Collect, ScriptError> {
        if self.words.len() > 2 {
            let mistake = self.at_word(2, "too many arguments").caret(None).hint("one word: what the names begin with");
            return Err(self.refuse(&mistake, Some(self.shown())));
        }
        let prefix = self.words.get(1).map(|w| w.text.to_vec()).unwrap_or_default();
        Ok(if name == b"gset" { Collect::Gset { prefix } } else { Collect::Aset { prefix } })
    }

    fn of_words(&mut self, name: &[u8]) -> Result<CommandKind, Mistake> {
        let alone = match name {
            b"sleep" => return self.sleep().map(CommandKind::Sleep),
            b"setshell" => return self.set_shell().map(CommandKind::SetShell),
            b"shell" => return self.shell().map(CommandKind::Shell),
            b"values" if self.lists.is_some() => return self.values().map(CommandKind::Values),
            b"else" => CommandKind::Else { end: 0 },
            b"endif" => CommandKind::EndIf,
            b"startpipeline" => CommandKind::StartPipeline,
            b"syncpipeline" => CommandKind::SyncPipeline,
            b"endpipeline" => CommandKind::EndPipeline,
            _ => {
                let commands: Vec<_> = COMMANDS.iter().copied().chain(self.lists.map(|_| VALUES)).collect();
                let hint = match nearest(name, commands.iter().copied()) {
                    Some(nearest) => format!("did you mean \\{nearest}?"),
                    None => format!("there are \\{}", commands.join(", \\")),
                };
                return Err(self.at_word(0, "invalid command").caret(None).hint(&hint));
            }
        };
        match self.words.len() {
            1 => Ok(alone),
            _ => Err(self.at_word(1, "unexpected argument").caret(None).hint("it stands alone on its line")),
        }
    }

    fn sleep(&mut self) -> Result<Sleep, Mistake> {
        let [_, amount, rest @ ..] = &self.words[..] else {
            return Err(self.missing("missing argument", "\\sleep takes a number and a unit: \\sleep 10 ms"));
        };
        if rest.len() > 1 {
            return Err(self.at_word(3, "too many arguments").hint("\\sleep takes a number and a unit: \\sleep 10 ms"));
        }
        let amount_text = amount.text;
        if !amount_text.starts_with(b":") {
            // A number and a unit in one word are two words.
            let sign = usize::from(matches!(amount_text[0], b'+' | b'-'));
            let digits = amount_text[sign..].iter().take_while(|b| b.is_ascii_digit()).count();
            let number = sign + digits;
            if number < amount_text.len() {
                if digits == 0 || !rest.is_empty() {
                    let hint = "a whole number of us, ms or s, or a variable: \\sleep :pause ms";
                    let mistake = self.at_word(1, "invalid sleep time, must be an integer");
                    return Err(mistake.more(amount_text).hint(hint));
                }
                let mut unit = amount.clone();
                unit.text = &amount_text[number..];
                unit.span.start += number;
                unit.offset += number;
                self.words.push(unit);
            }
        }
        let unit_ns = match self.words.get(2) {
            None => 1_000_000_000,
            Some(unit) => unit_ns(unit.text)
                .ok_or_else(|| self.at_word(2, "unrecognized time unit, must be us, ms or s").more(unit.text))?,
        };
        let amount = match amount_text {
            [b':', name @ ..] => Amount::Variable(self.names.slot(name)),
            literal => Amount::Literal(leading_int(literal).0),
        };
        Ok(Sleep { command: String::from_utf8_lossy(self.words[0].text).into(), amount, unit_ns })
    }

    fn values(&self) -> Result<DrawValues, Mistake> {
        const USE: &str = "\\values takes a list, and what the names of its variables begin with: \\values orders o_";
        let lists = self.lists.unwrap_or_default();
        let (list, prefix) = match &self.words[..] {
            [_, list] => (list.text, &b""[..]),
            [_, list, prefix] => (list.text, prefix.text),
            [_] => return Err(self.missing("missing argument", USE)),
            _ => return Err(self.at_word(3, "too many arguments").hint(USE)),
        };
        if !prefix.is_empty() && !valid_variable_name(prefix) {
            let hint = "names of variables have letters, digits and underscores, and begin with no digit";
            return Err(self.at_word(2, "invalid prefix of variables").more(prefix).hint(hint));
        }
        let Some(list) = lists.iter().position(|known| known.as_bytes() == list) else {
            let hint = match nearest(list, lists.iter().map(String::as_str)) {
                Some(nearest) => format!("did you mean {nearest}?"),
                None if lists.is_empty() => "add [[values]] with name and sql to workload.toml".to_owned(),
                None => format!("workload.toml has the lists {}", lists.join(", ")),
            };
            return Err(self.at_word(1, "unknown list").more(list).hint(&hint));
        };
        Ok(DrawValues { list, prefix: prefix.into(), span: self.shown() })
    }

    fn set_shell(&mut self) -> Result<SetShell, Mistake> {
        if self.words.len() < 3 {
            return Err(self.missing("missing argument", "\\setshell takes a variable's name and a command"));
        }
        let name = self.words[1].text;
        let slot = valid_variable_name(name).then(|| self.names.slot(name));
        Ok(SetShell { shell: self.shell_words(2), name: name.into(), slot })
    }

    fn shell(&mut self) -> Result<Shell, Mistake> {
        if self.words.len() < 2 {
            return Err(self.missing("missing command", "\\shell takes a command and its arguments"));
        }
        Ok(self.shell_words(1))
    }

    fn shell_words(&mut self, from: usize) -> Shell {
        let names = &mut *self.names;
        Shell::new(
            self.words[from..]
                .iter()
                .map(|word| {
                    let slot = match word.text {
                        [b':', b':', ..] => None,
                        [b':', name @ ..] => Some(names.slot(name)),
                        _ => None,
                    };
                    (word.text.into(), slot)
                })
                .collect(),
        )
    }
}
