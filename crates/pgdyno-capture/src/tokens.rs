//! The tokens of an SQL statement, as far as a reader of `pg_stat_statements` needs them: which words, constants and parameters it has.

/// What PostgreSQL 18 writes for the further elements of a list.
pub(crate) const SQUASHED: &str = "/*, ... */";

/// A token, with its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    /// A keyword or an identifier without quotes.
    Word(&'a str),
    /// An identifier in double quotes.
    Quoted(&'a str),
    /// A string constant of any form.
    Text(&'a str),
    /// A number.
    Number(&'a str),
    /// `$1`.
    Parameter(&'a str),
    /// A comment.
    Comment(&'a str),
    /// White space.
    Space(&'a str),
    /// Any other character.
    Other(&'a str),
}

impl<'a> Token<'a> {
    /// Returns its text.
    pub(crate) fn text(self) -> &'a str {
        match self {
            Self::Word(text)
            | Self::Quoted(text)
            | Self::Text(text)
            | Self::Number(text)
            | Self::Parameter(text)
            | Self::Comment(text)
            | Self::Space(text)
            | Self::Other(text) => text,
        }
    }

    /// Returns true if it is white space or a comment.
    pub(crate) fn is_blank(self) -> bool {
        matches!(self, Self::Space(_) | Self::Comment(_))
    }

    /// Returns the name that it is, as the catalog has it.
    pub(crate) fn name(self) -> Option<String> {
        match self {
            Self::Word(word) => Some(word.to_lowercase()),
            Self::Quoted(text) => Some(text.get(1..text.len() - 1)?.replace("\"\"", "\"")),
            _ => None,
        }
    }

    /// Returns true if it is this keyword.
    pub(crate) fn is(self, keyword: &str) -> bool {
        matches!(self, Self::Word(word) if word.eq_ignore_ascii_case(keyword))
    }
}

/// Returns the tokens of a statement. A constant or comment that is not closed ends with the text.
pub(crate) fn tokens(sql: &str) -> Vec<Token<'_>> {
    let (mut found, mut rest) = (Vec::new(), sql);
    while let Some(first) = rest.chars().next() {
        let second = rest[first.len_utf8()..].chars().next();
        let end = match (first, second) {
            ('\'', _) => quoted(rest, 0, '\'', false),
            ('e' | 'E', Some('\'')) => escaped(rest),
            ('b' | 'B' | 'x' | 'X' | 'n' | 'N', Some('\'')) => quoted(rest, 1, '\'', false),
            ('"', _) => quoted(rest, 0, '"', false),
            ('$', Some(digit)) if digit.is_ascii_digit() => 1 + run(&rest[1..], |c| c.is_ascii_digit()),
            ('$', _) => dollar_quoted(rest).unwrap_or(1),
            ('-', Some('-')) => line(rest),
            ('/', Some('*')) => comment(rest),
            (space, _) if is_space(space) => run(rest, is_space),
            (digit, _) if digit.is_ascii_digit() => run(rest, |c| c.is_alphanumeric() || c == '.' || c == '_'),
            (letter, _) if is_of_word(letter) => run(rest, |c| is_of_word(c) || c == '$'),
            (other, _) => other.len_utf8(),
        };
        let (text, after) = rest.split_at(end);
        found.push(match first {
            '\'' => Token::Text(text),
            '"' => Token::Quoted(text),
            '$' if second.is_some_and(|c| c.is_ascii_digit()) => Token::Parameter(text),
            '$' if text.len() > 1 => Token::Text(text),
            _ if text.ends_with('\'') && text.len() > 1 => Token::Text(text),
            '-' if text.len() > 1 => Token::Comment(text),
            '/' if text.len() > 1 => Token::Comment(text),
            space if is_space(space) => Token::Space(text),
            digit if digit.is_ascii_digit() => Token::Number(text),
            letter if is_of_word(letter) => Token::Word(text),
            _ => Token::Other(text),
        });
        rest = after;
    }
    found
}

/// Returns the tokens of a statement without white space and comments.
pub(crate) fn significant(sql: &str) -> Vec<Token<'_>> {
    tokens(sql).into_iter().filter(|token| !token.is_blank()).collect()
}

/// Returns true if a character is of an identifier or of the tag of a dollar-quoted constant: for PostgreSQL all that are not ASCII are.
fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || !c.is_ascii()
}

/// Returns true for what PostgreSQL skips between tokens: no other space of Unicode.
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c')
}

/// Returns the length of the beginning whose characters are all such.
fn run(text: &str, is_such: impl Fn(char) -> bool) -> usize {
    text.find(|c| !is_such(c)).unwrap_or(text.len())
}

/// Returns where the quoted text whose quote is at `from` has ended. Two quotes within it are one; a backslash escapes where that is
/// the form.
fn quoted(text: &str, from: usize, quote: char, escapes: bool) -> usize {
    let mut characters = text[from + 1..].char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        if c == '\\' && escapes {
            characters.next();
        } else if c == quote && characters.next_if(|(_, next)| *next == quote).is_none() {
            return from + 1 + at + 1;
        }
    }
    text.len()
}

/// Returns the length of the `E'…'` that the text begins with. Further parts on later lines belong to it, and have its form.
fn escaped(text: &str) -> usize {
    let mut end = quoted(text, 1, '\'', true);
    while let Some(quote) = continued(&text[end..]) {
        end += quote;
        end += quoted(&text[end..], 0, '\'', true);
    }
    end
}

/// Returns where a constant that has ended before the text goes on: behind a line break, which comments may precede and follow.
fn continued(text: &str) -> Option<usize> {
    let (mut at, mut is_next_line) = (0, false);
    loop {
        let rest = &text[at..];
        match rest.chars().next()? {
            '\'' => return is_next_line.then_some(at),
            '-' if rest.starts_with("--") => at += line(rest),
            space if is_space(space) => {
                is_next_line |= matches!(space, '\n' | '\r');
                at += 1;
            }
            _ => return None,
        }
    }
}

/// Returns the length of the comment up to the end of the line, for PostgreSQL a line feed or a carriage return.
fn line(text: &str) -> usize {
    text.find(['\n', '\r']).unwrap_or(text.len())
}

/// Returns the length of the `$tag$ … $tag$` that the text begins with.
fn dollar_quoted(text: &str) -> Option<usize> {
    let end = text[1..].find('$')? + 2;
    let tag = &text[..end];
    let is_tag = tag[1..end - 1].chars().all(is_of_word);
    is_tag.then(|| text[end..].find(tag).map_or(text.len(), |at| end + at + tag.len()))
}

/// Returns the length of the comment that the text begins with; comments nest.
fn comment(text: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < text.len() {
        let here = &text[at..];
        if here.starts_with("/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if here.starts_with("*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                return at;
            }
        } else {
            at += here.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_its_tokens_in_order() {
        let sql = "select \"a\"\"b\", E'it\\'s', 'it''s', $$x$$, $1, 1.5e3, x.y /* a /* b */ c */ -- end\nfrom t$1";
        let all = tokens(sql);
        assert_eq!(all.iter().map(|token| token.text()).collect::<String>(), sql, "nothing is lost");
        let kept: Vec<_> =
            all.into_iter().filter(|token| !matches!(token, Token::Space(_) | Token::Other(_))).collect();
        assert_eq!(
            kept,
            [
                Token::Word("select"),
                Token::Quoted("\"a\"\"b\""),
                Token::Text("E'it\\'s'"),
                Token::Text("'it''s'"),
                Token::Text("$$x$$"),
                Token::Parameter("$1"),
                Token::Number("1.5e3"),
                Token::Word("x"),
                Token::Word("y"),
                Token::Comment("/* a /* b */ c */"),
                Token::Comment("-- end"),
                Token::Word("from"),
                Token::Word("t$1"),
            ]
        );
    }

    #[test]
    fn code_is_where_the_server_sees_code() {
        // PostgreSQL calls f() in each of these: no constant and no comment hides it.
        for sql in [
            "select 1 -- a\r, f(1)",
            "select $\u{1F600}$ ' $\u{1F600}$, f(1) --'",
            "select $\u{a0}$ ' $\u{a0}$, f(1) --'",
            "select E'a'\n'\\'' , f(1), '",
            "select e'a' -- b\n  '\\'' , f(1), '",
            "select 'a'\n'\\' , f(1)",
        ] {
            let found = significant(sql);
            assert!(found.windows(2).any(|pair| pair[0].is("f") && pair[1] == Token::Other("(")), "{sql:?}: {found:?}");
        }
        assert_eq!(significant("f\u{a0}(1)")[0], Token::Word("f\u{a0}"), "a name of its own");
        assert_eq!(significant("E'a' 'b'").len(), 2, "on one line no constant goes on");
    }

    #[test]
    fn what_is_cut_off_ends_with_the_text() {
        for sql in ["'abc", "\"abc", "/* abc", "$a$ bc", "$", "E'", "é'", "-", "/", "$é$x", "E'\\"] {
            assert_eq!(tokens(sql).iter().map(|token| token.text()).collect::<String>(), sql);
        }
    }
}
