//! Room for the data on the server's disk, if it is a disk of this machine.

use std::path::{Path, PathBuf};

use pgdyno_load::steps::DISK;
use pgdyno_net::Admin;
use pgdyno_server::os::is_here;
use pgdyno_text::units;
use pgdyno_workload::{DataSet, Workload};

use crate::data::access::DataAccess;
use crate::data::size::size;
use crate::exit_code::Code;
use crate::failure::{CommandError, OrFail, Result};
use crate::target::{Target, places};

/// Refuses a load that does not fit on the server's disk, before anything is written. What the database holds already, such
/// as data to be replaced, takes no further room. The disk of a server on another machine is not known.
///
/// # Errors
/// When it does not fit.
pub(super) fn admit(access: &DataAccess<'_>, admin: &mut Admin, data: &dyn DataSet) -> Result<()> {
    if data.bytes() == 0 {
        return Ok(());
    }
    let given = match access.data_dir {
        Some(_) => None,
        None => directory(access, admin)?,
    };
    let Some(directory) = access.data_dir.or(given.as_deref()) else { return Ok(()) };
    let warn = |warning: String| access.events.note(&warning);
    let held = admin.query_opt("select pg_database_size(current_database())");
    let Some(held) = DISK.decide(held).or_fail(Code::Load)?.or_warn(warn) else { return Ok(()) };
    let needed = data.bytes().saturating_sub(held.and_then(|held| held.parse().ok()).unwrap_or_default());
    match shortage(data, needed, directory) {
        None => Ok(()),
        Some(why) => Err(CommandError::new(Code::Load, why).hint(format!(
            "take a smaller --{}, free some room, or name a server with a larger disk in --target",
            data.meta().scale_name
        ))),
    }
}

/// Returns the data directory of a given server; `None` if it is not on this machine, if the role may not know it, or if the
/// database is not in it.
fn directory(access: &DataAccess<'_>, admin: &mut Admin) -> Result<Option<PathBuf>> {
    if access.caps.distributed_tables || !is_here(admin, access.options).or_fail(Code::Start)? {
        return Ok(None);
    }
    let sql = "select setting from pg_settings join pg_database on datname = current_database() join pg_tablespace t on \
               t.oid = dattablespace where name = 'data_directory' and spcname = 'pg_default'";
    let found = DISK.decide(admin.query_opt(sql)).or_fail(Code::Load)?;
    Ok(found.or_warn(|warning| access.events.note(&warning)).flatten().map(PathBuf::from))
}

/// Returns which data of the workload does not fit on the disk where the target's private server would be.
#[must_use]
pub fn shortages(workload: &Workload, target: &Target) -> Vec<String> {
    let Ok(places) = places() else { return Vec::new() };
    if !target.is_private() {
        return Vec::new();
    }
    // The directory is made with the first server.
    let there = places.root().ancestors().find(|path| path.is_dir()).map(PathBuf::from);
    let of = |data: &dyn DataSet| shortage(data, data.bytes(), there.as_deref()?);
    workload.data.iter().filter_map(|data| of(data.as_ref())).collect()
}

/// Returns how far the data is from fitting on the disk with this directory, if it is not known to fit.
fn shortage(data: &dyn DataSet, needed: u64, directory: &Path) -> Option<String> {
    let free = pgdyno_server::free_bytes(directory)?;
    (free < needed).then(|| {
        format!(
            "{} of {} takes about {}, and the server's disk ({}) has {} free",
            units::sized(data.meta().scale_name, &size(data)),
            data.meta().id,
            units::bytes(data.bytes()),
            directory.display(),
            units::bytes(free)
        )
    })
}
