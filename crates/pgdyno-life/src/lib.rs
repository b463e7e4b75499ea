//! The life cycle of a run as a library: plan, prepare, load, check, drive, check, record.
//!
//! [`run()`] executes an [`Order`] and returns the record. It needs neither a command line nor a terminal, and sends
//! events to an [`EventSink`]. [`run::run_request`] does the same for a [`RunRequest`]: an order that has been read, or
//! the plan of a record ([`RunRequest::of_plan`]). A program that uses private servers calls [`supervise`] first.
//!
//! - [`plan`]: makes a [`Plan`](pgdyno_plan::Plan), which never changes, from an order and the facts of its target;
//! - [`target`]: finds or starts the server; knows what it can do and who else uses it;
//! - [`run`](mod@run): a run as rooms, from the server that is prepared to the record that is judged;
//! - [`prepare`]: the steps that prepare a server and restore it; [`data`]: the data is loaded, found or copied, and checked; `drive`:
//!   the clients drive the server, which is watched meanwhile;
//! - [`check`](mod@check): checks of loaded data;
//! - [`record`]: the record while the run goes on, its status, and its page;
//! - [`agents`]: several machines as one driver;
//! - [`pgbench`]: the drop-in, which has its own life cycle and shares the record;
//! - [`events`], [`failure`], [`exit_code`] and [`interrupt`]: how a run reports and how it ends.

pub mod agents;
pub mod check;
pub mod data;
mod drive;
mod environment;
pub mod events;
pub mod exit_code;
pub mod failure;
pub mod interrupt;
mod kept_session;
pub mod ledger;
mod network_drop;
pub mod pgbench;
pub mod plan;
pub mod prepare;
pub mod record;
pub mod run;
pub mod target;

use std::process::ExitCode;

pub use events::{EventSink, RunEvent, Silent};
pub use interrupt::Interrupt;
pub use pgdyno_plan::Order;
pub use plan::resolve::RunRequest;
pub use run::{FinishedRun, run};

/// Supervises a private server until it ends, if this process was started for that; otherwise returns `None`. A program
/// that uses private servers calls this before anything else: the supervisor is the same program, so that nothing else
/// needs to be installed.
#[must_use]
pub fn supervise() -> Option<ExitCode> {
    environment::is_first_argument(pgdyno_server::SUPERVISE).then(pgdyno_server::supervise_main)
}
