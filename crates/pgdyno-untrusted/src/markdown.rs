//! Text of strangers in Markdown.

use std::fmt;

use crate::terminal::is_obeyed;

/// Displays text that others wrote in GitHub's Markdown as it is: no markup, no HTML, no link, no mention, no border of a
/// table's cell, and on one line.
///
/// A zero-width space follows a `#`, and an `@` at the start of a word: GitHub looks for mentions and references after it has removed backslashes.
#[derive(Clone, Copy, Debug)]
pub struct MarkdownText<'a>(pub &'a str);

/// Separates two characters without being visible.
const ZERO_WIDTH_SPACE: char = '\u{200b}';

impl fmt::Display for MarkdownText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Spaces at the start of a line could begin a block of code.
        let text = self.0.trim();
        let mark = mark_of_a_block(text);
        let mut chars = text.char_indices().peekable();
        let mut before = None;
        while let Some((at, c)) = chars.next() {
            let next = chars.peek().map(|(_, next)| *next);
            match c {
                c if mark == Some(at) => write!(f, "\\{c}")?,
                '\n' | '\r' | '\t' => f.write_str(" ")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '&' => f.write_str("&amp;")?,
                '@' if is_word(before) && !has_a_dot(&text[at..]) => f.write_str("@")?,
                '@' | '#' => write!(f, "\\{c}{ZERO_WIDTH_SPACE}")?,
                '_' if is_word(before) && is_word(next) => f.write_str("_")?,
                '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '$' => write!(f, "\\{c}")?,
                ':' | '.' if begins_a_link(&text[..at], &text[at..]) => write!(f, "\\{c}")?,
                c if is_obeyed(c) => write!(f, "\\\\u{{{:x}}}", u32::from(c))?,
                c => write!(f, "{c}")?,
            }
            before = Some(c);
        }
        Ok(())
    }
}

/// Returns the position of the character that makes a list, a heading or a rule of a line that begins with `text`.
fn mark_of_a_block(text: &str) -> Option<usize> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let mark = text[digits..].chars().next()?;
    let is_list = match digits {
        0 => matches!(mark, '-' | '+'),
        _ => matches!(mark, '.' | ')'),
    };
    let rest = &text[digits + mark.len_utf8()..];
    let ends_the_mark = rest.is_empty() || rest.starts_with(char::is_whitespace);
    let is_rule = digits == 0 && matches!(mark, '-' | '=') && rest.chars().all(|c| c == mark || c.is_whitespace());
    (is_list && ends_the_mark || is_rule).then_some(digits)
}

fn is_word(c: Option<char>) -> bool {
    c.is_some_and(char::is_alphanumeric)
}

/// Returns true if the word has a dot: GitHub makes a link of `name@host.domain`. Within a word, `@` begins no mention.
fn has_a_dot(from: &str) -> bool {
    from.split([' ', '\t', '\n', '\r']).next().is_some_and(|word| word.contains('.'))
}

/// Returns true for the colon or dot of an address that GitHub makes a link of.
fn begins_a_link(before: &str, from: &str) -> bool {
    let ends_with = |word: &str| {
        let end = before.len().checked_sub(word.len()).and_then(|start| before.get(start..));
        end.is_some_and(|end| end.eq_ignore_ascii_case(word))
    };
    match from.starts_with(':') {
        true => from.starts_with("://") || ends_with("mailto") || ends_with("xmpp"),
        false => ends_with("www"),
    }
}

/// Displays text that others wrote as code in GitHub's Markdown, on one line and also in a table.
#[derive(Clone, Copy, Debug)]
pub struct MarkdownCode<'a>(pub &'a str);

impl fmt::Display for MarkdownCode<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let longest = self.0.split(|c| c != '`').map(str::len).max().unwrap_or_default();
        let fence = "`".repeat(longest + 1);
        // Without a space a backtick at either end would lengthen the fence; Markdown removes one at both ends.
        let space = if self.0.starts_with('`') || self.0.ends_with('`') || self.0.is_empty() { " " } else { "" };
        write!(f, "{fence}{space}")?;
        for c in self.0.chars() {
            match c {
                '\n' | '\r' | '\t' => f.write_str(" ")?,
                '|' => f.write_str("\\|")?,
                c if is_obeyed(c) => write!(f, "{}", c.escape_unicode())?,
                c => write!(f, "{c}")?,
            }
        }
        write!(f, "{space}{fence}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_shown_as_it_is() {
        for (text, shown) in [
            ("tproc-c, 1,234.5 TPS (p95 3 ms)", "tproc-c, 1,234.5 TPS (p95 3 ms)"),
            ("pg_stat_io", "pg_stat_io"),
            ("_x_", "\\_x\\_"),
            ("<img src=x onerror=alert(1)>", "&lt;img src=x onerror=alert(1)&gt;"),
            ("bench@db1", "bench@db1"),
            ("a@evil.example", "a\\@\u{200b}evil.example"),
            ("ask @all about #1", "ask \\@\u{200b}all about \\#\u{200b}1"),
            ("a | b", "a \\| b"),
            ("[x](http://evil.example)", "\\[x\\](http\\://evil.example)"),
            ("www.evil.example, mailto:a", "www\\.evil.example, mailto\\:a"),
            ("`rm` **b** ~~c~~ $d$ \\", "\\`rm\\` \\*\\*b\\*\\* \\~\\~c\\~\\~ \\$d\\$ \\\\"),
            ("one\n\n# two", "one  \\#\u{200b} two"),
            ("- item", "\\- item"),
            ("1. item", "1\\. item"),
            ("1.5 GiB", "1.5 GiB"),
            ("-5.2 %", "-5.2 %"),
            ("---", "\\---"),
            ("===", "\\==="),
            ("2)", "2\\)"),
            ("    code", "code"),
            ("&lt;", "&amp;lt;"),
            ("\u{1b}[31m", "\\\\u{1b}\\[31m"),
        ] {
            assert_eq!(MarkdownText(text).to_string(), shown);
        }
    }

    #[test]
    fn code_ends_at_its_own_fence() {
        for (text, shown) in [
            ("select 1", "`select 1`"),
            ("a `b` | c\nd", "``a `b` \\| c d``"),
            ("`", "`` ` ``"),
            ("", "`  `"),
            ("\u{9b}m", "`\\u{9b}m`"),
        ] {
            assert_eq!(MarkdownCode(text).to_string(), shown);
        }
    }
}
