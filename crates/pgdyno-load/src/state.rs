//! What data there is.

use pgdyno_net::Admin;
use pgdyno_workload::{Capabilities, Workload};

use crate::inventory::Inventory;
use crate::{Kept, LoadError, Stamp, identity, ledger, stamp};

/// What a database holds of a workload's data set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataState {
    /// Nothing.
    Absent,
    /// The very data that the workload would load.
    Complete(Stamp),
    /// The data set, complete, but with another scale, version or other parameters that shape its rows.
    Other(Stamp),
    /// What an interrupted load left, or tables of ours of which some are missing.
    Partial {
        /// The stamp of what was begun, where there is one.
        stamp: Option<Stamp>,
        /// How far that is, where a load of the same data would go on from there.
        kept: Option<Kept>,
    },
    /// Tables of these names that pgdyno did not load: those of `pgbench -i` or of HammerDB, say.
    Foreign {
        /// Their size, where the workload can tell it from the tables.
        scale: Option<u64>,
        /// What made them, where that is known: `HammerDB`.
        maker: Option<&'static str>,
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
    examine(admin, workload, &caps, &inventory)
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
    caps: &Capabilities,
    inventory: &Inventory,
) -> Result<DataState, LoadError> {
    let meta = workload.meta();
    if !meta.has_data() {
        return Err(LoadError::NoData(meta.id));
    }
    if !inventory.foreign().is_empty() {
        let maker = inventory.maker.map(|maker| maker.name);
        return Ok(DataState::Foreign { scale: foreign_scale(admin, workload), maker });
    }
    let read = match inventory.has_stamps {
        true => stamp::read(admin, &inventory.schema, meta.dataset).map_err(LoadError::Catalog)?,
        false => None,
    };
    let nothing_left = inventory.objects().next().is_none();
    let (stamp, complete) = match read {
        // The stamp of tables that somebody dropped says nothing; that of a load which was rolled back does.
        None | Some((_, true)) if nothing_left => return Ok(DataState::Absent),
        None => return Ok(DataState::Partial { stamp: None, kept: None }),
        Some(read) => read,
    };
    // A table that was dropped since, or that comes from a later, interrupted load, makes the rest worthless.
    let is_there = |name: &str| {
        let mut tables = inventory.relations.iter();
        tables.any(|table| table.name == name && table.identity.as_ref() == Some(&stamp.identity))
    };
    Ok(match complete && stamp.rows.iter().all(|(name, _)| is_there(name)) {
        false => {
            let found = if complete { None } else { ledger::find(admin, workload, caps, inventory, &stamp, false)? };
            DataState::Partial { stamp: Some(stamp), kept: found.map(|found| found.far) }
        }
        true if stamp.identity == identity(workload) => DataState::Complete(stamp),
        true => DataState::Other(stamp),
    })
}

/// The size of somebody else's tables; `None` where they are not what they seem.
fn foreign_scale(admin: &mut Admin, workload: &dyn Workload) -> Option<u64> {
    let answer = admin.query_opt(workload.meta().scale_query?);
    answer.ok().flatten()?.parse().ok()
}
