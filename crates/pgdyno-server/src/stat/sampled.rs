//! Report on the sampling itself.

use std::collections::BTreeSet;
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
    back: Option<Return>,
}

/// The last return to a server that was not sampled for a while.
#[derive(Debug)]
struct Return {
    /// When the server was sampled again.
    at: Instant,
    /// The place of its notice, and the text of that without the counters.
    notice: usize,
    text: String,
    /// Sources that were looked at before, and not yet since.
    awaited: BTreeSet<&'static str>,
    /// Sources whose counters began again meanwhile.
    reset: Vec<&'static str>,
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

    /// Notes that the server is sampled again, which was not since `lost_at`. `looked_at` are the sources that were looked at before.
    pub(super) fn note_return(
        &mut self,
        lost_at: Instant,
        kind: &'static str,
        text: String,
        looked_at: impl Iterator<Item = &'static str>,
    ) {
        let notice = self.notices.len();
        self.note_since(lost_at, kind, text.clone());
        let awaited = looked_at.collect();
        self.back = Some(Return { at: Instant::now(), notice, text, awaited, reset: Vec::new() });
    }

    /// Returns true if this is the first look at a source since the server is sampled again.
    pub(super) fn is_first_look(&mut self, source: &str) -> bool {
        self.back.as_mut().is_some_and(|back| back.awaited.remove(source))
    }

    /// Returns true if the server was not sampled for a while after this time.
    pub(super) fn has_returned_since(&self, at: Instant) -> bool {
        self.back.as_ref().is_some_and(|back| back.at > at)
    }

    /// Adds to the last return that the counters of a source began again meanwhile: a crash of the server resets those of many.
    pub(super) fn began_again(&mut self, source: &'static str) {
        let Some(back) = &mut self.back else { return };
        back.reset.push(source);
        let all = back.reset.join(", ");
        if let Some(notice) = self.notices.get_mut(back.notice) {
            notice.text = format!(
                "{}; the counters of {all} began again: what they counted across that moment is not known",
                back.text
            );
        }
    }
}
