//! Drops what was loaded.

use pgdyno_net::{Admin, AdminError};
use pgdyno_wire::SqlState;
use pgdyno_workload::DataSet;

use crate::load::apart;
use crate::lock_key::lock_key;
use crate::state::fate::{self, Fate};
use crate::state::inventory::{Drop, Inventory};
use crate::state::logbook::Logbook;
use crate::state::{stamp, taken};
use crate::steps::{self, StepOutcome};
use crate::{LoadError, Owner, Taken, state};

/// Objects that were dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Tables, and with force any objects of their names, each with its kind: `table orders`.
    pub relations: Vec<String>,
    /// Procedures and functions, with the types of their arguments.
    pub routines: Vec<String>,
    /// Whether there was a stamp.
    pub stamp: bool,
}

impl Dropped {
    /// Returns true if nothing was there.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.relations.is_empty() && self.routines.is_empty() && !self.stamp
    }
}

/// Drops the data set `data` of any scale, in one transaction: tables, routines and everything else with its mark,
/// and its stamp. With `force`, also objects of other programs with the names of its tables and routines. Fails if
/// other objects depend on these: it never cascades. If the answer to the COMMIT does not come, it may have happened:
/// [`LoadError::asked`] asks.
///
/// # Errors
/// [`LoadError::Foreign`] or [`LoadError::OtherMaker`] without `force`, if there is an object that is not pgdyno's;
/// [`LoadError::Taken`] if one belongs to a data set that pgdyno loaded for another workload, also with `force`. Nothing is
/// dropped then.
pub fn drop_data(admin: &mut Admin, data: &dyn DataSet, force: bool) -> Result<Dropped, LoadError> {
    // Locks of others and a synchronous standby take as long as they take.
    admin.patiently(|admin| drop_patiently(admin, data, force))
}

fn drop_patiently(admin: &mut Admin, data: &dyn DataSet, force: bool) -> Result<Dropped, LoadError> {
    let meta = data.meta();
    if !meta.has_data() {
        return Err(LoadError::NoData(meta.id));
    }
    let caps = state::capabilities(admin);
    admin.execute("begin").map_err(undroppable)?;
    let mut transaction = None;
    let dropped = lock(admin, meta.dataset)
        .and_then(|()| Inventory::take(admin, data, &caps))
        .and_then(|inventory| match taken::taken(admin, &inventory, data)? {
            Some(taken) => Err(LoadError::Taken(Box::new(Taken { is_forcible: false, ..taken }))),
            None => drop_all(admin, &inventory, meta.dataset, force),
        })
        .and_then(|dropped| drop_routine_schema(admin, data, dropped))
        .and_then(|dropped| {
            transaction = fate::transaction(admin).map_err(undroppable)?;
            Ok(dropped)
        });
    let end = admin.execute(if dropped.is_ok() { "commit" } else { "rollback" });
    let dropped = dropped?;
    match end {
        Ok(_) => Ok(dropped),
        Err(source) if source.is_lost() => {
            let fate = Fate::Unknown("the server was not asked".to_owned());
            Err(LoadError::Unanswered { fate, transaction, source: Box::new(source) })
        }
        Err(source) => Err(undroppable(source)),
    }
}

/// Within a transaction: drops the schema of routines that are kept apart, if pgdyno created it.
fn drop_routine_schema(admin: &mut Admin, data: &dyn DataSet, mut dropped: Dropped) -> Result<Dropped, LoadError> {
    if let Some(maker) = data.other_maker()
        && apart::drop_schema(admin, maker.routine_schema)?
    {
        dropped.relations.push(format!("schema {}", maker.routine_schema));
    }
    Ok(dropped)
}

/// Within a transaction: takes the lock that loads of the data set hold, until the transaction's end.
pub(crate) fn lock(admin: &mut Admin, dataset: &str) -> Result<(), LoadError> {
    // A refusal would end the transaction.
    admin.execute("savepoint pgdyno_lock").map_err(LoadError::Catalog)?;
    let got = admin.query_opt(&format!("select pg_try_advisory_xact_lock({})", lock_key(dataset)));
    match steps::LOAD_LOCK.decide(got).map_err(|error| LoadError::Catalog(error.source))? {
        StepOutcome::With(Some(got)) if got == "t" => Ok(()),
        StepOutcome::With(Some(_)) => Err(LoadError::Busy { dataset: dataset.to_owned() }),
        StepOutcome::With(None) => Err(LoadError::no_schema(admin)),
        StepOutcome::LeftOut(_) => {
            admin.execute("rollback to savepoint pgdyno_lock").map(drop).map_err(LoadError::Catalog)
        }
    }
}

/// Within a transaction: drops everything in `inventory`, and the stamp.
pub(crate) fn drop_all(
    admin: &mut Admin,
    inventory: &Inventory,
    dataset: &str,
    force: bool,
) -> Result<Dropped, LoadError> {
    let foreign = inventory.foreign();
    if !force && !foreign.is_empty() {
        return Err(inventory.refusal(foreign));
    }
    let objects = || inventory.objects().map(|o| o.title()).collect::<Vec<_>>().join(", ");
    for logbook in inventory.relations.iter().filter_map(Logbook::of) {
        admin.execute(&logbook.close_sql()).map_err(|source| refusal(source, objects))?;
    }
    drop_in_order(admin, inventory.drops()).map_err(|source| refusal(source, objects))?;
    let stamp = inventory.has_stamps && forget(admin, &inventory.schema, dataset).map_err(undroppable)?;
    Ok(Dropped {
        relations: inventory.relations.iter().map(|o| o.title()).collect(),
        routines: inventory.routines.iter().map(|o| o.name.clone()).collect(),
        stamp,
    })
}

/// Within a transaction: drops whole data sets of other workloads, and everything in `inventory`, so that there is room.
pub(crate) fn drop_owners(
    admin: &mut Admin,
    inventory: Inventory,
    dataset: &str,
    owners: &[Owner],
) -> Result<Dropped, LoadError> {
    for owner in owners {
        lock(admin, &owner.dataset)?;
        if inventory.has_stamps {
            admin.execute(&stamp::delete_sql(&inventory.schema, &owner.dataset)).map_err(undroppable)?;
        }
    }
    let whole = inventory.with(admin, owners).map_err(LoadError::Catalog)?;
    drop_all(admin, &whole, dataset, true)
}

/// Within a transaction: drops all of it. Repeats statements that failed because of dependent objects.
fn drop_in_order(admin: &mut Admin, mut drops: Vec<Drop>) -> Result<(), AdminError> {
    let mut alone = false;
    while !drops.is_empty() {
        let (before, mut refused, mut why) = (drops.len(), Vec::new(), None::<AdminError>);
        for drop in drops {
            admin.execute("savepoint pgdyno")?;
            match admin.execute(&drop.sql()) {
                Ok(_) => {}
                Err(error) if error.code() == Some(SqlState::DEPENDENT_OBJECTS) => {
                    admin.execute("rollback to savepoint pgdyno")?;
                    refused.push(drop);
                    why.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
        }
        if refused.len() == before {
            // One of several objects in a statement may make it fail for the others.
            match why {
                Some(error) if alone => return Err(error),
                _ => refused = refused.into_iter().flat_map(Drop::singly).collect(),
            }
            alone = true;
        }
        drops = refused;
    }
    Ok(())
}

fn refusal(source: AdminError, objects: impl Fn() -> String) -> LoadError {
    if source.code() == Some(SqlState::DEPENDENT_OBJECTS) {
        LoadError::Needed { objects: objects(), source }
    } else {
        LoadError::Undroppable { objects: objects(), source }
    }
}

/// For objects outside of the data set.
fn undroppable(source: AdminError) -> LoadError {
    LoadError::Undroppable { objects: "the data".to_owned(), source }
}

/// Deletes the stamp, and with the last one the table of stamps. Returns true if there was one.
fn forget(admin: &mut Admin, schema: &str, dataset: &str) -> Result<bool, AdminError> {
    let gone = admin.execute(&stamp::delete_sql(schema, dataset))? > 0;
    let others = admin.query_one(&format!("select count(*) from {schema}.{}", stamp::STAMP_TABLE))?;
    if others == "0" {
        admin.execute(&format!("drop table {schema}.{}", stamp::STAMP_TABLE))?;
    }
    Ok(gone)
}
