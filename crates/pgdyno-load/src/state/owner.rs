//! Data sets that pgdyno loaded for other workloads.

use pgdyno_net::{Admin, AdminError};

use crate::state::object::Object;
use crate::state::{catalog, sql_objects};

/// A data set of another workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Its name: `tproc-c`.
    pub dataset: String,
    /// The workload that loaded it, which drops it.
    pub workload: String,
    /// Its objects that are in the way, each with its kind.
    pub objects: Vec<String>,
}

/// Returns all objects of a data set that belongs to the current schema.
pub(crate) fn objects(admin: &mut Admin, schema: &str, dataset: &str) -> Result<Vec<Object>, AdminError> {
    let (mut objects, routines) = catalog::both(admin, dataset, (&[], &[]), schema)?;
    objects.extend(routines);
    let made = sql_objects::find(admin, dataset, schema)?;
    objects.extend(
        made.into_iter().filter(|made| !objects.iter().any(|object| object.sql == made.sql)).collect::<Vec<_>>(),
    );
    Ok(objects)
}
