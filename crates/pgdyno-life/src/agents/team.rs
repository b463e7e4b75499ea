//! The agents of a run, and a thread that keeps in touch with them.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use pgdyno_meet::postgres::{AgentRow, Desk};
use pgdyno_meet::{AgentId, Gathering, JobEnd, MeetingEvent, MemberEnd};
use pgdyno_net::{Admin, ConnectOptions};
use pgdyno_plan::MeetingOrder;
use pgdyno_text::units;
use pgdyno_untrusted::TerminalText;
use pgdyno_workload::Drive;

use super::allowed::allowing;
use super::ssh::{self, Started};
use super::task::{self, LookTask, Looked, Task};
use super::{PROGRAM, meeting, program, refused};
use crate::events::EventSink;
use crate::exit_code::Code;
use crate::failure::{CommandError, OrFail, Result};
use crate::interrupt::Interrupt;
use crate::target::Target;

/// How long agents are waited for, unless the order says so.
const WAIT_S: f64 = 60.0;
/// Longest time between two looks at what the user wants.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// How long released agents may take to notice it.
const RELEASING: Duration = Duration::from_secs(5);

/// A request to the thread.
pub(super) enum Request {
    /// Begin a job. All agents drive from a common start, or help with a load, which goes on if one is lost.
    Begin {
        tasks: Vec<Arc<[u8]>>,
        is_load: bool,
    },
    /// Begin a look at the target.
    Look {
        tasks: Vec<Arc<[u8]>>,
    },
    Go {
        lead: Duration,
    },
    Stop {
        at_once: bool,
    },
}

/// A message of the thread that keeps in touch with the agents.
pub(super) enum TeamMessage {
    News(MeetingEvent),
    /// The common start was ordered: its moment here, and by the meeting server's clock; `None` if that is unknown.
    Go(Option<(Instant, u64)>),
}

/// Agents that serve a run. Dropping it releases them.
pub(crate) struct Team {
    requests: Option<Sender<Request>>,
    messages: Receiver<TeamMessage>,
    thread: Option<JoinHandle<()>>,
    pub(super) members: Vec<AgentRow>,
    options: ConnectOptions,
    /// The agents that were started for this run. They end when they are released.
    started: Option<Started>,
}

impl Team {
    /// Announces a run, and waits for its agents. `what` describes the run in lists. Agents that it starts itself may drive
    /// its target, and run commands if its scripts have some.
    ///
    /// # Errors
    /// When there is no meeting, or too few agents come.
    pub(crate) fn gather(
        order: &MeetingOrder,
        (target, drive): (&Target, &Drive),
        what: &str,
        interrupt: &Interrupt,
        events: &dyn EventSink,
    ) -> Result<Option<Self>> {
        let Some((wanted, meet)) = asked(order)? else { return Ok(None) };
        let options = meeting(meet)?;
        let wait = Duration::from_secs_f64(order.wait.unwrap_or(WAIT_S));
        let word = (!order.ssh.is_empty()).then(ssh::word);
        let program = program(word.as_deref());
        let mut started = match &word {
            Some(word) => {
                // A meeting that cannot be reached fails before anything is started.
                super::list(meet)?;
                Some(Started::start(&order.ssh, &options, word, &allowing(target, drive), events)?)
            }
            None => None,
        };
        let desk = Desk::announce(&options, &program, what, wanted, wait).map_err(|error| refused(error, &options))?;
        let gathering = GatheringAgents { wanted, wait, options: &options, interrupt, events };
        let (desk, members) = gathering.wait(desk, started.as_mut())?;
        let members: Vec<_> = members.iter().filter_map(|member| desk.agent(*member)).cloned().collect();
        let (requests, inbox) = mpsc::channel();
        let (sender, messages) = mpsc::channel();
        let keep = move || keep(desk, &inbox, &sender);
        let thread = std::thread::Builder::new().name("pgdyno-meeting".to_owned()).spawn(keep).or_fail(Code::Start)?;
        Ok(Some(Self { requests: Some(requests), messages, thread: Some(thread), members, options, started }))
    }

    /// Returns the number of agents.
    pub(crate) fn len(&self) -> usize {
        self.members.len()
    }

    /// Returns where requests go.
    pub(super) fn requests(&self) -> Option<Sender<Request>> {
        self.requests.clone()
    }

    /// Returns the CPUs of all agents.
    pub(crate) fn cpus(&self) -> usize {
        self.members.iter().map(|member| member.cpus).sum()
    }

    /// Returns an agent's name in messages.
    pub(crate) fn name(&self, place: usize) -> String {
        let member = self.members.get(place);
        member.map_or_else(String::new, |m| format!("agent {} on {} (process {})", place + 1, m.host, m.pid))
    }

    /// Returns a failure with the agent's machine: the protocol knows places only.
    pub(super) fn named(&self, why: &str) -> String {
        let split = why.strip_prefix("agent ").and_then(|rest| rest.split_once(": "));
        let place = split.and_then(|(place, rest)| Some((place.parse::<usize>().ok()?, rest)));
        place.map_or_else(|| why.to_owned(), |(place, rest)| format!("{}: {rest}", self.name(place - 1)))
    }

    /// Lets all agents look at the target, and refuses agents that cannot reach it or see another server than `ours`.
    /// Returns what a reader of the figures must know.
    pub(crate) fn look(
        &self,
        target: Option<&str>,
        links: u32,
        ours: Option<&mut Admin>,
        interrupt: &Interrupt,
    ) -> Result<Option<String>> {
        let ours = ours.and_then(system_identifier);
        let warning = (ours.is_some() && ours == self.meeting_server()).then(|| {
            "the meeting database is on the measured server (name another one by --meet): what the drivers send each \
             other is part of its work"
                .to_owned()
        });
        let links = links.div_ceil(self.len().max(1) as u32);
        let task = Task::Look(LookTask { target: target.map(Into::into), links });
        let task = task.to_bytes().or_fail(Code::Start)?;
        let end = self.job(vec![task; self.len()], interrupt)?;
        if let Some(why) = end.failure {
            return Err(CommandError::new(Code::Start, self.named(&why)));
        }
        for (place, end) in end.members.iter().enumerate() {
            let looked: Looked = match end {
                MemberEnd::Did(bytes) => task::decode(bytes).or_fail(Code::Start)?,
                // One of them would be the job's failure.
                MemberEnd::Failed(_) | MemberEnd::Lost(_) => continue,
            };
            if looked.system_identifier.is_some() && ours.is_some() && looked.system_identifier != ours {
                let (theirs, ours) = (looked.system_identifier.unwrap_or_default(), ours.unwrap_or_default());
                let theirs = TerminalText(&theirs);
                let error =
                    format!("{} sees another server: system identifier {theirs}, and here {ours}", self.name(place));
                let hint = "name the target by an address that means the same server on all machines, or give that \
                            agent its own --target";
                return Err(CommandError::new(Code::Start, error).hint(hint));
            }
        }
        Ok(warning)
    }

    /// Returns the system identifier of the meeting server, if it says so.
    fn meeting_server(&self) -> Option<String> {
        system_identifier(&mut Admin::connect(&self.options).ok()?)
    }

    /// Runs a job without a common start.
    fn job(&self, tasks: Vec<Arc<[u8]>>, interrupt: &Interrupt) -> Result<JobEnd> {
        self.request(Request::Look { tasks });
        loop {
            if interrupt.stop.is_requested() {
                self.stop(true);
            }
            match self.next_message(POLL_INTERVAL)? {
                Some(TeamMessage::News(MeetingEvent::Ended(_))) if interrupt.stop.is_requested() => {
                    return Err(CommandError::new(
                        Code::Interrupted,
                        "interrupted while the agents looked at the target",
                    ));
                }
                Some(TeamMessage::News(MeetingEvent::Ended(end))) => return Ok(end),
                _ => {}
            }
        }
    }

    /// Begins a job with a common start.
    pub(super) fn begin(&self, tasks: Vec<Arc<[u8]>>) {
        self.request(Request::Begin { tasks, is_load: false });
    }

    /// Orders the common start after this time.
    pub(super) fn go(&self, lead: Duration) {
        self.request(Request::Go { lead });
    }

    /// Ends the job.
    pub(super) fn stop(&self, at_once: bool) {
        self.request(Request::Stop { at_once });
    }

    /// Waits for a message of the thread. Returns `None` if none came in time.
    pub(super) fn next_message(&self, patience: Duration) -> Result<Option<TeamMessage>> {
        match self.messages.recv_timeout(patience) {
            Ok(message) => Ok(Some(message)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => {
                Err(CommandError::new(Code::Run, "the thread that keeps in touch with the agents has ended"))
            }
        }
    }

    fn request(&self, request: Request) {
        // The thread lives as long as the sender.
        let _ = self.requests.as_ref().map(|requests| requests.send(request));
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        drop(self.requests.take());
        // A panic of the thread was reported when it happened.
        let _ = self.thread.take().map(JoinHandle::join);
        // They have been released, and end by themselves.
        drop(self.started.take());
    }
}

/// Returns the number of agents and their meeting, if the order wants agents.
fn asked(order: &MeetingOrder) -> Result<Option<(usize, &String)>> {
    match (order.agents, &order.meet) {
        (None, None) => Ok(None),
        (Some(wanted), Some(meet)) => Ok(Some((wanted as usize, meet))),
        (Some(wanted), None) => {
            let error = format!("--agents {wanted} needs a place where they meet");
            let hint = "give --meet \"host=… dbname=…\", a PostgreSQL database that all machines reach";
            Err(CommandError::new(Code::Start, error).hint(hint))
        }
        (None, Some(_)) => {
            let hint = "give --agents N; `pgdyno agents --meet …` lists who is there";
            Err(CommandError::new(Code::Start, "--meet needs the number of agents").hint(hint))
        }
    }
}

/// The wait for the agents of a run.
struct GatheringAgents<'a> {
    wanted: usize,
    wait: Duration,
    /// The meeting.
    options: &'a ConnectOptions,
    interrupt: &'a Interrupt,
    events: &'a dyn EventSink,
}

impl GatheringAgents<'_> {
    /// Waits until all agents are there, and returns them.
    fn wait(&self, mut desk: Desk, mut started: Option<&mut Started>) -> Result<(Desk, Vec<AgentId>)> {
        let Self { wanted, wait, options, interrupt, events } = *self;
        let (begun, mut is_reported) = (Instant::now(), false);
        loop {
            if interrupt.stop.is_requested() {
                desk.close(RELEASING);
                return Err(CommandError::new(Code::Interrupted, "interrupted while waiting for agents"));
            }
            if let Some(failure) = started.as_mut().and_then(|started| started.failure()) {
                desk.close(RELEASING);
                return Err(failure);
            }
            let news = desk.step(POLL_INTERVAL);
            if let Some(failure) = desk.failure() {
                return Err(refused(failure, options));
            }
            match news {
                Some(MeetingEvent::Gathered(members)) => return Ok((desk, members)),
                Some(MeetingEvent::TooFew(found)) => {
                    let failure = too_few(&desk, found, wanted, wait, options);
                    desk.close(RELEASING);
                    return Err(failure);
                }
                _ => {}
            }
            if !is_reported && begun.elapsed() > Duration::from_secs(1) {
                is_reported = true;
                events.note(&format!("waiting for {} at {options}", agents(wanted)));
            }
        }
    }
}

/// Keeps in touch until nobody asks for anything any more.
fn keep(mut desk: Desk, inbox: &Receiver<Request>, sender: &Sender<TeamMessage>) {
    loop {
        match inbox.try_recv() {
            Ok(Request::Begin { tasks, is_load }) => desk.begin(&tasks, !is_load, is_load),
            Ok(Request::Look { tasks }) => desk.begin(&tasks, false, false),
            Ok(Request::Go { lead }) => {
                let at = desk.go_in(lead).and_then(|at| Some((at, desk.server_ns(at)?)));
                drop(sender.send(TeamMessage::Go(at)));
            }
            Ok(Request::Stop { at_once }) => desk.stop(at_once),
            Err(mpsc::TryRecvError::Disconnected) => break,
            Err(mpsc::TryRecvError::Empty) => {
                if let Some(news) = desk.step(POLL_INTERVAL) {
                    drop(sender.send(TeamMessage::News(news)));
                }
            }
        }
    }
    desk.close(RELEASING);
}

/// Returns a server's system identifier and when it was started: a standby, or a copy of its files, has the same
/// identifier. `None` if it does not say.
pub(super) fn system_identifier(admin: &mut Admin) -> Option<String> {
    let sql = "SELECT system_identifier || ', started at ' ||
            to_char(pg_catalog.pg_postmaster_start_time() AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') || ' UTC'
        FROM pg_catalog.pg_control_system()";
    admin.query_opt(sql).ok().flatten()
}

/// Returns `1 agent`, `2 agents`.
fn agents(number: usize) -> String {
    units::plain_plural(number as u64, "agent")
}

fn too_few(desk: &Desk, found: Gathering, wanted: usize, wait: Duration, options: &ConnectOptions) -> CommandError {
    let mut error = format!("{} of {} came to {options} within {} s", found.free, agents(wanted), wait.as_secs_f64());
    if found.busy > 0 {
        error += &format!("; {} other run{}", serve(found.busy), units::ending(found.busy as u64));
    }
    // Those that another run has started for itself are nobody's version.
    let others: Vec<_> = desk
        .agents()
        .filter(|agent| agent.program != PROGRAM && !agent.program.starts_with(&program(Some(""))))
        .map(|agent| format!("{} on {}", agent.program, agent.host))
        .collect();
    if others.is_empty() {
        let hint = "start more by `pgdyno agent --meet …`, or wait longer for them by --wait";
        return CommandError::new(Code::Start, error).hint(hint);
    }
    error += &format!("; {} of another version of pgdyno: {}", others.len(), others.join(", "));
    CommandError::new(Code::Start, error).hint(format!("install pgdyno {PROGRAM} on all machines"))
}

fn serve(number: usize) -> String {
    if number == 1 { "1 serves an".to_owned() } else { format!("{number} serve") }
}
