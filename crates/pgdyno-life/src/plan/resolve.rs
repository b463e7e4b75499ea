//! From an order to a plan.

use std::collections::BTreeMap;

use pgdyno_plan::{Cycle, LoadChoice, Order, Plan, Rate};
use pgdyno_results::admit_file;
use pgdyno_workload::Workload;

use crate::data::loaded::Loaded;
use crate::data::loading::LoadSettings;
use crate::drive::cpus::cpus;
use crate::drive::pinning;
use crate::drive::watch;
use crate::exit_code::Code;
use crate::failure::{Failure, OrFail, Result};
use crate::plan::recipe_order::Followed;
use crate::plan::workload_source::{ClientSetup, WorkloadSource};
use crate::target::Target;

const DEFAULT_TIME_S: f64 = 30.0;
const DEFAULT_RAMP_S: f64 = 5.0;
const MAX_DEFAULT_SIZE: u64 = 10;

/// Clients, where nothing is said: enough to keep the CPUs of a machine like this one busy.
fn default_clients() -> u32 {
    (2 * cpus() as u32).max(4)
}

/// Threads, where nothing is said: a quarter of the CPUs beside a local server, all of them for a remote
/// one. One thread drives what about ten cores of a server answer.
fn default_threads(local: bool) -> usize {
    if local { (cpus() / 4).max(1) } else { cpus() }
}

/// Clients as the order says, or by default.
pub(crate) fn clients(order: &Order) -> u32 {
    order.drive.clients.unwrap_or_else(default_clients)
}

/// The size of data where nothing is said and nothing is loaded: one unit a client, so that clients need not
/// wait for each other's rows, but no more than loads in seconds. The workload's advice says when that is few.
pub fn default_size(order: &Order) -> u64 {
    u64::from(clients(order)).min(MAX_DEFAULT_SIZE)
}

/// The target of a run: none for a workload that needs no server.
pub fn target(order: &Order, source: &WorkloadSource) -> Result<Target> {
    let cycle = &order.cycle;
    let prepared = [
        ("--restart", cycle.restart),
        ("--drop-caches", cycle.drop_caches),
        ("--prewarm", cycle.prewarm),
        ("--checkpoint", cycle.checkpoint),
        ("--provision", cycle.provision),
    ];
    let prepared = prepared.iter().find(|(_, asked)| *asked).map(|(option, _)| *option);
    if source.needs_server() {
        let target = Target::resolve(&order.target)?;
        if let Some(option) = prepared.filter(|_| target.is_null()) {
            let error =
                format!("{option} is for PostgreSQL, a private server or a given one, and this run has a null server");
            return Err(Failure::new(Code::Start, error));
        }
        if order.from_template.is_some() && target.is_null() {
            return Err(Failure::new(Code::Start, "a null server has no database that --from-template could copy"));
        }
        return Ok(target);
    }
    let named = order.target.target.is_some().then_some("--target");
    let copied = order.from_template.is_some().then_some("--from-template");
    if let Some(option) = named.or(copied).or(prepared) {
        let error = format!("{} measures pgdyno itself and takes no {option}", source.name());
        return Err(Failure::new(Code::Start, error));
    }
    Ok(Target::none())
}

/// A run as its order has it, before any server was looked at.
pub struct Draft {
    /// What the order names.
    pub source: WorkloadSource,
    /// The target.
    pub target: Target,
    /// Who drives.
    pub setup: ClientSetup,
    /// The workload with its parameters.
    pub workload: Workload,
    /// The plan.
    pub plan: Plan,
}

/// Returns the run that the order asks for, and what it departs from its recipe in.
pub fn draft(order: &Order, followed: Option<Followed>) -> Result<Draft> {
    let source = WorkloadSource::read(&order.workload)?;
    let target = target(order, &source)?;
    let (setup, workload, mut plan) = plan_of(order, &source, &target, default_size(order))?;
    plan.recipe = followed.map(|followed| followed.beside(&plan, &source, &target)).transpose()?;
    Ok(Draft { source, target, setup, workload, plan })
}

/// Fills in what the order leaves open; `size` is that of data where nothing is said.
pub(super) fn plan_of(
    order: &Order,
    source: &WorkloadSource,
    target: &Target,
    size: u64,
) -> Result<(ClientSetup, Workload, Plan)> {
    let (setup, workload) = settled(order, source, target, size)?;
    let plan = plan(order, source, &workload, target, &setup)?;
    Ok((setup, workload, plan))
}

/// Returns the workload and who drives it; `size` is that of data where nothing is said.
pub fn settled(order: &Order, source: &WorkloadSource, target: &Target, size: u64) -> Result<(ClientSetup, Workload)> {
    let mut setup = setup(order, source, target)?;
    let workload = source.build(&order.workload, Some(size), None, &setup)?;
    settle(order, &workload, target.is_local(), &mut setup)?;
    Ok((setup, workload))
}

/// Who drives, and how.
fn setup(order: &Order, source: &WorkloadSource, target: &Target) -> Result<ClientSetup> {
    let drive = &order.drive;
    let clients = clients(order);
    let threads = drive.threads.map_or_else(|| default_threads(target.is_local()), usize::from);
    let seed = match drive.random_seed {
        Some(seed) => seed,
        None => fresh_seed()?,
    };
    let mode = drive.mode.unwrap_or_else(|| source.default_mode());
    Ok(ClientSetup { clients, connections: None, threads: threads.min(clients as usize), mode, seed })
}

/// How many take part, where the order leaves it to the workload. To be asked again when its size has become known.
fn settle(order: &Order, workload: &Workload, local: bool, setup: &mut ClientSetup) -> Result<()> {
    let drive = &order.drive;
    let crowd = workload.drive.crowd(drive.clients, default_clients());
    setup.clients = crowd.clients;
    setup.connections = drive.connections.or(crowd.connections);
    if setup.connections.is_some_and(|shared| shared > setup.clients) {
        let error = format!(
            "{} connections are to be shared, and there are {} clients: more than one each is of no use",
            setup.connections.unwrap_or_default(),
            setup.clients
        );
        return Err(
            Failure::new(Code::Start, error).hint("lower --connections, or leave it out: then each has its own")
        );
    }
    let threads = drive.threads.map_or_else(|| default_threads(local), usize::from);
    setup.threads = threads.min(setup.links() as usize);
    Ok(())
}

/// The plan.
fn plan(
    order: &Order,
    source: &WorkloadSource,
    workload: &Workload,
    target: &Target,
    setup: &ClientSetup,
) -> Result<Plan> {
    let drive = &order.drive;
    let meta = workload.meta;
    let time_s = match (drive.time, drive.transactions) {
        (Some(time), _) if time <= 0.0 => return Err(Failure::new(Code::Start, "--time must be above 0")),
        (Some(time), _) => Some(time),
        (None, Some(_)) => None,
        (None, None) => Some(DEFAULT_TIME_S),
    };
    if drive.max_tries == Some(0) && time_s.is_none() && drive.latency_limit.is_none() {
        let error = "--max-tries=0 needs an end: give --time or --latency-limit";
        return Err(Failure::new(Code::Start, error));
    }
    let pace = drive.rate.map(|per_s| Rate { per_s, arrivals: drive.arrivals.unwrap_or_default() }).into();
    let load = match (order.no_load || target.is_null(), order.replace) {
        (true, _) => LoadChoice::Never,
        (false, true) => LoadChoice::Always,
        (false, false) => LoadChoice::IfMissing,
    };
    pinning::cpus(drive.pin.as_deref(), setup.threads)?;
    let loading = LoadSettings::asked(&order.loading);
    Ok(Plan {
        workload: source.name(),
        params: if matches!(source, WorkloadSource::Scripts(_)) {
            variables(order, workload)
        } else {
            params(workload)
        },
        scripts: source.scripts(),
        directory: order.workload.names.first().filter(|_| matches!(source, WorkloadSource::Directory(_))).cloned(),
        scale_name: meta.scale_name.to_owned(),
        scale: workload.scale,
        data_bytes_estimated: workload.data_bytes(),
        data_from: None,
        target: target.name(),
        tcp: order.target.tcp,
        load,
        recipe: None,
        suite: order.suite.clone(),
        cycle: Cycle {
            restart: order.cycle.restart,
            drop_caches: order.cycle.drop_caches,
            prewarm: order.cycle.prewarm,
            checkpoint: order.cycle.checkpoint,
            provision: order.cycle.provision,
        },
        settings: target.settings.clone(),
        from_template: order.from_template.as_ref().map(|name| target.template(name)),
        loaders: if workload.has_sql_data() { 1 } else { loading.loaders },
        resumable: loading.resumable,
        unlogged: loading.unlogged,
        checks: meta.has_data() && !order.no_check && !target.is_null(),
        no_vacuum: order.no_vacuum,
        allow_schema_changes: order.allow_schema_changes,
        clients: setup.clients,
        connections: setup.connections,
        threads: setup.threads,
        pin: drive.pin.clone(),
        mode: setup.mode,
        wire: drive.wire.unwrap_or_default(),
        pace,
        ramp_s: drive.ramp.unwrap_or(if time_s.is_some() { DEFAULT_RAMP_S } else { 0.0 }),
        time_s,
        transactions: drive.transactions,
        max_tries: drive.max_tries.unwrap_or_else(|| source.default_max_tries()),
        latency_limit_ms: drive.latency_limit,
        reconnect_s: drive.reconnect.unwrap_or_default(),
        percentiles: order.latency_percentiles.clone().unwrap_or_default(),
        log: order.log,
        watch: watch::planned(&order.watch, target.named.as_ref()),
        seed: setup.seed,
    })
}

/// Brings workload, clients and plan up to what is loaded, once that is known: it decides where the order does not.
pub fn fit(
    order: &Order,
    source: &WorkloadSource,
    loaded: &Loaded,
    local: bool,
    setup: &mut ClientSetup,
    plan: &mut Plan,
) -> Result<Workload> {
    let workload = source.build(&order.workload, Some(default_size(order)), Some(loaded), setup)?;
    settle(order, &workload, local, setup)?;
    plan.data_from = loaded.maker.map(str::to_owned);
    plan.scale = workload.scale;
    plan.data_bytes_estimated = workload.data_bytes();
    plan.params = params(&workload);
    plan.clients = setup.clients;
    plan.connections = setup.connections;
    plan.threads = setup.threads;
    Ok(workload)
}

fn params(workload: &Workload) -> BTreeMap<String, String> {
    workload.params.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// What scripts were told, as parameters.
fn variables(order: &Order, workload: &Workload) -> BTreeMap<String, String> {
    let scale = ("scale".to_owned(), workload.scale.to_string());
    std::iter::once(scale).chain(order.workload.params.iter().cloned()).collect()
}

/// A seed from the time: different for each run, and in the record.
fn fresh_seed() -> Result<u64> {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).or_fail(Code::Start)?;
    // 53 bits, so that every reader of JSON gets it exactly.
    Ok((now.as_nanos() as u64 ^ u64::from(std::process::id()) << 20) & ((1 << 53) - 1))
}

/// Whether the file of `--json` can be written when the run is over.
pub fn admit_json(order: &Order) -> Result<()> {
    let Some(path) = &order.json else { return Ok(()) };
    admit_file(path).map_err(|error| Failure::new(Code::Start, error).hint("name another file with --json"))
}

/// A hash of what the plan does: the same for plans that differ by their seed, their suite, the path of their workload, or what is shown of
/// them, only.
pub fn hash(plan: &Plan) -> String {
    use sha2::Digest;
    let mut plan = plan.clone();
    plan.seed = 0;
    plan.percentiles.clear();
    plan.suite = None;
    plan.directory = None;
    // A plan is plain data: it always becomes JSON.
    let json = serde_json::to_vec(&plan).unwrap_or_default();
    sha2::Sha256::digest(&json).iter().take(8).map(|b| format!("{b:02x}")).collect()
}
