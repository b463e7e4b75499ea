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
