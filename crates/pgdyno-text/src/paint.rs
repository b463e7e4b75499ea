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

    /// Returns yellow text.
    #[must_use]
    pub fn yellow(&self, text: &str) -> String {
        self.wrap("33", text)
    }
}
