//! Finds the workload of an order: a built-in one, script files, or a directory, which may be part of the program.

use std::io;
use std::path::Path;
use std::sync::Arc;

use pgdyno_plan::{InputFile, Loaded, Plan, ScriptPlan, StagePlan, WorkloadOrder, sha256};
use pgdyno_script::{SCRIPTS_MAX, ScriptError};
use pgdyno_untrusted::RelativePath;
use pgdyno_wire::QueryMode;
use pgdyno_workload::{FIDELITY_FILE, MARKERS, Meta, Param, ParamKind, Params, Workload, WorkloadOption};
use pgdyno_workloads::options;
use pgdyno_workloads::own::{RunDefaults, WorkloadDirectory, embedded};
use pgdyno_workloads::registry::{self, BuiltinWorkload};
use pgdyno_workloads::scripted::{self, ErrorHandling, Scripted, Spec, WeightedScript};

use crate::exit_code::Code;
use crate::failure::{CommandError, OrFail, Result};

/// Tries of a transaction of a built-in workload. A try that conflicts with another transaction fails in a fraction of
/// the time that the other one needs to commit: with eight clients on one row at `serializable`, one transaction in
/// sixty still failed after a hundred tries.
const BUILT_IN_TRIES: u32 = 1_000;

/// The option and the variable of scripts that pgbench calls the scale.
const SCALE: &str = "scale";

/// The option for the size of TPC-C's tables.
const WAREHOUSES: &str = "warehouses";

/// The option of tproc-ds that says whose texts of queries are asked, and its value for pgdyno's own.
pub(crate) const QUERIES_FROM: &str = "queries-from";
/// See [`QUERIES_FROM`].
pub(crate) const OWN_QUERIES: &str = "own";

/// The largest file of a workload's directory, in bytes.
const FILE_BYTES_MAX: u64 = 1 << 30;

/// Facts about the drive that a workload needs when it is built: the random choices of scripts depend on them.
#[derive(Clone, Copy, Debug)]
pub struct ClientSetup {
    /// Number of clients.
    pub clients: u32,
    /// Connections that the clients share, if they do.
    pub connections: Option<u32>,
    /// Engine threads.
    pub threads: usize,
    /// Query mode.
    pub mode: QueryMode,
    /// Seed of all random choices.
    pub seed: u64,
    /// Whether queries run on another server than transactions.
    pub has_two_servers: bool,
}

impl ClientSetup {
    /// Returns the values for steps of the life cycle that drive nothing.
    pub const NONE: Self =
        Self { clients: 1, connections: None, threads: 1, mode: QueryMode::Simple, seed: 0, has_two_servers: false };

    /// Returns the number of connections to open.
    pub fn links(&self) -> u32 {
        self.connections.unwrap_or(self.clients)
    }
}

/// The workload to run. All of its files have been read.
pub enum WorkloadSource {
    /// A built-in workload.
    BuiltIn(&'static BuiltinWorkload),
    /// Script files.
    Scripts(Vec<WeightedScript>),
    /// A directory with `workload.toml`.
    Directory(Box<WorkloadDirectory>),
}

impl WorkloadSource {
    /// Finds the workload: a built-in name takes precedence over a file of the same name.
    pub fn read(order: &WorkloadOrder) -> Result<Self> {
        let source = match order.names.as_slice() {
            [] => Self::named(order.id())?,
            [one] => Self::named(one)?,
            several => {
                if let Some(other) = several.iter().find(|name| !is_script(name)) {
                    let error = format!("{other} is not a script file, and only script files can be combined");
                    return Err(CommandError::new(Code::Start, error));
                }
                Self::Scripts(several.iter().map(|name| script(name)).collect::<Result<_>>()?)
            }
        };
        match &source {
            Self::Scripts(scripts) if scripts.iter().all(|script| script.weight == 0) => {
                Err(CommandError::new(Code::Start, "all scripts have weight 0: none would run"))
            }
            Self::Scripts(scripts) if scripts.len() > SCRIPTS_MAX => {
                let error = format!("there are {} scripts: at most {SCRIPTS_MAX} are allowed", scripts.len());
                Err(CommandError::new(Code::Start, error))
            }
            _ => Ok(source),
        }
    }

    /// Finds a workload of this program. Reads no file.
    ///
    /// # Errors
    /// When there is none of this name.
    pub fn built_in(order: &WorkloadOrder) -> Result<Self> {
        match embedded::find(order.id()) {
            Some(directory) => Ok(Self::Directory(Box::new(directory.or_fail(Code::Start)?))),
            None => registry::find(order.id()).or_fail(Code::Start).map(Self::BuiltIn),
        }
    }

    fn named(name: &str) -> Result<Self> {
        if let Some(directory) = embedded::find(name) {
            return Ok(Self::Directory(Box::new(directory.or_fail(Code::Start)?)));
        }
        match registry::find(name) {
            Ok(entry) => Ok(Self::BuiltIn(entry)),
            Err(_) if Path::new(name).is_dir() => Ok(Self::Directory(Box::new(directory(name)?))),
            Err(_) if is_script(name) => Ok(Self::Scripts(vec![script(name)?])),
            Err(_) if name.contains('/') => {
                Err(CommandError::new(Code::Start, format!("there is no file or directory {name}")))
            }
            Err(error) => Err(CommandError::new(Code::Start, error).hint(
                "`pgdyno list workloads` lists the workloads and their parameters; a script file or a directory with \
                 workload.toml can be named too",
            )),
        }
    }

    /// Returns the default query mode: pgbench's for scripts, because they may contain statements that cannot be
    /// prepared.
    pub(crate) fn default_mode(&self) -> QueryMode {
        match self {
            Self::BuiltIn(_) => QueryMode::Prepared,
            Self::Scripts(_) | Self::Directory(_) => self.run_defaults().mode.unwrap_or(QueryMode::Simple),
        }
    }

    /// Returns what a run does unless its options say otherwise: a directory may say it.
    pub(crate) fn run_defaults(&self) -> RunDefaults {
        match self {
            Self::Directory(directory) => directory.run_defaults(),
            Self::BuiltIn(_) | Self::Scripts(_) => RunDefaults::default(),
        }
    }

    /// Returns the default number of tries: one for the user's scripts, as in pgbench; for built-in workloads enough
    /// for any contention that ends.
    pub(crate) fn default_max_tries(&self) -> u32 {
        match self {
            Self::BuiltIn(_) => BUILT_IN_TRIES,
            Self::Directory(directory) if embedded::names().any(|name| name == directory.name()) => BUILT_IN_TRIES,
            Self::Directory(_) | Self::Scripts(_) => self.run_defaults().max_tries.unwrap_or(1),
        }
    }

    /// Returns true if a run needs a server.
    pub(crate) fn needs_server(&self) -> bool {
        match self {
            Self::BuiltIn(entry) => entry.meta.needs_server(),
            Self::Scripts(_) | Self::Directory(_) => true,
        }
    }

    /// Builds the workload. Parameters that the order leaves open are those of the data that is `loaded` or, for the
    /// size of a built-in workload, `size`.
    pub fn build(
        &self,
        order: &WorkloadOrder,
        size: Option<u64>,
        loaded: Option<&Loaded>,
        setup: &ClientSetup,
    ) -> Result<Workload> {
        refuse_options_of_others(order, self)?;
        let mut given = given(order);
        if let (Self::BuiltIn(entry), true) = (self, setup.has_two_servers) {
            given.extend(open(&given, entry.meta, MARKERS).map(|param| (param.name, "true".to_owned())));
        }
        let size = loaded.map(|loaded| loaded.size).or(size);
        match self {
            Self::BuiltIn(entry) => {
                choose_size(
                    &mut given,
                    entry.meta,
                    size.filter(|_| loaded.is_some() || is_counted_in_units(entry.meta)),
                );
                leave_as_loaded(&mut given, entry.meta, loaded);
                let params = params(entry.meta, &given)?;
                entry
                    .admit(&params)
                    .map_err(|refused| CommandError::new(Code::Start, refused.why).hint(refused.hint))?;
                Ok((entry.build)(&params))
            }
            Self::Directory(directory) => {
                let meta = directory.meta();
                choose_size(&mut given, meta, size.filter(|_| directory.is_on_built_in()));
                leave_as_loaded(&mut given, meta, loaded);
                let params = params(meta, &given)?;
                let sources = directory.scripts().iter().map(|script| WeightedScript {
                    name: script.file.clone(),
                    text: script.text.clone(),
                    weight: script.weight,
                    read_only: script.read_only,
                });
                // Parameters of a built-in workload need not be valid names of variables.
                let variables = params.iter().filter(|(name, _)| pgdyno_script::valid_variable_name(name.as_bytes()));
                let defines = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
                let size = if meta.scale_name.is_empty() { SCALE } else { meta.scale_name };
                let scale = params.integer(size).unsigned_abs();
                let groups = directory.groups(setup.clients).or_fail(Code::Start)?;
                let spec = spec(meta.id, sources.collect(), defines, scale, setup);
                let queries = directory.value_queries(&params).or_fail(Code::Start)?;
                let scripts = admitted(scripted::build_with_lists(Spec { groups, ..spec }, queries), setup.mode)?;
                directory.build(&params, Arc::new(scripts.drive())).or_fail(Code::Start)
            }
            Self::Scripts(sources) => {
                let (scale, defines) = variables(&given)?;
                let spec = spec(&self.name(), sources.clone(), defines, scale, setup);
                Ok(admitted(scripted::build(spec), setup.mode)?.into_workload())
            }
        }
    }

    /// Returns the stages of `workload` for `plan`; empty if there is only one group of clients.
    pub(crate) fn stages(&self, workload: &Workload, plan: &Plan) -> Vec<StagePlan> {
        let mut stages = StagePlan::all(&workload.drive.stages, plan);
        if let Self::Directory(directory) = self {
            for group in stages.iter_mut().flat_map(|stage| &mut stage.groups) {
                if let Some(own) = directory.group(&group.name) {
                    (group.scripts, group.once, group.think_ms) = (own.scripts.clone(), own.once, own.think_ms);
                }
            }
        }
        stages
    }

    /// Returns its name in records: for the user's scripts, the name of the file.
    pub fn name(&self) -> String {
        match self {
            Self::BuiltIn(entry) => entry.meta.id.to_owned(),
            Self::Directory(directory) => directory.name().to_owned(),
            Self::Scripts(scripts) => {
                let file = |source: &WeightedScript| source.name.rsplit('/').next().unwrap_or(&source.name).to_owned();
                scripts.iter().map(file).collect::<Vec<_>>().join("+")
            }
        }
    }

    /// Returns the names and bytes of its files, each once. Empty for a built-in workload.
    fn files(&self) -> Vec<(&str, &[u8])> {
        let mut files: Vec<(&str, &[u8])> = match self {
            Self::BuiltIn(_) => Vec::new(),
            Self::Scripts(scripts) => scripts.iter().map(|s| (s.name.as_str(), s.text.as_slice())).collect(),
            Self::Directory(directory) => {
                directory.files().iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect()
            }
        };
        files.sort_unstable();
        files.dedup();
        files
    }

    /// Returns its files in the form that the plan stores.
    pub(crate) fn inputs(&self) -> Vec<InputFile> {
        self.files().into_iter().map(|(name, bytes)| InputFile::new(name, bytes)).collect()
    }

    /// Returns the hashes and bytes of those files that are too large for the plan.
    pub fn files_beside_plan(&self) -> Vec<(String, &[u8])> {
        let files = self.files().into_iter().map(|(name, bytes)| (InputFile::new(name, bytes), bytes));
        files.filter(|(input, _)| input.text.is_none()).map(|(input, bytes)| (input.sha256, bytes)).collect()
    }

    /// Returns what the workload represents, as `pgdyno fit` wrote it; `None` if it was not fitted.
    pub(crate) fn fidelity(&self) -> Option<&[u8]> {
        match self {
            Self::Directory(directory) => directory.files().get(FIDELITY_FILE).map(Vec::as_slice),
            Self::BuiltIn(_) | Self::Scripts(_) => None,
        }
    }

    /// Returns the scripts in the form that the plan stores.
    pub(crate) fn scripts(&self) -> Vec<ScriptPlan> {
        let plan = |file: &str, weight, text: &[u8]| ScriptPlan { file: file.to_owned(), weight, sha256: sha256(text) };
        match self {
            Self::BuiltIn(_) => Vec::new(),
            Self::Scripts(scripts) => scripts.iter().map(|s| plan(&s.name, s.weight, &s.text)).collect(),
            Self::Directory(directory) => {
                directory.scripts().iter().map(|s| plan(&s.file, s.weight, &s.text)).collect()
            }
        }
    }
}

/// Returns the parameters that the order gives to a workload.
pub(crate) fn given(order: &WorkloadOrder) -> Vec<(&str, String)> {
    let options = order.options.iter().map(|(name, value)| (param_of(name), value.clone()));
    let params = order.params.iter().map(|(name, value)| (name.as_str(), value.clone()));
    options.chain(params).collect()
}

/// Returns the parameter that an option sets.
fn param_of(option: &str) -> &str {
    options::find(option).map_or(option, |option| option.param)
}

/// Adds the size of a built-in workload's data if it is not given. A scale factor that can be a fraction has nothing to
/// do with the number of clients.
fn choose_size(given: &mut Vec<(&str, String)>, meta: &Meta, size: Option<u64>) {
    let param = open(given, meta, meta.scale_name).filter(|p| matches!(p.kind, ParamKind::Integer(..)));
    if let (Some(param), Some(size)) = (param, size) {
        given.push((param.name, size.to_string()));
    }
}

/// Returns true if one unit of its size is enough for a client. A workload whose size is a number of rows has a default of
/// its own.
fn is_counted_in_units(meta: &Meta) -> bool {
    // One table of the ledger is enough for all clients.
    meta.scale_name != "tables" && meta.params.iter().any(|param| param.name == meta.scale_name && param.default == "1")
}

/// Takes parameters that are not given from the loaded data: those that shaped its rows, and those that suit it.
fn leave_as_loaded(given: &mut Vec<(&str, String)>, meta: &Meta, loaded: Option<&Loaded>) {
    for (name, value) in loaded.iter().flat_map(|loaded| &loaded.params) {
        if let Some(param) = open(given, meta, name).filter(|param| param.shapes_data()) {
            given.push((param.name, value.clone()));
        }
    }
    for (name, value) in loaded.iter().flat_map(|loaded| &loaded.of_run) {
        if let Some(param) = open(given, meta, name) {
            given.push((param.name, value.clone()));
        }
    }
}

/// Returns the parameter of this name if it is neither given nor fixed by the workload.
fn open(given: &[(&str, String)], meta: &Meta, name: &str) -> Option<&'static Param> {
    let is_given = given.iter().any(|(known, _)| *known == name);
    meta.params.iter().find(|param| param.name == name && !param.is_fixed() && !is_given)
}

fn params(meta: &'static pgdyno_workload::Meta, given: &[(&str, String)]) -> Result<Params> {
    let given = given.iter().map(|(name, value)| (*name, value.as_str()));
    Params::new(meta.id, meta.params, given).or_fail(Code::Start)
}

/// Refuses an option of other workloads.
fn refuse_options_of_others(order: &WorkloadOrder, source: &WorkloadSource) -> Result<()> {
    let is_taken = |option: &WorkloadOption| match source {
        WorkloadSource::BuiltIn(entry) => entry.meta.params.iter().any(|param| param.name == option.param),
        WorkloadSource::Directory(directory) => directory.meta().params.iter().any(|param| param.name == option.param),
        WorkloadSource::Scripts(_) => options::is_of_scripts(option),
    };
    let foreign = order.options.keys().filter_map(|name| options::find(name)).find(|option| !is_taken(option));
    let Some(option) = foreign else { return Ok(()) };
    let (name, takers, id) = (option.spec.name, options::takers(option), source.name());
    let error = CommandError::new(Code::Start, format!("--{name} is an option of {takers}, not of {id}"));
    Err(match (name, source) {
        (SCALE, _) if is_taken_by_name(WAREHOUSES, &is_taken) => {
            error.hint("the size of this workload is its number of warehouses: use --warehouses (-w)")
        }
        (WAREHOUSES, _) if is_taken_by_name(SCALE, &is_taken) => {
            error.hint("the size of this workload is its scale: use --scale (-s)")
        }
        (_, WorkloadSource::Scripts(_)) => error.hint("scripts take --scale (-s), and variables by -D NAME=VALUE"),
        _ => error.hint(format!("`pgdyno show {id}` lists the parameters of {id}")),
    })
}

/// Returns true if the workload takes the option of this name.
fn is_taken_by_name(name: &str, is_taken: &impl Fn(&WorkloadOption) -> bool) -> bool {
    options::find(name).is_some_and(is_taken)
}

/// Returns the scale and the variables of script files.
fn variables(given: &[(&str, String)]) -> Result<(u64, Vec<(String, String)>)> {
    let mut scale = 1;
    let mut defines = Vec::new();
    for (name, value) in given {
        match *name {
            SCALE => {
                let parsed = value.parse().ok().filter(|n| (1..=i64::MAX.unsigned_abs()).contains(n));
                let error = || format!("scale must be a whole number above 0, but '{value}' was given");
                scale = parsed.ok_or_else(|| CommandError::new(Code::Start, error()))?;
            }
            name if !pgdyno_script::valid_variable_name(name.as_bytes()) => {
                let error = format!("'{name}' cannot be a variable: write letters, digits and underscores");
                return Err(CommandError::new(Code::Start, error));
            }
            name => defines.push((name.to_owned(), value.clone())),
        }
    }
    Ok((scale, defines))
}

/// Returns a workload of scripts that one group of clients runs.
fn spec(
    id: &str,
    scripts: Vec<WeightedScript>,
    defines: Vec<(String, String)>,
    scale: u64,
    setup: &ClientSetup,
) -> Spec {
    Spec {
        id: id.to_owned(),
        summary: String::new(),
        scripts,
        defines: defines.into_iter().map(|(name, value)| (name, value.into_bytes())).collect(),
        scale,
        seed: setup.seed,
        clients: setup.clients,
        threads: setup.threads,
        groups: None,
        errors: ErrorHandling::Pgdyno,
    }
}

/// Refuses scripts that have a mistake or cannot run in this mode.
fn admitted(built: std::result::Result<Scripted, Box<ScriptError>>, mode: QueryMode) -> Result<Scripted> {
    let scripted = built.map_err(|error| CommandError::new(Code::Start, *error))?;
    scripted.check_variables(mode).or_fail(Code::Start)?;
    scripted.check_literals().or_fail(Code::Start)?;
    scripted.check_keys().map_err(|why| CommandError::new(Code::Start, why).hint("write BEGIN and END around them"))?;
    for (script, _) in scripted.modes(mode).into_iter().filter(|(_, mode)| *mode != QueryMode::Simple) {
        scripted.scripts()[script].check_extended().or_fail(Code::Start)?;
    }
    Ok(scripted)
}

/// Returns true if the name is that of a script file, with or without a weight.
fn is_script(name: &str) -> bool {
    let (path, _) = split_weight(name);
    [name, path].iter().any(|name| name.ends_with(".sql") || Path::new(name).is_file())
}

/// Splits `a.sql@3` into the file and its weight, if it has one. A file with that whole name takes precedence.
fn split_weight(name: &str) -> (&str, Option<&str>) {
    match name.rsplit_once('@') {
        Some((path, weight)) if !Path::new(name).exists() => (path, Some(weight)),
        _ => (name, None),
    }
}

fn script(name: &str) -> Result<WeightedScript> {
    let (path, weight) = split_weight(name);
    let weight = match weight.map(|text| (text, text.parse::<u32>())) {
        None => 1,
        Some((_, Ok(weight))) if weight <= i32::MAX.unsigned_abs() => weight,
        Some((text, _)) => {
            let error = format!("'{text}' in {name} is not a weight: write a whole number up to {}", i32::MAX);
            return Err(CommandError::new(Code::Start, error));
        }
    };
    let text = std::fs::read(path).map_err(|error| unreadable(path, &error))?;
    Ok(WeightedScript { name: path.to_owned(), text, weight, read_only: None })
}

fn directory(name: &str) -> Result<WorkloadDirectory> {
    let files = pgdyno_untrusted::Directory::open(Path::new(name)).map_err(|error| unreadable(name, &error))?;
    let mut read = |file: &str| {
        let path = RelativePath::parse(file).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        match files.read(&path, FILE_BYTES_MAX) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            read => read.map(Some),
        }
    };
    WorkloadDirectory::read(name, &mut read).or_fail(Code::Start)
}

fn unreadable(path: &str, error: &std::io::Error) -> CommandError {
    CommandError::new(Code::Start, format!("failed to read {path}: {error}"))
}
