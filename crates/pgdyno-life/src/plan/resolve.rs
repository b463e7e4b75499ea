//! From an order to a plan. [`RunRequest::resolve`] is the only place that fills in a default or decides what an order leaves
//! open.

use std::collections::BTreeMap;

use pgdyno_plan::options::{Difference, differences};
use pgdyno_plan::{
    AnalyticsOrder, AnalyticsPlan, Cycle, CycleOrder, DrivePlan, Facts, LedgerPlan, LoadPlan, LoadWhen, Loaded, Order,
    Plan, QueryMode, StagePlan, TargetFacts,
};
use pgdyno_results::admit_file;
use pgdyno_workload::{Capabilities, Ends, GroupWork, MARKERS, Pooling, Stage, Workload};

use crate::data::loading::LoadSettings;
use crate::drive::cpus::cpus;
use crate::drive::pinning;
use crate::drive::watch::profile;
use crate::exit_code::Code;
use crate::failure::{CommandError, OrFail, Result};
use crate::plan::fault;
use crate::plan::pace;
use crate::plan::recipe_order::{self, FollowedRecipe};
use crate::plan::watch;
use crate::plan::workload_source::{ClientSetup, WorkloadSource};
use crate::target::{Target, cluster, reach};

const DEFAULT_TIME_S: f64 = 30.0;
const DEFAULT_RAMP_S: f64 = 5.0;
const MAX_DEFAULT_SIZE: u64 = 10;
/// How long lost connections are retried where queries run on a standby, which may end sessions for the sake of replay.
const STANDBY_RECONNECT_S: f64 = 10.0;
/// How long lost connections are retried where commits are proven.
const LEDGER_RECONNECT_S: f64 = 600.0;

/// A requested run. Everything that it names has been read, except the target.
pub struct RunRequest {
    /// The order, with what its recipe says.
    pub order: Order,
    /// The recipe that it follows, if any.
    pub recipe: Option<FollowedRecipe>,
    /// The workload that it names.
    pub source: WorkloadSource,
    /// The seed if the order has none.
    pub seed: u64,
    /// The stored plan that it was made from, if any.
    pub stored: Option<Plan>,
}

/// The result of resolving a request with certain facts. It never changes.
pub struct Resolved {
    /// The plan.
    pub plan: Plan,
    /// The workload that it drives.
    pub workload: Workload,
    /// What was decided because of the server, as text.
    pub notes: Vec<String>,
}

/// A request before anything connects to a server.
pub struct PlanDraft {
    /// The target.
    pub target: Target,
    /// The facts that are known without a server.
    pub facts: Facts,
    /// The request resolved with these facts.
    pub resolved: Resolved,
}

impl PlanDraft {
    /// Refuses a profile that cannot be taken.
    ///
    /// # Errors
    /// When the server is on another machine, perf is missing, or this user may not use it.
    pub fn admit_profile(&self) -> Result<()> {
        profile::admit(&self.resolved.plan, &self.target)
    }
}

impl RunRequest {
    /// Reads what the order names: its recipe, and the files of its workload.
    ///
    /// # Errors
    /// When one of them is missing, or has an error.
    pub fn read(order: Order) -> Result<Self> {
        let (order, recipe) = recipe_order::apply(order)?;
        let order = fault::settled(order)?;
        let source = WorkloadSource::read(&order.workload)?;
        Ok(Self { order, recipe, source, seed: fresh_seed()?, stored: None })
    }

    /// Returns the request resolved with these facts. Reads nothing else: no server, file, environment or clock.
    ///
    /// # Errors
    /// When the order contradicts itself, or the server cannot do what it asks for.
    pub fn resolve(&self, facts: &Facts) -> Result<Resolved> {
        let size = default_size(&self.order, facts);
        let mut resolved = fill_in(&self.order, &self.source, self.seed, facts, size)?;
        admit(&resolved, facts)?;
        let stored = self.stored.iter().flat_map(|stored| differences(stored, &resolved.plan));
        resolved.notes.extend(stored.map(|difference| not_as_stored(&difference)));
        let Some(recipe) = &self.recipe else { return Ok(resolved) };
        // What a server holds or can do is no departure from the recipe.
        let facts = facts.before_contact();
        let size = default_size(&self.order, &facts);
        let plan = fill_in(&self.order, &self.source, self.seed, &facts, size)?.plan;
        let alone = |order: &Order| fill_in(order, &self.source, plan.seed, &facts, plan.scale).map(|alone| alone.plan);
        let recipe = Some(recipe.beside(&plan, alone)?);
        Ok(Resolved { plan: Plan { recipe, ..resolved.plan }, ..resolved })
    }

    /// Returns the names of the options that the order leaves to the server and that these facts do not decide: the
    /// data that is loaded, or a pooler, gives them another value.
    ///
    /// # Errors
    /// As [`RunRequest::resolve`].
    pub fn left_to_server(&self, facts: &Facts) -> Result<Vec<String>> {
        if facts.server.is_some() || facts.target.is_null() || !self.source.needs_server() {
            return Ok(Vec::new());
        }
        let resolve = |facts: &Facts| {
            let size = default_size(&self.order, facts);
            fill_in(&self.order, &self.source, self.seed, facts, size).map(|resolved| resolved.plan)
        };
        let plan = resolve(facts)?;
        // Any value that differs will do.
        let loaded = Loaded { size: plan.scale + 1, complete: true, ..Loaded::default() };
        let pooling = Some(Pooling::Transaction { prepared: false });
        let server = Some(Capabilities { pooling, ..Capabilities::default() });
        let other = resolve(&Facts { server, loaded: Some(loaded), ..facts.clone() })?;
        Ok(differences(&plan, &other).into_iter().map(|difference| difference.name).collect())
    }

    /// Finds the target, and resolves the request with the facts that need no server.
    ///
    /// # Errors
    /// When the order is impossible on any server, or its fault on this target.
    pub fn draft(&self) -> Result<PlanDraft> {
        let target = self.target()?;
        let analytics = self.analytics()?.map(|server| server.name);
        let readers = self.readers()?.into_iter().map(|reader| reader.name).collect();
        let facts = Facts { driver_cpus: cpus(), target: target.facts(), analytics, readers, ..Facts::unknown() };
        let resolved = self.resolve(&facts)?;
        fault::admit(&resolved.plan, &target)?;
        // Agents have their own CPUs.
        if resolved.plan.drive.agents.is_none() {
            pinning::cpus(resolved.plan.drive.pin.as_deref(), resolved.plan.drive.threads)?;
        }
        Ok(PlanDraft { target, facts, resolved })
    }

    /// Finds the target; returns none for a workload that needs no server.
    ///
    /// # Errors
    /// When the target cannot be read, or cannot do what the order asks for.
    pub fn target(&self) -> Result<Target> {
        let Order { cycle, from_template, .. } = &self.order;
        let prepared = [
            ("--restart", cycle.restart),
            ("--drop-caches", cycle.drop_caches),
            ("--prewarm", cycle.prewarm),
            ("--checkpoint", cycle.checkpoint),
            ("--provision", cycle.provision),
        ];
        let prepared = prepared.iter().find(|(_, asked)| *asked).map(|(option, _)| *option);
        if self.source.needs_server() {
            let target = Target::resolve(&self.order.target)?;
            if let Some(option) = prepared.filter(|_| target.is_null()) {
                let error = format!("{option} needs PostgreSQL, and this run has a null server");
                return Err(CommandError::new(Code::Start, error));
            }
            if from_template.is_some() && target.is_null() {
                return Err(CommandError::new(Code::Start, "a null server has no database to copy (--from-template)"));
            }
            return Ok(target);
        }
        let named = self.order.target.target.is_some().then_some("--target");
        let copied = from_template.is_some().then_some("--from-template");
        if let Some(option) = named.or(copied).or(prepared) {
            let error = format!("{} measures pgdyno itself and takes no {option}", self.source.name());
            return Err(CommandError::new(Code::Start, error));
        }
        Ok(Target::none())
    }
}

/// Returns the default number of clients: enough to keep the CPUs of a machine like this one busy.
fn default_clients(facts: &Facts) -> u32 {
    (2 * facts.driver_cpus as u32).max(4)
}

/// At most so many clients have a thread each: such a thread waits for its replies without a poller.
const CLIENTS_WITH_THREADS: u32 = 8;

/// Returns the default number of threads: one for each of a few clients. Else a quarter of the CPUs beside a local server, all of
/// them for a remote one: one thread drives what about ten CPUs of a server answer.
fn default_threads(facts: &Facts, clients: u32) -> usize {
    match facts.driver_cpus {
        _ if clients <= CLIENTS_WITH_THREADS => clients as usize,
        cpus if facts.target.is_local => (cpus / 4).max(1),
        cpus => cpus,
    }
}

/// Returns the default size of data that is not loaded yet: one unit per client, so that clients need not wait for each
/// other's rows, but no more than loads in seconds. The workload's advice says if that is too small.
fn default_size(order: &Order, facts: &Facts) -> u64 {
    u64::from(order.drive.clients.unwrap_or_else(|| default_clients(facts))).min(MAX_DEFAULT_SIZE)
}

/// Fills in what the order leaves open. `size` is the default size of data that is not loaded yet.
fn fill_in(order: &Order, source: &WorkloadSource, seed: u64, facts: &Facts, size: u64) -> Result<Resolved> {
    let order = &pace::with_length(order, source)?;
    let seed = order.drive.random_seed.unwrap_or(seed);
    let mut notes = Vec::new();
    let asked = order.drive.mode;
    let usual = source.default_mode();
    let pooled = facts.server.as_ref().and_then(|caps| reach::mode(caps, usual)).filter(|_| asked.is_none());
    notes.extend(pooled.map(|(_, why)| why.to_owned()));
    let mode = asked.or(pooled.map(|(mode, _)| mode)).unwrap_or(usual);
    let setup = ClientSetup { seed, mode, ..ClientSetup::NONE };
    let (setup, workload) = client_setup(order, source, setup, facts, size)?;
    let spread = facts.server.as_ref().and_then(|caps| cluster::mode(caps, &workload)).filter(|_| asked.is_none());
    notes.extend(spread.map(|(_, why)| why.to_owned()));
    let setup = ClientSetup { mode: spread.map_or(mode, |(mode, _)| mode), ..setup };
    let plan = plan(order, source, &workload, &setup, facts)?;
    Ok(Resolved { plan, workload, notes })
}

/// Decides the numbers of clients, connections and threads, and builds the workload for them: the random choices of
/// scripts depend on them. `setup` has the seed and the mode.
fn client_setup(
    order: &Order,
    source: &WorkloadSource,
    setup: ClientSetup,
    facts: &Facts,
    size: u64,
) -> Result<(ClientSetup, Workload)> {
    let drive = &order.drive;
    // Each agent has a thread, and each thread a client.
    let agents = order.meeting.agents.unwrap_or_default();
    let usual = source.run_defaults().clients.unwrap_or_else(|| default_clients(facts)).max(agents);
    let clients = drive.clients.unwrap_or(usual);
    let threads = drive.threads.map_or_else(|| default_threads(facts, clients).max(agents as usize), usize::from);
    let has_two_servers = order.analytics.target.is_some();
    let threads_at_most = threads.min(clients as usize);
    let setup = ClientSetup { clients, connections: None, threads: threads_at_most, has_two_servers, ..setup };
    let build = |setup: &ClientSetup| source.build(&order.workload, Some(size), facts.loaded.as_ref(), setup);
    let workload = build(&setup)?;
    let suited = workload.drive.clients;
    let clients = suited.clients(drive.clients, usual);
    // Streams that connect in their own way share no connections with others.
    let suited = suited
        .connections(clients)
        .filter(|_| order.analytics == AnalyticsOrder::default() && drive.readers.is_empty());
    let connections = drive.connections.or(suited);
    let stages = &workload.drive.stages;
    let most_clients = stages.iter().map(|stage| stage.clients(clients)).max().unwrap_or(clients);
    if let Some(shared) = connections.filter(|shared| *shared > most_clients) {
        let error =
            format!("--connections {shared} is more than the {most_clients} clients, and a client uses at most one");
        return Err(CommandError::new(Code::Start, error)
            .hint("lower --connections, or leave it out to give each client its own"));
    }
    let links = connections.unwrap_or(most_clients);
    let settled = ClientSetup { clients, connections, threads: threads.min(links as usize), ..setup };
    let is_as_built = (settled.clients, settled.threads) == (setup.clients, setup.threads);
    let workload = if is_as_built { workload } else { build(&settled)? };
    Ok((settled, workload))
}

/// Refuses an order about queries that no run of this workload could follow.
fn admit_analytics(order: &Order, workload: &Workload, setup: &ClientSetup) -> Result<()> {
    let asked = match (&order.analytics.target, order.analytics.settings.first()) {
        (Some(_), _) => "--analytics-target",
        (None, Some(_)) => "--analytics-set",
        (None, None) => return Ok(()),
    };
    let failed = |error: String, hint: &str| Err(CommandError::new(Code::Start, error).hint(hint));
    let stages = &workload.drive.stages;
    if !stages.iter().flat_map(|stage| &stage.groups).any(|group| group.work == GroupWork::Queries) {
        let error =
            format!("{asked} is for queries beside transactions, and this run of {} has none", workload.meta.id);
        return failed(error, "run ch-benchmark with --streams above 0, or leave it out");
    }
    if setup.connections.is_some() {
        let error =
            format!("{asked} gives queries connections of their own, and --connections shares them among all clients");
        return failed(error, "leave one of them out");
    }
    if workload.params.flag(MARKERS) && setup.mode == QueryMode::Simple {
        let error = "a transaction writes its marker in the same pipeline, and query mode simple has none";
        return failed(error.to_owned(), "give --mode prepared or extended, or measure no ages with -D markers=false");
    }
    Ok(())
}

/// Refuses readers that would have nothing to do, or that clients cannot hold a connection to.
fn admit_readers(order: &Order, workload: &Workload, setup: &ClientSetup, facts: &Facts) -> Result<()> {
    let Some(reader) = order.drive.readers.first() else { return Ok(()) };
    let failed = |error: String, hint: &str| Err(CommandError::new(Code::Start, error).hint(hint));
    if facts.target.name.kind().is_null() || facts.target.name.kind().is_none() {
        let error = format!("--reader {reader} has no data: this run drives no PostgreSQL");
        return failed(error, "name a target with --target, or leave it out");
    }
    if workload.drive.readable().is_empty() {
        let error =
            format!("--reader is for transactions that only read, and this run of {} has none", workload.meta.id);
        return failed(
            error,
            "run tproc-c, ycsb-a to ycsb-d, ycsb-e, select-only or oltp-read-only, or mark a script of yours with the line `-- \
             pgdyno: read_only`",
        );
    }
    if setup.connections.is_some() {
        let error =
            "--reader gives each client two connections of its own, and --connections shares them among all clients";
        return failed(error.to_owned(), "leave one of them out");
    }
    Ok(())
}

/// Returns how long the clients run; `None` if that depends on the number of their transactions.
fn time_s(order: &Order) -> Option<f64> {
    let drive = &order.drive;
    drive.time.or_else(|| drive.transactions.is_none().then_some(DEFAULT_TIME_S))
}

/// Returns the length of the warm-up: by default there is none where transactions are counted.
fn ramp_s(order: &Order) -> f64 {
    let usual = if time_s(order).is_some() { DEFAULT_RAMP_S } else { 0.0 };
    order.drive.ramp.unwrap_or(usual)
}

/// Returns the database that is copied, if one is: by default the target's own.
fn from_template(order: &Order, target: &TargetFacts) -> Option<String> {
    let name = order.from_template.as_ref()?;
    Some(if name.is_empty() { target.database.clone() } else { name.clone() })
}

/// Refuses a length that ends nothing.
fn admit_length(order: &Order) -> Result<()> {
    let drive = &order.drive;
    if drive.time.is_some_and(|time| time <= 0.0) {
        return Err(CommandError::new(Code::Start, "--time must be above 0"));
    }
    if drive.max_tries == Some(0) && time_s(order).is_none() && drive.latency_limit.is_none() {
        let error = "--max-tries=0 needs an end: give --time or --latency-limit";
        return Err(CommandError::new(Code::Start, error));
    }
    Ok(())
}

/// Refuses an order that this workload cannot follow.
fn admit_order(
    order: &Order,
    source: &WorkloadSource,
    workload: &Workload,
    setup: &ClientSetup,
    facts: &Facts,
) -> Result<()> {
    admit_length(order)?;
    if let Some(agents) = order.meeting.agents {
        admit_agents(order, workload, setup, agents)?;
    }
    if order.watch.plans && workload.drive.explained.queries.is_empty() {
        let error = format!(
            "--plans explains the queries of tproc-h, tproc-ds and ch-benchmark, and {} has none of them",
            source.name()
        );
        let hint = "leave --plans out; --statement-plans N keeps the plans of any workload's statements";
        return Err(CommandError::new(Code::Start, error).hint(hint));
    }
    admit_analytics(order, workload, setup)?;
    admit_readers(order, workload, setup, facts)
}

/// Returns the parameters of the workload that the plan has.
fn params_of(order: &Order, source: &WorkloadSource, workload: &Workload) -> BTreeMap<String, String> {
    match source {
        WorkloadSource::Scripts(_) => variables(order, workload),
        _ => params(workload),
    }
}

/// Returns when data is loaded.
fn load_choice(order: &Order, is_null: bool) -> LoadWhen {
    match (order.no_load || is_null, order.replace) {
        (true, _) => LoadWhen::Never,
        (false, true) => LoadWhen::Always,
        (false, false) => LoadWhen::IfMissing,
    }
}

/// Returns what is done to the server before the run.
fn cycle(order: &Order) -> Cycle {
    let CycleOrder { restart, drop_caches, prewarm, checkpoint, provision, .. } = order.cycle;
    Cycle { restart, drop_caches, prewarm, checkpoint, provision }
}

/// Returns how queries beside transactions connect.
fn analytics(order: &Order, facts: &Facts) -> AnalyticsPlan {
    let named = order.analytics.target.as_ref();
    AnalyticsPlan {
        target: named.map(|named| facts.analytics.as_ref().unwrap_or(named).clone()),
        settings: order.analytics.settings.iter().cloned().collect(),
    }
}

/// Returns the readers by their names in plans.
fn readers(order: &Order, facts: &Facts) -> Vec<String> {
    let name = |(nth, named): (usize, &String)| facts.readers.get(nth).unwrap_or(named).clone();
    order.drive.readers.iter().enumerate().map(name).collect()
}

fn plan(
    order: &Order,
    source: &WorkloadSource,
    workload: &Workload,
    setup: &ClientSetup,
    facts: &Facts,
) -> Result<Plan> {
    admit_order(order, source, workload, setup, facts)?;
    let (target, meta) = (&facts.target, workload.meta);
    let plan = Plan {
        workload: source.name(),
        params: params_of(order, source, workload),
        scripts: source.scripts(),
        inputs: source.inputs(),
        directory: order.workload.names.first().filter(|_| matches!(source, WorkloadSource::Directory(_))).cloned(),
        scale_name: meta.scale_name.to_owned(),
        scale: workload.scale,
        data_bytes_estimated: workload.data_bytes(),
        data_from: facts.loaded.as_ref().and_then(|loaded| loaded.maker.clone()),
        target: target.name.clone(),
        target_dsn: target.dsn.clone(),
        tcp: order.target.tcp,
        recipe: None,
        suite: order.suite.clone(),
        cycle: cycle(order),
        settings: target.settings.clone(),
        from_template: from_template(order, target),
        load: load(order, workload, facts),
        drive: drive(order, source, workload, setup, facts)?,
        fault: fault::planned(order, time_s(order))?,
        percentiles: order.latency_percentiles.clone().unwrap_or_default(),
        log: order.log,
        watch: watch::planned(&order.watch, target),
        seed: setup.seed,
    };
    let stages = source.stages(workload, &plan);
    Ok(Plan { drive: DrivePlan { stages, ..plan.drive }, ..plan })
}

/// Returns how the data is loaded and checked.
fn load(order: &Order, workload: &Workload, facts: &Facts) -> LoadPlan {
    let is_null = facts.target.is_null();
    let loading = LoadSettings::with_cpus(&order.loading, facts.driver_cpus);
    LoadPlan {
        choice: load_choice(order, is_null),
        loaders: if workload.has_sql_data() { 1 } else { loading.loaders },
        resumable: loading.resumable,
        unlogged: loading.unlogged,
        checks: workload.meta.has_data() && !order.no_check && !is_null,
        no_vacuum: order.no_vacuum,
        allow_schema_changes: order.allow_schema_changes,
    }
}

/// Returns how long a lost connection is retried by default: clients are to outlast what is expected to end their sessions.
fn reconnect_s(order: &Order, has_ledger: bool, setup: &ClientSetup) -> f64 {
    match (&order.fault.kind, setup.has_two_servers || !order.drive.readers.is_empty()) {
        // An outage is what is measured.
        _ if has_ledger => LEDGER_RECONNECT_S,
        (Some(_), _) => fault::RECONNECT_S,
        (None, true) => STANDBY_RECONNECT_S,
        (None, false) => 0.0,
    }
}

/// Returns the ledger of the run, if it keeps one.
fn ledger(order: &Order, workload: &Workload, setup: &ClientSetup) -> Result<Option<LedgerPlan>> {
    let failed = |error: String, hint: &str| Err(CommandError::new(Code::Start, error).hint(hint));
    let drive = &order.drive;
    let is_kept = drive.ledger || workload.drive.ledger.as_ref().is_some_and(|ledger| ledger.is_always);
    if !is_kept {
        return match drive.commit_timeout {
            None => Ok(None),
            Some(_) => {
                failed("--commit-timeout is for a run with a ledger".to_owned(), "give --ledger, or leave it out")
            }
        };
    }
    if workload.drive.ledger.is_none() {
        let error = format!("--ledger needs a marker in each commit, and {} has none", workload.meta.id);
        let hint = "run the workload ledger or tproc-c; in a script of yours, name the row that it inserts: -- pgdyno ledger: TABLE.COLUMN = :VARIABLE";
        return failed(error, hint);
    }
    if order.meeting.agents.is_some() {
        let error = "--ledger compares the commits of all clients with the server, and agents write no commits down";
        return failed(error.to_owned(), "leave out --agents: one driver runs the clients");
    }
    if setup.connections.is_some() {
        let error = "--ledger needs a connection each for its clients: one whose COMMIT hangs gives its connection up";
        return failed(error.to_owned(), "leave out --connections; with keying times give --no-think");
    }
    let commit_timeout_s = drive.commit_timeout.unwrap_or(LedgerPlan::USUAL_TIMEOUT_S);
    if commit_timeout_s <= 0.0 {
        return failed("--commit-timeout must be above 0".to_owned(), "give it a time such as 5s");
    }
    Ok(Some(LedgerPlan { commit_timeout_s }))
}

/// Returns what drives the server, without stages.
fn drive(
    order: &Order,
    source: &WorkloadSource,
    workload: &Workload,
    setup: &ClientSetup,
    facts: &Facts,
) -> Result<DrivePlan> {
    let drive = &order.drive;
    let (pace, rate_steps) = pace::planned(order, source)?;
    let ledger = ledger(order, workload, setup)?;
    Ok(DrivePlan {
        clients: setup.clients,
        connections: setup.connections,
        analytics: analytics(order, facts),
        readers: readers(order, facts),
        threads: setup.threads,
        agents: order.meeting.agents,
        pin: drive.pin.clone(),
        mode: setup.mode,
        wire: drive.wire.unwrap_or_default(),
        pace,
        rate_steps,
        own_rate_per_s: source.run_defaults().rate_per_s,
        ramp_s: ramp_s(order),
        time_s: time_s(order),
        transactions: drive.transactions,
        grace_s: drive.grace.unwrap_or(DrivePlan::USUAL_GRACE_S),
        stages: Vec::new(),
        max_tries: drive.max_tries.unwrap_or_else(|| source.default_max_tries()),
        latency_limit_ms: drive.latency_limit,
        reconnect_s: drive.reconnect.unwrap_or_else(|| reconnect_s(order, ledger.is_some(), setup)),
        ledger,
        coalesce_us: drive.coalesce.filter(|us| *us > 0.0),
    })
}

/// Returns a warning for each of length and rate that is not the usual one and that no stage follows.
#[must_use]
pub fn without_effect(plan: &Plan) -> Vec<String> {
    if plan.drive.stages.is_empty() {
        return Vec::new();
    }
    let mut warnings = Vec::new();
    if plan.drive.time_s != Some(DEFAULT_TIME_S) && plan.drive.stages.iter().all(StagePlan::ends_with_work) {
        warnings.push(format!("-T or -t has no effect on {}: its stages end when their work is done", plan.workload));
    }
    if plan.drive.pace.rate().is_some() && plan.rate().is_none() {
        let what = if plan.drive.rate_steps.is_some() { "--rate-steps" } else { "--rate" };
        warnings.push(format!("{what} has no effect on this run of {}: none of its clients follows it", plan.workload));
    }
    warnings
}

/// Refuses what several drivers cannot do together.
fn admit_agents(order: &Order, workload: &Workload, setup: &ClientSetup, agents: u32) -> Result<()> {
    let failed = |error: String, hint: &str| Err(CommandError::new(Code::Start, error).hint(hint));
    let stages = &workload.drive.stages;
    let ends_with_group = |stage: &&Stage| matches!(stage.ends, Ends::WhenDone(_)) && stage.groups.len() > 1;
    if let Some(stage) = stages.iter().find(ends_with_group) {
        let error = format!(
            "stage '{}' of {} ends with one of its groups, and no agent sees the clients of the others: it needs one driver",
            stage.name, workload.meta.id
        );
        return failed(
            error,
            "leave out --agents, or let the stage end by its time, or when all of its clients are done",
        );
    }
    if order.analytics.target.is_some() || workload.params.flag(MARKERS) {
        let error = "the age of what queries see is measured by one clock: it needs one driver".to_owned();
        return failed(error, "leave out --agents, or both --analytics-target and -D markers");
    }
    if !order.drive.readers.is_empty() {
        let error = "the figures of readers, and how far they are behind, are those of one driver".to_owned();
        return failed(error, "leave out --agents or --reader");
    }
    if workload.drive.has_shared_state() {
        let error = format!("the clients of {} share which records exist: it needs one driver", workload.meta.id);
        return failed(error, "leave out --agents");
    }
    if workload.drive.value_lists.is_some() {
        let error =
            format!("the lists of values of {} are read on this machine: it needs one driver", workload.meta.id);
        return failed(error, "leave out --agents, or [[values]] in workload.toml");
    }
    if order.log {
        return failed("--log needs one driver: each agent runs its clients elsewhere".to_owned(), "leave it out");
    }
    if (setup.threads as u64) < u64::from(agents) {
        let error = format!(
            "{agents} agents need an engine thread each, and the run has {} for {} clients",
            setup.threads,
            setup.links()
        );
        return failed(error, "raise --clients or --threads, or lower --agents");
    }
    Ok(())
}

/// Refuses what the server cannot do.
fn admit(resolved: &Resolved, facts: &Facts) -> Result<()> {
    let Some(caps) = &facts.server else { return Ok(()) };
    let Resolved { plan, workload, .. } = resolved;
    reach::admit_run(caps, &workload.drive, plan)?;
    reach::admit_pooled(caps, plan)?;
    cluster::admit(caps, workload, plan)
}

/// Describes a value that could not be taken from the stored plan, such as a command that reads the machine: plans do not keep
/// its text.
fn not_as_stored(difference: &Difference) -> String {
    let or_nothing = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".to_owned());
    let (first, second) = (or_nothing(&difference.first), or_nothing(&difference.second));
    format!("not as in the stored plan: {}: {second} instead of {first}", difference.name)
}

fn params(workload: &Workload) -> BTreeMap<String, String> {
    workload.params.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Returns the variables of scripts as parameters.
fn variables(order: &Order, workload: &Workload) -> BTreeMap<String, String> {
    let scale = ("scale".to_owned(), workload.scale.to_string());
    std::iter::once(scale).chain(order.workload.params.iter().cloned()).collect()
}

/// Returns a seed from the time: different for each run, and stored in the record.
fn fresh_seed() -> Result<u64> {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).or_fail(Code::Start)?;
    // 53 bits, so that every reader of JSON gets it exactly.
    Ok((now.as_nanos() as u64 ^ u64::from(std::process::id()) << 20) & ((1 << 53) - 1))
}

/// Checks that the file of `--json` can be written after the run.
pub fn admit_json(order: &Order) -> Result<()> {
    let Some(path) = &order.json else { return Ok(()) };
    admit_file(path).map_err(|error| CommandError::new(Code::Start, error).hint("name another file with --json"))
}

#[cfg(test)]
mod tests;
