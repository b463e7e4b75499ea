//! State of a workload's data in a database.

pub(crate) mod catalog;
pub(crate) mod changes;
pub(crate) mod driven_by;
pub(crate) mod fate;
pub(crate) mod inventory;
pub(crate) mod layout;
pub(crate) mod logbook;
pub(crate) mod maker;
pub(crate) mod object;
pub(crate) mod owner;
pub(crate) mod relations;
pub(crate) mod schema;
pub(crate) mod sql_objects;
pub(crate) mod stamp;
pub(crate) mod stored;
pub(crate) mod taken;

use pgdyno_net::Admin;
use pgdyno_workload::{Capabilities, DataSet};

use crate::state::inventory::Inventory;
use crate::state::logbook::Left;
use crate::state::taken::Taken;
use crate::{LoadError, ResumableLoad, Stamp, identity};

/// State of a data set in a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataState {
    /// Nothing.
    Absent,
    /// Exactly the data that the workload would load.
    Complete(Stamp),
    /// The data set, complete, but with another scale, version or other parameters that shape its rows.
    Other(Stamp),
    /// The rest of an interrupted load, or damaged data of pgdyno.
    Partial {
        /// The stamp of the load, if there is one.
        stamp: Option<Stamp>,
        /// Progress of the load, if a load of the same data would resume it.
        kept: Option<ResumableLoad>,
        /// Objects that are missing or belong to another program, table by table, in words. If this is empty and no
        /// progress is kept, nothing useful is there.
        damage: Vec<String>,
    },
    /// Tables of these names that pgdyno did not load, such as those of `pgbench -i` or of HammerDB.
    Foreign {
        /// Their size, if the workload can read it from the tables.
        scale: Option<u64>,
        /// The program that made them, if known: `HammerDB`.
        maker: Option<&'static str>,
    },
    /// Tables or routines of these names that pgdyno loaded for other workloads.
    Taken(Taken),
}

/// Returns the state of the data. Only reads, and only rows of the stamp and of
/// [`pgdyno_workload::Meta::scale_query`].
///
/// # Errors
/// When the catalog cannot be read, there is no schema, or the workload has no data.
pub fn state(admin: &mut Admin, data: &dyn DataSet) -> Result<DataState, LoadError> {
    let caps = capabilities(admin);
    let inventory = Inventory::take(admin, data, &caps)?;
    examine(admin, data, &caps, &inventory)
}

/// Returns objects with the names of the workload's tables and routines that pgdyno did not make, each with its kind,
/// and their schema.
///
/// # Errors
/// When the catalog cannot be read, or there is no schema.
pub fn foreign_objects(admin: &mut Admin, data: &dyn DataSet) -> Result<(String, Vec<String>), LoadError> {
    let caps = capabilities(admin);
    let inventory = Inventory::take(admin, data, &caps)?;
    let objects = inventory.foreign();
    Ok((inventory.schema, objects))
}

/// Returns the stamp of pgdyno's data, if it is complete.
///
/// # Errors
/// When the catalog cannot be read, or there is no schema.
pub fn complete_stamp(admin: &mut Admin, data: &dyn DataSet) -> Result<Option<Stamp>, LoadError> {
    if !data.meta().has_data() {
        return Ok(None);
    }
    Ok(match state(admin, data)? {
        DataState::Complete(stamp) | DataState::Other(stamp) => Some(stamp),
        _ => None,
    })
}

/// Abilities on which names of tables and routines could depend.
pub(crate) fn capabilities(admin: &Admin) -> Capabilities {
    let default = Capabilities::default();
    let server_version_num = admin.parameters().server_version_num().unwrap_or(default.server_version_num);
    Capabilities { server_version_num, ..default }
}

/// Returns the state that `inventory` shows.
pub(crate) fn examine(
    admin: &mut Admin,
    data: &dyn DataSet,
    caps: &Capabilities,
    inventory: &Inventory,
) -> Result<DataState, LoadError> {
    let meta = data.meta();
    if !meta.has_data() {
        return Err(LoadError::NoData(meta.id));
    }
    if !inventory.foreign().is_empty() {
        let maker = inventory.maker.map(|maker| maker.name);
        return Ok(DataState::Foreign { scale: foreign_scale(admin, data), maker });
    }
    if let Some(taken) = taken::taken(admin, inventory, data)? {
        return Ok(DataState::Taken(taken));
    }
    let read = match inventory.has_stamps {
        true => stamp::read(admin, &inventory.schema, meta.dataset).map_err(LoadError::Catalog)?,
        false => None,
    };
    let nothing_left = inventory.objects().next().is_none();
    let (stamp, complete) = match read {
        // The stamp of tables that were dropped says nothing; that of a load which was rolled back does.
        None | Some((_, true)) if nothing_left => return Ok(DataState::Absent),
        None => {
            let mut damage = vec![format!("the row of {} that describes the data is missing", stamp::STAMP_TABLE)];
            let tables = data.tables(caps);
            let gone = tables.iter().filter(|table| inventory.relations.iter().all(|there| there.name != table.name));
            damage.extend(gone.map(|table| format!("table {} is missing", table.name)));
            return Ok(DataState::Partial { stamp: None, kept: None, damage });
        }
        Some(read) => read,
    };
    if !complete {
        return Ok(match logbook::find(admin, data, caps, inventory, &stamp, false)? {
            Left::Found(found) => DataState::Partial { stamp: Some(stamp), kept: Some(found.far), damage: Vec::new() },
            Left::Damaged(damage) => DataState::Partial { stamp: Some(stamp), kept: None, damage },
            Left::Nothing => DataState::Partial { stamp: Some(stamp), kept: None, damage: Vec::new() },
        });
    }
    let tables = stamp.rows.iter().map(|(name, _)| name.as_str());
    let mut damage: Vec<_> = tables.filter_map(|name| inventory.lacks(name, &stamp.identity)).collect();
    damage.extend(stamp.contradiction(meta.scale_name));
    Ok(match stamp.identity == identity(data) {
        _ if !damage.is_empty() => DataState::Partial { stamp: Some(stamp), kept: None, damage },
        true => DataState::Complete(stamp),
        false => DataState::Other(stamp),
    })
}

/// Returns the size of another program's tables; `None` if they do not have the expected form.
fn foreign_scale(admin: &mut Admin, data: &dyn DataSet) -> Option<u64> {
    let answer = admin.query_opt(data.meta().scale_query?);
    answer.ok().flatten()?.parse().ok()
}
