//! A run from the load to the last check.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use pgdyno_engine::Ended;
use pgdyno_load::steps;
use pgdyno_load::{Baseline, Difference, Fresh, Moment, NOT_CHECKABLE, SCHEMA, Template};
use pgdyno_net::{Admin, ConnectOptions};
use pgdyno_plan::{LoadChoice, Plan};
use pgdyno_results::{
    AnalyticsServerRecord, CheckRecord, CheckSet, CopyRecord, GrowthRecord, QUERY_PLANS, ServerCountRecord,
    ServerRecord, Status, note_counts, note_metrics, write_json,
};
use pgdyno_server::os::{Machines, OsMetrics, ServerSession};
use pgdyno_server::stat::name_of_streams;
use pgdyno_workload::{Capabilities, DataSet, Pooling, ServerCount, Work, Workload};

use crate::agents::load::SharedLoad;
use crate::data::before_run;
use crate::data::copies;
use crate::data::foreign;
use crate::data::keep;
use crate::data::loading::LoadSettings;
use crate::data::rights;
use crate::data::spared;
use crate::data::{self, DataAccess};
use crate::drive::query_plans;
use crate::drive::watch;
use crate::drive::{self, Driven, DrivenServer, TeamOfRun};
use crate::events::{Event, EventSink};
use crate::exit_code::Code;
use crate::failure::{OrFail, Result};
use crate::interrupt::Interrupt;
use crate::kept_session::KeptSession;
use crate::prepare::cycle::warm;
use crate::record::Recording;
use crate::record::analytics;
use crate::record::diagnosis;
use crate::record::figures;
use crate::record::query_costs::{self, QueryIds};
use crate::record::stalls;
use crate::record::verdict::{self, End};
use crate::record::warnings;
use crate::target::analytics::{self as analytics_target, AnalyticsServer};
use crate::target::cached;
use crate::target::cluster;
use crate::target::lock;
use crate::target::room::Watchers;
use crate::target::{Owner, Server};

/// How long the server may take to report its counts.
const SAMPLING: Duration = Duration::from_secs(5);
/// How long one of its answers may take after the run.
const AFTERWARDS: Duration = Duration::from_secs(60);

/// Returns true if the server is a null server, given or started.
pub fn is_null(admin: &Admin) -> bool {
    admin.parameters().get("server_version") == Some(pgdyno_null::VERSION)
}

/// A run and its context.
pub(crate) struct Stage<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) workload: &'a Workload,
    pub(crate) interrupt: &'a Interrupt,
    pub(crate) events: &'a dyn EventSink,
    pub(crate) recording: &'a mut Recording,
    /// How the server's machine is read, if the order says so.
    pub(crate) os_metrics: Option<&'a OsMetrics>,
    /// The agents that drive, if this process does not.
    pub(crate) team: Option<TeamOfRun<'a>>,
    /// The other program that loaded the data, if one did.
    pub(crate) maker: Option<&'static str>,
    /// The data sets that this run has loaded, by name.
    pub(crate) fresh: Vec<&'static str>,
    /// About the rows of the table that the clients make longer, when they began.
    pub(crate) rows_before: Option<u64>,
    /// Queries that move rows between the nodes of Citus.
    pub(crate) repartitioned: Vec<String>,
    /// The other server of its queries, if they have one.
    pub(crate) elsewhere: Option<AnalyticsServer>,
    /// The sessions beside the clients for which the server has room.
    pub(crate) watchers: Watchers,
    /// Whether the data is checked before and after the run.
    pub(crate) is_checked: bool,
    /// The pooling mode of a pooler between this program and the server.
    pub(crate) pooling: Option<Pooling>,
}

impl Stage<'_> {
    /// Runs from the load to the last check. Adds results to the record immediately.
    pub(crate) fn execute(
        &mut self,
        server: &mut Server,
        admin: Option<Admin>,
        template: Option<&Template>,
    ) -> Result<End> {
        let (Some(options), Some(mut admin)) = (server.options.clone(), admin) else {
            let caps = Capabilities::default();
            let nobody = DrivenServer {
                caps: &caps,
                options: None,
                of_queries: None,
                sampler: None,
                is_watched: false,
                is_private: true,
                machines: Machines::default(),
                server: None,
            };
            let driven = self.drive(nobody)?;
            return Ok(self.conclude(&driven, None));
        };
        if is_null(&admin) {
            return self.against_nobody(&options);
        }
        let caps = pgdyno_server::capabilities_through(&mut admin, self.pooling).or_fail(Code::Start)?;
        self.recording.server_can(&self.workload.drive, &caps);
        let mut session = KeptSession::new(admin, &options, &caps)?;
        let Some(template) = template else {
            self.provide(&options, &mut session, &caps, server.data_dir())?;
            if self.is_worth_keeping(server) {
                drop(session);
                keep::keep(server, self.events)?;
                session = KeptSession::new(Admin::connect(&options).or_fail(Code::Start)?, &options, &caps)?;
            }
            return self.run_on_server(&options, &mut session, &caps, server);
        };
        let there = template.options().map(|options| self.interrupt.options(&options));
        if let Some(there) = &there {
            self.provide(there, &mut session, &caps, server.data_dir())?;
        }
        // A database can be copied only while nobody is connected to it.
        drop(session);
        let fresh = self.copy(template)?;
        let options = self.interrupt.options(&fresh.options());
        let lived = Admin::connect(&options).or_fail(Code::Start).and_then(|admin| {
            let mut session = KeptSession::new(admin, &options, &caps)?;
            if there.is_none() {
                self.provide(&options, &mut session, &caps, server.data_dir())?;
            }
            self.run_on_server(&options, &mut session, &caps, server)
        });
        self.events.note(&format!("dropping {}", fresh.name()));
        if let Err(error) = fresh.remove() {
            self.warn(error.to_string());
        }
        lived
    }

    /// Loads or finds the data. `data_dir` is the data directory of a private server.
    fn provide(
        &mut self,
        options: &ConnectOptions,
        session: &mut KeptSession,
        caps: &Capabilities,
        data_dir: Option<&Path>,
    ) -> Result<()> {
        let stop = self.interrupt.control.stop_flag();
        let access = DataAccess { options, caps, events: self.events, stop, data_dir };
        let loading = LoadSettings::planned(self.plan);
        let workload = self.workload;
        if self.plan.load != LoadChoice::Always {
            let missing = spared::spared(session.ready()?, workload, caps)?;
            if !missing.is_empty() {
                self.is_checked = false;
                self.warn(format!(
                    "left out: check the data: {} of {} is missing, which this workload does not read",
                    missing.join(", "),
                    workload.meta.dataset
                ));
                return Ok(());
            }
        }
        for set in &workload.data {
            let may_differ = self.plan.allow_schema_changes;
            let shared = self.team.as_ref().and_then(|team| team.load(self.plan, set.as_ref(), options, caps));
            let helpers = shared.as_ref().map(SharedLoad::helpers);
            let admin = session.ready()?;
            let provided = data::provide(&access, admin, set.as_ref(), self.plan.load, loading, may_differ, helpers)?;
            if let Some(shared) = &shared {
                shared.end_before_drive(self.events)?;
            }
            if let Some(load) = provided.load {
                self.fresh.push(set.meta().dataset);
                let record = &mut self.recording.record.load;
                *record = Some(match record.take() {
                    Some(before) => before.and(load),
                    None => load,
                });
            }
            self.maker = self.maker.or(provided.maker);
            data::repair(&access, session.ready()?, set.as_ref())?;
        }
        rights::admit(session.ready()?, workload, caps)?;
        let stamp = match (self.maker, self.workload.data.first()) {
            (None, Some(data)) => pgdyno_load::complete_stamp(session.ready()?, data.as_ref()).or_fail(Code::Load)?,
            _ => None,
        };
        let record = &mut self.recording.record;
        record.rows_read =
            stamp.as_ref().and_then(|stamp| self.workload.drive.rows_read(stamp.changes.as_deref(), true));
        record.data_from = self.maker.map(str::to_owned).or(stamp.map(|stamp| format!("pgdyno {}", stamp.pgdyno)));
        Ok(())
    }

    /// Returns true if this run has loaded all data of a private server, and loading it again would take a while.
    fn is_worth_keeping(&self, server: &Server) -> bool {
        let sets = self.workload.data.iter().filter(|set| set.meta().has_data()).count();
        let seconds = self.recording.record.load.as_ref().map_or(0.0, |load| load.seconds);
        server.can_keep_data() && self.fresh.len() == sets && seconds >= cached::WORTH_KEEPING_S
    }

    /// Makes the copy of the database that the run uses.
    fn copy(&mut self, template: &Template) -> Result<Fresh> {
        let stop = self.interrupt.control.stop_flag();
        let fresh = copies::make(template, &self.recording.record.id, stop, self.events)?;
        self.recording.record.copy = Some(CopyRecord {
            template: template.name().to_owned(),
            database: fresh.name().to_owned(),
            seconds: fresh.seconds,
            bytes: fresh.bytes,
            method: Some(fresh.method.name().to_owned()),
        });
        Ok(fresh)
    }

    /// Runs in the database with the data, from the first check to the last one.
    fn run_on_server(
        &mut self,
        options: &ConnectOptions,
        session: &mut KeptSession,
        caps: &Capabilities,
        server: &mut Server,
    ) -> Result<End> {
        let admin = session.ready()?;
        let stop = self.interrupt.control.stop_flag();
        let access = DataAccess { options, caps, events: self.events, stop, data_dir: None };
        let pooling = caps.pooling.map(|pooling| pooling.name().to_owned());
        self.recording.record.server = Some(ServerRecord { pooling, ..server_record(admin, options, server)? });
        self.note_pooler(caps);
        self.describe_cluster(options, admin, caps)?;
        if caps.distributed_tables {
            let mut of_queries = self.options_of_queries(options).map(|options| Admin::connect(&options)).transpose();
            let session = match &mut of_queries {
                Ok(Some(session)) => session,
                _ => &mut *admin,
            };
            self.repartitioned = query_plans::admit(session, &self.workload.drive.explained)?;
        }
        let sizes = self.table_sizes(admin, caps);
        if !self.plan.no_vacuum {
            let workload = self.workload;
            for set in &workload.data {
                for warning in before_run::before_run(admin, set.as_ref(), caps)? {
                    self.warn(warning);
                }
            }
        }
        let mut baselines = Vec::new();
        let workload = self.workload;
        for set in &workload.data {
            if self.is_checked {
                baselines.push(self.check_before(&access, set.as_ref())?);
            } else {
                let admin = session.ready()?;
                let differences = pgdyno_load::differences(admin, set.as_ref(), caps).or_fail(Code::Check)?;
                self.warn_of_schema(differences.unwrap_or_default().iter());
            }
        }
        // Checks use other sessions, which may take long.
        let admin = session.ready()?;
        self.warm(admin, caps)?;
        let counted_before = self.server_counts(admin);
        self.rows_before = workload.drive.growth.and_then(|growth| data::number(admin, growth.rows_query));
        let mut left_out = Vec::new();
        let beside = session.mark(&mut |warning| left_out.push(warning))?;
        for warning in left_out {
            self.warn(warning);
        }

        let is_private = server.owner() != Owner::Given;
        // Counters of one node miss the others, and their sum counts a transaction on several nodes several times.
        let is_counted = !caps.distributed_tables && self.watchers.counters;
        // This session is used while the clients run: a server that does not answer must not delay their end.
        let sampler =
            is_counted.then(|| KeptSession::beside(session, SAMPLING)).transpose().unwrap_or_else(|failure| {
                self.warn(steps::COUNTERS.left_out(&failure.text()));
                None
            });
        let admin = session.ready()?;
        let machines = Machines {
            local: options.is_local(),
            // Without it the machine is still read, only its processes are not.
            session: ServerSession::of(admin).ok().flatten().and_then(|session| session.with_nodes(admin).ok()),
            os_metrics: self.os_metrics.cloned(),
        };
        if let Some(elsewhere) = &mut self.elsewhere {
            self.events.note("waiting until the standby has replayed all that the primary has");
            elsewhere.await_replay(admin, self.interrupt.control.stop_flag())?;
        }
        let of_queries = self.options_of_queries(options);
        let identity = session.server().cloned();
        let driven = DrivenServer {
            caps,
            options: Some(options),
            of_queries: of_queries.as_ref(),
            sampler,
            is_watched: self.watchers.samples,
            is_private,
            machines,
            server: identity,
        };
        let driven = session.kept_alive(|| self.drive(driven))?;
        let mut end = self.conclude(&driven, server.death());
        let answers = self.still_answers(session);
        if !answers {
            end = verdict::without_answer(end, &self.recording.record, driven.outcome.cancelled_in_flight);
        }
        self.note_elsewhere(session.as_is());
        self.note_query_costs(session.as_is(), caps, &driven, answers);
        let came = if answers { session.other_run() } else { None };
        if let Some(other) = beside.or(came) {
            self.warn(lock::disturbs(&other));
        }
        let was_lost = matches!(driven.outcome.ended, Ended::ServerLost(_));
        if answers && was_lost {
            self.warn("the data was not checked after the run, for its clients lost the server".to_owned());
        } else if answers {
            if matches!(driven.outcome.ended, Ended::Complete) {
                self.explain(options);
            }
            self.look_back(&access, session, &counted_before, &baselines, &driven, &mut end);
            session.look_in();
        }
        self.note_growth(session.as_is(), caps, &sizes, answers);
        Ok(end)
    }

    /// Returns how streams of queries connect, if that is not as all clients do.
    fn options_of_queries(&self, options: &ConnectOptions) -> Option<ConnectOptions> {
        let settings = &self.plan.analytics.settings;
        let there = self.elsewhere.as_ref().map(|elsewhere| {
            // A copy of the database has a name of its own, on the standby, too.
            if self.plan.from_template.is_some() {
                elsewhere.options.with_database(options.dbname())
            } else {
                elsewhere.options.clone()
            }
        });
        let name = self.name_of_streams(options);
        if there.is_none() && settings.is_empty() && name.is_none() {
            return None;
        }
        let options = there.as_ref().unwrap_or(options);
        let options = name.map_or_else(|| options.clone(), |name| options.with_application_name(&name));
        Some(analytics_target::with_settings(&options, settings))
    }

    /// Returns the name of the sessions of streams, where they run beside transactions: samples tell both apart by it.
    fn name_of_streams(&self, options: &ConnectOptions) -> Option<String> {
        let is_mixed = |stage: &pgdyno_workload::Stage| {
            [Work::Transactions, Work::Queries].iter().all(|work| stage.groups.iter().any(|group| group.work == *work))
        };
        // Shared connections serve both.
        let has_own = self.plan.connections.is_none() && self.workload.drive.stages.iter().any(is_mixed);
        options.application_name().filter(|_| has_own).and_then(name_of_streams)
    }

    /// Adds the other server of queries to the record.
    fn note_elsewhere(&mut self, admin: &mut Admin) {
        let Some(elsewhere) = &self.elsewhere else { return };
        match elsewhere.record(admin) {
            Ok(server) => {
                let lag = self.recording.replay_lag_s_max();
                if let Some(analytics) = &mut self.recording.record.analytics {
                    analytics.server = Some(AnalyticsServerRecord { replay_lag_s_max: lag, ..server });
                }
            }
            Err(error) => self.warn(format!("the server of the queries does not say how it did: {error}")),
        }
    }

    /// Reports a warning, and adds it to the record.
    fn warn(&mut self, warning: String) {
        self.events.warn(&warning);
        self.recording.record.warnings.push(warning);
    }

    /// Returns what a reader must know about the pooler between driver and server.
    fn note_pooler(&mut self, caps: &Capabilities) {
        let Some(pooling) = caps.pooling else { return };
        let sessions = match pooling.keeps_sessions() {
            true => "; each client, and each connection of pgdyno's own, needs one of its connections to the server",
            false => "",
        };
        let warning = format!(
            "clients connect through a pooler ({} pooling): its work is part of the latencies, and TPM is left out because \
             sessions of the server outlive the clients{sessions}",
            pooling.name()
        );
        self.warn(warning);
    }

    /// Returns true if the server still answers after the run. If it does not, later steps do not wait for it.
    fn still_answers(&mut self, session: &mut KeptSession) -> bool {
        let answers = session.answers();
        match session.losses() {
            _ if !answers => {
                self.warn("the server no longer answers: the data was not checked after the run".to_owned());
            }
            0 => {}
            losses => {
                let times = if losses == 1 { "once".to_owned() } else { format!("{losses} times") };
                self.events.note(&format!("pgdyno's own session was lost {times} during the run, and opened again"));
            }
        }
        session.wait_at_most(if answers { AFTERWARDS } else { SAMPLING });
        answers
    }

    /// Fills the caches and writes a checkpoint, if the plan asks for that.
    fn warm(&mut self, admin: &mut Admin, caps: &Capabilities) -> Result<()> {
        let cycle = self.plan.cycle;
        let mut steps = Vec::new();
        if cycle.prewarm {
            let stop = self.interrupt.control.stop_flag();
            let workload = self.workload;
            for set in &workload.data {
                steps.push(warm::prewarm(admin, set.as_ref(), caps, self.events, stop)?);
            }
        }
        if cycle.checkpoint {
            self.events.note("checkpoint");
            steps.push(warm::checkpoint(admin)?);
        }
        for step in steps.iter().filter(|step| !step.done) {
            let warning = format!("{}: {}", step.step, step.what);
            self.warn(warning);
        }
        self.recording.note_steps(&mut steps);
        Ok(())
    }

    /// Keeps the plans of the workload's queries, if the plan asks for that. A failure is a warning: the figures stand
    /// without the plans.
    fn explain(&mut self, options: &ConnectOptions) {
        if !self.plan.watch.plans {
            return;
        }
        let stop = self.interrupt.control.stop_flag();
        let explained = &self.workload.drive.explained;
        match query_plans::explain(options, explained, stop, self.events) {
            Ok(plans) => {
                self.recording.record.query_plans = plans.shapes;
                if let Err(error) = write_json(self.recording.path(), QUERY_PLANS, &plans.whole) {
                    self.warn(error.to_string());
                }
            }
            Err(error) => self.warn(format!("the queries could not be explained: {error}")),
        }
    }

    /// Adds what the workload's queries cost the server beside time, unless other nodes do a part of the work. Statements are
    /// only found on a server that `answers`, and not if another server runs the queries.
    fn note_query_costs(&mut self, admin: &mut Admin, caps: &Capabilities, driven: &Driven, answers: bool) {
        let (Some(kept), Some(files), false) = (&driven.kept, &self.recording.files, caps.distributed_tables) else {
            return;
        };
        let counted = files.samples.of(pgdyno_samples::statements::SOURCE);
        let explained = &self.workload.drive.explained;
        let is_counted = answers && !counted.is_empty() && self.elsewhere.is_none();
        // If the connection is lost, the checks after the run report why.
        let ids = is_counted.then(|| QueryIds::ask(admin, explained).ok()).flatten().unwrap_or_default();
        self.recording.record.query_costs = query_costs::of(explained, &ids, counted, &kept.executions);
    }

    /// Returns the sizes of the tables; none if they cannot be read now.
    fn table_sizes(&self, admin: &mut Admin, caps: &Capabilities) -> Vec<(&'static str, u64)> {
        let mut of = |set: &Arc<dyn DataSet>| pgdyno_load::table_sizes(admin, set.as_ref(), caps).unwrap_or_default();
        self.workload.data.iter().flat_map(&mut of).collect()
    }

    /// Returns the growth of the tables, or only their size before the run if the server no longer answers.
    fn note_growth(&mut self, admin: &mut Admin, caps: &Capabilities, before: &[(&str, u64)], answers: bool) {
        let after = if answers { self.table_sizes(admin, caps) } else { Vec::new() };
        let growth = |(nth, (name, bytes_before)): (usize, &(&str, u64))| GrowthRecord {
            name: (*name).to_owned(),
            bytes_before: *bytes_before,
            bytes_after: after.get(nth).map(|(_, bytes)| *bytes),
        };
        if let Some(server) = &mut self.recording.record.server {
            server.tables = before.iter().enumerate().map(growth).collect();
        }
    }

    /// Reads the facts about the nodes, if tables are distributed.
    fn describe_cluster(&mut self, options: &ConnectOptions, admin: &mut Admin, caps: &Capabilities) -> Result<()> {
        let Some(found) = cluster::record(admin, options, caps, self.workload, self.plan)? else { return Ok(()) };
        for warning in cluster::warnings(&found, &self.plan.scale_name) {
            self.warn(warning);
        }
        if let Some(server) = &mut self.recording.record.server {
            server.database_bytes = cluster::database_bytes(admin);
            server.cluster = Some(found);
        }
        Ok(())
    }

    /// Drives the server, and adds the results to the record.
    fn drive(&mut self, driven: DrivenServer<'_>) -> Result<Driven> {
        let txns = self.workload.drive.txns().iter().map(|txn| txn.name.to_owned()).collect::<Vec<_>>();
        self.events.event(&Event::DriveBegins { plan: self.plan, transactions: &txns });
        let control = &self.interrupt.control;
        let mut driven = self.interrupt.driving(|| {
            let team = self.team.as_ref();
            drive::drive(self.plan, self.workload, driven, team, control, self.events, self.recording)
        })?;
        if let Some(watched) = driven.watched.take() {
            let directory = self.recording.path().to_owned();
            watch::note(watched, &mut self.recording.record, &directory, self.events);
        }
        Ok(driven)
    }

    /// A null server has no data and no statistics.
    fn against_nobody(&mut self, options: &ConnectOptions) -> Result<End> {
        self.recording.record.server = Some(ServerRecord {
            version: "pgdyno null server".to_owned(),
            origin: "the figures are the driver's ceiling, no database's".to_owned(),
            local: options.is_local(),
            ..ServerRecord::default()
        });
        let caps = Capabilities::default();
        let nobody = DrivenServer {
            caps: &caps,
            options: Some(options),
            of_queries: None,
            sampler: None,
            is_watched: false,
            is_private: true,
            machines: Machines::default(),
            server: None,
        };
        let driven = self.drive(nobody)?;
        Ok(self.conclude(&driven, None))
    }

    fn check_before(&mut self, access: &DataAccess<'_>, data: &dyn DataSet) -> Result<Baseline> {
        let fresh = self.fresh.contains(&data.meta().dataset);
        if fresh {
            let (set, _) = data::check(access, data, Moment::AfterLoad, "after the load")?;
            self.note_checks(&set);
            if !data::holds(&set) {
                return Err(data::broken(&set));
            }
        }
        // Checks that just passed are repeated only for what the run must not change.
        let moment = if fresh { Moment::BeforeRun } else { Moment::AtRest };
        let (set, baseline) = data::check(access, data, moment, "before the run")?;
        self.note_checks(&set);
        let allowed = |check: &CheckRecord| self.plan.allow_schema_changes && check.name == SCHEMA;
        match self.maker {
            None if set.checks.iter().any(|check| !check.passes() && !allowed(check)) => {
                return Err(data::broken(&set));
            }
            Some(maker) => foreign::unlike(&set, maker, data).map_or(Ok(()), Err)?,
            None => {}
        }
        self.warn_of_schema(baseline.differences().iter());
        if let Some(why) = baseline.schema_unknown() {
            let warning = format!("the schema was not checked: {why}");
            self.warn(warning);
        }
        for warning in foreign::broken_before(&set) {
            self.warn(warning);
        }
        Ok(baseline)
    }

    /// Notes in the record that the schema differs from what was loaded.
    fn warn_of_schema<'d>(&mut self, differences: impl Iterator<Item = &'d Difference>) {
        for difference in differences {
            let warning = format!("the schema differs: {difference}");
            self.warn(warning);
        }
    }

    /// Adds checks to the record, and warns of those that the server cannot run. A set without checks gets no line.
    fn note_checks(&mut self, set: &CheckSet) {
        for (check, why) in set.checks.iter().filter_map(|check| Some((check, check.refused.as_ref()?))) {
            match why.strip_prefix(NOT_CHECKABLE) {
                // It says nothing about the figures.
                Some(why) => self.events.note(&format!("{} is not checked: {why}", check.name)),
                None => self.warn(format!(
                    "{} was not checked {}: the server cannot run its query: {why}",
                    check.name, set.when
                )),
            }
        }
        if !set.checks.is_empty() {
            self.recording.record.checks.push(set.clone());
        }
    }

    /// Returns what the server's tables count, in this order: for each of the workload's metrics, then the others.
    fn server_counts(&self, admin: &mut Admin) -> Vec<Option<u64>> {
        let drive = &self.workload.drive;
        let of_metrics = drive.metrics.iter().map(|metric| metric.server_count.map(str::to_owned));
        // They may read whole tables.
        let others = if self.plan.checks { drive.server_counts() } else { Vec::new() };
        let queries: Vec<_> = of_metrics.chain(others.into_iter().map(|count| Some(count.query))).collect();
        queries.into_iter().map(|query| data::number(admin, &query?)).collect()
    }

    /// Fills in the figures, and returns how the run ended.
    fn conclude(&mut self, driven: &Driven, death: Option<String>) -> End {
        let outcome = &driven.outcome;
        let measured = &outcome.measured;
        self.recording.summarize(measured, outcome.process.cpu_ns());
        self.recording.summarize_groups(outcome, &self.workload.drive.stages);
        if let Some(kept) = &driven.kept {
            let rows = self.rows_before;
            let record = &mut self.recording.record;
            record.analytics = analytics::analytics(&self.workload.drive, record, outcome, kept, rows);
            if let Some(analytics) = &mut record.analytics {
                analytics.repartitioned.clone_from(&self.repartitioned);
            }
        }
        let broken = figures::broken(outcome, &self.recording.txn_names());
        let is_own = self.plan.scripts.is_empty() && self.plan.directory.is_none();
        // Each parallel worker of a query has a transaction, and each statement where the workload has no blocks.
        let has_blocks = self.plan.params.get("skip_trx").is_none_or(|value| value == "false")
            && !self.plan.workload.starts_with("ycsb");
        let is_transactional = !self.workload.drive.is_analytic && self.recording.record.analytics.is_none();
        let is_one_each = is_own && has_blocks && is_transactional;
        let tps = self.recording.tps_by_interval().to_vec();
        let stalls = self.recording.stalls(measured);
        let record = &mut self.recording.record;
        figures::fill(record, outcome, measured, &tps);
        record.drivers.clone_from(&driven.drivers);
        for remedy in warnings::errors::remedies(&record.errors) {
            self.events.warn(&remedy);
        }
        if let Some(summary) = &mut record.summary {
            summary.server_cpu_percent = record.server_machine.as_ref().and_then(|machine| machine.cpu_percent);
            match verdict::tpm(driven, summary.tpm_client, is_one_each) {
                Ok(tpm) => summary.tpm = tpm,
                Err(warning) => record.warnings.push(warning),
            }
            summary.stalled_s = (!stalls.is_empty()).then(|| stalls::seconds(&stalls));
            if let Some(work) = &driven.window {
                summary.cache_hit_ratio = work.hit_ratio();
                // A session that ended early did not report its count of reads.
                let whole = summary.connections_lost == 0 && summary.connections_opened.is_none();
                let reads = driven.disk_reads.as_ref().filter(|_| whole);
                summary.os_cache_hit_ratio = reads.and_then(|reads| work.os_hit_ratio(reads));
                summary.wal_bytes = work.wal_bytes;
            }
        }
        note_metrics(record);
        // What the figures show comes first, then what was known before.
        let of_figures = warnings::from_figures(record, outcome, self.plan, &stalls);
        let before = std::mem::replace(&mut record.warnings, of_figures);
        // A null server answers anything: its answers are no transactions.
        if self.plan.target != "null" {
            figures::judge(record, &self.workload.drive, measured);
        }
        let end = verdict::of(driven, record, &broken, &stalls, death);
        diagnosis::add(self.recording);
        self.recording.note_dead_rows();
        self.recording.record.warnings.extend(before);
        end
    }

    /// Compares what the server's tables counted during the run with the clients' counts.
    fn compare_counts(&mut self, before: &[Option<u64>], after: &[Option<u64>], driven: &Driven, end: &mut End) {
        let metrics = self.workload.drive.metrics;
        let counted = |nth: usize| Some(after.get(nth)?.as_ref()?.saturating_sub(*before.get(nth)?.as_ref()?));
        for (nth, metric) in metrics.iter().enumerate() {
            let Some(by_server) = counted(nth) else { continue };
            let by_client = self.committed(metric.transactions, driven);
            note_counts(&mut self.recording.record, metric.name, by_server, by_client);
            judge_counts(metric.counted, [by_server, by_client], ServerCount::OTHER_PROGRAM, driven, end);
        }
        for (nth, count) in self.workload.drive.server_counts().into_iter().enumerate() {
            let Some(by_server) = counted(metrics.len() + nth) else { continue };
            let by_client = self.committed(count.transactions, driven);
            let record = ServerCountRecord { counted: count.counted.to_owned(), by_client, by_server };
            self.recording.record.server_counts.push(record);
            judge_counts(count.counted, [by_server, by_client], count.if_different, driven, end);
        }
    }

    /// Returns how many of these transactions were committed in the whole run.
    fn committed(&self, transactions: &[&str], driven: &Driven) -> u64 {
        let outcome = &driven.outcome;
        let kinds = self.workload.drive.txns();
        outcome
            .phases_by_group()
            .flatten()
            .flat_map(|totals| totals.part.txns.iter().zip(&kinds))
            .filter(|(_, kind)| transactions.contains(&kind.name))
            .map(|(txn, _)| txn.committed)
            .sum()
    }

    /// Checks the data after the run, and compares the server's counts with those of the clients.
    fn look_back(
        &mut self,
        access: &DataAccess<'_>,
        session: &mut KeptSession,
        counted_before: &[Option<u64>],
        baselines: &[Baseline],
        driven: &Driven,
        end: &mut End,
    ) {
        // The plans of queries are made over another one, which may take long.
        session.look_in();
        let admin = session.as_is();
        let counted_after = self.server_counts(admin);
        self.compare_counts(counted_before, &counted_after, driven, end);
        if let Some(server) = &mut self.recording.record.server {
            server.database_bytes_after = match &server.cluster {
                Some(_) => cluster::database_bytes(admin),
                None => data::number(admin, "select pg_database_size(current_database())"),
            };
        }
        if self.interrupt.control.is_killing() {
            return;
        }
        // The first Ctrl-C ended the run, not the check after it.
        let access = DataAccess { stop: &self.interrupt.at_once, ..*access };
        for set in &self.workload.data {
            // What is not repaired now, the next run repairs.
            if let Err(failure) = data::repair(&access, admin, set.as_ref()) {
                self.recording.record.warnings.push(failure.text());
            }
        }
        if !self.is_checked {
            return;
        }
        for (nth, set) in self.workload.data.iter().enumerate() {
            let moment = baselines.get(nth).map_or(Moment::AtRest, Moment::AfterRun);
            match data::check(&access, set.as_ref(), moment, "after the run") {
                Ok((checked, _)) => {
                    if !data::holds(&checked) {
                        *end = End {
                            status: Status::Invalid,
                            reason: Some("the data is broken after the run".to_owned()),
                            code: Code::Check,
                        };
                    }
                    self.note_checks(&checked);
                }
                Err(failure) => self
                    .recording
                    .record
                    .warnings
                    .push(format!("the data could not be checked after the run: {}", failure.text())),
            }
        }
    }
}

/// Makes the run invalid if the server's tables and the client counted another number of transactions.
fn judge_counts(counted: &str, by: [u64; 2], if_different: &str, driven: &Driven, end: &mut End) {
    let [by_server, by_client] = by;
    // A cancelled transaction may have committed just before.
    let unknown = driven.outcome.cancelled_in_flight as u64 + driven.outcome.measured.part.lost;
    if by_server.abs_diff(by_client) <= unknown || end.status != Status::Complete {
        return;
    }
    *end = End {
        status: Status::Invalid,
        reason: Some(format!(
            "the server's tables count {by_server} {counted} and the client {by_client}: {if_different}"
        )),
        code: Code::Run,
    };
}

fn server_record(admin: &mut Admin, options: &ConnectOptions, server: &Server) -> Result<ServerRecord> {
    figures::server(admin, options, &server.origin).or_fail(Code::Start)
}
