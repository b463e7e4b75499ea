//! Data that is already there.

use pgdyno_load::{DataState, Stamp};
use pgdyno_net::Admin;
use pgdyno_plan::Loaded;
use pgdyno_workload::{DataSet, Maker, Workload};

use crate::exit_code::Code;
use crate::failure::{OrFail, Result};

/// Installs routines for data of another program. If the workload knows that program, its own routines stay.
fn of_another(size: u64, maker: Option<&'static str>, data: &dyn DataSet) -> Loaded {
    let known = data.other_maker().filter(|known| maker == Some(known.name));
    let schema = known.map(|known| (Maker::ROUTINE_SCHEMA.to_owned(), known.routine_schema.to_owned()));
    let maker = Some(maker.unwrap_or("another program").to_owned());
    Loaded { size, complete: true, params: Vec::new(), of_run: schema.into_iter().collect(), maker }
}

fn of(stamp: &Stamp, complete: bool) -> Loaded {
    let params = stamp.load_params().map(|(name, value)| (name.to_owned(), value)).collect();
    Loaded { size: stamp.scale, complete, params, of_run: Vec::new(), maker: None }
}

/// Returns the first data set if it is there and of the workload's kind: loaded by pgdyno, if only in part, or by
/// another program such as `pgbench -i`.
pub fn loaded(admin: &mut Admin, workload: &Workload) -> Result<Option<Loaded>> {
    let Some(data) = workload.data.first() else { return Ok(None) };
    let state = pgdyno_load::state(admin, data.as_ref()).or_fail(Code::Load)?;
    Ok(match state {
        DataState::Foreign { scale, maker } => scale.map(|size| of_another(size, maker, data.as_ref())),
        own => of_own(&own),
    })
}

/// Returns data that pgdyno loaded.
fn of_own(state: &DataState) -> Option<Loaded> {
    match state {
        DataState::Complete(stamp) | DataState::Other(stamp) => Some(of(stamp, true)),
        DataState::Partial { stamp: Some(stamp), .. } => Some(of(stamp, false)),
        DataState::Absent
        | DataState::Foreign { .. }
        | DataState::Taken(_)
        | DataState::Partial { stamp: None, .. } => None,
    }
}

/// Returns the same for data that pgdyno loaded: data of another program does not decide the parameters of a load.
pub fn stamped(admin: &mut Admin, workload: &Workload) -> Result<Option<Loaded>> {
    let Some(data) = workload.data.first() else { return Ok(None) };
    Ok(of_own(&pgdyno_load::state(admin, data.as_ref()).or_fail(Code::Load)?))
}
