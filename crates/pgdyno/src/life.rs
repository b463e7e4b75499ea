//! The life cycle of a run: plan, prepare, load, check, drive, check, report.
//!
//! [`choice`] finds what the arguments name, [`choose`] makes a [`Plan`](pgdyno_plan::Plan) of them, [`data`] sees to the data,
//! [`drive`] drives, and [`record`] writes down what happened, as it happens.
//! [`pgbench`] does that for the drop-in, which has a life of its own; [`figures`] is what both records have in common.

pub(crate) mod choice;
pub(crate) mod choose;
pub(crate) mod copies;
pub(crate) mod data;
pub(crate) mod drive;
pub(crate) mod figures;
pub(crate) mod journal;
pub(crate) mod pgbench;
pub(crate) mod record;
pub(crate) mod warnings;
