//! The profile of a server on this machine: whether it can be taken, and where it is kept.

use std::path::Path;

use pgdyno_measure::pauses::Cost;
use pgdyno_net::{Admin, ConnectOptions};
use pgdyno_plan::Plan;
use pgdyno_report::flame;
use pgdyno_results::{ProfileRecord, RunRecord, write_inside, write_profile};
use pgdyno_server::os::perf::{self, FREQUENCY_HZ, Perf};
use pgdyno_text::units;

use crate::exit_code::Code;
use crate::failure::{CommandError, Result};
use crate::target::{Access, Target};

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
    let is_here = match &target.access {
        Access::Private(_) | Access::Pair { .. } => true,
        Access::None | Access::Null => false,
        Access::Given(options) => options.is_local(),
    };
    if !is_here {
        let error = format!("--perf profiles a PostgreSQL on this machine, and {} is none", plan.target);
        let hint = "leave --perf out, and run `perf record -F 199 -g -a` on its machine meanwhile";
        return Err(CommandError::new(Code::Start, error).hint(hint));
    }
    match perf::hindrance() {
        None => Ok(()),
        Some((error, remedy)) => Err(CommandError::new(Code::Start, format!("--perf: {error}")).hint(remedy)),
    }
}

/// Returns the process of the postmaster, for a role that may read it.
const POSTMASTER: &str = "SELECT split_part(pg_read_file('postmaster.pid'), chr(10), 1)";

/// Attaches to the server's processes.
pub(super) fn begin(options: &ConnectOptions, is_pooled: bool, directory: &Path) -> std::result::Result<Perf, String> {
    let mut admin = Admin::connect(options).map_err(|error| error.to_string())?;
    let pid = admin.query_one(POSTMASTER).map_err(|error| {
        format!("the role may not read the number of the server's process ({error}): grant it pg_read_server_files")
    })?;
    let pid = pid.trim().parse().map_err(|_| format!("'{pid}' is no process of the server"))?;
    Perf::begin(pid, is_pooled, directory.join(PLACE))
}

/// Returns the warning of a run with a profile: what it cost, or that this is not known.
pub(super) fn disturbance(cost: Option<Cost>) -> String {
    const REMEDY: &str = "(measure without --perf for figures to quote)";
    let Some(Cost { slower, interval, pauses }) = cost else {
        return format!("--perf disturbs the server {REMEDY}: by how much, a window of 5 s or more shows");
    };
    let is_shown = interval.is_none_or(|[low, _]| low > 0.0);
    let how = match slower {
        slower if slower > 0.0 && is_shown => {
            format!("transactions took {} longer while it took samples", units::percent(slower))
        }
        _ => "a slowdown is not shown".to_owned(),
    };
    let ends = interval.map(|[low, high]| format!(", 95 % interval {:+.1} % to {:+.1} %", low * 100.0, high * 100.0));
    let plural = if pauses == 1 { "a pause" } else { "pauses" };
    let seconds = if pauses == 1 { "1 s".to_owned() } else { format!("{pauses} × 1 s") };
    format!("--perf disturbs the server {REMEDY}: {how}{}; found by {plural} of {seconds}", ends.unwrap_or_default())
}

/// Writes the stacks and their flame graph into the run directory, and adds them to the record.
pub(super) fn keep(
    stacks: &[(String, u64)],
    cost: Option<Cost>,
    record: &mut RunRecord,
    directory: &Path,
) -> std::result::Result<(), String> {
    if stacks.is_empty() {
        return Ok(());
    }
    let samples = stacks.iter().map(|(_, samples)| samples).sum();
    let percent = |share: f64| share * 100.0;
    let profile = ProfileRecord {
        samples,
        frequency_hz: FREQUENCY_HZ,
        stacks: stacks.len() as u64,
        slower_percent: cost.map(|cost| percent(cost.slower)),
        slower_interval_percent: cost.and_then(|cost| cost.interval).map(|ends| ends.map(percent)),
        pauses: cost.map_or(0, |cost| cost.pauses as u64),
    };
    write_profile(directory, stacks).map_err(|error| error.to_string())?;
    let svg = flame::svg(stacks, &profile.title(record));
    write_inside(directory, FILE, svg.as_bytes()).map_err(|error| error.to_string())?;
    record.profile = Some(profile);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_perf_cost_is_a_warning_with_a_figure() {
        let known = disturbance(Some(Cost { slower: 0.31, interval: Some([0.25, 0.37]), pauses: 6 }));
        assert!(
            known.contains("took 31.0 % longer while it took samples, 95 % interval +25.0 % to +37.0 %"),
            "{known}"
        );
        assert!(known.ends_with("found by pauses of 6 × 1 s"), "{known}");
        let once = disturbance(Some(Cost { slower: -0.01, interval: None, pauses: 1 }));
        assert!(once.contains("a slowdown is not shown") && once.ends_with("found by a pause of 1 s"), "{once}");
        let unsure = disturbance(Some(Cost { slower: 0.2, interval: Some([-0.1, 0.6]), pauses: 2 }));
        assert!(unsure.contains("a slowdown is not shown, 95 % interval -10.0 % to +60.0 %"), "{unsure}");
        assert!(disturbance(None).contains("a window of 5 s or more"));
    }
}
