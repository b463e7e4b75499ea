//! A load that agents help with: they take parts of tables from the same queue as this machine.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use pgdyno_load::Shared;
use pgdyno_meet::{MeetingEvent, MemberEnd};
use pgdyno_net::{Admin, ConnectOptions};
use pgdyno_plan::{Loaded, MeetingOrder, TargetOrder, WorkloadOrder};
use pgdyno_workload::{Capabilities, DataSet, Drive};

use super::Team;
use super::task::{self, LoadTask, Task};
use super::team::{Request, TeamMessage};
use crate::events::EventSink;
use crate::exit_code::Code;
use crate::failure::{CommandError, Result};
use crate::interrupt::Interrupt;
use crate::target::Target;

/// How long agents may take to end when everything is loaded: they have nothing left to do.
const ENDING: Duration = Duration::from_secs(5);
/// The same where they are to drive afterwards: longer than a silent agent counts as present.
const ENDING_BEFORE_DRIVE: Duration = Duration::from_secs(60);
/// Longest wait for a message of the agents.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Agents that help with loads.
pub struct LoadTeam {
    team: Team,
}

/// What agents must know of a load, beside its data.
#[derive(Clone, Copy)]
pub struct LoadFacts<'a> {
    /// The target, as this machine reaches it.
    pub target: &'a ConnectOptions,
    /// The workload that it is for.
    pub workload: &'a WorkloadOrder,
    /// The data that is there.
    pub loaded: Option<&'a Loaded>,
    /// What the server can do.
    pub caps: &'a Capabilities,
    /// Connections of each machine that loads, if the user said how many.
    pub loaders: Option<u16>,
}

/// One load that they help with.
pub struct SharedLoad<'a> {
    team: &'a Team,
    begin: Begin,
}

/// What is sent to the agents when the load has begun.
struct Begin {
    has_begun: AtomicBool,
    requests: Option<Sender<Request>>,
    agents: usize,
    task: LoadTask,
}

impl LoadTeam {
    /// Gathers agents that all reach the target; `None` if the order wants none.
    ///
    /// # Errors
    /// When there is no meeting, or too few agents come.
    pub fn gather(
        order: &MeetingOrder,
        target: &TargetOrder,
        (what, drive): (&str, &Drive),
        interrupt: &Interrupt,
        events: &dyn EventSink,
    ) -> Result<Option<Self>> {
        let target = Target::resolve(target)?;
        if order.agents.is_some() {
            target.admit_agents()?;
        }
        let team = Team::gather(order, (&target, drive), &format!("load {what}"), interrupt, events)?;
        Ok(team.map(|team| Self { team }))
    }

    /// Lets all agents look at the target; returns what the user should know.
    ///
    /// # Errors
    /// When an agent cannot reach it, or sees another server.
    pub fn look(&self, target: &ConnectOptions, admin: &mut Admin, interrupt: &Interrupt) -> Result<Option<String>> {
        self.team.look(Some(&target.to_string()), 0, Some(admin), interrupt)
    }

    /// Returns a load of this data that the agents help with once it has begun.
    ///
    /// # Errors
    /// When its rows are made by SQL, on one connection.
    pub fn share<'a>(&'a self, facts: &LoadFacts<'_>, data: &dyn DataSet) -> Result<SharedLoad<'a>> {
        if data.sql_data().is_some() {
            let error = format!("the data of {} is made by SQL on one connection", data.meta().id);
            return Err(CommandError::new(Code::Start, error).hint("leave out --agents"));
        }
        Ok(SharedLoad::new(&self.team, facts, data))
    }
}

impl<'a> SharedLoad<'a> {
    /// Returns a load of a built-in workload that agents help with once it has begun.
    pub(crate) fn new(team: &'a Team, facts: &LoadFacts<'_>, data: &dyn DataSet) -> Self {
        let LoadFacts { target, workload, loaded, caps, loaders } = *facts;
        let task = LoadTask {
            target: target.to_string().into(),
            database: target.dbname().to_owned(),
            workload: workload.clone(),
            loaded: loaded.cloned(),
            caps: caps.clone(),
            dataset: data.meta().dataset.to_owned(),
            identity: pgdyno_load::identity(data),
            schema: String::new(),
            loaders,
        };
        let begin = Begin { has_begun: AtomicBool::new(false), requests: team.requests(), agents: team.len(), task };
        SharedLoad { team, begin }
    }

    /// Returns what the load calls when there is something to take.
    #[must_use]
    pub fn helpers(&self) -> &dyn Shared {
        &self.begin
    }

    /// Waits until the agents have ended, and returns which of them did not help to the end: this machine and the others
    /// have loaded their parts.
    ///
    /// # Errors
    /// When the thread that keeps in touch with them has ended.
    pub fn end(&self, events: &dyn EventSink) -> Result<()> {
        self.wait(ENDING, events).map(drop)
    }

    /// The same before the agents drive: returns a failure if one of them is lost, because its clients would be
    /// missing.
    ///
    /// # Errors
    /// When an agent is lost, or the thread that keeps in touch with them has ended.
    pub(crate) fn end_before_drive(&self, events: &dyn EventSink) -> Result<()> {
        let lost = self.wait(ENDING_BEFORE_DRIVE, events)?;
        if lost.is_empty() {
            return Ok(());
        }
        let error = format!("{} was lost during the load, which the others have done", lost.join(", "));
        Err(CommandError::new(Code::Run, error).hint("start that agent again, and run again: the data is there"))
    }

    /// Waits until the agents have ended. Returns the names of those that are lost.
    fn wait(&self, patience: Duration, events: &dyn EventSink) -> Result<Vec<String>> {
        let mut lost = Vec::new();
        if !self.begin.has_begun.load(Ordering::Acquire) {
            // There was nothing to share.
            return Ok(lost);
        }
        let until = Instant::now() + patience;
        while Instant::now() < until {
            let Some(TeamMessage::News(MeetingEvent::Ended(end))) = self.team.next_message(POLL_INTERVAL)? else {
                continue;
            };
            for (place, end) in end.members.iter().enumerate() {
                let name = self.team.name(place);
                match end {
                    MemberEnd::Did(bytes) => {
                        let rows = task::decode::<u64>(bytes).unwrap_or_default();
                        events.note(&format!("{name} has loaded {} rows", pgdyno_text::units::count(rows)));
                    }
                    MemberEnd::Failed(why) | MemberEnd::Lost(why) => {
                        events.warn(&format!("{name} did not help to the end, others did its part: {why}"));
                    }
                }
                if matches!(end, MemberEnd::Lost(_)) {
                    lost.push(name);
                }
            }
            return Ok(lost);
        }
        events.warn("an agent has not answered since everything is loaded: others did its part");
        Ok(vec!["an agent".to_owned()])
    }
}

impl Shared for Begin {
    fn begun(&self, schema: &str) {
        let task = Task::Load(Box::new(LoadTask { schema: schema.to_owned(), ..self.task.clone() }));
        // The task of a load has no files.
        let Ok(task) = task.to_bytes() else { return };
        self.has_begun.store(true, Ordering::Release);
        let tasks = vec![task; self.agents];
        // Without the thread nobody helps, and this machine loads alone.
        let _ = self.requests.as_ref().map(|requests| requests.send(Request::Begin { tasks, is_load: true }));
    }
}
