//! Drawings in SVG, on a page or in a file of their own.

/// A drawing as SVG, in which every text is escaped.
pub(crate) struct Drawing(String);

impl Drawing {
    /// Returns the drawing of this markup, in which every text is escaped.
    #[must_use]
    pub(crate) fn new(markup: String) -> Self {
        Self(markup)
    }

    /// Returns its markup.
    #[must_use]
    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}
