//! Room for the data on the disk of a private server.

use std::path::{Path, PathBuf};

use pgdyno_net::Admin;
use pgdyno_report::units;
use pgdyno_workload::{DataSet, Workload};

use crate::data::{DataAccess, size};
use crate::exit_code::Code;
use crate::failure::{Failure, OrFail, Result};
use crate::target::{Kind, Target, places};

/// Refuses a load that does not fit on the disk of the private server, before anything is written. What the database
/// holds already, such as data to be replaced, takes no further room.
///
/// # Errors
/// When it does not fit.
pub(super) fn admit(access: &DataAccess<'_>, data: &dyn DataSet) -> Result<()> {
    let Some(directory) = access.data_dir.filter(|_| data.bytes() > 0) else { return Ok(()) };
    let sql = "select pg_database_size(current_database())";
    let held = Admin::connect(access.options).or_fail(Code::Start)?.query_one(sql).or_fail(Code::Load)?;
    let needed = data.bytes().saturating_sub(held.parse().unwrap_or_default());
    match shortage(data, needed, directory) {
        None => Ok(()),
        Some(why) => Err(Failure::new(Code::Load, why).hint(format!(
            "take a smaller --{}, free some room, or name a server with a larger disk in --target",
            data.meta().scale_name
        ))),
    }
}

/// Returns which data of the workload does not fit on the disk where the target's private server would be.
#[must_use]
pub fn shortages(workload: &Workload, target: &Target) -> Vec<String> {
    let Ok(places) = places() else { return Vec::new() };
    if !matches!(target.kind, Kind::Embedded(_)) {
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
            "{} {} of {} takes about {}, and the disk of the private server ({}) has {} free",
            data.meta().scale_name,
            size(data),
            data.meta().id,
            units::bytes(data.bytes()),
            directory.display(),
            units::bytes(free)
        )
    })
}
