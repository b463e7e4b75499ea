//! The life cycle of a run: plan, prepare, load, check, drive, check, report.
//!
//! [`choose`] turns arguments into a [`Plan`](pgdyno_plan::Plan) and its workload, [`data`] sees to the data,
//! [`drive`] drives, and [`record`] writes down what happened, as it happens.

pub(crate) mod choose;
pub(crate) mod data;
pub(crate) mod drive;
pub(crate) mod record;
pub(crate) mod warnings;
