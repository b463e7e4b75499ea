//! Marks of verdicts: each has a shape of its own, so that nobody needs its colour.

use pgdyno_results::Trust;

use super::markup::Html;

/// A mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerdictMark {
    /// A tick in a circle.
    Good,
    /// A wave in a circle.
    Fair,
    /// An exclamation mark in a triangle.
    Poor,
    /// A cross in a square.
    NotUsable,
    /// An arrow upwards.
    Faster,
    /// An arrow downwards.
    Slower,
    /// An equals sign.
    Equal,
    /// A question mark.
    Unknown,
}

impl From<Trust> for VerdictMark {
    fn from(trust: Trust) -> Self {
        match trust {
            Trust::Good => Self::Good,
            Trust::Fair | Trust::WithCare => Self::Fair,
            Trust::Poor => Self::Poor,
            Trust::NotUsable => Self::NotUsable,
        }
    }
}

impl VerdictMark {
    /// Returns the class of its colour.
    #[must_use]
    pub fn class(self) -> &'static str {
        match self {
            Self::Good | Self::Faster => "is-good",
            Self::Poor => "is-poor",
            Self::NotUsable | Self::Slower => "is-bad",
            Self::Fair | Self::Equal | Self::Unknown => "is-open",
        }
    }

    /// Appends it. Words beside it say the same: readers of the screen skip it.
    pub fn draw(self, html: &mut Html) {
        html.raw("<svg class=\"mark ").raw(self.class()).raw("\" viewBox=\"0 0 20 20\" aria-hidden=\"true\">");
        html.raw(match self {
            Self::Good => "<circle cx=\"10\" cy=\"10\" r=\"9\"/><path d=\"M5.5 10.5l3 3 6-7\"/>",
            Self::Fair => {
                "<circle cx=\"10\" cy=\"10\" r=\"9\"/><path d=\"M5 11.2q2.5-3.4 5-1.2t5-1.2\"/>"
            }
            Self::Poor => "<path d=\"M10 1.5L19 18H1z\"/><path d=\"M10 7.5v4.5M10 14.6v.4\"/>",
            Self::NotUsable => {
                "<rect x=\"1\" y=\"1\" width=\"18\" height=\"18\" rx=\"3\"/><path d=\"M6 6l8 8M14 6l-8 8\"/>"
            }
            Self::Faster => "<circle cx=\"10\" cy=\"10\" r=\"9\"/><path d=\"M10 15V5.5M5.8 9.5L10 5.2l4.2 4.3\"/>",
            Self::Slower => "<circle cx=\"10\" cy=\"10\" r=\"9\"/><path d=\"M10 5v9.5M5.8 10.5l4.2 4.3 4.2-4.3\"/>",
            Self::Equal => "<circle cx=\"10\" cy=\"10\" r=\"9\"/><path d=\"M5.5 8h9M5.5 12.5h9\"/>",
            Self::Unknown => {
                "<circle cx=\"10\" cy=\"10\" r=\"9\"/><path d=\"M7.2 7.6a2.8 2.8 0 1 1 4.2 2.4q-1.4.8-1.4 2.2M10 15v.2\"/>"
            }
        });
        html.raw("</svg>");
    }
}
