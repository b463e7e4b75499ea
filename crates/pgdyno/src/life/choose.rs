//! From arguments to a plan.

use pgdyno_plan::{Arrivals, LoadChoice, Pace, Plan};
use pgdyno_workload::{Params, Workload};
use pgdyno_workloads::registry;

use crate::cli::{RunArgs, WorkloadArgs};
use crate::exit_code::Code;
use crate::failure::{Failure, OrFail, Result};
use crate::target::Target;

const DEFAULT_TIME_S: f64 = 30.0;
const DEFAULT_RAMP_S: f64 = 5.0;
const MAX_DEFAULT_LOADERS: usize = 8;
const MAX_DEFAULT_SIZE: u64 = 10;

/// CPUs that this process may use.
pub(crate) fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Connections that load, where nothing is said.
pub(crate) fn default_loaders() -> usize {
    cpus().min(MAX_DEFAULT_LOADERS)
}

/// Clients, where nothing is said: enough to keep the CPUs of a machine like this one busy.
fn default_clients() -> u32 {
    (2 * cpus() as u32).max(4)
}

/// Threads, where nothing is said: a quarter of the CPUs beside a local server, all of them for a remote
/// one. One thread drives what about ten cores of a server answer.
fn default_threads(local: bool) -> usize {
    if local { (cpus() / 4).max(1) } else { cpus() }
}

/// The workload as the arguments want it. `size` is what to use where they say nothing of it.
pub(crate) fn workload(args: &WorkloadArgs, size: Option<u64>) -> Result<Box<dyn Workload>> {
    let entry = registry::find(args.id()).map_err(|error| {
        Failure::new(Code::Start, error).hint("`pgdyno list workloads` lists the workloads and their parameters")
    })?;
    let mut given: Vec<(&str, String)> = Vec::new();
    let asked = [("warehouses", &args.warehouses), ("scale", &args.scale), ("call", &args.call)];
    given.extend(asked.iter().filter_map(|(name, value)| value.as_ref().map(|value| (*name, value.clone()))));
    let flags = [("all-warehouses", args.all_warehouses), ("pipeline", args.pipeline)];
    given.extend(flags.iter().filter(|(_, set)| *set).map(|(name, _)| (*name, "true".to_owned())));
    given.extend(args.params.iter().map(|(name, value)| (name.as_str(), value.clone())));
    let scale_name = entry.meta.scale_name;
    if let Some(size) = size.filter(|_| !scale_name.is_empty() && !given.iter().any(|(name, _)| *name == scale_name)) {
        given.push((scale_name, size.to_string()));
    }
    let given = given.iter().map(|(name, value)| (*name, value.as_str()));
    let params = Params::new(entry.meta.id, entry.meta.params, given).or_fail(Code::Start)?;
    Ok((entry.build)(&params))
}

/// Whether the arguments say how large the data is.
pub(crate) fn has_size(args: &WorkloadArgs) -> bool {
    args.warehouses.is_some()
        || args.scale.is_some()
        || args.params.iter().any(|(name, _)| name == "scale" || name == "warehouses")
}

/// Clients as the arguments say, or by default.
pub(crate) fn clients(args: &RunArgs) -> u32 {
    args.drive.clients.unwrap_or_else(default_clients)
}

/// The size of data where nothing is said and nothing is loaded: one unit a client, so that clients need not
/// wait for each other's rows, but no more than loads in seconds. The workload's advice says when that is few.
pub(crate) fn default_size(args: &RunArgs) -> u64 {
    u64::from(clients(args)).min(MAX_DEFAULT_SIZE)
}

/// The target of a run: none for a workload that needs no server.
pub(crate) fn target(args: &RunArgs, workload: &dyn Workload) -> Result<Target> {
    if workload.meta().needs_server() {
        return Target::resolve(&args.target);
    }
    if args.target.target.is_some() {
        let error = format!("{} measures pgdyno itself and takes no --target", workload.meta().id);
        return Err(Failure::new(Code::Start, error));
    }
    Ok(Target::None)
}

/// The plan.
pub(crate) fn plan(args: &RunArgs, workload: &dyn Workload, target: &Target) -> Result<Plan> {
    let drive = &args.drive;
    let clients = clients(args);
    let meta = workload.meta();
    let params = workload.params().iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let time_s = match (drive.time, drive.transactions) {
        (Some(time), _) if time <= 0.0 => return Err(Failure::new(Code::Start, "--time must be above 0")),
        (Some(time), _) => Some(time),
        (None, Some(_)) => None,
        (None, None) => Some(DEFAULT_TIME_S),
    };
    if drive.max_tries == 0 && time_s.is_none() && drive.latency_limit.is_none() {
        let error = "--max-tries=0 needs an end: give --time or --latency-limit";
        return Err(Failure::new(Code::Start, error));
    }
    let pace = match drive.rate {
        None => Pace::ClosedLoop,
        Some(per_s) => Pace::Rate {
            per_s,
            arrivals: if drive.arrivals == "uniform" { Arrivals::Uniform } else { Arrivals::Poisson },
        },
    };
    let threads = drive.threads.map_or_else(|| default_threads(target.is_local()), usize::from);
    let load = match (args.no_load || matches!(target, Target::Null), args.replace) {
        (true, _) => LoadChoice::Never,
        (false, true) => LoadChoice::Always,
        (false, false) => LoadChoice::IfMissing,
    };
    Ok(Plan {
        workload: meta.id.to_owned(),
        params,
        scale_name: meta.scale_name.to_owned(),
        scale: workload.scale(),
        data_bytes_estimated: workload.data_bytes(),
        target: target.name(),
        load,
        loaders: args.loaders.map_or_else(default_loaders, usize::from),
        checks: !args.no_check && !matches!(target, Target::Null),
        clients,
        threads: threads.min(clients as usize),
        mode: drive.mode.name().to_owned(),
        pace,
        ramp_s: drive.ramp.unwrap_or(if time_s.is_some() { DEFAULT_RAMP_S } else { 0.0 }),
        time_s,
        transactions: drive.transactions,
        max_tries: drive.max_tries,
        latency_limit_ms: drive.latency_limit,
        reconnect_s: drive.reconnect,
        seed: match drive.random_seed {
            Some(seed) => seed,
            None => fresh_seed()?,
        },
    })
}

/// A seed from the time: different for each run, and in the record.
fn fresh_seed() -> Result<u64> {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).or_fail(Code::Start)?;
    // 53 bits, so that every reader of JSON gets it exactly.
    Ok((now.as_nanos() as u64 ^ u64::from(std::process::id()) << 20) & ((1 << 53) - 1))
}

/// A hash of what the plan does: the same for plans that differ by their seed only.
pub(crate) fn hash(plan: &Plan) -> String {
    use sha2::Digest;
    let mut plan = plan.clone();
    plan.seed = 0;
    // A plan is plain data: it always becomes JSON.
    let json = serde_json::to_vec(&plan).unwrap_or_default();
    sha2::Sha256::digest(&json).iter().take(8).map(|b| format!("{b:02x}")).collect()
}
