//! Figures and paragraphs as text for people: [`units`] and [`brief`] print figures, [`parse`] reads them, [`list`] joins names,
//! [`wrap`] breaks lines, [`paint`] colours them, [`hex`] prints bytes. Knows nothing about what the figures are of.

pub mod brief;
mod hex;
pub mod list;
pub mod paint;
pub mod parse;
pub mod units;
pub mod wrap;

pub use hex::hex;

/// The look of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextStyle {
    /// Whether it may have colours and bold type.
    pub colour: bool,
    /// Whether it has all that is known, below the summary.
    pub verbose: bool,
}
