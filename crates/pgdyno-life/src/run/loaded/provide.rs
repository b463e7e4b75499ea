//! Loads or finds the data, and makes the copy of the database if the plan asks for one.

use std::path::Path;

use pgdyno_load::TemplateDatabase;
use pgdyno_net::{Admin, ConnectOptions};
use pgdyno_plan::{LoadWhen, Plan};
use pgdyno_workload::{Capabilities, DataSet, Workload};

use super::database::{Database, DatabaseCopy};
use crate::agents::load::SharedLoad;
use crate::data::{self, DataAccess, Wanted, rights, spared};
use crate::drive::team::TeamOfRun;
use crate::exit_code::Code;
use crate::failure::{CommandError, OrFail, Result};
use crate::kept_session::KeptSession;
use crate::run::context::RunContext;
use crate::run::prepared::{Prepared, SessionPurpose};
use crate::target::cached;

/// The load of a run.
pub(super) struct Loading<'a, 'c> {
    pub(super) context: &'c RunContext<'c>,
    pub(super) plan: &'a Plan,
    pub(super) workload: &'a Workload,
}

/// Where the data came from.
pub(super) struct Found {
    /// The other program that loaded the data, if one did.
    pub(super) maker: Option<&'static str>,
    /// The data sets that this run has loaded, by name.
    pub(super) fresh: Vec<&'static str>,
    /// False if a part of the data is missing that the workload does not read.
    pub(super) is_whole: bool,
}

impl<'c> Loading<'_, 'c> {
    /// Provides the data in the target's database or in a copy of the template. `admin` is a session on the server.
    ///
    /// # Errors
    /// When the data is not as it has to be, and cannot be loaded.
    pub(super) fn provide(
        &self,
        prepared: &mut Prepared<'_>,
        mut admin: Admin,
        template: Option<&TemplateDatabase>,
    ) -> Result<(Database<'c>, Found)> {
        let Some(options) = prepared.server.options(SessionPurpose::Measure) else {
            return Err(CommandError::new(Code::Start, "the server has no address"));
        };
        let caps = pgdyno_server::capabilities_through(&mut admin, prepared.pooling()).or_fail(Code::Start)?;
        self.context.record.edit(|recording| recording.server_can(&self.workload.drive, &caps));
        let session = KeptSession::new(admin, &options, &caps)?;
        match template {
            None => self.in_own_database(prepared, session, options, caps),
            Some(template) => self.in_copy(prepared, session, template, caps),
        }
    }

    /// Returns access to the data; `data_dir` is the data directory of a private server.
    fn access<'b>(
        &'b self,
        options: &'b ConnectOptions,
        caps: &'b Capabilities,
        data_dir: Option<&'b Path>,
    ) -> DataAccess<'b> {
        let stop = &self.context.interrupt.stop;
        DataAccess { options, caps, events: self.context.view, stop, data_dir }
    }

    fn in_own_database(
        &self,
        prepared: &mut Prepared<'_>,
        mut session: KeptSession,
        options: ConnectOptions,
        caps: Capabilities,
    ) -> Result<(Database<'c>, Found)> {
        let access = self.access(&options, &caps, prepared.server.data_dir());
        let found = self.find_or_load(prepared, &mut session, &access)?;
        if self.is_worth_keeping(prepared, &found) {
            drop(session);
            prepared.server.keep_data(self.context.view)?;
            session = KeptSession::new(Admin::connect(&options).or_fail(Code::Start)?, &options, &caps)?;
        }
        Ok((Database { session, options, caps, _copy: None }, found))
    }

    fn in_copy(
        &self,
        prepared: &mut Prepared<'_>,
        mut session: KeptSession,
        template: &TemplateDatabase,
        caps: Capabilities,
    ) -> Result<(Database<'c>, Found)> {
        let find_or_load = |options: &ConnectOptions, session: &mut KeptSession| {
            let access = self.access(options, &caps, prepared.server.data_dir());
            self.find_or_load(prepared, session, &access)
        };
        let there = template.options().map(|options| self.context.interrupt.options(&options));
        let found = there.map(|there| find_or_load(&there, &mut session)).transpose()?;
        // A database can be copied only while nobody is connected to it.
        drop(session);
        let (copy, options) = DatabaseCopy::make(self.context, template)?;
        let admin = Admin::connect(&options).or_fail(Code::Start)?;
        let mut session = KeptSession::new(admin, &options, &caps)?;
        let found = match found {
            Some(found) => found,
            None => find_or_load(&options, &mut session)?,
        };
        Ok((Database { session, options, caps, _copy: Some(copy) }, found))
    }

    fn find_or_load(
        &self,
        prepared: &Prepared<'_>,
        session: &mut KeptSession,
        access: &DataAccess<'_>,
    ) -> Result<Found> {
        let workload = self.workload;
        let mut found = Found { maker: None, fresh: Vec::new(), is_whole: true };
        if self.plan.load.choice != LoadWhen::Always {
            let missing = spared::spared(session.ready()?, workload, access.caps)?;
            if !missing.is_empty() {
                found.is_whole = false;
                self.context.events.warn(&format!(
                    "left out: check the data: {} of {} is missing, which this workload does not read",
                    missing.join(", "),
                    workload.meta.dataset
                ));
                return Ok(found);
            }
        }
        for set in &workload.data {
            self.find_or_load_set(prepared, session, access, (set.as_ref(), &mut found))?;
        }
        rights::admit(session.ready()?, workload, access.caps)?;
        self.record_origin(session, &found)?;
        Ok(found)
    }

    fn find_or_load_set(
        &self,
        prepared: &Prepared<'_>,
        session: &mut KeptSession,
        access: &DataAccess<'_>,
        (set, found): (&dyn DataSet, &mut Found),
    ) -> Result<()> {
        let Self { context, plan, .. } = *self;
        let team = TeamOfRun::of(context, &prepared.facts);
        let shared = team.as_ref().and_then(|team| team.load(plan, set, access.options, access.caps));
        let wanted = Wanted::of(plan);
        let provided = data::provide(access, session.ready()?, set, &wanted, shared.as_ref().map(SharedLoad::helpers))?;
        if let Some(shared) = &shared {
            shared.end_before_drive(context.view)?;
        }
        if let Some(load) = provided.load {
            found.fresh.push(set.meta().dataset);
            context.record.edit(|recording| {
                let record = &mut recording.record.load;
                *record = Some(match record.take() {
                    Some(before) => before.and(load),
                    None => load,
                });
            });
        }
        found.maker = found.maker.or(provided.maker);
        data::repair(access, session.ready()?, set)
    }

    /// Records which program has loaded the data, and the rows that the workload will read.
    fn record_origin(&self, session: &mut KeptSession, found: &Found) -> Result<()> {
        let stamp = match (found.maker, self.workload.data.first()) {
            (None, Some(data)) => pgdyno_load::complete_stamp(session.ready()?, data.as_ref()).or_fail(Code::Load)?,
            _ => None,
        };
        let changes = stamp.as_ref().map(|stamp| stamp.changes.as_deref());
        let rows_read = changes.and_then(|changes| self.workload.drive.rows_read(changes, true));
        let data_from = found.maker.map(str::to_owned).or(stamp.map(|stamp| format!("pgdyno {}", stamp.pgdyno)));
        self.context.record.edit(|recording| {
            recording.record.rows_read = rows_read;
            recording.record.data_from = data_from;
        });
        Ok(())
    }

    /// Returns true if this run has loaded all data of a private server, and loading it again would take a while.
    fn is_worth_keeping(&self, prepared: &Prepared<'_>, found: &Found) -> bool {
        let sets = self.workload.data.iter().filter(|set| set.meta().has_data()).count();
        let load_s =
            self.context.record.read(|recording| recording.record.load.as_ref().map_or(0.0, |load| load.seconds));
        prepared.server.can_keep_data() && found.fresh.len() == sets && load_s >= cached::WORTH_KEEPING_S
    }
}
