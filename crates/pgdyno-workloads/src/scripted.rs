//! Workloads made of pgbench scripts: a user's, and pgbench's built-in ones as texts.
//!
//! A script is one kind of transaction, and each of its commands is a statement in the reports. Random numbers come
//! from pgbench's generators in pgbench's order: the same seed gives the same sequence, client by client.

mod collect;
mod interpreter;
mod keys;
mod lists;
mod mix;
mod program;
mod read_lists;
mod reads;
mod seeds;
mod words;

use std::sync::{Arc, Mutex};

use pgdyno_script::{Command, CommandKind, Script, ScriptError, ScriptText, VariableNames, parse, parse_with_lists};
use pgdyno_wire::{QueryMode, Statement};
use pgdyno_workload::{
    Capabilities, ClientContext, ClientScript, Drive, Group, Meta, Params, Program, Rng, ScriptStatement, Scripts,
    Statements, Txn, TxnId, ValueLists, ValueQuery, Workload,
};

use interpreter::Interpreter;
use lists::ListsOfScripts;
pub use mix::{GroupScripts, Groups};
use seeds::Seeds;

/// Scripts and how to run them.
#[derive(Clone, Debug)]
pub struct Spec {
    /// The workload's name: a file's or a directory's.
    pub id: String,
    /// One line about it.
    pub summary: String,
    /// The scripts, at least one.
    pub scripts: Vec<WeightedScript>,
    /// Variables and their texts; pgbench's `-D`.
    pub defines: Vec<(String, Vec<u8>)>,
    /// The value of `:scale`.
    pub scale: u64,
    /// The seed of the run.
    pub seed: u64,
    /// Clients of the run.
    pub clients: u32,
    /// Engine threads of the run.
    pub threads: usize,
    /// Groups of clients with scripts of their own; absent where all clients run all scripts.
    pub groups: Option<Groups>,
    /// Handling of errors.
    pub errors: ErrorHandling,
}

impl Spec {
    /// Returns the places of scripts with the query mode in which clients send them.
    fn modes(&self, mode: QueryMode) -> Vec<(usize, QueryMode)> {
        match &self.groups {
            None => (0..self.scripts.len()).map(|at| (at, mode)).collect(),
            Some(groups) => groups.modes(mode).collect(),
        }
    }
}

/// One script.
#[derive(Clone, Debug)]
pub struct WeightedScript {
    /// Its name in messages and reports.
    pub name: String,
    /// Its text.
    pub text: Vec<u8>,
    /// Its share of the mix, relative to the sum of all.
    pub weight: u32,
    /// Whether its transactions only read, and a reader can run them; `None`: its text says it.
    pub read_only: Option<bool>,
}

/// Handling of errors in a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorHandling {
    /// pgdyno's: a failed transaction is counted, and its client goes on.
    Pgdyno,
    /// pgbench's: any error except a serialization failure or a deadlock aborts its client.
    Pgbench(PgbenchErrors),
}

/// pgbench's options for errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PgbenchErrors {
    /// `--continue-on-error`.
    pub continue_on_error: bool,
    /// `--verbose-errors`.
    pub verbose_errors: bool,
    /// `--reconnect`: a lost connection is counted, and replaced.
    pub reconnect: bool,
    /// `--debug`.
    pub debug: bool,
    /// `--max-tries`, 0 for no limit.
    pub max_tries: u32,
    /// `--latency-limit`.
    pub latency_limit_ns: Option<u64>,
}

/// A workload made of scripts.
pub struct Scripted {
    meta: &'static Meta,
    spec: Arc<Spec>,
    txns: Vec<Txn>,
    program: &'static program::Program,
    seeds: Arc<Seeds>,
    /// Lists that `\values` draws from.
    queries: Vec<ValueQuery>,
}

/// Parses the scripts.
///
/// # Errors
/// Returns the first mistake in a script.
pub fn build(spec: Spec) -> Result<Scripted, Box<ScriptError>> {
    let mut names = VariableNames::new();
    let scripts = spec.scripts.iter().map(|source| parse(&source.source(), &mut names));
    let mut scripts = scripts.collect::<Result<Vec<Script>, _>>()?;
    // pgbench knows no keys: to it such a line is a comment.
    if spec.errors == ErrorHandling::Pgdyno {
        find_keys(&spec, &mut scripts, &mut names)?;
    }
    Ok(scripted(spec, scripts, names, Vec::new()))
}

/// Parses scripts that may draw from lists of values by `\values`.
///
/// # Errors
/// Returns the first mistake in a script.
pub fn build_with_lists(spec: Spec, queries: Vec<ValueQuery>) -> Result<Scripted, Box<ScriptError>> {
    let mut names = VariableNames::new();
    let lists: Vec<String> = queries.iter().map(|query| query.name.clone()).collect();
    let scripts = spec.scripts.iter().map(|source| parse_with_lists(&source.source(), &mut names, &lists));
    let mut scripts = scripts.collect::<Result<Vec<Script>, _>>()?;
    find_keys(&spec, &mut scripts, &mut names)?;
    Ok(scripted(spec, scripts, names, queries))
}

/// Reads the lines that name the rows which scripts insert.
fn find_keys(spec: &Spec, scripts: &mut [Script], names: &mut VariableNames) -> Result<(), Box<ScriptError>> {
    let sources = spec.scripts.iter().map(WeightedScript::source);
    Ok(scripts.iter_mut().zip(sources).try_for_each(|(script, source)| script.find_key(&source, names))?)
}

fn scripted(spec: Spec, scripts: Vec<Script>, names: VariableNames, queries: Vec<ValueQuery>) -> Scripted {
    let txns = scripts.iter().zip(&spec.scripts).map(|(script, source)| txn(script, source)).collect();
    let seeds = Arc::new(Seeds::new(&spec));
    let meta = leak(Meta {
        id: leak(spec.id.clone()),
        summary: leak(spec.summary.clone()),
        version: 1,
        // Any existing tables.
        dataset: "scripts",
        scale_name: "",
        scale_query: None,
        is_key_range: false,
        params: &[],
    });
    let program = leak(program::Program::new(scripts, names, &spec, &seeds));
    Scripted { meta, txns, program, seeds, spec: Arc::new(spec), queries }
}

impl WeightedScript {
    /// Returns its text for the parser.
    fn source(&self) -> ScriptText<'_> {
        ScriptText { name: &self.name, text: &self.text }
    }
}

/// The comment, a line of its own, by which a script says that it only reads.
const READ_ONLY_MARK: &str = "pgdyno: read_only";

/// Returns a constant: clients of all threads read it at every step. The program has one workload of scripts.
fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

/// Returns true if QPS counts a command: it begins with one of the four verbs.
fn is_query(command: &Command) -> bool {
    let sql = command.label();
    let verb = sql.trim_start().split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    command.is_sql() && ["select", "insert", "update", "delete"].iter().any(|q| verb.eq_ignore_ascii_case(q))
}

fn has_branches(script: &Script) -> bool {
    script.commands.iter().any(|command| matches!(command.kind, CommandKind::If { .. }))
}

fn txn(script: &Script, source: &WeightedScript) -> Txn {
    // If commands may be skipped, they are counted one by one.
    let queries = if has_branches(script) { 0 } else { script.commands.iter().filter(|c| is_query(c)).count() };
    let txn = Txn::new(leak(source.name.clone()), f64::from(source.weight), queries as u32);
    txn.reading(is_read_only(script, source))
}

/// Returns true if a reader can run the script: it is marked so, or it has SQL that only reads.
fn is_read_only(script: &Script, source: &WeightedScript) -> bool {
    let is_mark = |line: &[u8]| {
        let words = line.trim_ascii().strip_prefix(b"--").map(<[u8]>::trim_ascii);
        words == Some(READ_ONLY_MARK.as_bytes())
    };
    let sql = || script.commands.iter().filter(|command| command.is_sql());
    match source.read_only {
        Some(is_read_only) => is_read_only,
        None if source.text.split(|byte| *byte == b'\n').any(is_mark) => true,
        None => sql().next().is_some() && sql().all(|command| reads::only_reads(&command.label())),
    }
}

impl Scripted {
    /// Returns the workload: these scripts on existing tables.
    #[must_use]
    pub fn into_workload(self) -> Workload {
        let (meta, scale, drive) = (self.meta, self.spec.scale, Arc::new(self.drive()));
        Workload { meta, params: Params::default(), scale, data: Vec::new(), drive, audit: None }
    }

    /// Returns the parsed scripts.
    #[must_use]
    pub fn scripts(&self) -> &[Script] {
        self.program.scripts()
    }

    /// Returns its specification.
    #[must_use]
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Checks that each variable in SQL is one that something can set.
    ///
    /// # Errors
    /// Returns the first that nothing sets: it would be sent as NULL or, in the simple protocol, stay as it is.
    pub fn check_variables(&self, mode: QueryMode) -> Result<(), ScriptError> {
        self.program.check_variables(&self.spec, mode, None)
    }

    /// Checks the arguments of random functions that are numbers in the scripts.
    ///
    /// # Errors
    /// Returns the first that would abort each client that comes to it.
    pub fn check_literals(&self) -> Result<(), ScriptError> {
        self.scripts()
            .iter()
            .zip(&self.spec.scripts)
            .try_for_each(|(script, source)| script.check_literals(&source.source()))
    }

    /// Checks that a script which names the row that it inserts is one transaction: the row proves nothing about others.
    ///
    /// # Errors
    /// Returns the message for the first that is not.
    pub fn check_keys(&self) -> Result<(), String> {
        let keyed = self.scripts().iter().filter_map(|script| Some((script, script.key()?)));
        match keyed.map(|(script, key)| (script, key, keys::transactions(script))).find(|(.., number)| *number > 1) {
            Some((script, key, number)) => Err(format!(
                "{}:{} names the row of one transaction, and the script has {number} that write",
                script.name, key.line
            )),
            None => Ok(()),
        }
    }

    /// Returns the places of scripts with the query mode in which clients send them; `mode` is the run's.
    #[must_use]
    pub fn modes(&self, mode: QueryMode) -> Vec<(usize, QueryMode)> {
        self.spec.modes(mode)
    }

    /// Returns the stream that selects the transactions of a thread for a sampled log.
    #[must_use]
    pub fn sampler(&self, thread: usize) -> Rng {
        self.seeds.sampler(thread)
    }

    /// Returns the place of a script's first command among all statements.
    #[must_use]
    pub fn first_statement(&self, script: usize) -> usize {
        self.program.first[script]
    }
}

impl Scripted {
    /// Returns the work of its clients.
    #[must_use]
    pub fn drive(&self) -> Drive {
        let (program, seeds, clients) = (self.program, Arc::clone(&self.seeds), self.spec.clients);
        let groups = self.spec.groups.clone().map(Arc::new);
        let statements = self.statements();
        let make = move |_: &Capabilities| {
            let (seeds, groups) = (Arc::clone(&seeds), groups.clone());
            let client = move |context: &ClientContext| client(program, &seeds, groups.as_deref(), clients, context);
            Program::new(statements.clone(), client)
        };
        let commands = || self.scripts().iter().flat_map(|script| &script.commands);
        let scripts = Scripts {
            is_read_only: commands().all(|command| !command.is_sql() || reads::only_reads(&command.label())),
            runs_commands: commands().any(Command::runs_command),
            ..Scripts::new(Group::ONLY, self.txns.clone(), make)
        };
        let txns: Vec<_> = self.txns.iter().map(|txn| txn.name).collect();
        let ledger = keys::ledger(self.scripts(), &txns);
        let drive = Drive { value_lists: self.value_lists(), ledger, ..Drive::new(vec![scripts]) };
        match &self.spec.groups {
            None => drive,
            Some(groups) => Drive { stages: groups.stages.clone(), ..drive },
        }
    }

    fn value_lists(&self) -> Option<Arc<dyn ValueLists>> {
        let (program, spec, queries) = (self.program, Arc::clone(&self.spec), self.queries.clone());
        (!queries.is_empty()).then(|| Arc::new(ListsOfScripts { program, spec, queries }) as Arc<dyn ValueLists>)
    }

    /// Returns the commands of all scripts, in order: the statements in reports.
    fn statements(&self) -> Statements {
        let of_script = |(script, at): (&Script, u8)| {
            let has_branches = has_branches(script);
            let statement = move |command: &Command| ScriptStatement {
                is_counted: has_branches && is_query(command),
                ..ScriptStatement::of(TxnId(at), Statement::new(command.label(), &[]))
            };
            script.commands.iter().map(statement).collect::<Vec<_>>()
        };
        self.scripts().iter().zip(0..).flat_map(of_script).collect()
    }
}

/// Returns the script of one client.
fn client(
    program: &'static program::Program,
    seeds: &Seeds,
    groups: Option<&Groups>,
    clients: u32,
    context: &ClientContext,
) -> Box<dyn ClientScript> {
    let id = context.id.0;
    let (client, rng, chooser) = match groups {
        None => (id, seeds.client(id), seeds.chooser(id)),
        // pgbench knows no groups: their clients have the run's own streams.
        Some(groups) => {
            let mut rng = context.rng.clone();
            let chooser = Arc::new(Mutex::new(Rng::new(rng.next_u64())));
            (groups.first_client(context, clients) + id, rng, chooser)
        }
    };
    Box::new(Interpreter::new(program, context.group, client, rng, chooser).with_ledger(context.has_ledger))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scripted(scripts: &[&str]) -> Scripted {
        build(spec(scripts)).unwrap()
    }

    fn spec(scripts: &[&str]) -> Spec {
        let source = |text: &&str| WeightedScript {
            name: "s".to_owned(),
            text: text.as_bytes().to_vec(),
            weight: 1,
            read_only: None,
        };
        Spec {
            id: "s".to_owned(),
            summary: String::new(),
            scripts: scripts.iter().map(source).collect(),
            defines: Vec::new(),
            scale: 1,
            seed: 1,
            clients: 1,
            threads: 1,
            groups: None,
            errors: ErrorHandling::Pgdyno,
        }
    }

    #[test]
    fn a_script_is_read_only_by_its_mark_or_by_its_text() {
        let reads = |text: &str, mark: Option<bool>| {
            let text = text.as_bytes().to_vec();
            let script = WeightedScript { name: "s".to_owned(), text, weight: 1, read_only: mark };
            let built = build(Spec { scripts: vec![script], ..spec(&[]) }).unwrap();
            !built.drive().readable().is_empty()
        };
        for (text, mark, is_read_only) in [
            ("select 1;\n", None, true),
            ("begin;\nselect 1;\nend;\n", None, true),
            ("select 1;\nupdate t set a = 1;\n", None, false),
            ("\\sleep 1 ms\n", None, false),
            ("call f();\n", None, false),
            ("-- pgdyno: read_only\ncall f();\n", None, true),
            ("  --pgdyno: read_only \ncall f();\n", None, true),
            ("-- pgdyno: read_only, I hope\ncall f();\n", None, false),
            ("call f();\n", Some(true), true),
            ("select f();\n", Some(false), false),
        ] {
            assert_eq!(reads(text, mark), is_read_only, "{text}");
        }
    }

    #[test]
    fn where_commands_may_be_passed_over_queries_are_counted_one_by_one() {
        let straight = "begin;\nselect 1;\n update t set a = 1;\nend;\n";
        let branching = "select 1;\n\\if false\ndelete from t;\n\\endif\nvacuum t;\n";
        let workload = scripted(&[straight, branching]);
        let drive = workload.drive();
        assert_eq!(drive.txns().iter().map(|txn| txn.queries).collect::<Vec<_>>(), [2, 0]);
        let statements = drive.numbered(&Capabilities::default()).statements;
        let of_script: Vec<_> = statements.iter().map(|statement| statement.txn).collect();
        assert_eq!(of_script, [[Some(0); 4].as_slice(), &[Some(1); 5]].concat());
        let counted: Vec<_> = (0..9).filter(|n| statements[*n].is_counted).collect();
        assert_eq!(counted, [4, 6], "select and delete");
    }
}
