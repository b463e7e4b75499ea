//! An agent: joins a meeting, and serves one run after another.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use pgdyno_engine::Stop;
use pgdyno_meet::Action;
use pgdyno_meet::postgres::{AgentNotice, MeetError, Seat};
use pgdyno_untrusted::TerminalText;

use super::allowed::Allowed;
use super::perform::{Done, TaskMessage, drive, load, look};
use super::task::{self, Drove, Task};
use super::{AgentOrder, ENDED_BY_USER, meeting, program, refused};
use crate::drive::cpus::cpus;
use crate::events::EventSink;
use crate::exit_code::Code;
use crate::failure::Result;
use crate::interrupt::Interrupt;

/// Longest time between two looks at what the user and the task want.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// How long an agent that its user has ended waits for the coordinator to notice.
const LEAVING: Duration = Duration::from_secs(5);

/// A task in progress.
struct Job {
    nth: u32,
    stop: Arc<Stop>,
    /// Gives the moment of the common start; dropping it calls the run off.
    begin: Option<Sender<Instant>>,
    messages: Receiver<TaskMessage>,
    thread: JoinHandle<()>,
}

/// Joins the meeting, and serves runs until the user ends it, or after the first one with `once`.
///
/// # Errors
/// When there is no meeting.
pub fn serve(order: &AgentOrder, interrupt: &Interrupt, events: &dyn EventSink) -> Result<Code> {
    let allowed = Arc::new(Allowed::of(order)?);
    let options = meeting(&order.meet)?;
    let program = program(order.reserved.as_deref());
    let seat = Seat::join(&options, &program, cpus()).map_err(|error| refused(error, &options))?;
    events.note(&format!("agent {} waits for runs at {options}; it may drive {}", seat.id(), allowed.describe()));
    let mut agent =
        Agent { seat, allowed, once: order.once, interrupt, events, job: None, code: Code::Success, ending: None };
    while !agent.step().map_err(|error| refused(error, &options))? {}
    agent.seat.leave();
    Ok(agent.code)
}

/// An agent at its meeting.
struct Agent<'a> {
    seat: Seat,
    allowed: Arc<Allowed>,
    /// Whether it leaves after the first run.
    once: bool,
    interrupt: &'a Interrupt,
    events: &'a dyn EventSink,
    /// The task in progress.
    job: Option<Job>,
    code: Code,
    /// When its user has ended it.
    ending: Option<Instant>,
}

impl Agent<'_> {
    /// Does what is due. Returns true at the end.
    fn step(&mut self) -> std::result::Result<bool, MeetError> {
        self.heed_user();
        if self.pass_on() {
            return Ok(false);
        }
        // The coordinator is to read how the task ended before the agent is gone.
        let is_left = |since: Instant| self.seat.run().is_none() || since.elapsed() > LEAVING;
        if self.job.is_none() && self.ending.is_some_and(is_left) {
            return Ok(true);
        }
        let action = self.seat.step(POLL_INTERVAL);
        while let Some(notice) = self.seat.notice() {
            report(&notice, self.events);
        }
        match action {
            Ok(Some(action)) => Ok(self.act(action)),
            Ok(None) => Ok(false),
            Err(error) => {
                if let Some(mut job) = self.job.take() {
                    job.stop(true);
                    let _ = job.thread.join();
                }
                Err(error)
            }
        }
    }

    /// Ends the task if the user wants to end.
    fn heed_user(&mut self) {
        let stop = &self.interrupt.stop;
        if stop.is_requested() && self.ending.is_none() {
            self.ending = Some(Instant::now());
            if let Some(job) = &mut self.job {
                self.code = Code::Interrupted;
                job.stop(false);
            }
        }
        if stop.is_at_once()
            && let Some(job) = &mut self.job
        {
            job.stop(true);
        }
    }

    /// Passes on a message of the task's thread. Returns true if there was one.
    fn pass_on(&mut self) -> bool {
        let Some(running) = &self.job else { return false };
        let message = match running.messages.try_recv() {
            Ok(message) => message,
            Err(TryRecvError::Empty) => return false,
            Err(TryRecvError::Disconnected) => TaskMessage::Did(Err("the task panicked".to_owned())),
        };
        if pass_on(&mut self.seat, running.nth, message, self.ending.is_some(), self.events)
            && let Some(job) = self.job.take()
        {
            // That was its last message. A panic was reported when it happened.
            let _ = job.thread.join();
        }
        true
    }

    /// Does what the coordinator asks for. Returns true at the end.
    fn act(&mut self, action: Action) -> bool {
        match action {
            Action::Do { nth, .. } if self.ending.is_some() => self.seat.did(nth, Err(ENDED_BY_USER.to_owned())),
            Action::Do { nth, task } => {
                let run = self.seat.run().map(|run| run.0).unwrap_or_default();
                self.job = Job::begin(nth, run, &task, &self.allowed, self.events);
                if self.job.is_none() {
                    self.seat.did(nth, Err("the system gave no thread".to_owned()));
                }
            }
            Action::Begin { nth, at } => {
                let at = self.seat.instant(at);
                if let Some(begin) = self.job.as_ref().filter(|job| job.nth == nth).and_then(|job| job.begin.as_ref()) {
                    // The thread waits for it; if it has ended, its last message says why.
                    let _ = begin.send(at);
                }
            }
            Action::Stop { nth, at_once } => {
                if let Some(job) = self.job.as_mut().filter(|job| job.nth == nth) {
                    job.stop(at_once);
                }
            }
            Action::Released => {
                self.events.note("released; waits for runs");
                return self.once;
            }
        }
        false
    }
}

/// Reports what happens at the meeting.
fn report(notice: &AgentNotice, events: &dyn EventSink) {
    match notice {
        AgentNotice::Unreachable(why) => events
            .warn(&format!("the meeting server cannot be reached, and is tried every second: {}", TerminalText(why))),
        AgentNotice::Reached => events.note("the meeting server is reached again"),
        AgentNotice::JoinedAgain(agent) => {
            events.note(&format!("its row was deleted from the meeting: it has joined again, as agent {agent}"))
        }
    }
}

/// Passes on a message of a task's thread. Returns true if it was the last one.
fn pass_on(seat: &mut Seat, nth: u32, message: TaskMessage, is_ending: bool, events: &dyn EventSink) -> bool {
    match message {
        TaskMessage::Ready => {
            events.note("connected; waits for the common start");
            seat.ready(nth);
            false
        }
        TaskMessage::Batch(batch) => {
            seat.batch(nth, batch);
            false
        }
        TaskMessage::Did(did) => {
            let did = did.map_err(|why| if is_ending { ENDED_BY_USER.to_owned() } else { why });
            let did = did.and_then(|done| match done {
                Done::Drove(..) if is_ending => Err(ENDED_BY_USER.to_owned()),
                Done::Drove(drove, began) => {
                    let began_ns = began.and_then(|at| seat.server_ns(at));
                    task::encode(&Drove { began_ns, clock_error_ns: seat.clock_error_ns(), ..*drove })
                }
                Done::Looked(looked) => task::encode(&looked),
                Done::Loaded(rows) => task::encode(&rows),
            });
            if let Err(why) = &did {
                events.warn(why);
            }
            seat.did(nth, did);
            true
        }
    }
}

impl Job {
    fn begin(nth: u32, run: u64, task: &[u8], allowed: &Arc<Allowed>, events: &dyn EventSink) -> Option<Self> {
        let stop = Arc::new(Stop::new());
        let (begin, moment) = mpsc::channel();
        let (sender, messages) = mpsc::channel();
        let task = task::decode::<Task>(task);
        match &task {
            Ok(Task::Drive(task)) => {
                let stage = match task.stage {
                    0 => String::new(),
                    nth => format!(", stage {}", nth.saturating_add(1)),
                };
                let workload = TerminalText(&task.plan.workload);
                let what = format!("{workload}, place {} of {}", task.driver.saturating_add(1), task.drivers);
                events.note(&format!("serves run {run}: {what}{stage}"));
            }
            Ok(Task::Load(task)) => {
                events.note(&format!("serves run {run}: helps to load {}", TerminalText(task.workload.id())))
            }
            _ => {}
        }
        let (inner, allowed) = (Arc::clone(&stop), Arc::clone(allowed));
        let work = move || {
            let done = task.and_then(|task| match task {
                Task::Look(task) => look(&task, &allowed).map(Done::Looked),
                Task::Load(task) => load(&task, &allowed, &inner).map(Done::Loaded),
                Task::Drive(task) => drive(&task, &allowed, &inner, &moment, &sender),
            });
            // The agent listens until it has received this.
            let _ = sender.send(TaskMessage::Did(done));
        };
        let thread = std::thread::Builder::new().name("pgdyno-task".to_owned()).spawn(work).ok()?;
        Some(Self { nth, stop, begin: Some(begin), messages, thread })
    }

    fn stop(&mut self, at_once: bool) {
        self.begin = None;
        if at_once { self.stop.at_once() } else { self.stop.cleanly() }
    }
}
