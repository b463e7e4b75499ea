//! Labs in a cloud: one directory with the configuration, the state and the journal of servers of several sizes, which
//! OpenTofu or Terraform creates, a suite drives, and which are destroyed afterwards.
//!
//! - [`Module`] is what can be created: the files of `clouds/NAME/`, which are part of this program;
//! - [`LabFile`] is what the user has written: module, sizes, what runs, prices, time to live;
//! - [`Lab`] is the directory with its [`Journal`], which is written before each step, so that any process can go on;
//! - [`Engine`] is the user's OpenTofu or Terraform;
//! - [`carry_out`] takes the sizes through their life cycle, from wherever the journal says that they are;
//! - [`sweep`](sweep()) asks the cloud itself what is left. A size is closed when nothing is.

mod bounded;
mod cloud_metrics;
mod cost;
mod cycle;
mod drive;
mod engine;
mod fetch;
mod fresh;
mod fresh_sizes;
mod journal;
mod lab;
mod lab_file;
mod module;
mod order;
mod ssh_key;
mod sweep;

pub use cost::Money;
pub use cycle::{carry_out, down, extend, fetch_now};
pub use drive::draft_targets;
pub use engine::{Engine, INSTALL, PASSWORD};
pub use fresh::{initial_file, is_recipe};
pub use journal::{Journal, JournalEntry, LabStep, SizeStanding};
pub use lab::{Lab, LabSpec, local_root};
pub use lab_file::{LabFile, LabSize, Work, check_ttl};
pub use module::{Module, VerifiedLevels};
pub use order::LabOrder;
pub use sweep::{Leftover, delete, sweep};
