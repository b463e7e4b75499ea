//! Agents that drive a run.

use pgdyno_net::ConnectOptions;
use pgdyno_plan::{Facts, Order, Plan};
use pgdyno_workload::{Capabilities, DataSet};

use super::server::DrivenServer;
use crate::agents::Team;
use crate::agents::load::{LoadFacts, SharedLoad};
use crate::agents::task::{DriveTask, QueriesTask};
use crate::run::context::RunContext;

/// Agents that drive, and what they need to know of the run.
pub(crate) struct TeamOfRun<'a> {
    pub(super) team: &'a Team,
    /// The facts that the plan was made from.
    facts: &'a Facts,
    /// Connections of each machine that loads, if the user said how many.
    loaders: Option<u16>,
    /// Files of the workload that are too large for the plan, by their SHA-256.
    files: Vec<(String, &'a [u8])>,
}

impl<'a> TeamOfRun<'a> {
    /// Returns the agents of a run, with the facts that its plan was made from; `None` if this process drives.
    pub(crate) fn of(context: &'a RunContext<'_>, facts: &'a Facts) -> Option<Self> {
        let team = context.team?;
        let loaders = context.request.order.loading.loaders;
        Some(Self { team, facts, loaders, files: context.request.source.files_beside_plan() })
    }

    /// Returns a load that the agents help with; `None` where its rows are made by SQL, or by files that only this
    /// machine has.
    pub(crate) fn load(
        &self,
        plan: &Plan,
        data: &dyn DataSet,
        options: &ConnectOptions,
        caps: &Capabilities,
    ) -> Option<SharedLoad<'a>> {
        let is_built_in = plan.scripts.is_empty() && plan.directory.is_none() && data.sql_data().is_none();
        // The plan has every parameter, also those that depend on the number of clients.
        let workload = is_built_in.then(|| Order::of_plan(plan).workload)?;
        let (loaded, loaders) = (self.facts.loaded.as_ref(), self.loaders);
        let facts = LoadFacts { target: options, workload: &workload, loaded, caps, loaders };
        Some(SharedLoad::new(self.team, &facts, data))
    }

    /// Returns the task of the first agent in the first stage.
    pub(super) fn task(&self, plan: &Plan, server: &DrivenServer<'_>) -> DriveTask {
        // A null server is each agent's own.
        let given = server.options.filter(|_| server.is_watched);
        DriveTask {
            plan: plan.clone(),
            facts: self.facts.clone(),
            caps: server.caps.clone(),
            files: DriveTask::files(self.files.iter().map(|(hash, bytes)| (hash.as_str(), *bytes))),
            database: given.map(|options| options.dbname().to_owned()),
            options: given.and_then(|options| options.session_options()).map(str::to_owned),
            queries: server.of_queries.map(|options| QueriesTask {
                application_name: options.application_name().map(str::to_owned),
                options: options.session_options().map(str::to_owned),
            }),
            stage: 0,
            driver: 0,
            drivers: self.team.len(),
        }
    }
}
