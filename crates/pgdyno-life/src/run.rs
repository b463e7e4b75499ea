//! A run on its server: starts and prepares the server, and restores it at the end.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use pgdyno_engine::{FileLimit, raise_file_limit};
use pgdyno_net::{Admin, Interrupter};
use pgdyno_plan::{Facts, LoadChoice, Order, Plan};
use pgdyno_results::{CycleRecord, Status};
use pgdyno_workload::{MARKERS, Pooling, Work, Workload};

use crate::agents::Team;
use crate::data::copies;
use crate::data::loaded::loaded;
use crate::drive::{TeamOfRun, watch};
use crate::events::EventSink;
use crate::exit_code::Code;
use crate::failure::{Failure, OrFail, Result};
use crate::interrupt::Interrupt;
use crate::plan::resolve::{self, Draft, Request, Resolved};
use crate::prepare::cycle::{self, ServerSteps};
use crate::prepare::settings::{self, Changed, Restored};
use crate::record::Recording;
use crate::record::verdict::End;
use crate::stage::{Stage, is_null};
use crate::target::analytics::{self, AnalyticsServer};
use crate::target::cached;
use crate::target::lock::{self, TargetLock};
use crate::target::room::{self, Watchers};
use crate::target::{Demand, Named, Owner, Server, Target};

/// A run that has ended.
pub struct Ran {
    /// The record, which is complete, and its directory. `None` if the run ended before there was anything to record.
    pub recording: Option<Recording>,
    /// Why it ended before the clients started, or what failed when settings were restored.
    pub failure: Option<Failure>,
    /// Its exit code.
    pub code: Code,
    /// What could not be written of the record.
    pub unwritten: Vec<String>,
}

/// Executes an order, from provisioning the server to the last check. The record is in a new run directory.
///
/// A private server needs a supervisor, which is this same program: see [`supervise`](crate::supervise).
///
/// # Errors
/// When the order is impossible, which is known before any server is touched.
pub fn run(order: Order, interrupt: &Interrupt, events: &dyn EventSink) -> Result<Ran> {
    run_request(&Request::read(order)?, interrupt, events)
}

/// Does the same for a request that has been read.
///
/// # Errors
/// As [`run`].
pub fn run_request(request: &Request, interrupt: &Interrupt, events: &dyn EventSink) -> Result<Ran> {
    let order = &request.order;
    let Draft { target, mut facts, mut resolved } = request.draft()?;
    pgdyno_results::admit(order.results()).or_fail(Code::Start)?;
    resolve::admit_json(order)?;
    if order.meeting.agents.is_some() {
        target.admit_agents()?;
    }
    watch::profile::admit(&resolved.plan, &target)?;
    let needs = (&target, &*resolved.workload.drive);
    let team = Team::gather(&order.meeting, needs, &resolved.plan.workload, interrupt, events)?;
    match &team {
        Some(team) => {
            facts.driver_cpus = team.cpus();
            resolved = request.resolve(&facts)?;
        }
        None => admit_files(resolved.plan.links(), events)?,
    }
    let Resolved { plan, workload, .. } = resolved;
    let mut run = Run { request, facts, plan, workload, named: target.named.clone(), team, interrupt, events };
    let mut recording = None;
    let lived = interrupt.blamed(run.execute(target, &mut recording));
    Ok(match recording {
        Some(recording) => conclude(lived, recording, interrupt, order),
        None => {
            let code = lived.as_ref().map_or_else(Failure::code, |end| end.code);
            Ran { recording: None, failure: lived.err(), code, unwritten: Vec::new() }
        }
    })
}

/// Writes how a run ended.
fn conclude(lived: Result<End>, mut recording: Recording, interrupt: &Interrupt, order: &Order) -> Ran {
    let (status, reason, code) = match &lived {
        Ok(end) => (end.status, end.reason.clone(), end.code),
        Err(failure) if failure.code() == Code::Interrupted => {
            (Status::Interrupted, Some(failure.text()), Code::Interrupted)
        }
        Err(failure) => (Status::Failed, Some(failure.text()), failure.code()),
    };
    // A server that ends with the process that started the run says nothing about the run.
    let orphaned = interrupt.orphaned.load(Ordering::Acquire) && status == Status::Failed;
    let (status, code) = if orphaned { (Status::Interrupted, Code::Interrupted) } else { (status, code) };
    let unwritten = recording.end(status, reason, code, order.json.as_deref());
    // The measurement stays valid in the files that could be written; the exit code reports that others are missing.
    let code = if unwritten.errors.is_empty() || code != Code::Success { code } else { Code::Run };
    let unwritten = unwritten.errors.into_iter().chain(unwritten.unlisted).collect();
    Ran { recording: Some(recording), failure: lived.err(), code, unwritten }
}

/// Raises the limit of open files, or reports that it cannot be raised.
fn admit_files(clients: u32, events: &dyn EventSink) -> Result<()> {
    match raise_file_limit(clients) {
        FileLimit::Enough => Ok(()),
        FileLimit::Raised { from, to } => {
            events.note(&format!("raised the limit of open files from {from} to {to}"));
            Ok(())
        }
        FileLimit::TooLow { needed, hard } => {
            let error = format!("{clients} clients need {needed} open files, but the hard limit is {hard}");
            Err(Failure::new(Code::Start, error)
                .hint("raise it (ulimit -Hn, limits.conf, LimitNOFILE=), or lower --clients"))
        }
    }
}

/// A requested run, and all that is known about it.
pub(crate) struct Run<'a> {
    pub(crate) request: &'a Request,
    /// The current plan, with the facts known so far.
    pub(crate) facts: Facts,
    /// The plan before anything connected to the server, which says what is done to it.
    pub(crate) plan: Plan,
    pub(crate) workload: Workload,
    pub(crate) named: Option<Named>,
    /// The agents that drive, if this process does not.
    team: Option<Team>,
    pub(crate) interrupt: &'a Interrupt,
    pub(crate) events: &'a dyn EventSink,
}

/// Returns true if something is done to the server before the run reads its data: that needs a directory for its
/// evidence.
fn is_prepared(plan: &Plan) -> bool {
    let cycle = plan.cycle;
    cycle.provision || cycle.restart || cycle.drop_caches || !plan.settings.is_empty()
}

impl Run<'_> {
    /// Executes the run from provisioning the server to tearing it down. The record starts with the first change to a
    /// server, or when the server is up; a failure before that leaves none.
    ///
    /// # Errors
    /// When the run could not start, or was interrupted by a failure.
    pub(crate) fn execute(&mut self, target: Target, recording: &mut Option<Recording>) -> Result<End> {
        let done = &self.request.order.cycle.done;
        if !self.plan.cycle.provision && done.is_empty() {
            return self.run_on_target(target, recording);
        }
        let mut evidence: Vec<_> =
            done.iter().map(|(step, what)| cycle::record(step, true, what, Instant::now())).collect();
        let recorded = self.begun(recording)?;
        recorded.note_steps(&mut evidence);
        if !self.plan.cycle.provision || self.is_done("provision") {
            return self.run_on_target(target, recording);
        }
        let stop = self.interrupt.control.stop_flag();
        let made = self.server_steps(recorded, stop, self.interrupt.waits()).provision(&mut evidence);
        recorded.note_steps(&mut evidence);
        let found = made.and_then(|dsn| match dsn {
            Some(dsn) => target.provisioned(&dsn),
            None => Ok(target),
        });
        // A server that was made is removed however the run ended, also if it was made only in part.
        let (lived, place) = match found {
            Ok(target) => {
                let place = target.given().cloned();
                (self.run_on_target(target, recording), place)
            }
            Err(failure) => (Err(failure), None),
        };
        let recorded = self.begun(recording)?;
        let at_once = (&self.interrupt.at_once, self.interrupt.last_waits());
        let torn = self.server_steps(recorded, at_once.0, at_once.1).teardown(place.as_ref(), &mut evidence);
        recorded.note_steps(&mut evidence);
        self.aftermath(lived, torn, recorded)
    }

    /// Executes the run on a target that is up or can be started.
    fn run_on_target(&mut self, target: Target, recording: &mut Option<Recording>) -> Result<End> {
        let order = &self.request.order.target;
        let demand = Demand::of(&self.plan, &self.workload, order);
        let mut server = target.bring_up(order, demand, self.events)?;
        let plain = server.options.clone();
        // Nothing has to be restored yet: the first signal ends a wait for the server.
        server.options = plain.as_ref().map(|options| self.interrupt.options(options));
        server.announce(self.events)?;
        self.admit(&server)?;
        self.admit_agents(&mut server)?;
        server.options.clone_from(&plain);
        let mut changed = Changed::default();
        let lived = self
            .recover(&mut server, recording)
            .and_then(|()| self.prepare(&mut server, &mut changed, recording))
            .and_then(|()| self.run_on_server(&mut server, recording));
        // The server may refuse sessions because of the run's settings.
        let last = plain.as_ref().map(|options| self.interrupt.last_options(options));
        let Some(restored) = last.and_then(|options| changed.restore(&options)) else { return lived };
        server.options = plain;
        let recorded = self.begun(recording)?;
        let restored = self.put_back(&mut server, restored, "", recorded);
        for setting in recorded.record.settings_set.iter_mut().filter(|setting| setting.before.is_some()) {
            setting.restored = Some(restored.is_ok());
        }
        self.aftermath(lived, restored, recorded)
    }

    /// Refuses what is impossible on this server, before anything is done to it.
    fn admit(&mut self, server: &Server) -> Result<()> {
        if server.owner() != Owner::Given {
            return Ok(());
        }
        let Some(mut admin) = server.admin()?.filter(|admin| !is_null(admin)) else { return Ok(()) };
        let Some(options) = &server.options else { return Ok(()) };
        self.facts.server = Some(pgdyno_server::capabilities(&mut admin, options).or_fail(Code::Start)?);
        settings::admit(&mut admin, &self.plan.settings)?;
        self.request.resolve(&self.facts).map(drop)
    }

    /// Refuses agents that cannot reach this server, or see another one, before anything is done to it.
    fn admit_agents(&self, server: &mut Server) -> Result<()> {
        let Some(team) = &self.team else { return Ok(()) };
        let given = server.options.as_ref().filter(|_| server.owner() == Owner::Given);
        let mut admin = given.map(Admin::connect).transpose().or_fail(Code::Start)?;
        let target = given.map(ToString::to_string);
        let warning = team.look(target.as_deref(), self.plan.links(), admin.as_mut(), self.interrupt)?;
        server.notes.extend(warning);
        Ok(())
    }

    /// Reports a failure after the measurement as a warning, with its exit code; the figures stay valid.
    fn aftermath(&self, lived: Result<End>, after: Result<()>, recording: &mut Recording) -> Result<End> {
        let Err(failure) = after else { return lived };
        let text = failure.text();
        self.events.warn(&text);
        recording.record.warnings.push(text.clone());
        lived.map(|end| match end.code {
            Code::Success => End { reason: Some(text), code: failure.code(), ..end },
            _ => end,
        })
    }

    /// Returns the record; starts it if it has not started.
    fn begun<'r>(&self, recording: &'r mut Option<Recording>) -> Result<&'r mut Recording> {
        let begun = match recording.take() {
            Some(begun) => begun,
            None => {
                let mut begun = Recording::begin(
                    &self.plan,
                    &self.request.source,
                    &self.workload.drive,
                    self.request.order.results(),
                )?;
                begun.record.target = self.named.as_ref().map(Named::record);
                begun.record.labels = self.request.order.labels.iter().cloned().collect();
                begun
            }
        };
        Ok(recording.insert(begun))
    }

    /// Returns the steps of this run on its server; `stop` and `waits` end them.
    fn server_steps<'a>(
        &'a self,
        recording: &'a Recording,
        stop: &'a AtomicBool,
        waits: &'a Interrupter,
    ) -> ServerSteps<'a> {
        ServerSteps {
            named: self.named.as_ref(),
            target: &self.plan.target,
            directory: recording.path(),
            events: self.events,
            stop,
            waits,
        }
    }

    /// Restores settings that a killed run has left changed.
    fn recover(&self, server: &mut Server, recording: &mut Option<Recording>) -> Result<()> {
        let Some(options) = server.options.clone().filter(|_| server.owner() != Owner::Ours) else { return Ok(()) };
        let mut notes = Vec::new();
        let last = self.interrupt.last_options(&options);
        let left = settings::recover(&self.interrupt.options(&options), &last, &mut |note| notes.push(note))?;
        server.notes.append(&mut notes);
        let Some((who, restored)) = left else { return Ok(()) };
        let recorded = self.begun(recording)?;
        let note = format!("{who} was killed before it put settings of this server back");
        self.events.note(&note);
        if let Err(failure) = self.put_back(server, restored, &format!(", which {note}"), recorded) {
            // Without a hook the user may have to restart the server.
            server.notes.push(failure.text());
        }
        Ok(())
    }

    /// Restores the previous settings, and reports it.
    fn put_back(
        &self,
        server: &mut Server,
        restored: Result<Restored>,
        why: &str,
        recording: &mut Recording,
    ) -> Result<()> {
        let began = Instant::now();
        let mut evidence = Vec::new();
        let mut names = String::new();
        let outcome = restored.and_then(|restored| {
            names = restored.names.join(", ");
            let server_steps = self.server_steps(recording, &self.interrupt.at_once, self.interrupt.last_waits());
            if restored.restart {
                server_steps.restart(server, &mut evidence)?;
            }
            let options = server.options.as_ref().map(|options| self.interrupt.last_options(options));
            options.map_or(Ok(()), |options| restored.finish(&options))
        });
        let what = match &outcome {
            Ok(()) => format!("{names} as before{why}"),
            Err(failure) => format!("not done: {}", failure.text()),
        };
        evidence.push(cycle::record("restore-settings", outcome.is_ok(), what, began));
        recording.note_steps(&mut evidence);
        outcome
    }

    /// Prepares the server before its data is read: drops data that is to be replaced, changes settings, and empties
    /// caches.
    fn prepare(&mut self, server: &mut Server, changed: &mut Changed, recording: &mut Option<Recording>) -> Result<()> {
        if !is_prepared(&self.plan) || server.options.is_none() {
            return Ok(());
        }
        // Data that is to be replaced shall not be in the caches.
        let cold = [("restart", self.plan.cycle.restart), ("drop-caches", self.plan.cycle.drop_caches)];
        let cold = cold.iter().any(|(step, asked)| *asked && !self.is_done(step));
        let fresh = self.plan.load == LoadChoice::Always && self.plan.from_template.is_none();
        let mut evidence = Vec::new();
        if fresh && cold && server.owner() != Owner::Ours && !self.workload.data.is_empty() {
            evidence.extend(self.drop_data(server)?);
        }
        let recorded = self.begun(recording)?;
        let prepared = self.make_as_wanted(server, changed, recorded, &mut evidence);
        for step in evidence.iter().filter(|step| !step.done) {
            let warning = format!("{}: {}", step.step, step.what);
            server.notes.push(warning);
        }
        recorded.note_steps(&mut evidence);
        prepared?;
        // Sessions with the clients' options show the settings.
        let (Some(options), false) = (&server.options, self.plan.settings.is_empty()) else { return Ok(()) };
        let from_start = server.owner() == Owner::Ours || self.is_done("settings");
        let way = |name: &str| if from_start { ("start".to_owned(), None) } else { changed.way(name) };
        let (records, verdict) = settings::verify(&self.interrupt.options(options), &self.plan.settings, way);
        recorded.record.settings_set = records;
        verdict
    }

    /// Returns true if a parent process already did this step.
    fn is_done(&self, step: &str) -> bool {
        self.request.order.cycle.done.iter().any(|(done, _)| done == step)
    }

    fn make_as_wanted(
        &self,
        server: &mut Server,
        changed: &mut Changed,
        recording: &Recording,
        evidence: &mut Vec<CycleRecord>,
    ) -> Result<()> {
        let interrupt = self.interrupt;
        let server_steps = self.server_steps(recording, interrupt.control.stop_flag(), interrupt.waits());
        let cycle = self.plan.cycle;
        let restart = cycle.restart && !self.is_done("restart");
        let drop_caches = cycle.drop_caches && !self.is_done("drop-caches");
        let settings = !self.plan.settings.is_empty() && !self.is_done("settings");
        if settings
            && server.owner() != Owner::Ours
            && let Some(options) = &server.options
        {
            let ways = settings::Ways { first: interrupt.options(options), last: interrupt.last_options(options) };
            *changed =
                settings::change(&ways, &self.plan.settings, &self.plan.target, server_steps.can_restart(server))?;
        }
        if restart || changed.wants_restart() {
            server_steps.restart(server, evidence)?;
        }
        if drop_caches {
            server_steps.drop_caches(server, evidence)?;
        }
        server.options = server.options.as_ref().map(|options| changed.options(options));
        Ok(())
    }

    /// Drops data that pgdyno loaded, once its size is known.
    fn drop_data(&mut self, server: &Server) -> Result<Option<CycleRecord>> {
        let Some(options) = &server.options else { return Ok(None) };
        let mut admin = Admin::connect(&self.interrupt.options(options)).or_fail(Code::Start)?;
        let began = Instant::now();
        self.look_for_data(&mut admin)?;
        let workload = self.request.resolve(&self.facts)?.workload;
        let mut was_there = false;
        for data in workload.data.iter().rev() {
            let dropped = pgdyno_load::drop_data(&mut admin, data.as_ref(), false);
            was_there |= !dropped.map_err(|error| error.asked(options)).or_fail(Code::Load)?.is_empty();
        }
        let what = if was_there { "what pgdyno had loaded" } else { "nothing was there" };
        Ok(Some(cycle::record("drop", true, what, began)))
    }

    /// The loaded data decides what the order leaves open, also after it was dropped.
    fn look_for_data(&mut self, admin: &mut Admin) -> Result<()> {
        if let Some(loaded) = loaded(admin, &self.workload)? {
            self.facts.loaded = Some(loaded);
        }
        Ok(())
    }

    /// Returns the pooling mode of a pooler before a given server, which [`Run::admit`] has found. A private server has none.
    fn pooling(&self) -> Option<Pooling> {
        self.facts.server.as_ref().and_then(|caps| caps.pooling)
    }

    /// Executes the run on a server that is prepared: from reading what is loaded to the last check.
    fn run_on_server(&mut self, server: &mut Server, recording: &mut Option<Recording>) -> Result<End> {
        // A copy must be dropped, whatever happens.
        let template = copies::template(server, &self.plan, self.interrupt)?;
        server.options = server.options.as_ref().map(|options| self.interrupt.options(options));
        let mut admin = match &template {
            None => server.admin()?,
            Some(template) => Some(copies::look(template, self.interrupt)?),
        };
        let mut asked = admin.as_mut().filter(|admin| !is_null(admin));
        if let Some(admin) = &mut asked {
            if template.as_ref().is_none_or(|template| template.options().is_some()) {
                self.look_for_data(admin)?;
            }
            let options = template.as_ref().map_or(server.options.as_ref(), |template| Some(template.beside()));
            let pooling = self.pooling();
            let caps = options.map(|_| pgdyno_server::capabilities_through(admin, pooling)).transpose();
            self.facts.server = Some(caps.or_fail(Code::Start)?.unwrap_or_default());
        }
        let Resolved { plan, workload, notes } = self.request.resolve(&self.facts)?;
        let mut watchers = Watchers { counters: true, samples: true };
        if let Some(admin) = asked {
            // A pooler has more clients than connections.
            if self.facts.server.as_ref().is_none_or(|caps| caps.pooling.is_none()) {
                let wanted = Watchers { counters: true, samples: !plan.watch.off };
                let (fitting, warnings) = room::admit(admin, plan.links(), wanted)?;
                watchers = fitting;
                server.notes.extend(warnings);
            }
            server.notes.extend(pgdyno_server::unused_cluster(admin).or_fail(Code::Start)?);
            if plan.suite.is_none()
                && let Some(holder) = TargetLock::holder(admin)?
            {
                server.notes.push(lock::disturbs(&holder));
            }
        }
        let elsewhere = self.request.analytics()?;
        let elsewhere = match (elsewhere, admin.as_mut()) {
            (Some((name, options)), Some(admin)) => {
                let stages = &workload.drive.stages;
                let groups = stages.iter().flat_map(|stage| &stage.groups).filter(|group| group.work == Work::Queries);
                let streams = groups.map(|group| group.clients.number(plan.clients)).max().unwrap_or_default();
                let options = self.interrupt.options(&options);
                Some(AnalyticsServer::admit(name, options, admin, streams, workload.params.flag(MARKERS))?)
            }
            _ => None,
        };
        if let Some(options) = elsewhere.as_ref().map(|there| &there.options).or(server.options.as_ref()) {
            analytics::admit_settings(options, &plan.analytics.settings)?;
        }
        for note in notes {
            self.events.note(&note);
        }
        let recording = self.begun(recording)?;
        recording.settle(&plan, &workload.drive);
        recording.record.cached_data = server.cached().map(cached::record);
        let mut warnings = server.notes.clone();
        warnings.extend(workload.drive.advice(plan.clients));
        warnings.extend(resolve::without_effect(&plan));
        for warning in warnings {
            self.events.warn(&warning);
            recording.record.warnings.push(warning);
        }
        let os_metrics = watch::os_metrics(&self.request.order.watch, self.named.as_ref());
        let mut stage = Stage {
            plan: &plan,
            workload: &workload,
            interrupt: self.interrupt,
            events: self.events,
            recording,
            os_metrics: os_metrics.as_ref(),
            team: self.team.as_ref().map(|team| TeamOfRun {
                team,
                facts: &self.facts,
                loaders: self.request.order.loading.loaders,
                files: self.request.source.files_beside_plan(),
            }),
            maker: None,
            fresh: Vec::new(),
            rows_before: None,
            repartitioned: Vec::new(),
            elsewhere,
            watchers,
            is_checked: plan.checks,
            pooling: self.pooling(),
        };
        stage.execute(server, admin, template.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, PoisonError};

    use super::*;
    use crate::events::Event;

    /// Keeps events in the form that another machine would receive.
    #[derive(Default)]
    struct Kept(Mutex<Vec<serde_json::Value>>);

    impl EventSink for Kept {
        fn event(&self, event: &Event<'_>) {
            let event = serde_json::to_value(event).expect("an event is plain data");
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(event);
        }
    }

    #[test]
    fn a_run_is_made_again_from_its_stored_plan_alone() {
        let results = tempfile::tempdir().unwrap();
        let mut order = Order { out: Some(results.path().to_owned()), ..Order::of("noop") };
        (order.drive.clients, order.drive.transactions) = (Some(2), Some(50));
        let first = run(order, &Interrupt::default(), &crate::Silent).unwrap().recording.unwrap();
        let directory = first.path();
        let stored = pgdyno_results::read_record(&directory.join(pgdyno_results::RECORD)).unwrap();
        let mut request = Request::of_plan(&stored.plan, directory).unwrap();
        request.order.out = Some(results.path().to_owned());
        let second = run_request(&request, &Interrupt::default(), &crate::Silent).unwrap().recording.unwrap();
        assert_ne!(first.record.id, second.record.id);
        assert_eq!((second.record.plan, second.record.plan_hash), (stored.plan, stored.plan_hash));
        assert_eq!(second.record.summary.unwrap().committed, 100);
    }

    #[test]
    fn a_run_tells_what_happens_as_plain_data() {
        let results = tempfile::tempdir().unwrap();
        let mut order = Order { out: Some(results.path().to_owned()), ..Order::of("noop") };
        (order.drive.clients, order.drive.transactions, order.drive.random_seed) = (Some(3), Some(1000), Some(1));
        let kept = Kept::default();
        let ran = run(order, &Interrupt::default(), &kept).unwrap();
        assert_eq!((ran.code, ran.unwritten.len()), (Code::Success, 0));
        assert_eq!(ran.recording.unwrap().record.summary.unwrap().committed, 3000);

        let events = kept.0.into_inner().unwrap();
        let of = |name: &str| events.iter().filter(|event| event["event"] == name).collect::<Vec<_>>();
        assert_eq!(of("drive-begins")[0]["plan"]["clients"], 3);
        let committed: u64 = of("interval").iter().map(|event| event["interval"]["committed"].as_u64().unwrap()).sum();
        assert_eq!(committed, 3000, "{events:#?}");
        assert_eq!(events.last().unwrap()["event"], "ended");
    }
}
