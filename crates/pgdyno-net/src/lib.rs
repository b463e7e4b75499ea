//! Connections: libpq's connection strings, transports, TLS, and a small blocking client.
//!
//! This crate does not know what a workload is, and it does not poll: the load engine takes the
//! [`Transport`] of an open [`Connection`] and drives it itself.
//!
//! - [`ConnectOptions`] merges a connection string, the environment, the service file and the password file;
//! - [`Connection`] is opened from it: transport, TLS, authentication, choice of the host;
//! - [`CancelHandle`] cancels a connection's statement, from any thread;
//! - [`Interrupter`] ends all waits for a server, from any thread;
//! - [`Deadline`] bounds the waits of a step in total;
//! - [`Lookout`] reports what a long statement waits for;
//! - [`Halt`] watches connections, cancels their statements, and closes those that do not obey;
//! - [`Admin`] runs SQL and COPY over a connection, for everything that is not measured.
//!
//! ```no_run
//! use pgdyno_net::{Admin, ConnectOptions, Env};
//!
//! let options = ConnectOptions::resolve("host=db1 dbname=bench", &Env::from_process())?;
//! let mut admin = Admin::connect(&options)?;
//! let rows = admin.query("SELECT version()")?;
//! println!("{:?}", rows.rows[0][0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod address;
mod admin;
mod admin_error;
mod attempt;
mod cancel;
mod channel;
mod connection;
mod conninfo;
mod copy;
mod deadline;
mod encrypt;
mod error;
#[doc(hidden)]
pub mod fuzzing;
mod halt;
mod host;
mod interrupt;
mod keepalive;
mod limits;
mod look_in;
mod lookout;
mod options;
mod peer;
mod prepared;
pub mod quote;
mod remedy;
mod search_path;
mod secret;
mod session_attrs;
mod startup;
mod statement;
mod stop;
mod target_address;
mod tls;
mod transport;
mod vigil;
mod waiting;

pub use admin::{Admin, TextRows};
pub use admin_error::AdminError;
pub use attempt::AttemptClass;
pub use cancel::{CancelHandle, cancel_all};
pub use connection::{Connection, ConnectionParts, Parameters, TlsInfo};
pub use conninfo::{ConninfoError, Env, pair, without_secrets};
pub use copy::CopyWriter;
pub use deadline::Deadline;
pub use error::ConnectError;
pub use halt::Halt;
pub use interrupt::Interrupter;
pub use look_in::{LOOK_IN, looking_in};
pub use lookout::Lookout;
pub use options::ConnectOptions;
pub use peer::Peer;
pub use pgdyno_wire::auth::scram_verifier;
pub use remedy::remedy;
pub use secret::Secret;
pub use session_attrs::TargetSessionAttrs;
pub use stop::{Stop, StopLevel};
pub use target_address::TargetAddress;
pub use tls::TlsStream;
pub use transport::{Socket, Transport};
