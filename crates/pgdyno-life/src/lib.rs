//! The life cycle of a run as a library: plan, prepare, load, check, drive, check, record.
//!
//! [`run()`] carries out an [`Order`] and returns the record; it knows neither a command line nor a terminal, and tells
//! what happens to an [`EventSink`]. [`run::carry_out`] does the same for a [`Request`]: an order that has been read, or the
//! plan of a record ([`Request::of_plan`]). [`supervise`] comes first in a program that uses private servers.
//!
//! - [`plan`]: from an order and the facts of its target to a [`Plan`](pgdyno_plan::Plan), which is never changed;
//! - [`target`]: finds the server or starts it, and knows what it can do and who else uses it;
//! - [`run`](mod@run): a run from its target to its end; [`prepare`]: the state that the server is brought into, and back;
//! - [`stage`]: a run on a server that is ready: [`data`] is loaded, found or copied, and checked; `drive` drives, and looks at
//!   the server meanwhile;
//! - [`record`]: what happened, as it happens, what it is worth, and a page of it;
//! - [`pgbench`]: the drop-in, which has a life of its own and shares the record;
//! - [`events`], [`failure`], [`exit_code`] and [`interrupt`]: how a run tells of itself, and how it ends.

pub mod data;
mod drive;
pub mod events;
pub mod exit_code;
pub mod failure;
pub mod interrupt;
pub mod pgbench;
pub mod plan;
pub mod prepare;
pub mod record;
pub mod run;
pub mod stage;
pub mod target;

use std::process::ExitCode;

pub use events::{Event, EventSink, Silent};
pub use interrupt::Interrupt;
pub use pgdyno_plan::Order;
pub use plan::resolve::Request;
pub use run::{Ran, run};

/// Supervises a private server to its end, where this process was started for that; `None` otherwise. A program that uses
/// private servers asks this before anything else: the supervisor is the same program, so that nothing else needs to be
/// installed.
#[must_use]
pub fn supervise() -> Option<ExitCode> {
    let asked = std::env::args_os().nth(1).is_some_and(|arg| arg == pgdyno_server::SUPERVISE);
    asked.then(pgdyno_server::supervise_main)
}
