//! The load engine: every client a state machine, one event loop per thread.
//!
//! - [`Client`](client::Client) is one client: a state machine with pgbench's states. Bytes come in, bytes go out,
//!   time is an argument. It holds no socket and reads no clock.
//! - [`Fleet`](fleet::Fleet) holds the clients of one thread by group, their timers and recorders. It is sans-IO,
//!   too.
//! - `worker` is the only place with a poller, sockets and the clock: read → `Fleet::receive` → write →
//!   sleep to the nearest deadline.
//! - [`run`] runs stages one after the other: deals the clients of each over threads, merges what the workers report
//!   once a second, and ends the stage.
//! - [`sim`] drives a fleet against a scripted server in virtual time, for tests.
//!
//! docs/measurement.md says what is measured, and how.

mod backlog;
pub mod client;
mod clock;
mod connect;
mod errands;
mod errors;
pub mod fleet;
mod groups;
mod limits;
mod lines;
mod observer;
pub mod pacer;
mod pin;
mod routes;
mod rules;
mod run;
mod scripts;
mod share;
pub mod sim;
mod stage;
mod stopwatch;
mod tick;
mod usage;
mod worker;

pub use clock::Clock;
pub use connect::ConnectFailed;
pub use errors::ErrorSample;
pub use limits::{FileLimit, max_open_files, raise_file_limit};
pub use observer::{CommitClass, Observer, TxEnd, TxOutcome};
pub use pgdyno_net::Stop;
pub use pgdyno_workload::{Arrivals, Rate, RateSteps};
pub use pin::allowed_cpus;
pub use routes::EndpointWork;
pub use rules::{ClientRules, RunSpec};
pub use run::{Audience, Backend, EngineEvent, GroupOutcome, RunEnd, RunError, RunOutcome, StageOutcome, run};
pub use scripts::GroupNumbers;
pub use share::RunShare;
pub use tick::Tick;
pub use usage::{ProcessUsage, process_usage};
