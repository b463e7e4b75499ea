//! What carries a lab out, and for whom.

use pgdyno_life::events::EventSink;
use pgdyno_life::interrupt::Interrupt;

use crate::engine::Engine;
use crate::lab::Lab;

/// What carries a lab out, and for whom.
pub struct LabOrder<'a> {
    /// The lab, whose lock this process has.
    pub lab: &'a Lab,
    /// The engine.
    pub engine: &'a Engine,
    /// The password of the database; none where the module needs none.
    pub password: Option<&'a str>,
    /// How the user stops it.
    pub interrupt: &'a Interrupt,
    /// Where it reports.
    pub events: &'a (dyn EventSink + 'a),
}
