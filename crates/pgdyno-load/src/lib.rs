//! The life of the data: found, loaded, stamped, checked, dropped.
//!
//! It prints nothing and decides nothing for the user: what is in the way of a load stays, unless
//! [`LoadOptions`] say that it may go.
//!
//! - [`state`] says what is there: nothing, the data of a workload, other data, half a load, somebody else's;
//! - [`load`] creates the tables, copies the rows over several connections, and stamps the data at last; a large load
//!   that was interrupted goes on where it was;
//! - [`check`] asks whether the data is right, after the load, before a run and after it;
//! - [`play`] lets transactions of the workload meet, and tells what came of it;
//! - [`witness`] hears what clients are told until the server crashes, [`lost`] asks for what is gone of it;
//! - [`drop_data`] removes what was loaded, and nothing else;
//! - [`Fresh`] is a copy of a whole database for one run.
//!
//! Rows come from the workload's sources, or SQL makes them: then what that made is found by comparing the catalog before
//! and after, in a transaction that sees nobody else's work.
//!
//! Two marks make the data known. Each table and routine carries a comment, `loaded by pgdyno: …`, from the
//! transaction on that created it: it goes away with the table, and survives `pg_dump`. The [`Stamp`], a row of
//! the table `pgdyno_stamp`, says what the data is; it is complete only once all else is done. Everything
//! is in the schema that `current_schema()` names, unless SQL made it elsewhere. PostgreSQL 12 and later.

mod check;
mod drop;
mod error;
mod fill;
mod fresh;
mod session;
mod state;

pub use check::durability::{Witness, lost, witness};
pub use check::question::{CheckError, CheckProgress};
pub use check::scenario::{Rules, ScenarioError, ScenarioResult, default_level, play};
pub use check::{Baseline, COUNTED_ROWS_MAX, CheckReport, CheckResult, Moment, SCHEMA, SCHEMA_CONDITION, check};
pub use drop::{Dropped, drop_data};
pub use error::LoadError;
pub use fill::apart::place_routines;
pub use fill::load::{LoadOptions, load};
pub use fill::prepare::RESUMABLE_BYTES;
pub use fill::progress::{Phase, Progress};
pub use fill::report::{LoadReport, PhaseReport, TableReport};
pub use fill::routines::refresh_routines;
pub use fresh::{Fresh, FreshError, Template};
pub use state::layout::differences;
pub use state::ledger::Kept;
pub use state::maker::{driven_by, shortcomings};
pub use state::relations::table_sizes;
pub use state::schema::{Difference, Part, Schema};
pub use state::stamp::{Stamp, identity};
pub use state::stored::{Stored, stored};
pub use state::{DataState, foreign_objects, loaded_by, state};
