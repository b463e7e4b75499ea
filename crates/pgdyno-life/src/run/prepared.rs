//! The first room of a run: the server is there, and is prepared for the run.
//!
//! [`Prepared`] owns the server, the settings that were changed on it, and their undo: they are restored by
//! [`Prepared::restore`], or when the value is dropped, whatever happens. [`RunServer`] opens sessions by purpose.

mod provisioned;
mod server;
mod settings;
mod steps;
#[cfg(test)]
mod tests;

use pgdyno_net::Admin;
use pgdyno_plan::Facts;
use pgdyno_workload::Pooling;

use self::provisioned::{Provisioned, provision};
pub(crate) use self::server::{RunServer, SessionPurpose};
use self::settings::changes_server;
use crate::data::loaded::loaded;
use crate::exit_code::Code;
use crate::failure::{OrFail, Result};
use crate::prepare::settings as server_settings;
use crate::run::context::RunContext;
use crate::target::reach::is_null;
use crate::target::{Demand, Owner, Target};

/// A server that is prepared for a run. It is restored when this value is dropped.
pub(crate) struct Prepared<'a> {
    context: &'a RunContext<'a>,
    pub(crate) server: RunServer<'a>,
    /// What is known so far, from which the plan follows.
    pub(crate) facts: Facts,
    /// The session that looked at the server, where nothing was changed there: as good as a new one to measure.
    pub(crate) session: Option<Admin>,
    /// Dropped last: the server is removed once its settings are restored.
    provisioned: Option<Provisioned<'a>>,
}

/// Makes or finds the server and prepares it: restores what a killed run has left, drops data that is to be replaced, changes
/// settings, and empties caches.
///
/// # Errors
/// When the server cannot be reached, or cannot be prepared as the plan says. It is restored then.
pub(crate) fn prepare<'a>(context: &'a RunContext<'a>, target: Target, facts: Facts) -> Result<Prepared<'a>> {
    let (target, provisioned) = provision(context, target)?;
    let order = &context.request.order.target;
    let demand = Demand::of(&context.draft.plan, &context.draft.workload, order);
    // Others use the kept server.
    let is_harmed = context.draft.plan.fault.as_ref().is_some_and(|fault| fault.kind.kind().needs_private_server());
    let server = match is_harmed {
        true => target.bring_up_own(order, demand, context.view)?,
        false => target.bring_up(order, demand, context.view)?,
    };
    let server = RunServer::new(server, context.interrupt);
    let mut prepared = Prepared { context, server, facts, session: None, provisioned };
    let mut session = prepared.server.announce(context.view)?;
    if let Some(admin) = &mut session {
        prepared.admit(admin)?;
    }
    if context.team.is_some() {
        // While the agents answer, a time limit of the server could end it.
        drop(session);
        prepared.admit_agents()?;
        session = prepared.server.connect(SessionPurpose::Setup)?;
    }
    let is_restored = session.as_mut().map_or(Ok(false), |admin| prepared.recover(admin))?;
    if changes_server(&context.draft.plan) {
        drop(session);
        prepared.make_as_planned()?;
    } else if !is_restored {
        prepared.session = session;
    }
    Ok(prepared)
}

impl Prepared<'_> {
    /// Restores the server, and removes it if the run has made it.
    ///
    /// # Errors
    /// When that fails, with the first cause. Each was reported.
    pub(crate) fn restore(mut self) -> Result<()> {
        let restored = self.restore_settings();
        let provisioned = self.provisioned.take();
        // A private server ends here.
        drop(self);
        restored.and(provisioned.map_or(Ok(()), Provisioned::remove))
    }

    /// Refuses what is impossible on this server, before anything is done to it.
    fn admit(&mut self, admin: &mut Admin) -> Result<()> {
        if self.server.owner() != Owner::Given || is_null(admin) {
            return Ok(());
        }
        let Some(options) = self.server.options(SessionPurpose::Setup) else { return Ok(()) };
        self.facts.server = Some(pgdyno_server::capabilities(admin, &options).or_fail(Code::Start)?);
        server_settings::admit(admin, &self.context.draft.plan.settings)?;
        self.context.request.resolve(&self.facts).map(drop)
    }

    /// Refuses agents that cannot reach this server, or see another one, before anything is done to it.
    fn admit_agents(&mut self) -> Result<()> {
        let Some(team) = self.context.team else { return Ok(()) };
        let given = self.server.options(SessionPurpose::Setup).filter(|_| self.server.owner() == Owner::Given);
        let mut admin = given.as_ref().map(Admin::connect).transpose().or_fail(Code::Start)?;
        let target = given.as_ref().map(ToString::to_string);
        let links = self.context.draft.plan.links();
        let warning = team.look(target.as_deref(), links, admin.as_mut(), self.context.interrupt)?;
        warning.into_iter().for_each(|warning| self.server.note(warning));
        Ok(())
    }

    /// Reads which data is loaded, which decides what the order leaves open, also after it was dropped.
    pub(crate) fn look_for_data(&mut self, admin: &mut Admin) -> Result<()> {
        if let Some(loaded) = loaded(admin, &self.context.draft.workload)? {
            self.facts.loaded = Some(loaded);
        }
        Ok(())
    }

    /// Returns the pooling mode of a pooler before a given server. A private server has none.
    pub(crate) fn pooling(&self) -> Option<Pooling> {
        self.facts.server.as_ref().and_then(|caps| caps.pooling)
    }
}

impl Drop for Prepared<'_> {
    fn drop(&mut self) {
        // The failure was reported; the removal of the server follows.
        drop(self.restore_settings());
    }
}
