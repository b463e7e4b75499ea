//! What the figures of a run mean by the rules of its workload.

/// The figures of the measured window.
#[derive(Clone, Copy, Debug)]
pub struct Figures<'a> {
    /// Length of the window.
    pub seconds: f64,
    /// How many clients there were.
    pub clients: u32,
    /// By kind of transaction, in the order of [`crate::Drive::txns`].
    pub txns: &'a [TxnFigures],
    /// The counts of [`crate::Drive::counted`].
    pub tallies: &'a [u64],
}

/// The figures of one kind of transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TxnFigures {
    /// Transactions whose work is committed.
    pub committed: u64,
    /// Transactions that the workload itself rolled back.
    pub rolled_back: u64,
    /// 90th percentile of the response times, in nanoseconds; 0 when there was none.
    pub response_ns_p90: u64,
}

impl TxnFigures {
    /// Transactions that ended without an error.
    #[must_use]
    pub fn completed(&self) -> u64 {
        self.committed + self.rolled_back
    }
}

/// What one rule says of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The clause where there is one (`5.2.5.3`), else a name.
    pub name: &'static str,
    /// What the rule wants, or what is looked at: `90th percentile of payment at most 5 s`.
    pub rule: String,
    /// What was found.
    pub found: String,
    /// Whether it is as the rule wants it; `None` where it is told without a verdict.
    pub holds: Option<bool>,
}
