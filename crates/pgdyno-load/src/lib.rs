//! The life of a workload's data: find, load, stamp, check, drop.
//!
//! This crate prints nothing, and decides nothing for the user: it removes what is in the way of a load only if
//! [`LoadOptions`] allow it.
//!
//! - [`state`] returns what is there: nothing, the data of a workload, other data, half a load, or data of another
//!   program;
//! - [`admit`] refuses a load that the role may not do, before anything is created;
//! - [`load`] creates the tables, copies the rows over several connections, and stamps the data at the end; an
//!   interrupted large load is resumed;
//! - [`check`] checks the data after the load, before a run and after it;
//! - [`play`] runs concurrent transactions of the workload in a given order, and returns the result;
//! - [`commit_until_crash`] notes the commits that are acknowledged until the server crashes, [`lost`] returns those that are
//!   missing;
//! - [`steps`] says which steps are required, and what is left out without the others;
//! - [`drop_data`] removes what was loaded, and nothing else;
//! - [`Fresh`] is a copy of a whole database for one run.
//!
//! Rows come from the workload's sources, or SQL makes them. What SQL made is found by comparing the catalog before
//! and after, in a transaction that does not see the work of others.
//!
//! Two marks identify the data. Each table and routine has a comment, `loaded by pgdyno: …`, from the transaction
//! that created it: it is dropped with the table, and survives `pg_dump`. The [`Stamp`], a row of the table
//! `pgdyno_stamp`, describes the data; it is complete only after everything else. Everything is in the schema that
//! `current_schema()` names, unless SQL made it elsewhere. PostgreSQL 12 and later.

mod admit;
mod check;
mod drop;
mod error;
mod fresh;
mod load;
mod lock_key;
mod session;
mod state;
pub mod steps;

pub use admit::admit;
pub use check::durability::{Acknowledged, commit_until_crash, lost};
pub use check::question::{CheckError, CheckProgress};
pub use check::scenario::{ScenarioError, ScenarioOptions, ScenarioResult, default_level, play};
pub use check::{
    Baseline, COUNTED_ROWS_MAX, CheckReport, CheckResult, Moment, NOT_CHECKABLE, SCHEMA, SCHEMA_CONDITION, check,
};
pub use drop::{Dropped, drop_data};
pub use error::LoadError;
pub use fresh::{CopyMethod, Fresh, FreshError, TemplateDatabase, is_copy_name};
pub use load::apart::place_routines;
pub use load::cost::ServerSettings;
pub use load::loading::{LoadOptions, RESUMABLE_BYTES};
pub use load::progress::{LoadPhase, LoadProgress};
pub use load::queue::help;
pub use load::report::{LoadReport, PhaseReport, TableReport};
pub use load::routines::refresh_routines;
pub use load::{Shared, load, way};
pub use state::changes::{interrupted_change, repair};
pub use state::driven_by::driven_by;
pub use state::fate::{Fate, Remains};
pub use state::layout::differences;
pub use state::logbook::ResumableLoad;
pub use state::maker::shortcomings;
pub use state::owner::Owner;
pub use state::relations::table_sizes;
pub use state::schema::{Schema, SchemaDifference, SchemaPart};
pub use state::stamp::{STAMP_TABLE, Stamp, identity};
pub use state::stored::{StoredRelation, stored};
pub use state::taken::Taken;
pub use state::{DataState, complete_stamp, foreign_objects, state};
