//! What there is to know of the sampling itself.

use std::time::{Duration, Instant};

/// A source that could not be looked at, or not whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Which.
    pub source: &'static str,
    /// Why, and what would help.
    pub why: String,
}

/// Something that a reader of the samples must know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// When it was noticed, or began.
    pub at: Instant,
    /// When it was over; none for a moment.
    pub until: Option<Instant>,
    /// `reset`, `restart`, `outage` or `clock`.
    pub kind: &'static str,
    /// What has happened.
    pub text: String,
}

/// How a server was sampled.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sampled {
    /// What could not be looked at.
    pub left_out: Vec<LeftOut>,
    /// What has happened meanwhile.
    pub notices: Vec<Notice>,
    /// The plans that were asked for, as text.
    pub plans: Option<String>,
    /// Queries that were sent.
    pub queries: u64,
    /// Transactions that the server has counted for them, the beginning of each session included.
    pub transactions: u64,
    /// How long the answers took.
    pub waited: Duration,
    /// CPU time of the sampling sessions, where the server is on this machine and shows it.
    pub cpu: Option<Duration>,
}

/// Keeps what is noticed.
#[derive(Debug, Default)]
pub(super) struct Notes {
    pub(super) left_out: Vec<LeftOut>,
    pub(super) notices: Vec<Notice>,
}

impl Notes {
    /// Something is left out; the first reason stands.
    pub(super) fn leave_out(&mut self, source: &'static str, why: String) {
        if !self.has_left_out(source) {
            self.left_out.push(LeftOut { source, why });
        }
    }

    pub(super) fn has_left_out(&self, source: &str) -> bool {
        self.left_out.iter().any(|out| out.source == source)
    }

    /// Something happened at a moment.
    pub(super) fn note(&mut self, at: Instant, kind: &'static str, text: String) {
        self.notices.push(Notice { at, until: None, kind, text });
    }

    /// Something began then, and is over now.
    pub(super) fn note_since(&mut self, at: Instant, kind: &'static str, text: String) {
        self.notices.push(Notice { at, until: Some(Instant::now()), kind, text });
    }
}
