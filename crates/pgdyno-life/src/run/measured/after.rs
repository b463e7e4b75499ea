//! The look at the server and the data after the clients have driven.

use std::time::Duration;

use pgdyno_engine::RunEnd;
use pgdyno_load::Moment;
use pgdyno_net::{Admin, ConnectOptions};
use pgdyno_plan::Plan;
use pgdyno_results::{AnalyticsServerRecord, GrowthRecord, QUERY_PLANS, ReadersRecord, Warning, write_json};
use pgdyno_samples::statements;
use pgdyno_server::DATABASE_BYTES;
use pgdyno_workload::Workload;

use super::SAMPLING;
use crate::data::{self, AFTER_RUN, DataAccess};
use crate::drive::{Driven, query_plans};
use crate::kept_session::KeptSession;
use crate::ledger::{LookBack, look_back};
use crate::record::query_costs::QueryIds;
use crate::record::readers;
use crate::record::run_files::RunFiles;
use crate::run::context::RunContext;
use crate::run::loaded::{Before, Database, Loaded, note_checks, server_counts, table_sizes};
use crate::target::analytics::AnalyticsServer;
use crate::target::{cluster, lock};

/// How long an answer may take after the run.
const AFTERWARDS: Duration = Duration::from_secs(60);

/// What the server said after the clients had driven.
#[derive(Default)]
pub(crate) struct After {
    /// Number of warnings that were known when the clients had ended.
    pub(crate) warnings_before: usize,
    /// Why the private server has ended, if it has.
    pub(crate) death: Option<String>,
    /// Whether the server no longer answers.
    pub(crate) is_silent: bool,
    /// What its tables counted; empty where that was not asked.
    pub(crate) counts: Vec<Option<u64>>,
    /// The other server of the queries.
    pub(crate) analytics_server: Option<AnalyticsServerRecord>,
    /// The figures of target and readers, if there are readers.
    pub(crate) readers: Option<ReadersRecord>,
    /// Whether this server alone did the work of the queries, so that their costs are known.
    pub(crate) counts_queries: bool,
    /// Identifiers by which the server counted the queries, if it did.
    pub(crate) query_ids: Option<QueryIds>,
}

/// Looks at the server and the data, and records what it finds.
pub(super) fn observe(
    context: &RunContext<'_>,
    loaded: &mut Loaded<'_>,
    driven: &Driven,
    files: Option<&RunFiles>,
) -> After {
    let warnings_before = context.record.read(|recording| recording.record.warnings.len());
    let mut after = After { warnings_before, ..After::default() };
    let Loaded { plan, workload, analytics_server, readers, database, prepared, .. } = loaded;
    let Some((database, before)) = database else { return after };
    after.death = prepared.server.death();
    let observer = Observer { context, plan, workload, analytics_server: analytics_server.as_ref(), before };
    // It waits for a server that takes writes, with which the other questions are answered, too.
    observer.settle_ledger(&database.options, driven, after.death.is_none());
    let session = &mut database.session;
    let answers = observer.still_answers(session);
    after.is_silent = !answers;
    after.analytics_server = observer.analytics_server(session.as_is());
    after.readers = readers::readers(plan, driven, readers, &workload.drive.readable());
    after.counts_queries = !database.caps.distributed_tables && driven.kept.is_some();
    let asked = files.filter(|_| after.counts_queries && answers);
    after.query_ids = asked.and_then(|files| observer.query_ids(session.as_is(), files));
    let came = if answers { session.other_run() } else { None };
    if let Some(other) = before.other_run.clone().or(came) {
        context.events.warn(&lock::disturbs(&other));
    }
    if answers && matches!(driven.outcome.ended, RunEnd::ServerLost(_)) {
        context.events.warn("the data was not checked after the run, for its clients lost the server");
    } else if answers {
        if matches!(driven.outcome.ended, RunEnd::Complete) {
            observer.explain(&database.options);
        }
        after.counts = observer.look_back(database);
        database.session.look_in();
    }
    observer.note_growth(database, answers);
    after
}

/// Looks at one run's database after its end.
struct Observer<'a> {
    context: &'a RunContext<'a>,
    plan: &'a Plan,
    workload: &'a Workload,
    analytics_server: Option<&'a AnalyticsServer>,
    before: &'a Before,
}

impl Observer<'_> {
    /// Returns true if the server still answers. If it does not, later steps do not wait for it.
    fn still_answers(&self, session: &mut KeptSession) -> bool {
        let answers = session.answers();
        match session.losses() {
            _ if !answers => {
                self.context.events.warn("the server no longer answers: the data was not checked after the run");
            }
            0 => {}
            losses => {
                let times = if losses == 1 { "once".to_owned() } else { format!("{losses} times") };
                let note = format!("pgdyno's own session was lost {times} during the run, and opened again");
                self.context.events.note(&note);
            }
        }
        session.wait_at_most(if answers { AFTERWARDS } else { SAMPLING });
        answers
    }

    /// Compares the commits that the clients know with those that the server has, if the run has a ledger.
    fn settle_ledger(&self, options: &ConnectOptions, driven: &Driven, waits: bool) {
        let parts = (&self.workload.drive.ledger, self.plan.drive.ledger, &self.before.ledger);
        let (Some(ledger), Some(plan), Some(before)) = parts else { return };
        let context = self.context;
        context.view.note("reading the markers of all commits");
        let run = self.plan.seed.cast_signed();
        let until_us = driven.ledger.as_ref().map_or(0, |ledger| ledger.until_us);
        let unwritten = driven.ledger.as_ref().and_then(|ledger| ledger.unwritten.as_deref());
        let look = LookBack { ledger, run, timeout_s: plan.commit_timeout_s, before, waits, until_us, unwritten };
        let stop = &context.interrupt.last_stop;
        match look_back(&look, &context.record.path(), &context.interrupt.last_options(options), stop) {
            Ok(account) => context.record.edit(|recording| recording.record.ledger = Some(account)),
            Err(failure) => context.events.warn(&failure.text()),
        }
    }

    /// Returns what the other server of the queries says, if there is one.
    fn analytics_server(&self, admin: &mut Admin) -> Option<AnalyticsServerRecord> {
        let found = self.analytics_server?.record(admin);
        let left_out = |error: &String| {
            let warning = format!("failed to read the statistics of the server of the queries: {error}");
            self.context.events.warn(&warning);
        };
        found.inspect_err(left_out).ok()
    }

    /// Asks for the identifiers by which the server counted the workload's queries, unless another server ran them. If the
    /// connection is lost, the checks after the run report why.
    fn query_ids(&self, admin: &mut Admin, files: &RunFiles) -> Option<QueryIds> {
        let is_counted = !files.samples.of(statements::SOURCE).is_empty() && self.analytics_server.is_none();
        is_counted.then(|| QueryIds::ask(admin, &self.workload.drive.explained).ok()).flatten()
    }

    /// Keeps the plans of the workload's queries, if the plan asks for that. A failure is a warning: the figures stand
    /// without the plans.
    fn explain(&self, options: &ConnectOptions) {
        let context = self.context;
        if !self.plan.watch.plans {
            return;
        }
        let stop = &context.interrupt.stop;
        match query_plans::explain(options, &self.workload.drive.explained, stop, context.view) {
            Ok(plans) => {
                context.record.edit(|recording| recording.record.query_plans = plans.shapes);
                if let Err(error) = write_json(&context.record.path(), QUERY_PLANS, &plans.whole) {
                    context.events.warn(&error.to_string());
                }
            }
            Err(error) => context.events.warn(&format!("the queries could not be explained: {error}")),
        }
    }

    /// Repairs and checks the data after the run. Returns what the server's tables count.
    fn look_back(&self, database: &mut Database<'_>) -> Vec<Option<u64>> {
        let Database { session, options, caps, .. } = database;
        let context = self.context;
        // The plans of queries are made over another one, which may take long.
        session.look_in();
        let admin = session.as_is();
        let counts = server_counts(admin, self.plan, self.workload);
        self.note_size(admin);
        if context.interrupt.stop.is_at_once() {
            return counts;
        }
        // The first Ctrl-C ended the run, not the check after it.
        let stop = &context.interrupt.last_stop;
        let access = DataAccess { options, caps, events: context.view, stop, data_dir: None };
        for set in &self.workload.data {
            // What is not repaired now, the next run repairs.
            if let Err(failure) = data::repair(&access, admin, set.as_ref()) {
                context.record.add_warning(Warning::note(failure.text()));
            }
        }
        if self.before.is_checked {
            self.check(&access);
        }
        counts
    }

    fn check(&self, access: &DataAccess<'_>) {
        for (nth, set) in self.workload.data.iter().enumerate() {
            let moment = self.before.baselines.get(nth).map_or(Moment::AtRest, Moment::AfterRun);
            match data::check(access, set.as_ref(), moment, AFTER_RUN) {
                Ok((checked, _)) => note_checks(self.context, &checked),
                Err(failure) => {
                    let text = failure.text();
                    self.context
                        .record
                        .add_warning(Warning::note(format!("the data could not be checked after the run: {text}")));
                }
            }
        }
    }

    /// Records the size of the database after the run.
    fn note_size(&self, admin: &mut Admin) {
        let has_nodes = self.context.record.read(|recording| {
            let server = recording.record.server.as_ref();
            server.is_some_and(|server| server.cluster.is_some())
        });
        let bytes = match has_nodes {
            true => cluster::database_bytes(admin),
            false => data::number(admin, DATABASE_BYTES),
        };
        self.context.record.edit(|recording| {
            if let Some(server) = &mut recording.record.server {
                server.database_bytes_after = bytes;
            }
        });
    }

    /// Records the growth of the tables, or only their size before the run if the server no longer answers.
    fn note_growth(&self, database: &mut Database<'_>, answers: bool) {
        let Database { session, caps, .. } = database;
        let after = if answers { table_sizes(session.as_is(), self.workload, caps) } else { Vec::new() };
        let growth = |(nth, (name, bytes_before)): (usize, &(&str, u64))| GrowthRecord {
            name: (*name).to_owned(),
            bytes_before: *bytes_before,
            bytes_after: after.get(nth).map(|(_, bytes)| *bytes),
        };
        let tables = self.before.table_bytes.iter().enumerate().map(growth).collect();
        self.context.record.edit(|recording| {
            if let Some(server) = &mut recording.record.server {
                server.tables = tables;
            }
        });
    }
}
