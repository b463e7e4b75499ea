//! The profile of a server on this machine: whether it can be taken, and where it is kept.

use std::path::Path;

use pgdyno_net::{Admin, ConnectOptions};
use pgdyno_plan::Plan;
use pgdyno_report::flame;
use pgdyno_results::{ProfileRecord, RunRecord, write_inside, write_profile};
use pgdyno_server::os::perf::{self, FREQUENCY_HZ, Perf};

use crate::exit_code::Code;
use crate::failure::{Failure, Result};
use crate::target::{Kind, Target};

/// The flame graph in a run directory.
const FILE: &str = "perf.svg";

/// Where perf's own files are during the run.
const PLACE: &str = ".perf";

/// Refuses a profile that cannot be taken, before anything is started.
///
/// # Errors
/// When the server is on another machine, perf is missing, or this user may not use it.
pub(crate) fn admit(plan: &Plan, target: &Target) -> Result<()> {
    if !plan.watch.perf {
        return Ok(());
    }
    let is_here = match &target.kind {
        Kind::Embedded(_) => true,
        Kind::None | Kind::Null => false,
        Kind::Given(options) => options.is_local(),
    };
    if !is_here {
        let error = format!("--perf profiles a PostgreSQL on this machine, and {} is none", plan.target);
        let hint = "leave --perf out, and run `perf record -F 199 -g -a` on its machine meanwhile";
        return Err(Failure::new(Code::Start, error).hint(hint));
    }
    match perf::hindrance() {
        None => Ok(()),
        Some((error, remedy)) => Err(Failure::new(Code::Start, format!("--perf: {error}")).hint(remedy)),
    }
}

/// Returns the process of the postmaster, for a role that may read it.
const POSTMASTER: &str = "SELECT split_part(pg_read_file('postmaster.pid'), chr(10), 1)";

/// Attaches to the server's processes.
pub(super) fn begin(options: &ConnectOptions, directory: &Path) -> std::result::Result<Perf, String> {
    let mut admin = Admin::connect(options).map_err(|error| error.to_string())?;
    let pid = admin.query_one(POSTMASTER).map_err(|error| {
        format!("the role may not read the number of the server's process ({error}): grant it pg_read_server_files")
    })?;
    let pid = pid.trim().parse().map_err(|_| format!("'{pid}' is no process of the server"))?;
    Perf::begin(pid, directory.join(PLACE))
}

/// Writes the stacks and their flame graph into the run directory, and adds them to the record.
pub(super) fn keep(
    stacks: &[(String, u64)],
    record: &mut RunRecord,
    directory: &Path,
) -> std::result::Result<(), String> {
    if stacks.is_empty() {
        return Ok(());
    }
    let samples = stacks.iter().map(|(_, samples)| samples).sum();
    let profile = ProfileRecord { samples, frequency_hz: FREQUENCY_HZ, stacks: stacks.len() as u64 };
    write_profile(directory, stacks).map_err(|error| error.to_string())?;
    let svg = flame::svg(stacks, &profile.title(record));
    write_inside(directory, FILE, svg.as_bytes()).map_err(|error| error.to_string())?;
    record.profile = Some(profile);
    Ok(())
}
