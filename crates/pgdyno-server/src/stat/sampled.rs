//! Report on the sampling itself.

use std::time::{Duration, Instant};

/// A source that could not be sampled, or only partly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsampledSource {
    /// The source.
    pub source: &'static str,
    /// The reason and a remedy.
    pub why: String,
}

/// An event that readers of the samples must know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleEvent {
    /// Time when it began, or was noticed.
    pub at: Instant,
    /// Time when it was over; `None` without a length.
    pub until: Option<Instant>,
    /// Kind: `reset`, `restart`, `outage` or `clock`.
    pub kind: &'static str,
    /// Description.
    pub text: String,
}

/// Report on a server's sampling.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sampled {
    /// Missing sources.
    pub left_out: Vec<UnsampledSource>,
    /// Events.
    pub notices: Vec<SampleEvent>,
    /// The requested plans, as text.
    pub plans: Option<String>,
    /// Number of queries.
    pub queries: u64,
    /// Transactions that the server has counted for them, including the start of each session.
    pub transactions: u64,
    /// Total time of the answers.
    pub waited: Duration,
    /// CPU time of the sampling sessions, if the server is on this machine and visible.
    pub cpu: Option<Duration>,
}

/// Collects the report.
#[derive(Debug, Default)]
pub(super) struct Notes {
    pub(super) left_out: Vec<UnsampledSource>,
    pub(super) notices: Vec<SampleEvent>,
}

impl Notes {
    /// Notes a missing source; the first reason stands.
    pub(super) fn leave_out(&mut self, source: &'static str, why: String) {
        if !self.has_left_out(source) {
            self.left_out.push(UnsampledSource { source, why });
        }
    }

    pub(super) fn has_left_out(&self, source: &str) -> bool {
        self.left_out.iter().any(|out| out.source == source)
    }

    /// Notes an event without a length.
    pub(super) fn note(&mut self, at: Instant, kind: &'static str, text: String) {
        self.notices.push(SampleEvent { at, until: None, kind, text });
    }

    /// Notes an event that began then, and is over now.
    pub(super) fn note_since(&mut self, at: Instant, kind: &'static str, text: String) {
        self.notices.push(SampleEvent { at, until: Some(Instant::now()), kind, text });
    }
}
