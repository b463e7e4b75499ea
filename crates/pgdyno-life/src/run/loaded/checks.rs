//! Checks of the data, and the counts of its tables.

use std::sync::Arc;

use pgdyno_load::{Baseline, Moment, NOT_CHECKABLE, SCHEMA, SchemaDifference};
use pgdyno_net::Admin;
use pgdyno_plan::Plan;
use pgdyno_results::{CheckRecord, CheckSet};
use pgdyno_workload::{Capabilities, DataSet, Workload};

use super::Database;
use super::before::Looking;
use crate::data::{self, DataAccess, foreign};
use crate::exit_code::Code;
use crate::failure::{OrFail, Result};
use crate::run::context::RunContext;

impl Looking<'_> {
    /// Checks all data sets and returns what the checks after the run compare with; without checks only warns of differences in
    /// the schema.
    pub(super) fn check_all(&self, database: &mut Database<'_>, is_checked: bool) -> Result<Vec<Baseline>> {
        let Database { session, options, caps, .. } = database;
        let stop = &self.context.interrupt.stop;
        let access = DataAccess { options, caps, events: self.context.view, stop, data_dir: None };
        let mut baselines = Vec::new();
        for set in &self.workload.data {
            if is_checked {
                baselines.push(self.check(&access, set.as_ref())?);
            } else {
                let differences =
                    pgdyno_load::differences(session.ready()?, set.as_ref(), caps).or_fail(Code::Check)?;
                self.warn_of_schema(differences.unwrap_or_default().iter());
            }
        }
        Ok(baselines)
    }

    fn check(&self, access: &DataAccess<'_>, data: &dyn DataSet) -> Result<Baseline> {
        let is_fresh = self.found.fresh.contains(&data.meta().dataset);
        if is_fresh {
            let (set, _) = data::check(access, data, Moment::AfterLoad, "after the load")?;
            note_checks(self.context, &set);
            if !data::holds(&set) {
                return Err(data::broken(&set));
            }
        }
        // Checks that just passed are repeated only for what the run must not change.
        let moment = if is_fresh { Moment::BeforeRun } else { Moment::AtRest };
        let (set, baseline) = data::check(access, data, moment, "before the run")?;
        note_checks(self.context, &set);
        let is_allowed = |check: &CheckRecord| self.plan.load.allow_schema_changes && check.name == SCHEMA;
        match self.found.maker {
            None if set.checks.iter().any(|check| !check.passes() && !is_allowed(check)) => {
                return Err(data::broken(&set));
            }
            Some(maker) => foreign::unlike(&set, maker, data).map_or(Ok(()), Err)?,
            None => {}
        }
        self.warn_of_schema(baseline.differences().iter());
        if let Some(why) = baseline.schema_unknown() {
            self.context.events.left_out(&format!("the schema was not checked: {why}"));
        }
        for warning in foreign::broken_before(&set) {
            self.context.events.warn(&warning);
        }
        Ok(baseline)
    }

    /// Warns that the schema differs from what was loaded.
    fn warn_of_schema<'d>(&self, differences: impl Iterator<Item = &'d SchemaDifference>) {
        for difference in differences {
            self.context.events.warn(&format!("the schema differs: {difference}"));
        }
    }
}

/// Adds checks to the record, and warns of those that the server cannot run. A set without checks gets no line.
pub(crate) fn note_checks(context: &RunContext<'_>, set: &CheckSet) {
    for (check, why) in set.checks.iter().filter_map(|check| Some((check, check.refused.as_ref()?))) {
        match why.strip_prefix(NOT_CHECKABLE) {
            // It says nothing about the figures.
            Some(why) => context.view.note(&format!("{} is not checked: {why}", check.name)),
            None => context
                .events
                .warn(&format!("{} was not checked {}: the server cannot run its query: {why}", check.name, set.when)),
        }
    }
    if !set.checks.is_empty() {
        context.record.edit(|recording| recording.record.checks.push(set.clone()));
    }
}

/// Returns what the server's tables count, in this order: for each of the workload's metrics, then the others.
pub(crate) fn server_counts(admin: &mut Admin, plan: &Plan, workload: &Workload) -> Vec<Option<u64>> {
    let drive = &workload.drive;
    let of_metrics = drive.metrics.iter().map(|metric| metric.server_count.map(str::to_owned));
    // They may read whole tables.
    let others = if plan.load.checks { drive.server_counts() } else { Vec::new() };
    let queries: Vec<_> = of_metrics.chain(others.into_iter().map(|count| Some(count.query))).collect();
    queries.into_iter().map(|query| data::number(admin, &query?)).collect()
}

/// Returns the sizes of the tables; none if they cannot be read now.
pub(crate) fn table_sizes(admin: &mut Admin, workload: &Workload, caps: &Capabilities) -> Vec<(&'static str, u64)> {
    let mut of = |set: &Arc<dyn DataSet>| pgdyno_load::table_sizes(admin, set.as_ref(), caps).unwrap_or_default();
    workload.data.iter().flat_map(&mut of).collect()
}
