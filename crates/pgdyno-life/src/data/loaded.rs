//! What is there already.

use pgdyno_load::{DataState, Stamp};
use pgdyno_net::Admin;
use pgdyno_workload::{DataSet, Maker, Workload};

use crate::exit_code::Code;
use crate::failure::{OrFail, Result};

/// What is known of data that is there.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// Its size, in units of the workload's scale.
    pub size: u64,
    /// Whether it is all there; if not, a load goes on from where it is.
    pub complete: bool,
    /// Parameters that shaped it, where pgdyno loaded it.
    pub params: Vec<(String, String)>,
    /// Parameters of a run on it, where they are not the usual ones.
    pub of_run: Vec<(&'static str, &'static str)>,
    /// The program that loaded it, where that is not pgdyno.
    pub maker: Option<&'static str>,
}

impl Loaded {
    /// Data of another program. Where it is the one that the workload knows, nothing of its own is replaced.
    fn of_another(size: u64, maker: Option<&'static str>, data: &dyn DataSet) -> Self {
        let known = data.other_maker().filter(|known| maker == Some(known.name));
        let of_run = known.map(|known| (Maker::ROUTINE_SCHEMA, known.routine_schema)).into_iter().collect();
        let maker = Some(maker.unwrap_or("another program"));
        Self { size, complete: true, params: Vec::new(), of_run, maker }
    }

    fn of(stamp: &Stamp, complete: bool) -> Self {
        let params = stamp.load_params().map(|(name, value)| (name.to_owned(), value)).collect();
        Self { size: stamp.scale, complete, params, of_run: Vec::new(), maker: None }
    }
}

/// The first data set as it is there, where it is of the workload's kind: loaded by pgdyno, if only in part, or made by another
/// program such as `pgbench -i`.
pub fn loaded(admin: &mut Admin, workload: &Workload) -> Result<Option<Loaded>> {
    let Some(data) = workload.data.first() else { return Ok(None) };
    Ok(match pgdyno_load::state(admin, data.as_ref()).or_fail(Code::Load)? {
        DataState::Complete(stamp) | DataState::Other(stamp) => Some(Loaded::of(&stamp, true)),
        DataState::Foreign { scale, maker } => scale.map(|size| Loaded::of_another(size, maker, data.as_ref())),
        DataState::Partial { stamp: Some(stamp), .. } => Some(Loaded::of(&stamp, false)),
        DataState::Absent | DataState::Partial { stamp: None, .. } => None,
    })
}

/// The same of data that pgdyno loaded: what another program made is no measure for a load.
pub fn stamped(admin: &mut Admin, workload: &Workload) -> Result<Option<Loaded>> {
    let Some(data) = workload.data.first() else { return Ok(None) };
    Ok(match pgdyno_load::state(admin, data.as_ref()).or_fail(Code::Load)? {
        DataState::Foreign { .. } => None,
        _ => loaded(admin, workload)?,
    })
}
