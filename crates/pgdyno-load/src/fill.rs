//! A load: tables, rows, indexes, routines, its progress and its report.

pub(crate) mod apart;
pub(crate) mod copy;
pub(crate) mod cost;
pub(crate) mod distribute;
pub(crate) mod load;
pub(crate) mod loaders;
pub(crate) mod loading;
pub(crate) mod nodes;
pub(crate) mod plan;
pub(crate) mod prepare;
pub(crate) mod progress;
pub(crate) mod queue;
pub(crate) mod report;
pub(crate) mod routines;
pub(crate) mod schedule;
pub(crate) mod sql;
pub(crate) mod ways;
