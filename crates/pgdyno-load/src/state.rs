//! What data there is.

use pgdyno_net::Admin;
use pgdyno_workload::{Capabilities, Workload};

use crate::inventory::Inventory;
use crate::{LoadError, Stamp, identity, stamp};

/// What a database holds of a workload's data set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataState {
    /// Nothing.
    Absent,
    /// The very data that the workload would load.
    Complete(Stamp),
    /// The data set, complete, but with another scale, version or other parameters that shape its rows.
    Other(Stamp),
    /// What an interrupted load left, or tables of ours of which some are missing; with the stamp of what was
    /// begun, where there is one.
    Partial(Option<Stamp>),
    /// Tables of these names that pgdyno did not load: those of `pgbench -i` or of HammerDB, say.
    Foreign {
        /// Their size, where the workload can tell it from the tables.
        scale: Option<u64>,
    },
}

/// Finds out what is there. Only reads, and looks at no row but the stamp's and those of
/// [`pgdyno_workload::Meta::scale_query`].
///
/// # Errors
/// When the catalog cannot be read, there is no schema, or the workload has no data.
pub fn state(admin: &mut Admin, workload: &dyn Workload) -> Result<DataState, LoadError> {
    let caps = capabilities(admin);
    let inventory = Inventory::take(admin, workload, &caps)?;
    examine(admin, workload, &inventory)
}

/// What names of tables and routines could depend on.
pub(crate) fn capabilities(admin: &Admin) -> Capabilities {
    let default = Capabilities::default();
    let server_version_num = admin.parameters().server_version_num().unwrap_or(default.server_version_num);
    Capabilities { server_version_num, ..default }
}

/// What `inventory` means.
pub(crate) fn examine(
    admin: &mut Admin,
    workload: &dyn Workload,
    inventory: &Inventory,
) -> Result<DataState, LoadError> {
    let meta = workload.meta();
    if !meta.has_data() {
        return Err(LoadError::NoData(meta.id));
    }
    if !inventory.foreign().is_empty() {
        return Ok(DataState::Foreign { scale: foreign_scale(admin, workload) });
    }
    let read = match inventory.has_stamps {
        true => stamp::read(admin, &inventory.schema, meta.dataset).map_err(LoadError::Catalog)?,
        false => None,
    };
    let nothing_left = inventory.objects().next().is_none();
    let (stamp, complete) = match read {
        // The stamp of tables that somebody dropped says nothing; that of a load which was rolled back does.
        None | Some((_, true)) if nothing_left => return Ok(DataState::Absent),
        None => return Ok(DataState::Partial(None)),
        Some(read) => read,
    };
    // A table that was dropped since, or that comes from a later, interrupted load, makes the rest worthless.
    let is_there = |name: &str| {
        let mut tables = inventory.relations.iter();
        tables.any(|table| table.name == name && table.identity.as_ref() == Some(&stamp.identity))
    };
    Ok(match complete && stamp.rows.iter().all(|(name, _)| is_there(name)) {
        false => DataState::Partial(Some(stamp)),
        true if stamp.identity == identity(workload) => DataState::Complete(stamp),
        true => DataState::Other(stamp),
    })
}

/// The size of somebody else's tables; `None` where they are not what they seem.
fn foreign_scale(admin: &mut Admin, workload: &dyn Workload) -> Option<u64> {
    let answer = admin.query_opt(workload.meta().scale_query?);
    answer.ok().flatten()?.parse().ok()
}
