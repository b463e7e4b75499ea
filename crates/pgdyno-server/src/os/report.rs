//! Reports of a watch over machines.

use std::sync::Arc;

use crate::Frame;

/// Samples, or a note for their readers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MachineReport {
    /// Rows of samples.
    Frame(Frame),
    /// A source that cannot be read, or only partly, or rarely: the reason and a remedy.
    LeftOut {
        /// The source.
        source: &'static str,
        /// The reason.
        why: String,
    },
}

/// Receives the reports.
pub(crate) type Sink = Arc<dyn Fn(MachineReport) + Send + Sync>;
