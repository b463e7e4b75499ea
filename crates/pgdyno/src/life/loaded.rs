//! What is there already.

use pgdyno_load::{DataState, Stamp};
use pgdyno_net::Admin;
use pgdyno_workload::Workload;

use crate::exit_code::Code;
use crate::failure::{OrFail, Result};

/// What is known of data that is there.
#[derive(Clone, Debug)]
pub(crate) struct Loaded {
    pub(crate) size: u64,
    /// Whether it is all there; if not, a load goes on from where it is.
    pub(crate) complete: bool,
    /// Parameters that shaped it, where pgdyno loaded it.
    pub(crate) params: Vec<(String, String)>,
}

impl Loaded {
    fn of(stamp: &Stamp, complete: bool) -> Self {
        let params = stamp.load_params().map(|(name, value)| (name.to_owned(), value)).collect();
        Self { size: stamp.scale, complete, params }
    }
}

/// The data that is there, where it is of the workload's kind: loaded by pgdyno, if only in part, or made by another
/// program such as `pgbench -i`.
pub(crate) fn loaded(admin: &mut Admin, workload: &dyn Workload) -> Result<Option<Loaded>> {
    if !workload.meta().has_data() {
        return Ok(None);
    }
    Ok(match pgdyno_load::state(admin, workload).or_fail(Code::Load)? {
        DataState::Complete(stamp) | DataState::Other(stamp) => Some(Loaded::of(&stamp, true)),
        DataState::Foreign { scale, .. } => scale.map(|size| Loaded { size, complete: true, params: Vec::new() }),
        DataState::Partial { stamp: Some(stamp), kept } => kept.map(|_| Loaded::of(&stamp, false)),
        DataState::Absent | DataState::Partial { .. } => None,
    })
}
