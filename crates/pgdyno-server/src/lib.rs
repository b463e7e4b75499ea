//! The server under test: a private PostgreSQL that pgdyno starts by itself, or what is known of any other.
//!
//! It measures nothing and prints nothing.
//!
//! - [`search`] finds the PostgreSQLs of this machine, [`portable`] fetches one where there is none;
//! - [`Embedded`] is the private server of one run, [`kept`] the one that stays between runs. Both have a
//!   supervisor, a process of this same program: its `main` calls [`supervise_main`] when its first argument
//!   is [`SUPERVISE`];
//! - [`sizing`] fits it to the [`Machine`]; [`caches`] has the operating system forget its files;
//! - [`capabilities`] and [`facts`] ask any live server what it is and over which nodes it spreads tables, a [`Sample`]
//!   what it has done, [`DiskReads`] what its processes read from disks; [`stat`] looks at it again and again, and [`os`] at
//!   the machines.

mod account;
mod ask;
mod backend;
pub mod caches;
mod cluster;
mod embedded;
mod error;
mod find;
mod frame;
mod handle;
mod instance;
pub mod kept;
mod machine;
pub mod os;
mod pipe;
mod places;
pub mod portable;
mod postmaster;
mod prepare;
mod private;
mod probe;
mod process;
mod progress;
mod reads;
mod restart;
mod sample;
pub mod sizing;
mod startup;
pub mod stat;
mod supervise;
mod version;
mod wake;

pub use account::{Account, AccountError};
pub use cluster::unused_cluster;
pub use embedded::Embedded;
pub use error::EmbeddedError;
pub use find::{Installation, Origin, Search, Want, WantError, search};
pub use frame::Frame;
pub use machine::Machine;
pub use pipe::SUPERVISE;
pub use places::{NoPlace, Places};
pub use prepare::{EmbeddedOptions, Warning};
pub use private::{PasswordError, PrivateServer, SUPERUSER};
pub use probe::{EffectiveSetting, ServerFacts, Tls, capabilities, facts};
pub use progress::Progress;
pub use reads::DiskReads;
pub use sample::{Counters, Sample, Work};
pub use sizing::Setting;
pub use supervise::supervise_main;
pub use version::PgVersion;
