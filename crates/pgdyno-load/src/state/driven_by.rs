//! Another program that drove the data of a workload.

use pgdyno_net::Admin;
use pgdyno_workload::{DataSet, Maker};

use crate::state::inventory::Inventory;
use crate::state::maker::has_routines;
use crate::{LoadError, state};

/// Returns the other program that may have changed the data: its tables are there, or its routines are beside
/// pgdyno's.
///
/// # Errors
/// When the catalog cannot be read.
pub fn driven_by(admin: &mut Admin, data: &dyn DataSet) -> Result<Option<&'static Maker>, LoadError> {
    let Some(maker) = data.other_maker() else { return Ok(None) };
    if has_routines(admin, maker).map_err(LoadError::Catalog)? {
        return Ok(Some(maker));
    }
    let caps = state::capabilities(admin);
    Ok(Inventory::take(admin, data, &caps)?.maker)
}
