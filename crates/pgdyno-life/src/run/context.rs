//! What all rooms of a run borrow.

use crate::agents::Team;
use crate::events::{EventSink, RunEvent};
use crate::interrupt::Interrupt;
use crate::plan::resolve::{Resolved, RunRequest};
use crate::record::sink::RecordSink;
use crate::target::Named;

/// The request of a run, and where its events go.
pub(crate) struct RunContext<'a> {
    pub(crate) request: &'a RunRequest,
    /// The plan before anything connects to the server, which says what is done to it.
    pub(crate) draft: &'a Resolved,
    /// The target's entry in `pgdyno.toml`, if it has one.
    pub(crate) named: Option<&'a Named>,
    /// The agents that drive, if this process does not.
    pub(crate) team: Option<&'a Team>,
    pub(crate) interrupt: &'a Interrupt,
    /// The user's view. What goes only there is not in the record.
    pub(crate) view: &'a dyn EventSink,
    pub(crate) record: &'a RecordSink<'a>,
    /// View and record.
    pub(crate) events: &'a dyn EventSink,
}

impl RunContext<'_> {
    /// Returns true if a parent process already did this step.
    pub(crate) fn is_done(&self, step: &str) -> bool {
        self.request.order.cycle.done.iter().any(|(done, _)| done == step)
    }
}

/// Two receivers of the same events, one after the other.
pub(crate) struct BothSinks<'a>(pub(crate) &'a dyn EventSink, pub(crate) &'a dyn EventSink);

impl EventSink for BothSinks<'_> {
    fn event(&self, event: &RunEvent<'_>) {
        self.0.event(event);
        self.1.event(event);
    }
}
