//! Several driver machines as one run.
//!
//! A [`Coordinator`] and its [`Agent`]s are state machines without IO: time is an argument, and what they say to each
//! other is plain data. Both say their whole state again and again, as [`Instruction`]s and [`Report`]s with rising numbers,
//! so that a message that is lost, repeated or late does no harm. [`ClockOffset`] compares the local clock with that of the
//! meeting server by round trips. `tests/simulated.rs` drives them in virtual time through everything that may fail.
//!
//! One run is: claim agents, [`AgentStep::Do`] a task or several with them, and release them. A task that has a common
//! start reports [`AgentState::Ready`] and begins at the moment of [`AgentStep::Go`]. While agents work they send numbered
//! *batches*, which are kept until they are acknowledged.
//!
//! [`postgres`] is the place where they meet, and the only part with sockets and clocks.

mod agent;
mod clock;
mod coordinator;
mod message;
pub mod postgres;

pub use agent::{Action, Agent};
pub use clock::ClockOffset;
pub use coordinator::{Coordinator, Gathering, JobEnd, MeetingEvent, MemberEnd};
pub use message::{AgentId, AgentState, AgentStep, Instruction, LocalTime, Report, RunId};

/// Orders and reports are said again after this time, also if nothing has changed.
pub const BEAT_NS: u64 = 1_000_000_000;
/// Who is silent for longer is lost.
pub const LEASE_NS: u64 = 20_000_000_000;
/// Who cannot reach the meeting server for longer gives up.
pub const OUTAGE_NS: u64 = 60_000_000_000;
/// An agent that is asked to stop and is not done after this time is lost.
pub const STOPPING_NS: u64 = 120_000_000_000;
/// The largest task, in bytes. Larger ones are not read.
pub const TASK_BYTES_MAX: usize = 64 << 20;
/// The largest batch or result of a task, in bytes. Larger ones are not read.
pub const BATCH_BYTES_MAX: usize = 16 << 20;
/// A start further away than this is no start: the meeting server's clock was set.
pub const START_NS_MAX: u64 = 60_000_000_000;
