//! The central store: runs of many machines in one PostgreSQL database.
//!
//! - [`Store`] is the database: it creates the schema, takes runs, lists them, and forgets old ones;
//! - [`Mirror`] is a local directory with runs of a store, in which everything that reads a results directory can read;
//! - [`RunFiles`] are the files of a run that are stored, and their digest;
//! - [`StudyFile`] is the record of an experiment, a search or a frontier.
//!
//! A run's files are stored as they are, byte for byte: they are the truth, and tables and views that people query are
//! made of them within the database. So a run that is pulled is the run that was pushed. docs/store.md has the tables.

mod alarm;
mod copies;
mod error;
#[doc(hidden)]
pub mod fuzzing;
mod local;
mod mirror;
mod names;
mod rows;
mod run_files;
mod schema;
mod store;
mod studies;

pub use copies::{Reporter, UpdateEvent};
pub use error::CentralError;
pub use local::{Local, Sent};
pub use mirror::Mirror;
pub use names::RunName;
pub use run_files::{RunFiles, SkippedFile};
pub use store::{Pushed, Store, StoredItem, StoredKind};
pub use studies::StudyFile;

/// Version of the tables. Another one is refused.
pub const VERSION: u32 = 1;
