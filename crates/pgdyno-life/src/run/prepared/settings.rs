//! Changes the server for the run as the plan says, and restores it.

use std::time::Instant;

use pgdyno_net::Admin;
use pgdyno_plan::{LoadWhen, Plan};
use pgdyno_results::CycleRecord;

use super::{Prepared, SessionPurpose, steps};
use crate::exit_code::Code;
use crate::failure::{OrFail, Result};
use crate::prepare::cycle;
use crate::prepare::settings::{self, Restored, Ways};
use crate::target::Owner;

/// Returns true if something is done to the server before the run reads its data: that needs a directory for its
/// evidence.
pub(super) fn changes_server(plan: &Plan) -> bool {
    let cycle = plan.cycle;
    cycle.provision || cycle.restart || cycle.drop_caches || !plan.settings.is_empty()
}

impl Prepared<'_> {
    /// Restores settings that a killed run has left changed. Returns true if there were any.
    pub(super) fn recover(&mut self, admin: &mut Admin) -> Result<bool> {
        let context = self.context;
        let Some(ways) = self.ways().filter(|_| self.server.owner() != Owner::Ours) else { return Ok(false) };
        let mut notes = Vec::new();
        let left = settings::recover(admin, &ways, &mut |note| notes.push(note))?;
        notes.into_iter().for_each(|note| self.server.note(note));
        let Some((who, restored)) = left else { return Ok(false) };
        context.record.begin()?;
        let note = format!("{who} was killed before it put settings of this server back");
        context.view.note(&note);
        if let Err(failure) = self.put_back(restored, &format!(", which {note}")) {
            // Without a hook the user may have to restart the server.
            self.server.note(failure.text());
        }
        Ok(true)
    }

    /// Prepares the server before its data is read: drops data that is to be replaced, changes settings, and empties
    /// caches.
    pub(super) fn make_as_planned(&mut self) -> Result<()> {
        let context = self.context;
        if self.server.options(SessionPurpose::Setup).is_none() {
            return Ok(());
        }
        let mut evidence = Vec::new();
        if self.has_data_to_drop() {
            evidence.extend(self.drop_data()?);
        }
        context.record.begin()?;
        let prepared = self.change(&mut evidence);
        for step in evidence.iter().filter(|step| !step.done) {
            self.server.note(format!("{}: {}", step.step, step.what));
        }
        context.record.note_steps(&mut evidence);
        prepared?;
        self.verify_settings()
    }

    /// Returns true if data is to be replaced that shall not be in the caches.
    fn has_data_to_drop(&self) -> bool {
        let (context, plan) = (self.context, &self.context.draft.plan);
        let cold = [("restart", plan.cycle.restart), ("drop-caches", plan.cycle.drop_caches)];
        let is_cold = cold.iter().any(|(step, asked)| *asked && !context.is_done(step));
        let is_replaced = plan.load.choice == LoadWhen::Always && plan.from_template.is_none();
        let has_data = !context.draft.workload.data.is_empty();
        is_replaced && is_cold && self.server.owner() != Owner::Ours && has_data
    }

    /// Drops data that pgdyno loaded, once its size is known.
    fn drop_data(&mut self) -> Result<Option<CycleRecord>> {
        let Some(options) = self.server.options(SessionPurpose::Setup) else { return Ok(None) };
        let mut admin = Admin::connect(&options).or_fail(Code::Start)?;
        let began = Instant::now();
        self.look_for_data(&mut admin)?;
        let workload = self.context.request.resolve(&self.facts)?.workload;
        let mut was_there = false;
        for data in workload.data.iter().rev() {
            let dropped = pgdyno_load::drop_data(&mut admin, data.as_ref(), false);
            was_there |= !dropped.map_err(|error| error.asked(&options)).or_fail(Code::Load)?.is_empty();
        }
        let what = if was_there { "what pgdyno had loaded" } else { "nothing was there" };
        Ok(Some(cycle::record("drop", true, what, began)))
    }

    /// Changes settings, restarts the server, and drops its files from the cache, as the plan says.
    fn change(&mut self, evidence: &mut Vec<CycleRecord>) -> Result<()> {
        let context = self.context;
        let plan = &context.draft.plan;
        let directory = context.record.path();
        let server_steps = steps::until_first_signal(context, &directory);
        if !plan.settings.is_empty()
            && !context.is_done("settings")
            && self.server.owner() != Owner::Ours
            && let Some(ways) = self.ways()
        {
            let can_restart = server_steps.can_restart(self.server.server());
            self.server.changed = settings::change(&ways, &plan.settings, plan.target.as_str(), can_restart)?;
        }
        if plan.cycle.restart && !context.is_done("restart") || self.server.changed.wants_restart() {
            server_steps.restart(self.server.server_mut(), evidence)?;
        }
        if plan.cycle.drop_caches && !context.is_done("drop-caches") {
            server_steps.drop_caches(self.server.server(), evidence)?;
        }
        Ok(())
    }

    /// Reads the settings back as the clients' sessions will have them, and adds them to the record.
    fn verify_settings(&self) -> Result<()> {
        let plan = &self.context.draft.plan;
        let options = self.server.options(SessionPurpose::Measure).filter(|_| !plan.settings.is_empty());
        let Some(options) = options else { return Ok(()) };
        let is_from_start = self.server.owner() == Owner::Ours || self.context.is_done("settings");
        let way = |name: &str| match is_from_start {
            true => ("start".to_owned(), None),
            false => self.server.changed.way(name),
        };
        let (records, verdict) = settings::verify(&options, &plan.settings, way);
        self.context.record.edit(|recording| recording.record.settings_set = records);
        verdict
    }

    /// Restores the settings that the run has changed. Reports a failure.
    pub(super) fn restore_settings(&mut self) -> Result<()> {
        let context = self.context;
        // The server may refuse sessions because of the run's settings.
        let Some(options) = self.server.options(SessionPurpose::Restore) else { return Ok(()) };
        let Some(restored) = std::mem::take(&mut self.server.changed).restore(&options) else { return Ok(()) };
        let restored = self.put_back(restored, "");
        context.record.edit(|recording| {
            for setting in recording.record.settings_set.iter_mut().filter(|setting| setting.before.is_some()) {
                setting.restored = Some(restored.is_ok());
            }
        });
        restored.inspect_err(|failure| context.events.warn(&failure.text()))
    }

    /// Restarts the server if its previous settings need that, and records how they were restored; `why` is the reason.
    fn put_back(&mut self, restored: Result<Restored>, why: &str) -> Result<()> {
        let context = self.context;
        let began = Instant::now();
        let mut evidence = Vec::new();
        let mut names = String::new();
        let outcome = restored.and_then(|restored| {
            names = restored.names.join(", ");
            if restored.restart {
                let directory = context.record.path();
                steps::until_second_signal(context, &directory).restart(self.server.server_mut(), &mut evidence)?;
            }
            let options = self.server.options(SessionPurpose::Restore);
            options.map_or(Ok(()), |options| restored.finish(&options))
        });
        let what = match &outcome {
            Ok(()) => format!("{names} as before{why}"),
            Err(failure) => format!("not done: {}", failure.text()),
        };
        evidence.push(cycle::record("restore-settings", outcome.is_ok(), what, began));
        context.record.note_steps(&mut evidence);
        outcome
    }

    /// Returns how to reach the server until the first signal, and until the second one.
    fn ways(&self) -> Option<Ways> {
        let first = self.server.options(SessionPurpose::Setup)?;
        Some(Ways { first, last: self.server.options(SessionPurpose::Restore)? })
    }
}
