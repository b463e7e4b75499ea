//! The start of a load: drops what is in the way, or keeps the progress of an interrupted load.

use pgdyno_net::{Admin, quote};

use crate::drop::{drop_all, drop_owners};
use crate::load::loading::{Load, is_resumable};
use crate::lock_key::lock_key;
use crate::session::Session;
use crate::state::examine;
use crate::state::inventory::Inventory;
use crate::state::logbook::{self, Found, Left, Logbook};
use crate::state::object::Object;
use crate::state::owner;
use crate::state::stamp::{self, command};
use crate::state::taken;
use crate::steps;
use crate::{DataState, Dropped, LoadError, LoadPhase, LoadProgress, Owner, ResumableLoad, Stamp, Taken};

/// State at the start of a load.
pub(crate) struct Prepared {
    /// The schema, quoted if necessary.
    pub(crate) schema: String,
    /// Progress of an interrupted load.
    pub(crate) found: Found,
}

impl Load<'_> {
    /// Takes the lock, drops what may be dropped, and notes that a load has begun or is resumed.
    pub(crate) fn prepare(&mut self, control: &mut Session<'_>, stamp: &Stamp) -> Result<Prepared, LoadError> {
        let dataset = self.data.meta().dataset;
        // Held until the connection ends: a long transaction would keep VACUUM from freezing.
        let got = control.run(LoadPhase::Prepare, None, |admin| {
            Ok(admin.query_opt(&format!("select pg_try_advisory_lock({})", lock_key(dataset))))
        })?;
        match self.decide(&steps::LOAD_LOCK, LoadPhase::Prepare, got)? {
            Some(Some(got)) if got != "t" => return Err(LoadError::Busy { dataset: dataset.to_owned() }),
            // What is left of the schema's name is looked at with the data.
            Some(_) | None => {}
        }
        let (schema, found, dropped) = in_transaction(control, |admin| self.clear(admin, stamp))?;
        let objects = [dropped.relations, dropped.routines].concat();
        if !objects.is_empty() {
            (self.progress)(&LoadProgress::Dropped(&objects.join(", ")));
        }
        let logbook = Logbook::new(&schema, dataset);
        if let Some(found) = found {
            self.unlogged = found.unlogged;
            self.logbook = Some(logbook);
            return Ok(Prepared { schema, found });
        }
        self.logbook = is_resumable(self.data, self.how).then_some(logbook);
        // In another transaction: on a full disk this commit makes room.
        in_transaction(control, |admin| {
            let mut begun = admin.execute(&stamp::create_sql(&schema));
            begun = begun.and_then(|_| match stamp::upgrade_sql(admin, &schema)? {
                Some(sql) => admin.execute(&sql),
                None => Ok(0),
            });
            begun = begun.and_then(|_| admin.execute(&stamp::begin_sql(&schema, stamp)));
            if let Some(logbook) = &self.logbook {
                let sql = logbook.create_sql(&stamp::mark_sql(self.data), self.unlogged);
                begun = begun.and_then(|_| admin.execute(&sql));
            }
            begun.map_err(|error| LoadError::of(LoadPhase::Prepare, None, error))
        })?;
        Ok(Prepared { schema, found: Found::default() })
    }

    /// Drops what may be dropped: everything, or when resuming, only useless objects. Returns the schema, the
    /// progress that stays, and the dropped objects.
    fn clear(&self, admin: &mut Admin, stamp: &Stamp) -> Result<(String, Option<Found>, Dropped), LoadError> {
        let inventory = Inventory::take(admin, self.data, self.caps)?;
        if let Some(taken) = taken::taken(admin, &inventory, self.data)? {
            return self.make_room(admin, inventory, taken);
        }
        if inventory.foreign().is_empty() && !self.how.replace {
            match examine(admin, self.data, self.caps, &inventory)? {
                DataState::Complete(found) | DataState::Other(found) => {
                    return Err(LoadError::Exists { found: Box::new(found), wanted: Box::new(stamp.clone()) });
                }
                DataState::Partial { stamp: begun, damage, .. } if !damage.is_empty() => {
                    let remedy = command(self.data, &begun.unwrap_or_else(|| stamp.clone())) + " --replace";
                    return Err(LoadError::Damaged { dataset: self.data.meta().dataset, damage, remedy });
                }
                DataState::Partial {
                    stamp: Some(begun),
                    kept: Some(ResumableLoad { rows, rows_expected: None }),
                    ..
                } => {
                    let (go_on, anew) = (command(self.data, &begun), command(self.data, stamp));
                    return Err(LoadError::Unfinished {
                        begun: Box::new(begun),
                        rows,
                        go_on,
                        anew: anew + " --replace",
                    });
                }
                DataState::Partial { stamp: Some(begun), kept: Some(_), .. } => {
                    let left = logbook::find(admin, self.data, self.caps, &inventory, &begun, true)?;
                    if let Left::Found(found) = left {
                        self.drop_unfinished(admin, &found)?;
                        return Ok((inventory.schema, Some(found), Dropped::default()));
                    }
                }
                DataState::Partial { .. } | DataState::Absent | DataState::Foreign { .. } | DataState::Taken(_) => {}
            }
        }
        let dropped = drop_all(admin, &inventory, &stamp.dataset, self.how.force)?;
        Ok((inventory.schema, None, dropped))
    }

    /// Drops data of other workloads that is in the way, whole, if that is asked for.
    fn make_room(
        &self,
        admin: &mut Admin,
        inventory: Inventory,
        taken: Taken,
    ) -> Result<(String, Option<Found>, Dropped), LoadError> {
        if !self.how.force {
            return Err(LoadError::Taken(Box::new(taken)));
        }
        let schema = inventory.schema.clone();
        for owner in &taken.owners {
            let objects = owner::objects(admin, &schema, &owner.dataset).map_err(LoadError::Catalog)?;
            // Without the types of arguments, which are long.
            let title = |object: &Object| object.title().split('(').next().unwrap_or_default().to_owned();
            let objects = objects.iter().map(title).collect::<Vec<_>>().join(", ");
            let Owner { dataset, workload, .. } = owner;
            (self.progress)(&LoadProgress::Dropping(&format!(
                "data set {dataset} of {workload}: {objects}, its stamp"
            )));
        }
        let dropped = drop_owners(admin, inventory, self.data.meta().dataset, &taken.owners)?;
        Ok((schema, None, dropped))
    }

    /// Drops the tables without an entry in the logbook: they are empty.
    fn drop_unfinished(&self, admin: &mut Admin, found: &Found) -> Result<(), LoadError> {
        for table in self.tables.iter().filter(|table| !found.tables.contains_key(table.name)) {
            let sql = format!("drop table if exists {}", quote::identifier(table.name));
            let objects = || format!("table {}", table.name);
            admin.execute(&sql).map_err(|source| LoadError::Undroppable { objects: objects(), source })?;
        }
        Ok(())
    }
}

/// Runs `work` in a transaction.
fn in_transaction<T>(
    session: &mut Session<'_>,
    work: impl FnOnce(&mut Admin) -> Result<T, LoadError>,
) -> Result<T, LoadError> {
    session.execute(LoadPhase::Prepare, None, "begin")?;
    let done = session.run(LoadPhase::Prepare, None, |admin| Ok(work(admin)))?;
    // The first error counts, unless the statement was cancelled.
    match session.execute(LoadPhase::Prepare, None, if done.is_ok() { "commit" } else { "rollback" }) {
        Err(LoadError::Interrupted) => Err(LoadError::Interrupted),
        ended => done.and_then(|done| ended.map(|_| done)),
    }
}
