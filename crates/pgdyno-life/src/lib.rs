//! The life cycle of a run as a library: plan, prepare, load, check, drive, check, record.
//!
//! [`run()`] carries out an [`Order`] and returns the record; it knows neither a command line nor a terminal, and tells
//! what happens to an [`EventSink`]. [`supervise`] comes first in a program that uses private servers.
//!
//! [`workload_source`] finds what an order names, [`resolve`] makes a [`Plan`](pgdyno_plan::Plan) of it, [`target`] finds the
//! server or starts it, [`run`](mod@run) brings it into the state that the run wants and back ([`cycle`], `settings`, [`hooks`]),
//! and [`stage`] carries it out: [`data`] sees to the data, `drive` drives, `watch` looks at the server meanwhile,
//! `cluster` knows what is different where tables are spread over nodes, [`record`] writes down what happened, as it
//! happens, and `verdict` says what it is worth. [`durability`] crashes a server to see what is left of it.
//! [`page`] makes a picture of all of it. [`pgbench`] does that for the drop-in, which has a life of its own; `figures` is
//! what both records have in common. [`failure`], [`exit_code`] and [`interrupt`] are how it ends.

mod cluster;
mod copies;
mod cpus;
pub mod cycle;
pub mod data;
mod diagnosis;
mod drive;
pub mod durability;
pub mod events;
pub mod exit_code;
pub mod failure;
mod figures;
mod foreign;
pub mod hooks;
pub mod interrupt;
mod journal;
pub mod loaded;
pub mod loading;
pub mod lock;
mod notices;
pub mod page;
pub mod pgbench;
mod pinning;
pub mod reach;
pub mod recipe_order;
pub mod record;
pub mod resolve;
pub mod run;
mod run_files;
mod settings;
pub mod stage;
pub mod target;
mod verdict;
mod warnings;
mod watch;
pub mod workload_source;

use std::process::ExitCode;

pub use events::{Event, EventSink, Silent};
pub use interrupt::Interrupt;
pub use pgdyno_plan::Order;
pub use run::{Ran, run};

/// Supervises a private server to its end, where this process was started for that; `None` otherwise. A program that uses
/// private servers asks this before anything else: the supervisor is the same program, so that nothing else needs to be
/// installed.
#[must_use]
pub fn supervise() -> Option<ExitCode> {
    let asked = std::env::args_os().nth(1).is_some_and(|arg| arg == pgdyno_server::SUPERVISE);
    asked.then(pgdyno_server::supervise_main)
}
