//! Loaded data of a private server, kept for later ones.

use pgdyno_net::{Admin, Stop};
use pgdyno_plan::{LoadWhen, Plan};
use pgdyno_server::Keeping;
use pgdyno_workload::Workload;

use crate::data::{self, DataAccess, Wanted};
use crate::events::EventSink;
use crate::exit_code::Code;
use crate::failure::{OrFail, Result};
use crate::target::TargetServer;
use crate::target::cached::WORTH_KEEPING_S;

/// Data of fewer bytes is loaded in less time than [`WORTH_KEEPING_S`].
const LARGE_BYTES: u64 = 512 << 20;

/// Keeps a copy of the data of a private server of this process. Nobody may be connected.
///
/// # Errors
/// When the server does not start again.
pub(crate) fn keep(server: &mut TargetServer, events: &dyn EventSink) -> Result<()> {
    events.note("keeping a copy of the data for later runs (see `pgdyno cache`)");
    if let Some(Keeping::Not(why)) = server.keep_data()? {
        events.note(&format!("no copy of the data is kept: {why}"));
    }
    Ok(())
}

/// Loads what several runs on a private server of this process will use, and keeps a copy of it: after the first run it would
/// not be as it was loaded. Leaves the load to the first run if the data is small, or if each run loads it again. Returns
/// true if the server's own database holds the data now.
///
/// # Errors
/// When the data cannot be loaded, or the server does not start again.
pub fn load_before_runs(
    server: &mut TargetServer,
    plan: &Plan,
    workload: &Workload,
    events: &dyn EventSink,
    stop: &Stop,
) -> Result<bool> {
    if server.cached().is_some() {
        return Ok(true);
    }
    let is_large = workload.data.iter().map(|data| data.bytes()).sum::<u64>() >= LARGE_BYTES
        || workload.data.iter().any(|data| data.sql_data().is_some());
    let is_plain = plan.load.choice == LoadWhen::IfMissing && plan.from_template.is_none();
    let Some(options) = server.options().cloned().filter(|_| server.can_keep_data() && is_large && is_plain) else {
        return Ok(false);
    };
    let mut admin = Admin::connect(&options).or_fail(Code::Start)?;
    let caps = pgdyno_server::capabilities(&mut admin, &options).or_fail(Code::Start)?;
    let access = DataAccess { options: &options, caps: &caps, events, stop, data_dir: server.data_dir() };
    let mut seconds = 0.0;
    for set in &workload.data {
        let provided = data::provide(&access, &mut admin, set.as_ref(), &Wanted::of(plan), None)?;
        seconds += provided.load.map_or(0.0, |load| load.seconds);
    }
    drop(admin);
    if seconds >= WORTH_KEEPING_S {
        keep(server, events)?;
    }
    Ok(true)
}
