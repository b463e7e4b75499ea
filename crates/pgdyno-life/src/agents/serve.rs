//! An agent: joins a meeting, and serves one run after another.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use pgdyno_engine::{
    Audience, Backend, Control, Ended, Event, FileLimit, RunError, RunSpec, Share, raise_file_limit, run,
};
use pgdyno_meet::Action;
use pgdyno_meet::postgres::{Notice, Seat};
use pgdyno_net::{Admin, ConnectError};
use pgdyno_plan::{LoadingOrder, Plan, TargetOrder};
use pgdyno_results::{ClientRecord, input_path};
use pgdyno_untrusted::TerminalText;
use pgdyno_wire::auth::AuthError;
use pgdyno_workload::Note;

use super::allowed::{Allowed, Asked};
use super::task::{self, Batch, DriveTask, Drove, LoadTask, LookTask, Looked, Task};
use super::team::system_identifier;
use super::{ENDED_BY_USER, meeting, program, refused};
use crate::data::loading::LoadSettings;
use crate::drive::cpus::cpus;
use crate::drive::executions::Executions;
use crate::drive::{pinning, spec};
use crate::events::{EventSink, Silent};
use crate::exit_code::Code;
use crate::failure::{Failure, Result};
use crate::interrupt::Interrupt;
use crate::plan::resolve::{Request, Resolved};
use crate::plan::workload_source::{ClientSetup, WorkloadSource};
use crate::record::figures;
use crate::stage::is_null;
use crate::target::{Demand, Server, Target};

/// Longest time between two looks at what the user and the task want.
const GLANCE: Duration = Duration::from_millis(20);

/// How long an agent that its user has ended waits for the coordinator to notice.
const LEAVING: Duration = Duration::from_secs(5);

/// How an agent is started.
#[derive(Clone, Debug, Default)]
pub struct AgentOrder {
    /// The connection string of the meeting database.
    pub meet: String,
    /// Leave after the first run.
    pub once: bool,
    /// The servers that it may drive, as runs name them, or names of targets.
    pub allow_targets: Vec<String>,
    /// Whether it may run the commands of scripts.
    pub allow_shell: bool,
    /// The only server that it may drive, as this machine reaches it.
    pub target: Option<String>,
    /// The file with the named targets.
    pub config: Option<PathBuf>,
    /// The word of the only run that it serves.
    pub reserved: Option<String>,
}

/// What a task's thread tells the agent's.
enum Told {
    Ready,
    Batch(Vec<u8>),
    Did(std::result::Result<Done, String>),
}

/// The answer of a task that was done.
enum Done {
    Looked(Looked),
    /// With the number of rows.
    Loaded(u64),
    /// With the moment at which its clients began.
    Drove(Box<Drove>, Option<Instant>),
}

/// A task in progress.
struct Job {
    nth: u32,
    control: Arc<Control>,
    /// Gives the moment of the common start; dropping it calls the run off.
    begin: Option<Sender<Instant>>,
    told: Receiver<Told>,
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
    let mut seat = Seat::join(&options, &program, cpus()).map_err(|error| refused(error, &options))?;
    events.note(&format!("agent {} waits for runs at {options}; it may drive {}", seat.id(), allowed.describe()));
    let (mut job, mut code): (Option<Job>, _) = (None, Code::Success);
    // When its user has ended it.
    let mut ending: Option<Instant> = None;
    loop {
        if interrupt.control.is_stopping() && ending.is_none() {
            ending = Some(Instant::now());
            if let Some(job) = &mut job {
                code = Code::Interrupted;
                job.stop(false);
            }
        }
        if interrupt.control.is_killing()
            && let Some(job) = &mut job
        {
            job.stop(true);
        }
        if let Some(running) = &job
            && let Ok(told) = running.told.try_recv()
        {
            if pass_on(&mut seat, running.nth, told, ending.is_some(), events)
                && let Some(job) = job.take()
            {
                // It has told its last. A panic was reported when it happened.
                let _ = job.thread.join();
            }
            continue;
        }
        // The coordinator is to read how the task ended before the agent is gone.
        if job.is_none() && ending.is_some_and(|since| seat.run().is_none() || since.elapsed() > LEAVING) {
            break;
        }
        let action = seat.step(GLANCE);
        while let Some(notice) = seat.notice() {
            report(&notice, events);
        }
        let action = match action {
            Ok(action) => action,
            Err(error) => {
                if let Some(mut job) = job.take() {
                    job.stop(true);
                    let _ = job.thread.join();
                }
                return Err(refused(error, &options));
            }
        };
        match action {
            Some(Action::Do { nth, .. }) if ending.is_some() => seat.did(nth, Err(ENDED_BY_USER.to_owned())),
            Some(Action::Do { nth, task }) => {
                let run = seat.run().map(|run| run.0).unwrap_or_default();
                job = Job::begin(nth, run, &task, &allowed, events);
                if job.is_none() {
                    seat.did(nth, Err("the system gave no thread".to_owned()));
                }
            }
            Some(Action::Begin { nth, at }) => {
                let at = seat.instant(at);
                if let Some(begin) = job.as_ref().filter(|job| job.nth == nth).and_then(|job| job.begin.as_ref()) {
                    // The thread waits for it; if it has ended, it has told why.
                    let _ = begin.send(at);
                }
            }
            Some(Action::Stop { nth, at_once }) => {
                if let Some(job) = job.as_mut().filter(|job| job.nth == nth) {
                    job.stop(at_once);
                }
            }
            Some(Action::Released) => {
                events.note("released; waits for runs");
                if order.once {
                    break;
                }
            }
            None => {}
        }
    }
    seat.leave();
    Ok(code)
}

/// Tells the user what happens at the meeting.
fn report(notice: &Notice, events: &dyn EventSink) {
    match notice {
        Notice::Unreachable(why) => events
            .warn(&format!("the meeting server cannot be reached, and is tried every second: {}", TerminalText(why))),
        Notice::Reached => events.note("the meeting server is reached again"),
        Notice::JoinedAgain(agent) => {
            events.note(&format!("its row was deleted from the meeting: it has joined again, as agent {agent}"))
        }
    }
}

/// Passes on what a task's thread told. Returns true if that was its end.
fn pass_on(seat: &mut Seat, nth: u32, told: Told, is_ending: bool, events: &dyn EventSink) -> bool {
    match told {
        Told::Ready => {
            events.note("connected; waits for the common start");
            seat.ready(nth);
            false
        }
        Told::Batch(batch) => {
            seat.batch(nth, batch);
            false
        }
        Told::Did(did) => {
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
        let control = Arc::new(Control::new());
        let (begin, moment) = mpsc::channel();
        let (tell, told) = mpsc::channel();
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
        let (inner, allowed) = (Arc::clone(&control), Arc::clone(allowed));
        let work = move || {
            let done = task.and_then(|task| match task {
                Task::Look(task) => look(&task, &allowed).map(Done::Looked),
                Task::Load(task) => load(&task, &allowed, &inner).map(Done::Loaded),
                Task::Drive(task) => drive(&task, &allowed, &inner, &moment, &tell),
            });
            // The agent listens until it has heard this.
            let _ = tell.send(Told::Did(done));
        };
        let thread = std::thread::Builder::new().name("pgdyno-task".to_owned()).spawn(work).ok()?;
        Some(Self { nth, control, begin: Some(begin), told, thread })
    }

    fn stop(&mut self, at_once: bool) {
        self.begin = None;
        if at_once { self.control.kill() } else { self.control.stop() }
    }
}

fn failed(failure: &Failure) -> String {
    failure.text()
}

/// Returns why the target cannot be reached.
fn not_connected(error: ConnectError) -> String {
    let is_forbidden = matches!(&error, ConnectError::Auth { source: AuthError::Forbidden(_), .. });
    let why = failed(&Failure::new(Code::Start, error));
    if is_forbidden {
        return format!(
            "{why} (an agent sends its password to another machine by SCRAM only: give the role a SCRAM password, or allow \
             the method by require_auth=… in the agent's --allow-target)"
        );
    }
    why
}

/// Looks at the target.
fn look(task: &LookTask, allowed: &Allowed) -> std::result::Result<Looked, String> {
    if let FileLimit::TooLow { needed, hard } = raise_file_limit(task.links) {
        return Err(format!(
            "its share of {} connections needs {needed} open files, but the hard limit is {hard} (raise it, or have more \
             agents)",
            task.links
        ));
    }
    let target = allowed.target(Asked { target: task.target.as_deref(), database: None })?;
    let Some(options) = target.given() else { return Ok(Looked::default()) };
    let mut admin = Admin::connect(options).map_err(not_connected)?;
    let system_identifier = if is_null(&admin) { None } else { system_identifier(&mut admin) };
    Ok(Looked { system_identifier })
}

/// Helps with a load.
fn load(task: &LoadTask, allowed: &Allowed, control: &Control) -> std::result::Result<u64, String> {
    let failed = |failure: Failure| failed(&failure);
    let target = allowed.target(Asked { target: Some(&task.target), database: Some(&task.database) })?;
    let options = target.given().ok_or("a load needs a server that was given")?;
    let source = WorkloadSource::built_in(&task.workload).map_err(failed)?;
    let workload = source.build(&task.workload, None, task.loaded.as_ref(), &ClientSetup::NONE).map_err(failed)?;
    let data = workload.data.iter().find(|data| data.meta().dataset == task.dataset);
    let data = data.filter(|data| pgdyno_load::identity(data.as_ref()) == task.identity);
    let data = data.ok_or("this agent's program makes other rows of the load's parameters")?;
    let loading = LoadingOrder { loaders: task.loaders, ..LoadingOrder::default() };
    let loaders = LoadSettings::of_step(&loading).options(false, false).loaders;
    let stop = control.stop_flag();
    let loaded = pgdyno_load::help(options, data.as_ref(), &task.caps, &task.schema, loaders, &|_| {}, stop);
    loaded.map_err(|error| failed(Failure::new(Code::Load, error)))
}

/// Drives a share of the clients.
fn drive(
    task: &DriveTask,
    allowed: &Allowed,
    control: &Control,
    moment: &Receiver<Instant>,
    tell: &Sender<Told>,
) -> std::result::Result<Done, String> {
    let target = task_target(task, allowed)?;
    if task.plan.inputs.is_empty() && !task.plan.scripts.is_empty() {
        return Err("the run names scripts without their texts, and an agent reads no file of its machine".to_owned());
    }
    let files = tempfile::tempdir().map_err(|error| format!("no directory for the files of the run: {error}"))?;
    for (hash, bytes) in task.contents()? {
        let path = input_path(files.path(), hash).ok_or_else(|| format!("'{hash}' is no hash"))?;
        let written = path.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(&path, bytes));
        written.map_err(|error| format!("a file of the run cannot be written: {error}"))?;
    }
    let request = Request::of_plan(&task.plan, files.path()).map_err(|failure| failed(&failure))?;
    let Resolved { plan, workload, .. } = request.resolve(&task.facts).map_err(|failure| failed(&failure))?;
    // What is watched is the coordinator's business.
    let theirs = &task.plan;
    let plan = Plan { recipe: theirs.recipe.clone(), watch: theirs.watch.clone(), ..plan };
    if plan.hash() != theirs.hash() {
        return Err("this agent's program makes another plan of the run's".to_owned());
    }
    allowed.admit_commands(&workload.drive)?;
    let share = Share { driver: task.driver, drivers: task.drivers };
    let stages = &workload.drive.stages;
    let stage = stages.get(task.stage).ok_or("this agent's program knows no such stage")?;
    let of_run = spec(&plan, Vec::new());
    let threads = share.threads(of_run.threads_of(stage.clients(plan.clients))).len();
    let pin = pinning::cpus(plan.pin.as_deref(), threads).map_err(|failure| failed(&failure))?;
    let spec = RunSpec { share: Some(share), stage: Some(task.stage), pin: pin.clone(), ..of_run };
    let server = reach(task, target).map_err(|failure| failed(&failure))?;
    let options = server.options.as_ref().map(|options| {
        task.options.as_deref().map_or_else(|| options.clone(), |settings| options.with_session_options(settings))
    });
    let of_queries = options.as_ref().zip(task.queries.as_ref()).map(|(options, queries)| {
        let named = queries.application_name.as_deref().map(|name| options.with_application_name(name));
        let options = named.unwrap_or_else(|| options.clone());
        queries.options.as_deref().map_or_else(|| options.clone(), |settings| options.with_session_options(settings))
    });
    workload.drive.prepare();
    let txns = workload.drive.txns().iter().map(|txn| txn.name.to_owned()).collect();
    let executions = Executions::new(&workload.drive.stages, plan.clients, txns, None);
    let client = figures::client();
    let mut began = None;
    let send = |batch: &Batch| drop(tell.send(Told::Batch(batch.to_bytes())));
    let send_executions = || {
        let ended = executions.as_ref().map(Executions::take).unwrap_or_default();
        if !ended.is_empty() {
            send(&Batch::Executions(ended));
        }
    };
    let audience = Audience {
        on_connect: &|_| {},
        on_event: &mut |event| match event {
            Event::Connected | Event::Started { .. } => {}
            Event::Interval(interval) => {
                send_executions();
                send(&Batch::Interval(Box::new(interval.into())));
            }
            Event::Lost { why } => send(&Batch::Note(format!("a client lost its connection: {why}"))),
            Event::ConnectFailed { error, .. } => send(&Batch::Note(format!("a client could not connect: {error}"))),
            Event::Note(Note::Notice(notice)) => send(&Batch::Note(format!("{}: {}", notice.severity, notice.message))),
            Event::Note(note) => send(&Batch::Note(note.text().into_owned())),
        },
        observer: &mut |_, _| executions.as_ref().map(|executions| executions.observer_in(task.stage)),
        start: &mut || {
            drop(tell.send(Told::Ready));
            began = moment.recv().ok();
            began
        },
    };
    let backend = match (&options, &of_queries) {
        (None, _) => Backend::None,
        (Some(options), None) => Backend::Server(options),
        (Some(transactions), Some(queries)) => Backend::Servers { transactions, queries },
    };
    let outcome = run(&workload.drive, &task.caps, backend, &spec, control, audience);
    // Those that were still under way ended after the last interval.
    send_executions();
    let outcome = outcome.map_err(|error| match error {
        RunError::CalledOff => "the run was called off".to_owned(),
        error => failed(&Failure::new(Code::Start, error)),
    })?;
    if let Ended::Fatal(why) = &outcome.ended {
        return Err(why.clone());
    }
    let client = ClientRecord { pinned: pin, ..client };
    Ok(Done::Drove(Box::new(Drove::of(&outcome, client)), began))
}

/// Returns the target of a share.
fn task_target(task: &DriveTask, allowed: &Allowed) -> std::result::Result<Target, String> {
    let target = task.plan.target_dsn.as_deref().unwrap_or(&task.plan.target);
    allowed.target(Asked { target: Some(target), database: task.database.as_deref() })
}

/// Reaches the server of a share.
fn reach(task: &DriveTask, target: Target) -> Result<Server> {
    let demand = Demand { clients: task.plan.links(), ..Demand::default() };
    target.bring_up(&TargetOrder::default(), demand, &Silent)
}
