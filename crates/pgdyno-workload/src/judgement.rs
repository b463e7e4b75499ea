//! Rules of a workload for the figures of a run.

/// Figures of the measured window.
#[derive(Clone, Copy, Debug)]
pub struct WindowFigures<'a> {
    /// Length of the window.
    pub seconds: f64,
    /// Number of clients.
    pub clients: u32,
    /// By kind of transaction, in the order of [`crate::Scripts::txns`].
    pub txns: &'a [TxnFigures],
    /// The counts of [`crate::Scripts::tallies`].
    pub tallies: &'a [u64],
}

/// Figures of one kind of transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TxnFigures {
    /// Committed transactions.
    pub committed: u64,
    /// Transactions that the workload itself rolled back.
    pub rolled_back: u64,
    /// 90th percentile of the response times in nanoseconds; 0 if there were none.
    pub response_ns_p90: u64,
}

impl TxnFigures {
    /// Returns the number of transactions that ended without an error.
    #[must_use]
    pub fn completed(&self) -> u64 {
        self.committed + self.rolled_back
    }
}

/// Result of one rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The clause if there is one (`5.2.5.3`), else a name.
    pub name: &'static str,
    /// The rule: `90th percentile of payment at most 5 s`.
    pub rule: String,
    /// The value found.
    pub found: String,
    /// Whether the value meets the rule; `None` if the value is only reported.
    pub holds: Option<bool>,
}
