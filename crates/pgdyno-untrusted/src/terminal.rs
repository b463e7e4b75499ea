//! Text of strangers for a terminal.

use std::fmt;

/// Displays text that others wrote without what a terminal would obey: control characters other than line ends and tabs, and
/// characters that turn the direction of text, appear as `\u{1b}`.
#[derive(Clone, Copy, Debug)]
pub struct TerminalText<'a>(pub &'a str);

impl fmt::Display for TerminalText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut plain = self.0;
        while let Some((at, refused)) = plain.char_indices().find(|&(_, c)| is_obeyed(c)) {
            f.write_str(&plain[..at])?;
            write!(f, "{}", refused.escape_unicode())?;
            plain = &plain[at + refused.len_utf8()..];
        }
        f.write_str(plain)
    }
}

/// Codes that set and end colours and bold type, as reports use them.
const PAINT: [&str; 4] = ["\u{1b}[1m", "\u{1b}[1;31m", "\u{1b}[33m", "\u{1b}[0m"];

/// Displays a text with colours as [`TerminalText`] displays it, but for the codes of those colours: text of others can be
/// coloured by them, and do nothing else.
#[derive(Clone, Copy, Debug)]
pub struct PaintedText<'a>(pub &'a str);

impl fmt::Display for PaintedText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some(at) = rest.find('\u{1b}') {
            write!(f, "{}", TerminalText(&rest[..at]))?;
            rest = &rest[at..];
            let code = PAINT.into_iter().find(|code| rest.starts_with(code));
            match code {
                Some(code) => f.write_str(code)?,
                None => write!(f, "{}", TerminalText("\u{1b}"))?,
            }
            rest = &rest[code.map_or(1, str::len)..];
        }
        write!(f, "{}", TerminalText(rest))
    }
}

/// Returns true for characters that change a terminal instead of appearing on it.
pub(crate) fn is_obeyed(c: char) -> bool {
    let turns_direction =
        matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (c.is_control() && !matches!(c, '\n' | '\t')) || turns_direction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_of_reports_pass() {
        for (text, shown) in [
            ("\u{1b}[1mbold\u{1b}[0m \u{1b}[1;31mred\u{1b}[0m\n", "\u{1b}[1mbold\u{1b}[0m \u{1b}[1;31mred\u{1b}[0m\n"),
            ("\u{1b}[2J\u{1b}[0mx\u{7}", "\\u{1b}[2J\u{1b}[0mx\\u{7}"),
            ("\u{1b}", "\\u{1b}"),
            ("plain", "plain"),
        ] {
            assert_eq!(PaintedText(text).to_string(), shown);
        }
    }

    #[test]
    fn what_a_terminal_would_obey_is_shown_instead() {
        for (text, shown) in [
            ("plain\ttext\n", "plain\ttext\n"),
            ("\u{1b}]0;title\u{7}", "\\u{1b}]0;title\\u{7}"),
            ("a\rb", "a\\u{d}b"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("abc\u{202e}fed", "abc\\u{202e}fed"),
            ("größe µs", "größe µs"),
            ("", ""),
        ] {
            assert_eq!(TerminalText(text).to_string(), shown);
        }
    }
}
