//! Text of strangers in XML.

use std::fmt;

/// Displays text that others wrote without the characters that XML 1.0 forbids: they appear as `\u{1b}`. Escapes no markup; the
/// writer of XML does.
#[derive(Clone, Copy, Debug)]
pub struct XmlText<'a>(pub &'a str);

impl fmt::Display for XmlText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '\t' | '\n' | '\r' => write!(f, "{c}")?,
                c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => write!(f, "{}", c.escape_unicode())?,
                c => write!(f, "{c}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forbidden_characters_are_shown() {
        assert_eq!(XmlText("a\u{0}\u{1b}[1m\u{ffff} <b>\n").to_string(), "a\\u{0}\\u{1b}[1m\\u{ffff} <b>\n");
    }
}
