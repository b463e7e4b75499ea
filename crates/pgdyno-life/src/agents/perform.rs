//! What an agent does for a run: looks at the target, helps with a load, or drives a share of the clients.

use std::sync::mpsc::{Receiver, Sender};
use std::time::Instant;

use pgdyno_engine::{
    Audience, Backend, EngineEvent, FileLimit, RunEnd, RunError, RunShare, RunSpec, Stop, raise_file_limit, run,
};
use pgdyno_net::{Admin, ConnectError, ConnectOptions};
use pgdyno_plan::{LoadingOrder, Plan, TargetOrder};
use pgdyno_results::{ClientRecord, input_path};
use pgdyno_wire::auth::AuthError;
use pgdyno_workload::{Note, Workload};

use super::allowed::{Allowed, Asked};
use super::task::{Batch, DriveTask, Drove, LoadTask, LookTask, Looked};
use super::team::system_identifier;
use crate::data::loading::LoadSettings;
use crate::drive::executions::Executions;
use crate::drive::pinning;
use crate::drive::spec::spec;
use crate::events::Silent;
use crate::exit_code::Code;
use crate::failure::{CommandError, Result};
use crate::plan::resolve::{Resolved, RunRequest};
use crate::plan::workload_source::{self, ClientSetup, OWN_QUERIES, QUERIES_FROM, WorkloadSource};
use crate::record::figures;
use crate::target::reach::is_null;
use crate::target::{Demand, Target, TargetServer};

/// A message of a task's thread to the agent's.
pub(super) enum TaskMessage {
    Ready,
    Batch(Vec<u8>),
    Did(std::result::Result<Done, String>),
}

/// The answer of a task that was done.
pub(super) enum Done {
    Looked(Looked),
    /// With the number of rows.
    Loaded(u64),
    /// With the moment at which its clients began.
    Drove(Box<Drove>, Option<Instant>),
}

/// Returns a failure as the coordinator reads it.
fn failed(failure: &CommandError) -> String {
    failure.text()
}

/// Returns why the target cannot be reached.
fn not_connected(error: ConnectError) -> String {
    let is_forbidden = matches!(&error, ConnectError::Auth { source: AuthError::Forbidden(_), .. });
    let why = failed(&CommandError::new(Code::Start, error));
    if is_forbidden {
        return format!(
            "{why} (an agent sends its password to another machine by SCRAM only: give the role a SCRAM password, or allow \
             the method by require_auth=… in the agent's --allow-target)"
        );
    }
    why
}

/// Looks at the target.
pub(super) fn look(task: &LookTask, allowed: &Allowed) -> std::result::Result<Looked, String> {
    if let FileLimit::TooLow { needed, hard } = raise_file_limit(task.links) {
        return Err(format!(
            "its share of {} connections needs {needed} open files, but the hard limit is {hard} (raise it, or have more \
             agents)",
            task.links
        ));
    }
    let target = allowed.target(Asked { target: task.target.as_ref(), database: None })?;
    let Some(options) = target.given() else { return Ok(Looked::default()) };
    let mut admin = Admin::connect(options).map_err(not_connected)?;
    let system_identifier = if is_null(&admin) { None } else { system_identifier(&mut admin) };
    Ok(Looked { system_identifier })
}

/// Helps with a load.
pub(super) fn load(task: &LoadTask, allowed: &Allowed, stop: &Stop) -> std::result::Result<u64, String> {
    let failed = |failure: CommandError| failed(&failure);
    let target = allowed.target(Asked { target: Some(&task.target), database: Some(&task.database) })?;
    let options = target.given().ok_or("a load needs a server that was given")?;
    let given = workload_source::given(&task.workload);
    refuse_queries_from(given.iter().find(|(name, _)| *name == QUERIES_FROM).map(|(_, source)| source.as_str()))?;
    let source = WorkloadSource::built_in(&task.workload).map_err(failed)?;
    let workload = source.build(&task.workload, None, task.loaded.as_ref(), &ClientSetup::NONE).map_err(failed)?;
    let data = workload.data.iter().find(|data| data.meta().dataset == task.dataset);
    let data = data.filter(|data| pgdyno_load::identity(data.as_ref()) == task.identity);
    let data = data.ok_or("this agent's program makes other rows of the load's parameters")?;
    let loading = LoadingOrder { loaders: task.loaders, ..LoadingOrder::default() };
    let loaders = LoadSettings::of_step(&loading).options(false, false).loaders;
    let loaded = pgdyno_load::help(options, data.as_ref(), &task.caps, &task.schema, loaders, &|_| {}, stop);
    loaded.map_err(|error| failed(CommandError::new(Code::Load, error)))
}

/// Drives a share of the clients.
pub(super) fn drive(
    task: &DriveTask,
    allowed: &Allowed,
    stop: &Stop,
    moment: &Receiver<Instant>,
    sender: &Sender<TaskMessage>,
) -> std::result::Result<Done, String> {
    let failed = |failure: CommandError| failed(&failure);
    let target = task_target(task, allowed)?;
    let (plan, workload) = planned(task)?;
    allowed.admit_commands(&workload.drive)?;
    let spec = share(task, &plan, &workload)?;
    let server = reach(task, target).map_err(failed)?;
    let (options, of_queries) = sessions(task, &server);
    workload.drive.prepare();
    let txns = workload.drive.txns().iter().map(|txn| txn.name.to_owned()).collect();
    let executions = Executions::new(&workload.drive.stages, plan.drive.clients, txns, None);
    let reporter = Reporter { sender, executions: executions.as_ref() };
    let client = ClientRecord { pinned: spec.pin.clone(), ..figures::client() };
    let mut began = None;
    let audience = Audience {
        on_connect: &|_| {},
        on_event: &mut |event| reporter.event(event),
        observer: &mut |_, _| executions.as_ref().map(|executions| executions.observer_in(task.stage)),
        start: &mut || {
            drop(sender.send(TaskMessage::Ready));
            began = moment.recv().ok();
            began
        },
    };
    let backend = match (&options, &of_queries) {
        (None, _) => Backend::None,
        (Some(options), None) => Backend::Server(options),
        (Some(transactions), Some(queries)) => Backend::Servers { transactions, queries: Some(queries), readers: &[] },
    };
    let outcome = run(&workload.drive, &task.caps, backend, &spec, stop, audience);
    // Those that were still under way ended after the last interval.
    reporter.executions();
    let outcome = outcome.map_err(|error| match error {
        RunError::CalledOff => "the run was called off".to_owned(),
        error => failed(CommandError::new(Code::Start, error)),
    })?;
    match &outcome.ended {
        RunEnd::Fatal(why) => Err(why.clone()),
        _ => Ok(Done::Drove(Box::new(Drove::of(&outcome, client)), began)),
    }
}

/// Passes the engine's events on to the agent.
struct Reporter<'a> {
    sender: &'a Sender<TaskMessage>,
    executions: Option<&'a Executions>,
}

impl Reporter<'_> {
    fn send(&self, batch: &Batch) {
        drop(self.sender.send(TaskMessage::Batch(batch.to_bytes())));
    }

    /// Sends the executions that have ended since the last time.
    fn executions(&self) {
        let ended = self.executions.map(Executions::take).unwrap_or_default();
        if !ended.is_empty() {
            self.send(&Batch::Executions(ended));
        }
    }

    fn event(&self, event: EngineEvent<'_>) {
        match event {
            EngineEvent::Connected | EngineEvent::Started { .. } => {}
            EngineEvent::Interval(interval) => {
                self.executions();
                self.send(&Batch::Interval(Box::new(interval.into())));
            }
            EngineEvent::Lost { why } => self.send(&Batch::Note(format!("a client lost its connection: {why}"))),
            EngineEvent::ConnectFailed { error, .. } => {
                self.send(&Batch::Note(format!("a client could not connect: {error}")))
            }
            // Agents keep no ledger, and a fault is caused where the coordinator is.
            EngineEvent::NotReopened { .. } => {}
            EngineEvent::Note(Note::Notice(notice)) => {
                self.send(&Batch::Note(format!("{}: {}", notice.severity, notice.message)))
            }
            EngineEvent::Note(note) => self.send(&Batch::Note(note.text().into_owned())),
        }
    }
}

/// Refuses texts of queries that would come from a directory or a program of this machine.
fn refuse_queries_from(source: Option<&str>) -> std::result::Result<(), String> {
    match source.filter(|source| *source != OWN_QUERIES) {
        None => Ok(()),
        Some(source) => Err(format!(
            "the run takes its queries from {source}, and an agent reads no file of its machine and starts no program"
        )),
    }
}

/// Makes the run's plan again, and its workload.
fn planned(task: &DriveTask) -> std::result::Result<(Plan, Workload), String> {
    if task.plan.inputs.is_empty() && !task.plan.scripts.is_empty() {
        return Err("the run names scripts without their texts, and an agent reads no file of its machine".to_owned());
    }
    let files = tempfile::tempdir().map_err(|error| format!("no directory for the files of the run: {error}"))?;
    for (hash, bytes) in task.contents()? {
        let path = input_path(files.path(), hash).ok_or_else(|| format!("'{hash}' is no hash"))?;
        let written = path.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(&path, bytes));
        written.map_err(|error| format!("a file of the run cannot be written: {error}"))?;
    }
    refuse_queries_from(task.plan.params.get(QUERIES_FROM).map(String::as_str))?;
    let request = RunRequest::of_plan(&task.plan, files.path()).map_err(|failure| failed(&failure))?;
    let Resolved { plan, workload, .. } = request.resolve(&task.facts).map_err(|failure| failed(&failure))?;
    // What is watched is the coordinator's business.
    let theirs = &task.plan;
    let plan = Plan { recipe: theirs.recipe.clone(), watch: theirs.watch.clone(), ..plan };
    if plan.hash() != theirs.hash() {
        return Err("this agent's program makes another plan of the run's".to_owned());
    }
    Ok((plan, workload))
}

/// Returns the engine's specification of this agent's share.
fn share(task: &DriveTask, plan: &Plan, workload: &Workload) -> std::result::Result<RunSpec, String> {
    if task.driver >= task.drivers {
        return Err(format!("the run has {} drivers, and none with the number {}", task.drivers, task.driver));
    }
    let share = RunShare { driver: task.driver, drivers: task.drivers };
    let stages = &workload.drive.stages;
    let stage = stages.get(task.stage).ok_or("this agent's program knows no such stage")?;
    let of_run = spec(plan, Vec::new());
    let threads = share.threads(of_run.threads_of(stage.clients(plan.drive.clients))).len();
    let pin = pinning::cpus(plan.drive.pin.as_deref(), threads).map_err(|failure| failed(&failure))?;
    Ok(RunSpec { share: Some(share), stage: Some(task.stage), pin, ..of_run })
}

/// Returns how clients connect, and how groups of queries do if that is another way.
fn sessions(task: &DriveTask, server: &TargetServer) -> (Option<ConnectOptions>, Option<ConnectOptions>) {
    let with = |options: &ConnectOptions, settings: Option<&str>| {
        settings.map_or_else(|| options.clone(), |settings| options.with_session_options(settings))
    };
    let options = server.options().map(|options| with(options, task.options.as_deref()));
    let of_queries = options.as_ref().zip(task.queries.as_ref()).map(|(options, queries)| {
        let named = queries.application_name.as_deref().map(|name| options.with_application_name(name));
        with(named.as_ref().unwrap_or(options), queries.options.as_deref())
    });
    (options, of_queries)
}

/// Returns the target of a share.
fn task_target(task: &DriveTask, allowed: &Allowed) -> std::result::Result<Target, String> {
    let target = task.plan.target_dsn.as_ref().unwrap_or(&task.plan.target);
    allowed.target(Asked { target: Some(target), database: task.database.as_deref() })
}

/// Reaches the server of a share.
fn reach(task: &DriveTask, target: Target) -> Result<TargetServer> {
    let demand = Demand { clients: task.plan.links(), ..Demand::default() };
    target.bring_up(&TargetOrder::default(), demand, &Silent)
}
