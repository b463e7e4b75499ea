//! Tokens of expressions. The line end ends them, unless it follows a backslash.

use std::ops::Range;

use crate::names::{begins_name, continues_name};
use crate::numbers;
use crate::script_error::Mistake;

/// A token of an expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Token<'a> {
    /// One or two characters: `(`, `<=`, `!=`.
    Symbol(&'static str),
    Int(i64),
    /// 9223372036854775808, which is a number only after a minus.
    IntTooLargeByOne,
    Double(f64),
    /// Without its colon.
    Variable(&'a [u8]),
    Word(&'a [u8]),
    Null,
    Bool(bool),
    And,
    Or,
    Not,
    Is,
    IsNull,
    NotNull,
    Case,
    When,
    Then,
    Else,
    /// The word END.
    EndCase,
    /// The end of the line or of the script.
    EndOfLine,
}

/// Longer ones first.
const SYMBOLS: &[&str] =
    &["<=", ">=", "<>", "!=", "<<", ">>", "+", "-", "*", "/", "%", "=", "<", ">", "|", "&", "#", "~", "(", ")", ","];

/// A position in a script, from which tokens or words are read.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) at: usize,
}

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a [u8] {
        &self.text[self.at..]
    }

    /// Returns the next token, and its position.
    pub(crate) fn token(&mut self) -> Result<(Token<'a>, Range<usize>), Mistake> {
        loop {
            match self.rest() {
                [b' ' | b'\t' | b'\r' | 0x0b | 0x0c, ..] => self.at += 1,
                [b'\\', b'\n', ..] => self.at += 2,
                [b'\\', b'\r', b'\n', ..] => self.at += 3,
                _ => break,
            }
        }
        let start = self.at;
        let rest = self.rest();
        let length = match rest {
            [] => return Ok((Token::EndOfLine, start..start)),
            [b'\n', ..] => 1,
            [b':', next, ..] if continues_name(*next) => 1 + name_length(&rest[1..]),
            [first, ..] if begins_name(*first) => name_length(rest),
            [first, ..] if first.is_ascii_digit() => number_length(rest),
            [b'.', next, ..] if next.is_ascii_digit() => number_length(rest),
            _ => SYMBOLS.iter().find(|s| rest.starts_with(s.as_bytes())).map_or(1, |s| s.len()),
        };
        self.at += length;
        let (text, span) = (&rest[..length], start..self.at);
        let token = match text {
            b"\n" => Token::EndOfLine,
            [b':', name @ ..] if !name.is_empty() => Token::Variable(name),
            [first, ..] if begins_name(*first) => word(text),
            [b'.', _, ..] => double(text, &span)?,
            [first, ..] if first.is_ascii_digit() => number(text, &span)?,
            _ => match SYMBOLS.iter().find(|s| s.as_bytes() == text) {
                Some(symbol) => Token::Symbol(symbol),
                None => return Err(Mistake::at(span, "unexpected character").more(text).hint(stray(text))),
            },
        };
        Ok((token, span))
    }
}

fn name_length(text: &[u8]) -> usize {
    text.iter().take_while(|b| continues_name(**b)).count()
}

/// Returns the longest of `12`, `12.`, `12.5`, `.5`, each with a complete exponent if there is one.
fn number_length(text: &[u8]) -> usize {
    let digits = |from: usize| text[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut length = digits(0);
    if text.get(length) == Some(&b'.') {
        length += 1;
        length += digits(length);
    }
    if matches!(text.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(length + 1), Some(b'+' | b'-')));
        let exponent = text.get(length + 1 + sign..).map_or(0, |_| digits(length + 1 + sign));
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    length
}

fn number<'a>(text: &[u8], span: &Range<usize>) -> Result<Token<'a>, Mistake> {
    if !text.iter().all(u8::is_ascii_digit) {
        return double(text, span);
    }
    if text == b"9223372036854775808" {
        return Ok(Token::IntTooLargeByOne);
    }
    numbers::int(text).map(Token::Int).ok_or_else(|| {
        Mistake::at(span.clone(), "bigint constant overflow")
            .more(text)
            .hint("integers go from -9223372036854775808 to 9223372036854775807")
    })
}

fn double<'a>(text: &[u8], span: &Range<usize>) -> Result<Token<'a>, Mistake> {
    numbers::decimal(text).map(Token::Double).ok_or_else(|| {
        Mistake::at(span.clone(), "double constant overflow")
            .more(text)
            .hint("the magnitude of a double is between 2.3e-308 and 1.8e308, or 0")
    })
}

const KEYWORDS: &[(&str, Token<'static>)] = &[
    ("and", Token::And),
    ("case", Token::Case),
    ("else", Token::Else),
    ("end", Token::EndCase),
    ("false", Token::Bool(false)),
    ("is", Token::Is),
    ("isnull", Token::IsNull),
    ("not", Token::Not),
    ("notnull", Token::NotNull),
    ("null", Token::Null),
    ("or", Token::Or),
    ("then", Token::Then),
    ("true", Token::Bool(true)),
    ("when", Token::When),
];

fn word(text: &[u8]) -> Token<'_> {
    let keyword = KEYWORDS.iter().find(|(name, _)| name.as_bytes().eq_ignore_ascii_case(text));
    keyword.map_or(Token::Word(text), |(_, token)| *token)
}

fn stray(text: &[u8]) -> &'static str {
    match text {
        b"\\" => "a backslash continues a line only as its very last character",
        b"'" | b"\"" => "an expression has no strings: numbers, booleans and null are all it can compute with",
        b":" => "a variable is a colon and its name, without a space: :scale",
        b";" => "a backslash command ends with its line, and not with a semicolon",
        b"^" => "use power(x, y) for powers, and # for exclusive or",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<Token<'_>> {
        let mut cursor = Cursor { text: text.as_bytes(), at: 0 };
        let mut all = Vec::new();
        loop {
            match cursor.token().unwrap().0 {
                Token::EndOfLine => return all,
                token => all.push(token),
            }
        }
    }

    #[test]
    fn numbers_words_and_symbols() {
        use Token::{Bool, Double, Int, IntTooLargeByOne, IsNull, Symbol, Variable, Word};
        assert_eq!(
            tokens("1 1. .5 1e3 1.5E-1 007 9223372036854775808"),
            [Int(1), Double(1.0), Double(0.5), Double(1000.0), Double(0.15), Int(7), IntTooLargeByOne]
        );
        assert_eq!(tokens("1e 2e+"), [Int(1), Word(b"e"), Int(2), Word(b"e"), Symbol("+")]);
        assert_eq!(tokens("1.5.5"), [Double(1.5), Double(0.5)]);
        assert_eq!(tokens("a<>:b1:1c"), [Word(b"a"), Symbol("<>"), Variable(b"b1"), Variable(b"1c")]);
        assert_eq!(tokens("TRUE isNull is_null é"), [Bool(true), IsNull, Word(b"is_null"), Word("é".as_bytes())]);
        assert_eq!(tokens("<<=!=>>"), [Symbol("<<"), Symbol("="), Symbol("!="), Symbol(">>")]);
        assert_eq!(tokens("1 \\\n 2\\\r\n3\r\n 4"), [Int(1), Int(2), Int(3)]);
    }

    #[test]
    fn what_is_no_token_is_refused() {
        for (text, message) in [
            ("@", "unexpected character"),
            (":", "unexpected character"),
            ("!", "unexpected character"),
            (".", "unexpected character"),
            ("\\\r", "unexpected character"),
            ("9223372036854775809", "bigint constant overflow"),
            ("1e400", "double constant overflow"),
            (".1e-400", "double constant overflow"),
        ] {
            let mut cursor = Cursor { text: text.as_bytes(), at: 0 };
            assert_eq!(cursor.token().unwrap_err().message, message, "{text}");
        }
    }
}
