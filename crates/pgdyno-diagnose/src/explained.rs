//! The share of a part of the clients' time that a cause explains.

use pgdyno_results::Certainty;

/// How much of a part a cause explains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Explained {
    /// Share of the part, 0 to 1.
    pub(crate) share: f64,
    pub(crate) certainty: Certainty,
}
