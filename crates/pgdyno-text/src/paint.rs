//! Colours and bold type on a terminal.

/// Paints text if it may.
pub struct Paint(pub bool);

impl Paint {
    fn wrap(&self, code: &str, text: &str) -> String {
        if self.0 { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// Returns bold text.
    #[must_use]
    pub fn bold(&self, text: &str) -> String {
        self.wrap("1", text)
    }

    /// Returns bold red text.
    #[must_use]
    pub fn red(&self, text: &str) -> String {
        self.wrap("1;31", text)
    }

    /// Returns a message with its `error:` in red, or its `warning:` in yellow.
    #[must_use]
    pub fn message(&self, text: &str) -> String {
        let painted = |label: &str, painted: String| text.strip_prefix(label).map(|rest| painted + rest);
        painted("error:", self.red("error:"))
            .or_else(|| painted("warning:", self.yellow("warning:")))
            .unwrap_or_else(|| text.to_owned())
    }

    /// Returns yellow text.
    #[must_use]
    pub fn yellow(&self, text: &str) -> String {
        self.wrap("33", text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_label_of_a_message_is_painted_and_only_on_a_terminal() {
        assert_eq!(Paint(true).message("error: no\n  hint: error: x"), "\x1b[1;31merror:\x1b[0m no\n  hint: error: x");
        assert_eq!(Paint(true).message("warning: late"), "\x1b[33mwarning:\x1b[0m late");
        assert_eq!(Paint(true).message("an error: no"), "an error: no");
        assert_eq!(Paint(false).message("error: no"), "error: no");
    }
}
