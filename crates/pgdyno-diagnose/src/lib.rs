//! Diagnoses a run from its record, its intervals and its samples: what happened, and what held the server back.
//!
//! Nothing here looks at a server or a clock: the same run gives the same answer.
//!
//! - [`account`] divides the clients' time into parts that add up;
//! - [`facts`] has what all else asks: figures of the measured window, settings, and what sessions waited for ([`waits`]);
//! - [`streams`] has what is known of queries beside the clients' transactions;
//! - [`blockers`] and [`horizon`] find who is at the head of lock queues and who keeps dead rows, each a [`sessions::Session`];
//! - `events/` finds what happened at some time: a file for each kind;
//! - `rules/` finds what took the clients' time: a file for each rule, and a row in [`rules::RULES`]. A rule that has no
//!   figure says nothing;
//! - [`chains`] joins findings that name a part of the clients' time ([`parts`]) to those that explain it ([`explanations`]).

mod account;
mod blockers;
mod blocks;
mod chains;
mod events;
mod explained;
mod explanations;
mod facts;
#[cfg(test)]
mod fixture;
mod horizon;
mod hot_rows;
mod parts;
mod rules;
mod scans;
mod sessions;
mod statements;
mod streams;
mod tables;
mod waits;

use pgdyno_results::{EventRecord, FindingRecord, RunRecord, Samples, TimePartRecord, Timeline, Warning};

use facts::Facts;

/// The diagnosis of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diagnosis {
    /// Events, ordered by their begin.
    pub events: Vec<EventRecord>,
    /// Findings: the ranked ones, the weightiest first, then those that are also seen.
    pub findings: Vec<FindingRecord>,
    /// The parts of the clients' time, the largest first.
    pub clients_time: Vec<TimePartRecord>,
    /// Warnings for the reader of the figures.
    pub warnings: Vec<Warning>,
}

/// Looks at a run that has ended. Where nothing was measured or nothing was sampled, there is little or nothing to report.
#[must_use]
pub fn diagnose(record: &RunRecord, timeline: &Timeline, samples: &Samples) -> Diagnosis {
    let Some(facts) = Facts::of(record, timeline, samples) else { return Diagnosis::default() };
    let events = events::all(&facts);
    let warnings = events::warnings(&facts, &events);
    Diagnosis { findings: chains::ranked(&facts), clients_time: facts.time_parts(), events, warnings }
}
