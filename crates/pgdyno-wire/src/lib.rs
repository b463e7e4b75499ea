//! PostgreSQL's frontend/backend protocol, version 3, sans-IO: bytes in, events out.
//!
//! This crate holds no socket, no clock and no thread. It does not know what a workload is.
//!
//! - [`frontend`] appends messages of the client to a buffer;
//! - [`backend`] finds messages of the server in one, and reads their fields;
//! - [`auth`] answers the server's authentication requests (password, MD5, SCRAM-SHA-256);
//! - [`libpq`] formats the server's errors and notices as libpq does;
//! - [`Statement`] is one SQL statement with typed parameters, ready to be sent in every query mode;
//! - [`Session`] is one connection after its start: it sends statements and turns the server's bytes
//!   into [`Event`]s.
//!
//! ```
//! use pgdyno_wire::{Capture, ParamType, QueryMode, Session, Statement, StmtId, ParamValue};
//!
//! let statements = [Statement::new("SELECT abalance FROM pgbench_accounts WHERE aid = $1", &[ParamType::Int4])];
//! let mut session = Session::new(QueryMode::Prepared, statements.len());
//! let mut out = Vec::new();
//! session.execute(StmtId(0), &statements[0], &[ParamValue::Int4(7)], Capture::Nothing, &mut out);
//! session.sync(&mut out);
//! assert_eq!(out[0], b'P'); // Parse, once; then Bind, Execute, Sync
//! ```

pub mod auth;
pub mod backend;
mod fifo;
pub mod frontend;
pub mod libpq;
mod prepared;
mod session;
mod sqlstate;
mod statement;
mod template;
mod value;
mod wire;

pub use session::{Capture, Event, ProtocolError, Received, Session, TextParams, TxStatus};
pub use sqlstate::{ErrorClass, SqlState};
pub use statement::{QueryMode, Statement, StmtId};
pub use value::{ParamType, ParamValue, push_int};
pub use wire::Wire;
