//! Finds the ends of SQL commands, by psql's rules of version 18: semicolons and backslashes count outside of quotes
//! and comments; a semicolon also not within parentheses or the body of a SQL function.

use std::ops::Range;

use crate::names::{begins_name, continues_name};

/// Reason why a SQL command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    Semicolon,
    /// A backslash, which is consumed.
    Backslash,
    End,
}

/// A SQL command as it is sent, and the position of its first byte.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    pub(crate) sql: Vec<u8>,
    pub(crate) start: usize,
    /// Number of its `\;`.
    pub(crate) joined: u32,
    /// Positions of variables outside of quotes and comments, colon included.
    pub(crate) mentions: Vec<Range<usize>>,
}

/// The scanner. Open parentheses survive a backslash command, as in pgbench.
#[derive(Debug)]
pub(crate) struct Scanner<'a> {
    text: &'a [u8],
    pub(crate) at: usize,
    parentheses: usize,
    body: Body,
    mentions: Vec<Range<usize>>,
}

/// State for the BEGIN … END of a CREATE FUNCTION.
#[derive(Debug, Default)]
struct Body {
    /// The first letters of the first words of the statement: c, o, r, and f or p; 0 for other words.
    words: [u8; 4],
    count: usize,
    depth: usize,
}

impl Body {
    fn new_statement(&mut self) {
        self.words = [0; 4];
        self.count = 0;
    }

    fn word(&mut self, word: &[u8], parentheses: usize) {
        let is = |name: &str| name.as_bytes().eq_ignore_ascii_case(word);
        if self.count < 4 && ["create", "function", "procedure", "or", "replace"].into_iter().any(is) {
            self.words[self.count] = word[0].to_ascii_lowercase();
        }
        self.count += 1;
        let creates = matches!(self.words, [b'c', b'f' | b'p', ..] | [b'c', b'o', b'r', b'f' | b'p']);
        if !creates || parentheses > 0 {
            return;
        }
        // CASE ends with END, too, which matters only within a body.
        if is("begin") || (is("case") && self.depth > 0) {
            self.depth += 1;
        } else if is("end") {
            self.depth = self.depth.saturating_sub(1);
        }
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

fn is_newline(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

fn begins_word(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

fn continues_word(byte: u8) -> bool {
    continues_name(byte) || byte == b'$'
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0, parentheses: 0, body: Body::default(), mentions: Vec::new() }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.at + ahead).copied()
    }

    /// Returns how many bytes from `ahead` on satisfy `test`.
    fn run(&self, ahead: usize, test: impl Fn(u8) -> bool) -> usize {
        self.text[(self.at + ahead).min(self.text.len())..].iter().take_while(|b| test(**b)).count()
    }

    /// Skips past the first `end` at or after `ahead` bytes from here, or to the end of the script.
    fn skip_past(&mut self, ahead: usize, end: &[u8]) {
        let from = (self.at + ahead).min(self.text.len());
        let found = find(&self.text[from..], end);
        self.at = found.map_or(self.text.len(), |offset| from + offset + end.len());
    }

    /// Returns the next command, without leading blanks and `--` comments; empty if there is none.
    pub(crate) fn command(&mut self) -> (Collected, Stop) {
        let mut found = Collected::default();
        // Text is copied to the command in long pieces: from here on it is not copied yet.
        let mut pending = self.at;
        let stop = loop {
            let from = self.at;
            let Some(byte) = self.peek(0) else { break Stop::End };
            let blank = is_space(byte) || (byte == b'-' && self.peek(1) == Some(b'-'));
            if blank {
                self.blank();
                if found.sql.is_empty() && pending == from {
                    pending = self.at;
                }
                continue;
            }
            if found.sql.is_empty() && pending == from {
                found.start = from;
            }
            match byte {
                b'\\' => {
                    found.sql.extend_from_slice(&self.text[pending..from]);
                    self.at += 1;
                    pending = self.at;
                    match self.peek(0) {
                        Some(b';') => {
                            self.body.new_statement();
                            found.joined += 1;
                            self.at += 1;
                        }
                        Some(b':') => self.at += 1,
                        _ => break Stop::Backslash,
                    }
                    continue;
                }
                b';' => {
                    self.at += 1;
                    if self.parentheses == 0 && self.body.depth == 0 {
                        break Stop::Semicolon;
                    }
                }
                b':' if self.test_of_variable().is_some() => {
                    found.sql.extend_from_slice(&self.text[pending..from]);
                    found.sql.extend_from_slice(b"FALSE");
                    self.at += self.test_of_variable().unwrap_or_default();
                    pending = self.at;
                }
                _ => self.token(byte),
            }
        };
        if stop != Stop::Backslash {
            found.sql.extend_from_slice(&self.text[pending..self.at]);
        }
        // pgbench resets this only after a semicolon; then it splits a CREATE FUNCTION after \gset.
        self.body.new_statement();
        found.mentions = std::mem::take(&mut self.mentions);
        (found, stop)
    }

    /// Skips spaces, or a comment to the end of its line.
    fn blank(&mut self) {
        self.at += match self.peek(0) {
            Some(b'-') => self.run(0, |b| !is_newline(b)),
            _ => self.run(0, is_space),
        };
    }

    /// Skips a token that does not end a command.
    fn token(&mut self, byte: u8) {
        match (byte, self.peek(1), self.peek(2)) {
            (b'/', Some(b'*'), _) => self.comment(),
            (b'\'', _, _) => self.string(1, false),
            (b'e' | b'E', Some(b'\''), _) => self.string(2, true),
            (b'b' | b'B' | b'x' | b'X' | b'n' | b'N', Some(b'\''), _) => self.string(2, false),
            (b'u' | b'U', Some(b'&'), Some(b'\'')) => self.string(3, false),
            (b'u' | b'U', Some(b'&'), Some(b'"')) => self.skip_past(3, b"\""),
            // A doubled quote ends one name and begins the next, which makes no difference here.
            (b'"', _, _) => self.skip_past(1, b"\""),
            (b'$', _, _) => self.dollar(),
            (b'(', _, _) => {
                self.parentheses += 1;
                self.at += 1;
            }
            (b')', _, _) => {
                self.parentheses = self.parentheses.saturating_sub(1);
                self.at += 1;
            }
            (b':', _, _) => self.colon(),
            (b'.', Some(b'0'..=b'9'), _) | (b'0'..=b'9', _, _) => self.number(),
            _ if begins_word(byte) => {
                let length = self.run(0, continues_word);
                self.body.word(&self.text[self.at..self.at + length], self.parentheses);
                self.at += length;
            }
            _ => self.at += 1,
        }
    }

    /// Skips a comment as in C; these nest.
    fn comment(&mut self) {
        let mut depth = 0usize;
        while let Some(byte) = self.peek(0) {
            match (byte, self.peek(1)) {
                (b'/', Some(b'*')) => {
                    depth += 1;
                    self.at += 2;
                }
                (b'*', Some(b'/')) => {
                    depth -= 1;
                    self.at += 2;
                    if depth == 0 {
                        return;
                    }
                }
                _ => self.at += 1,
            }
        }
    }

    /// Skips a string whose text begins after `prefix` bytes, with its continuations on further lines.
    fn string(&mut self, prefix: usize, escapes: bool) {
        self.at += prefix;
        while let Some(byte) = self.peek(0) {
            self.at += 1;
            match byte {
                b'\\' if escapes => self.at = (self.at + 1).min(self.text.len()),
                b'\'' if self.peek(0) == Some(b'\'') => self.at += 1,
                b'\'' => match self.continuation() {
                    Some(length) => self.at += length,
                    None => return,
                },
                _ => {}
            }
        }
    }

    /// Returns the distance from the end of a string past the quote that continues it: blanks with a line end.
    fn continuation(&self) -> Option<usize> {
        let mut ahead = Scanner { at: self.at, ..Self::new(self.text) };
        let mut newline = false;
        loop {
            match (ahead.peek(0)?, ahead.peek(1)) {
                (byte, _) if is_space(byte) => {
                    newline |= is_newline(byte);
                    ahead.at += 1;
                }
                (b'-', Some(b'-')) => {
                    ahead.blank();
                    ahead.peek(0)?;
                }
                (b'\'', _) if newline => return Some(ahead.at + 1 - self.at),
                _ => return None,
            }
        }
    }

    /// Skips `$tag$ … $tag$`, a parameter such as `$1`, or a dollar.
    fn dollar(&mut self) {
        let tag = match self.peek(1) {
            Some(b'0'..=b'9') => {
                let digits = self.run(1, |b| b.is_ascii_digit());
                let junk = self.word_from(1 + digits);
                self.at += 1 + digits + junk;
                return;
            }
            Some(byte) if begins_word(byte) => self.run(1, continues_name),
            _ => 0,
        };
        if self.peek(1 + tag) == Some(b'$') {
            let delimiter = &self.text[self.at..self.at + tag + 2];
            self.skip_past(tag + 2, delimiter);
        } else {
            self.at += 1;
        }
    }

    /// Returns the length of the word there, 0 if there is none.
    fn word_from(&self, ahead: usize) -> usize {
        match self.peek(ahead) {
            Some(byte) if begins_word(byte) => self.run(ahead, continues_word),
            _ => 0,
        }
    }

    /// Returns the length of psql's `:{?name}` here, which is true if there is such a variable of psql. In a script there is none.
    fn test_of_variable(&self) -> Option<usize> {
        let begins = self.peek(1) == Some(b'{') && self.peek(2) == Some(b'?');
        let length = if begins { self.run(3, continues_name) } else { 0 };
        (length > 0 && self.peek(3 + length) == Some(b'}')).then_some(length + 4)
    }

    /// psql's quoted variables, `:'name'` and `:"name"`, are not strings: they have no continuations.
    fn colon(&mut self) {
        self.at += match self.peek(1) {
            Some(b':' | b'=') => 2,
            Some(quote @ (b'\'' | b'"')) => match self.run(2, continues_name) {
                length if length > 0 && self.peek(2 + length) == Some(quote) => 3 + length,
                _ => 1,
            },
            // A name does not begin a word of the statement.
            Some(byte) if continues_name(byte) => {
                let length = 1 + self.run(1, continues_name);
                let is_cast = self.at.checked_sub(1).is_some_and(|before| self.text[before] == b':');
                if begins_name(byte) && !is_cast {
                    self.mentions.push(self.at..self.at + length);
                }
                length
            }
            _ => 1,
        };
    }

    /// Skips a number with the word attached to it; so `1e'\'` is no string with escapes.
    fn number(&mut self) {
        let digits = |from: usize| self.run(from, |b| b.is_ascii_digit() || b == b'_');
        let mut length = digits(0);
        if self.peek(length) == Some(b'.') && self.peek(length + 1) != Some(b'.') {
            length += 1;
            if self.peek(length).is_some_and(|b| b.is_ascii_digit()) {
                length += digits(length);
            }
        }
        if matches!(self.peek(length), Some(b'e' | b'E')) && matches!(self.peek(length + 1), Some(b'-' | b'+')) {
            length += 2;
            if self.peek(length).is_some_and(|b| b.is_ascii_digit()) {
                length += digits(length);
            } else {
                self.at += length;
                return;
            }
        }
        self.at += length + self.word_from(length);
    }
}

/// Returns the position of `needle` in `text`. Searches for its first byte, which is rare in all uses.
fn find(text: &[u8], needle: &[u8]) -> Option<usize> {
    let first = *needle.first()?;
    let mut from = 0;
    while let Some(offset) = text[from..].iter().position(|b| *b == first) {
        if text[from + offset..].starts_with(needle) {
            return Some(from + offset);
        }
        from += offset + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the commands of a script as they are sent; a backslash command is a backslash and the rest of its
    /// line.
    fn commands(text: &str) -> Vec<String> {
        let mut scanner = Scanner::new(text.as_bytes());
        let mut all = Vec::new();
        loop {
            let (found, stop) = scanner.command();
            if !found.sql.is_empty() {
                all.push(String::from_utf8(found.sql).unwrap());
            }
            if stop == Stop::Backslash {
                let line = scanner.run(0, |b| b != b'\n');
                all.push(format!("\\{}", &text[scanner.at..scanner.at + line]));
                scanner.at += line;
            }
            if stop == Stop::End {
                return all;
            }
        }
    }

    #[test]
    fn commands_end_where_psql_ends_them() {
        for (text, expected) in [
            ("", &[][..]),
            (" \n -- nothing\n", &[]),
            ("select 1; select 2", &["select 1;", "select 2"]),
            ("-- a\n\n  select 1 -- b\n , 2;", &["select 1 -- b\n , 2;"]),
            (";;select 1;", &[";", ";", "select 1;"]),
            ("select 1 \\; select 2;", &["select 1 ; select 2;"]),
            ("\\; select 1;", &["; select 1;"]),
            ("select a\\:b;", &["select a:b;"]),
            ("select 1 \\gset p_\nselect 2;", &["select 1 ", "\\gset p_", "select 2;"]),
            ("select 1\\set x 2\n", &["select 1", "\\set x 2"]),
            ("select 'a;b\\', ';' ;1", &["select 'a;b\\', ';' ;", "1"]),
            ("select E'a\\';', 2;1", &["select E'a\\';', 2;", "1"]),
            ("select 1e'a\\'b'; select 2;", &["select 1e'a\\'b'; select 2;"]),
            ("select foo_e'\\';1", &["select foo_e'\\';", "1"]),
            ("select 'a''b;';1", &["select 'a''b;';", "1"]),
            ("select 'a'\n -- c ; \n ';';1", &["select 'a'\n -- c ; \n ';';", "1"]),
            ("select e'a' -- c\n '\\'';1", &["select e'a' -- c\n '\\'';", "1"]),
            ("select e'a' '\\';1", &["select e'a' '\\';", "1"]),
            ("select \"a;\\\";1", &["select \"a;\\\";", "1"]),
            ("select $$;$a$;$$;1", &["select $$;$a$;$$;", "1"]),
            ("select $a$;$b$;$$$a$;1", &["select $a$;$b$;$$$a$;", "1"]),
            ("select a$$;1", &["select a$$;", "1"]),
            ("select $1$$;$$;1", &["select $1$$;$$;", "1"]),
            ("select $1a$$;1", &["select $1a$$;", "1"]),
            ("select $a;1", &["select $a;", "1"]),
            ("select /* ; /* ; */ ' */ 1;1", &["select /* ; /* ; */ ' */ 1;", "1"]),
            ("select 1 +/* ; */ 1;1", &["select 1 +/* ; */ 1;", "1"]),
            ("select 1 *-- ;\n 1;1", &["select 1 *-- ;\n 1;", "1"]),
            ("select /**/1;/***/2;/*/;*/3", &["select /**/1;", "/***/2;", "/*/;*/3"]),
            ("select (1;2;)3;4", &["select (1;2;)3;", "4"]),
            ("select );1", &["select );", "1"]),
            ("select (1\\set x 1\n;2;);3", &["select (1", "\\set x 1", ";2;);", "3"]),
            ("select 1e--x;\n2;", &["select 1e--x;", "2;"]),
            ("select 1..2;3", &["select 1..2;", "3"]),
            ("select :'a'\n 'b;';1", &["select :'a'\n 'b;';", "1"]),
            ("select 'open; \n", &["select 'open; \n"]),
            ("select 1;\r\n\\set x 1\r\nselect 2;\r\n", &["select 1;", "\\set x 1\r", "select 2;"]),
        ] {
            assert_eq!(commands(text), expected, "{text}");
        }
    }

    #[test]
    fn bodies_of_functions_keep_their_semicolons() {
        let body = "returns int begin atomic select case when 1=1 then 1 end; select (end); select 2; end;";
        for head in ["create function f()", "CREATE or replace Procedure f()", "/* c */ create function f()"] {
            let text = format!("{head} {body}");
            assert_eq!(commands(&format!("{text} select 3;")), [text.clone(), "select 3;".to_owned()]);
            assert_eq!(commands(&format!("select 1 \\gset\n{text}select 3")).len(), 4, "also after \\gset");
            assert_eq!(commands(&format!("select 1\\;{text}select 3")).len(), 2);
        }
        assert_eq!(commands("begin; select 1; end;"), ["begin;", "select 1;", "end;"]);
        assert_eq!(commands("create table f(a int); begin; end;").len(), 3);
    }

    #[test]
    fn a_long_script_is_scanned_in_one_pass() {
        let text = "select 'a' , /* b */ $$c$$ -- d\n".repeat(200_000);
        let (found, stop) = Scanner::new(text.as_bytes()).command();
        assert_eq!((found.sql.len(), stop), (text.len(), Stop::End));
        let deep = "(".repeat(1_000_000);
        assert_eq!(Scanner::new(deep.as_bytes()).command().0.sql.len(), deep.len());
    }
}
