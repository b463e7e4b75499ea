//! The final plan: what the server can do and holds decides what the order leaves open.

use pgdyno_load::TemplateDatabase;
use pgdyno_net::Admin;
use pgdyno_plan::Plan;
use pgdyno_workload::{GroupWork, MARKERS, Workload};

use crate::data::copies;
use crate::exit_code::Code;
use crate::failure::{OrFail, Result};
use crate::plan::resolve::{self, Resolved};
use crate::run::context::RunContext;
use crate::run::prepared::{Prepared, RunServer, SessionPurpose};
use crate::target::analytics::{self, AnalyticsServer};
use crate::target::lock::{self, TargetLock};
use crate::target::reach::is_null;
use crate::target::readers::Reader;
use crate::target::room::{self, Watchers};
use crate::target::{TargetServer, cached};

/// The final plan, and the server that it is for.
pub(super) struct Settled {
    pub(super) plan: Plan,
    pub(super) workload: Workload,
    /// A session on the server; `None` without one.
    pub(super) admin: Option<Admin>,
    /// The database that the run copies, if it does.
    pub(super) template: Option<TemplateDatabase>,
    pub(super) watchers: Watchers,
    pub(super) analytics_server: Option<AnalyticsServer>,
    pub(super) readers: Vec<Reader>,
}

/// Makes the plan final, and records it. Nothing of the server is changed.
///
/// # Errors
/// When the server cannot do what the plan says, or has no room for the clients.
pub(super) fn settle(context: &RunContext<'_>, prepared: &mut Prepared<'_>) -> Result<Settled> {
    let options = prepared.server.options(SessionPurpose::Measure);
    let template = copies::template(options.as_ref(), &context.draft.plan, context.interrupt)?;
    let mut admin = match (&template, prepared.session.take()) {
        (Some(template), _) => Some(copies::look(template, context.interrupt)?),
        (None, None) => prepared.server.connect(SessionPurpose::Measure)?,
        (None, session) => session,
    };
    let mut asked = admin.as_mut().filter(|admin| !is_null(admin));
    if let Some(admin) = &mut asked {
        add_facts(prepared, admin, template.as_ref())?;
    }
    let Resolved { plan, workload, notes } = context.request.resolve(&prepared.facts)?;
    let (watchers, left_out) = match asked {
        Some(admin) => admit(&mut *prepared, admin, &plan)?,
        None => (Watchers { counters: true, samples: true }, Vec::new()),
    };
    let other = Others { context, plan: &plan, workload: &workload, target: prepared.server.server() };
    let analytics_server = other.analytics_server(admin.as_mut())?;
    let readers = other.readers(admin.as_mut())?;
    if let Some(options) = analytics_server.as_ref().map(|server| &server.options).or(options.as_ref()) {
        analytics::admit_settings(options, &plan.drive.analytics.settings)?;
    }
    for note in notes {
        context.events.note(&note);
    }
    record(context, &prepared.server, &plan, &workload)?;
    left_out.iter().for_each(|text| context.events.left_out(text));
    Ok(Settled { plan, workload, admin, template, watchers, analytics_server, readers })
}

/// Adds what the server can do and which data it holds.
fn add_facts(prepared: &mut Prepared<'_>, admin: &mut Admin, template: Option<&TemplateDatabase>) -> Result<()> {
    // A template that accepts no connections cannot be looked at.
    if template.is_none_or(|template| template.options().is_some()) {
        prepared.look_for_data(admin)?;
    }
    let caps = pgdyno_server::capabilities_through(admin, prepared.pooling()).or_fail(Code::Start)?;
    prepared.facts.server = Some(caps);
    Ok(())
}

/// Refuses a run whose clients the server has no room for. Returns the sessions beside them that fit, and why others are
/// left out.
fn admit(prepared: &mut Prepared<'_>, admin: &mut Admin, plan: &Plan) -> Result<(Watchers, Vec<String>)> {
    let (mut watchers, mut left_out) = (Watchers { counters: true, samples: true }, Vec::new());
    // A pooler has more clients than connections.
    if prepared.pooling().is_none() {
        let wanted = Watchers { counters: true, samples: !plan.watch.off };
        (watchers, left_out) = room::admit(admin, plan.links(), wanted)?;
    }
    let unused = pgdyno_server::unused_cluster(admin).or_fail(Code::Start)?;
    unused.into_iter().for_each(|warning| prepared.server.note(warning));
    if plan.suite.is_none()
        && let Some(holder) = TargetLock::holder(admin)?
    {
        prepared.server.note(lock::disturbs(&holder));
    }
    Ok((watchers, left_out))
}

/// The servers beside the target of a run.
struct Others<'a> {
    context: &'a RunContext<'a>,
    plan: &'a Plan,
    workload: &'a Workload,
    target: &'a TargetServer,
}

impl Others<'_> {
    /// Returns the other server of the queries, if the order names one.
    fn analytics_server(&self, admin: Option<&mut Admin>) -> Result<Option<AnalyticsServer>> {
        let (Some(named), Some(admin)) = (self.context.request.analytics()?, admin) else { return Ok(None) };
        let (name, options) = named.reach(self.target)?;
        let stages = &self.workload.drive.stages;
        let groups = stages.iter().flat_map(|stage| &stage.groups).filter(|group| group.work == GroupWork::Queries);
        let streams = groups.map(|group| group.clients.number(self.plan.drive.clients)).max().unwrap_or_default();
        let options = self.context.interrupt.options(&options);
        AnalyticsServer::admit(name, options, admin, streams, self.workload.params.flag(MARKERS)).map(Some)
    }

    /// Returns the readers that the order names.
    fn readers(&self, admin: Option<&mut Admin>) -> Result<Vec<Reader>> {
        let (named, Some(admin)) = (self.context.request.readers()?, admin) else { return Ok(Vec::new()) };
        let (clients, number) = (self.plan.drive.clients, named.len() as u32);
        let admitted = named.into_iter().zip(0..).map(|(reader, nth)| {
            let (name, options) = reader.reach(self.target)?;
            let options = self.context.interrupt.options(&options);
            // Clients are dealt in turn.
            let of_reader = clients / number + u32::from(nth < clients % number);
            Reader::admit(name, options, admin, of_reader, self.context.events)
        });
        admitted.collect()
    }
}

/// Records the final plan, and warns of what is known before the data is read.
fn record(context: &RunContext<'_>, server: &RunServer<'_>, plan: &Plan, workload: &Workload) -> Result<()> {
    context.record.begin()?;
    context.record.edit(|recording| {
        recording.settle(plan, &workload.drive);
        recording.record.cached_data = server.server().cached().map(cached::record);
    });
    let notes = server.notes().iter().cloned();
    let advice = workload.drive.advice(plan.drive.clients);
    for warning in notes.chain(advice).chain(resolve::without_effect(plan)) {
        context.events.warn(&warning);
    }
    Ok(())
}
