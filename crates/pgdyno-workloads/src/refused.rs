//! Parameters that are valid each by itself, and yet no workload can be built of them.

/// The error when parameters name what is not there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct ParamsRefused {
    /// What is not there.
    pub why: String,
    /// What the user can do.
    pub hint: String,
}
