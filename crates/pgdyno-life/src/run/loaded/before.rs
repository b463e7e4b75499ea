//! Reads the server and the data before the clients begin, and does what the plan wants to be done before.

use pgdyno_net::Admin;
use pgdyno_plan::Plan;
use pgdyno_results::ServerRecord;
use pgdyno_workload::{Capabilities, Workload};

use super::provide::Found;
use super::{Before, Database, server_counts, table_sizes};
use crate::data::{self, before_run};
use crate::drive::query_plans;
use crate::exit_code::Code;
use crate::failure::{OrFail, Result};
use crate::ledger::look_before;
use crate::prepare::cycle::warm;
use crate::record::figures;
use crate::run::context::RunContext;
use crate::run::prepared::RunServer;
use crate::run::queries::options_of_queries;
use crate::target::analytics::AnalyticsServer;
use crate::target::cluster;

/// The look at a database before the clients begin.
pub(super) struct Looking<'a> {
    pub(super) context: &'a RunContext<'a>,
    pub(super) plan: &'a Plan,
    pub(super) workload: &'a Workload,
    pub(super) found: &'a Found,
}

impl Looking<'_> {
    /// Records the server, checks the data, and warms the caches.
    ///
    /// # Errors
    /// When the data is wrong, the server cannot run the workload, or the connection is lost.
    pub(super) fn look(
        &self,
        database: &mut Database<'_>,
        server: &RunServer<'_>,
        analytics_server: Option<&AnalyticsServer>,
    ) -> Result<Before> {
        let is_checked = self.plan.load.checks && self.found.is_whole;
        let mut before = Before { is_checked, ..Before::default() };
        self.describe(database, server)?;
        if database.caps.distributed_tables {
            before.repartitioned = self.admit_queries(database, analytics_server)?;
        }
        let Database { session, caps, .. } = &mut *database;
        let admin = session.ready()?;
        before.table_bytes = table_sizes(admin, self.workload, caps);
        self.run_statements(admin, caps)?;
        self.read_values(admin)?;
        before.baselines = self.check_all(database, is_checked)?;
        let Database { session, caps, .. } = database;
        // Checks use other sessions, which may take long.
        let admin = session.ready()?;
        self.warm(admin, caps)?;
        before.counts = server_counts(admin, self.plan, self.workload);
        let ledger = self.workload.drive.ledger.as_ref().filter(|_| self.plan.drive.ledger.is_some());
        let run = self.plan.seed.cast_signed();
        before.ledger = ledger.map(|ledger| look_before(ledger, run, admin, self.context.events)).transpose()?;
        let growth = self.workload.drive.growth;
        before.rows = growth.and_then(|growth| data::number(admin, growth.rows_query));
        let mut left_out = Vec::new();
        before.other_run = session.mark(&mut |warning| left_out.push(warning))?;
        left_out.iter().for_each(|text| self.context.events.left_out(text));
        Ok(before)
    }

    /// Records the server, its pooler and its nodes.
    fn describe(&self, database: &mut Database<'_>, server: &RunServer<'_>) -> Result<()> {
        let Database { session, options, caps, .. } = database;
        let admin = session.ready()?;
        let pooling = caps.pooling.map(|pooling| pooling.name().to_owned());
        let found = figures::server(admin, options, server.origin()).or_fail(Code::Start)?;
        let found = ServerRecord { pooling, ..found };
        self.context.record.edit(|recording| recording.record.server = Some(found));
        self.warn_of_pooler(caps);
        let Some(found) = cluster::record(admin, options, caps, self.workload, self.plan)? else { return Ok(()) };
        for warning in cluster::warnings(&found, &self.plan.scale_name) {
            self.context.view.warn(&warning.to_string());
            self.context.record.add_warning(warning);
        }
        let bytes = cluster::database_bytes(admin);
        self.context.record.edit(|recording| {
            if let Some(server) = &mut recording.record.server {
                server.database_bytes = bytes;
                server.cluster = Some(found);
            }
        });
        Ok(())
    }

    /// Warns of what a reader must know about a pooler between driver and server.
    fn warn_of_pooler(&self, caps: &Capabilities) {
        let Some(pooling) = caps.pooling else { return };
        let sessions = match pooling.keeps_sessions() {
            true => "; each client, and each connection of pgdyno's own, needs one of its connections to the server",
            false => "",
        };
        self.context.events.warn(&format!(
            "clients connect through a pooler ({} pooling): its work is part of the latencies, and TPM is left out because \
             sessions of the server outlive the clients{sessions}",
            pooling.name()
        ));
    }

    /// Refuses queries that a server with distributed tables cannot plan. Returns those that move rows between nodes.
    fn admit_queries(
        &self,
        database: &mut Database<'_>,
        analytics_server: Option<&AnalyticsServer>,
    ) -> Result<Vec<String>> {
        let of_queries = options_of_queries(self.plan, self.workload, analytics_server, &database.options);
        let mut of_queries = of_queries.map(|options| Admin::connect(&options)).transpose();
        let session = match &mut of_queries {
            Ok(Some(session)) => session,
            _ => database.session.ready()?,
        };
        query_plans::admit(session, &self.workload.drive.explained)
    }

    /// Executes the statements that a run starts with, unless the plan leaves them out.
    fn run_statements(&self, admin: &mut Admin, caps: &Capabilities) -> Result<()> {
        if self.plan.load.no_vacuum {
            return Ok(());
        }
        for set in &self.workload.data {
            for warning in before_run::before_run(admin, set.as_ref(), caps)? {
                self.context.events.warn(&warning);
            }
        }
        Ok(())
    }

    /// Fills the caches and writes a checkpoint, if the plan asks for that.
    fn warm(&self, admin: &mut Admin, caps: &Capabilities) -> Result<()> {
        let (context, cycle) = (self.context, self.plan.cycle);
        let mut steps = Vec::new();
        if cycle.prewarm {
            let stop = &context.interrupt.stop;
            for set in &self.workload.data {
                steps.push(warm::prewarm(admin, set.as_ref(), caps, context.view, stop)?);
            }
        }
        if cycle.checkpoint {
            context.view.note("checkpoint");
            steps.push(warm::checkpoint(admin)?);
        }
        for step in steps.iter().filter(|step| !step.done) {
            context.events.warn(&format!("{}: {}", step.step, step.what));
        }
        context.record.note_steps(&mut steps);
        Ok(())
    }
}
