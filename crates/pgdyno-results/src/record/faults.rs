//! Faults that the run caused.

use serde::{Deserialize, Serialize};

/// How a fault came out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum FaultOutcome {
    /// It was caused, and clients or server show it.
    Done,
    /// It was caused, and neither clients nor server show it: the run measured no fault.
    NoEffect,
    /// It could not be caused, or its program failed.
    Failed,
    /// The user ended the run while it was being caused.
    Interrupted,
    /// The run ended before its time came.
    #[default]
    NotCaused,
}

/// The server that clients reached before or after a fault.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FaultServerRecord {
    /// When its postmaster was started, in UTC.
    pub started: String,
    /// Its timeline, if it says so: a promotion begins a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeline: Option<u32>,
    /// Its host and port, as the session connected to them.
    pub address: String,
}

/// A fault that the run caused while its clients drove. Times count from the start of the measured window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FaultRecord {
    /// The fault, or the file of the user's program.
    pub kind: String,
    /// When it was to begin.
    pub at_s: f64,
    /// When it began; absent if it was not caused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began_s: Option<f64>,
    /// When it had been caused: the server had been killed or shut down and started again, or the program had ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_s: Option<f64>,
    /// When pgdyno's own session could write again; absent if it never could.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub available_s: Option<f64>,
    /// How it came out.
    pub outcome: FaultOutcome,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The exit code of the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The file in the run directory with the output of the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Packets that were dropped, of a fault that drops them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packets_dropped: Option<u64>,
    /// Connections that clients lost or could not open, until the next fault or the end of the run.
    pub connections_lost: u64,
    /// Transactions that failed until then, other than by serialization, deadlock, data or script: those are no sign of a fault.
    pub transactions_failed: u64,
    /// The server before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_before: Option<FaultServerRecord>,
    /// The server after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_after: Option<FaultServerRecord>,
}

impl FaultRecord {
    /// Returns true if clients or server show it.
    #[must_use]
    pub fn has_effect(&self) -> bool {
        let identity = |server: &FaultServerRecord| (server.started.clone(), server.timeline);
        let is_changed = match (&self.server_before, &self.server_after) {
            (Some(before), Some(after)) => identity(before) != identity(after),
            // It no longer accepts sessions that may write.
            (Some(_), None) => true,
            (None, _) => false,
        };
        let has_dropped = self.packets_dropped.is_some_and(|packets| packets > 0);
        is_changed || has_dropped || self.connections_lost > 0 || self.transactions_failed > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_or_the_server_show_a_fault() {
        let server = |started: &str, timeline| {
            Some(FaultServerRecord { started: started.to_owned(), timeline, address: String::new() })
        };
        let of = |server_before, server_after| FaultRecord { server_before, server_after, ..FaultRecord::default() };
        assert!(!of(None, None).has_effect() && !of(server("a", Some(1)), server("a", Some(1))).has_effect());
        assert!(of(server("a", Some(1)), server("b", Some(1))).has_effect());
        assert!(of(server("a", Some(1)), server("a", Some(2))).has_effect());
        assert!(of(server("a", None), None).has_effect());
        assert!(FaultRecord { packets_dropped: Some(3), ..of(None, None) }.has_effect());
        assert!(!FaultRecord { packets_dropped: Some(0), ..of(None, None) }.has_effect());
        assert!(FaultRecord { connections_lost: 1, ..of(None, None) }.has_effect());
        assert!(FaultRecord { transactions_failed: 1, ..of(None, None) }.has_effect());
    }
}
