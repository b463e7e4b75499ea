//! What those who look at machines have to say.

use std::sync::Arc;

use crate::Frame;

/// What a look brought, or what a reader must know of the looking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// Rows of samples.
    Frame(Frame),
    /// A source that cannot be read, or only in part, or seldom: why, and what would help.
    LeftOut {
        /// Which.
        source: &'static str,
        /// Why.
        why: String,
    },
}

/// Hears what is seen.
pub(crate) type Sink = Arc<dyn Fn(Told) + Send + Sync>;
