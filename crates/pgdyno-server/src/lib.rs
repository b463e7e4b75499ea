//! The server under test: a private PostgreSQL that pgdyno starts, or the facts of any other.
//!
//! It measures nothing and prints nothing.
//!
//! - [`search`] finds the PostgreSQLs of this machine, [`portable`] downloads one if there is none;
//! - [`Embedded`] is the private server of one run, [`kept`] the one that stays between runs. Both have a supervisor,
//!   a process of this same program: its `main` calls [`supervise_main`] if its first argument is [`SUPERVISE`];
//! - [`sizing`] fits it to the [`MachineFacts`]; [`caches`] drops the operating system's file cache;
//! - [`capabilities`] and [`facts()`] query any server for its facts and nodes; a [`Sample`] has its counters,
//!   [`DiskReads`] the bytes that its processes read from disks. [`stat`] samples it continuously, and [`os`] the
//!   machines;
//! - [`PatroniMember`] is a member of a cluster on this machine, for a fault that kills it.

pub mod caches;
mod facts;
mod frame;
pub mod os;
mod patroni;
mod private;
mod process;
pub mod stat;

pub use facts::cluster::unused_cluster;
pub use facts::identity::{IDENTITY, ServerIdentity, connect_to};
pub use facts::machine::MachineFacts;
pub use facts::pooler::pooling;
pub use facts::probe::{
    Build, DATABASE_BYTES, EffectiveSetting, ServerFacts, Tls, capabilities, capabilities_through, facts, is_standby,
};
pub use facts::reads::DiskReads;
pub use facts::room::{ConnectionLimit, room};
pub use facts::sample::{Counters, Sample, ServerWork};
pub use frame::Frame;
pub use patroni::{PatroniMember, patroni_missing};
pub use private::account::{Account, AccountError};
pub use private::cache::{Cache, Keeping, KeptData, WantedData};
pub use private::error::EmbeddedError;
pub use private::held::HeldServer;
pub use private::instance::socket_tempdir;
pub use private::pipe::SUPERVISE;
pub use private::places::{NoPlace, Places};
pub use private::power_loss::power_loss_missing;
pub use private::prepare::{PrivateServerOptions, PrivateServerWarning};
pub use private::programs::build::{InstallationError, in_directory};
pub use private::programs::find::{InstallationSearch, OLDEST_MAJOR, search};
pub use private::programs::installation::{Installation, InstallationOrigin};
pub use private::programs::portable;
pub use private::programs::version::PgVersion;
pub use private::programs::want::Want;
pub use private::progress::StartStep;
pub use private::server::{PasswordError, PrivateServer, SUPERUSER};
pub use private::sizing::{Purpose, Setting};
pub use private::space::free_bytes;
pub use private::supervise::supervise_main;
pub use private::{kept, sizing};
