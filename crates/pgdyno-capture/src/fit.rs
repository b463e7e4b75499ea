//! A benchmark from a capture: values for the parameters of its statements, found on a copy of the database.
//!
//! The server plans each statement and so names the column of each parameter ([`roles`]); rows of these columns become values
//! ([`values`]); what the statement does with them is measured on the copy ([`measure`]), and the values with which it returns the rows
//! and accesses the blocks that the captured server counted are kept ([`mixture`]).

mod arrays;
mod copy;
mod directory;
mod keys;
mod lists;
mod measure;
mod mixture;
mod prepared;
mod recursion;
mod results;
mod roles;
mod skew;
mod transactions;
mod types;
mod unnested;
mod upserts;
mod values;
mod wording;

use std::collections::BTreeMap;

use pgdyno_net::{ConnectOptions, quote};
use pgdyno_script::SCRIPTS_MAX;
use pgdyno_text::units;

use crate::classify::{Classified, classify};
use crate::form::{CaptureRecord, CapturedServer, CapturedStatement};
use crate::refusal::{QueryError, Refusal};
use crate::take::STARTED;
use copy::Copy;
use measure::{Method, NAME, PerCall, Way};
use mixture::{CommonValue, Mixture};
use prepared::Prepared;
use roles::{How, Role};
use skew::{Lookup, UniqueKey};
use transactions::ScriptStatement;
use values::{Parameters, Sampling};

pub use copy::FitError;
pub(crate) use directory::name;
pub use directory::{Fidelity, FittedStatement, FittedTransaction};
pub use measure::is_near;
pub use skew::{KeySkew, KeySkewSource};

/// The schema on the copy that has the values.
const SCHEMA: &str = "pgdyno_values";

/// Executions whose values are kept for each statement, and for one whose blocks were not all cached: few values are soon cached.
const KEPT: usize = 1000;
const KEPT_OF_READERS: usize = 10_000;

/// The share of its blocks that such a statement read from outside shared buffers, at least.
const READ_SHARE: f64 = 0.01;

/// The most common values of a column that are tried.
const COMMON: usize = 10;

/// How long an execution may take, in milliseconds: at least this, and at most a hundred times what a call took where it was captured.
const PATIENCE_MS: f64 = 1000.0;
const PATIENCE_MAX_MS: f64 = 60_000.0;

/// The code of the error with which a statement that writes ends in a transaction that only reads.
const READ_ONLY: &str = "25006";

/// What a fit is asked for.
#[derive(Clone, Debug)]
pub struct FitOrder {
    /// Whether the captured server itself may be the copy.
    pub captured_server: bool,
    /// Whether the values of an earlier fit are dropped.
    pub replace: bool,
    /// The share of the time that is fitted, statement by statement, from the one that takes most.
    pub time_share: f64,
}

/// A benchmark: the files of a workload directory, and what it represents.
#[derive(Clone, Debug)]
pub struct FittedWorkload {
    /// The files, by their names.
    pub files: BTreeMap<String, String>,
    /// What it represents.
    pub fidelity: Fidelity,
    /// What makes it less than it could be.
    pub warnings: Vec<String>,
}

/// Fits a capture on a copy. Writes tables with values into the schema `pgdyno_values` there; executes its statements, and rolls back
/// what they write. `progress` takes the number of statements that are done and of all; it returns true to end the fit.
///
/// # Errors
/// When the copy is the captured server, cannot be reached, or refuses every statement.
pub fn fit(
    capture: &CaptureRecord,
    options: &ConnectOptions,
    order: &FitOrder,
    progress: &mut dyn FnMut(usize, usize) -> bool,
) -> Result<FittedWorkload, FitError> {
    let mut copy = Copy::open(options)?;
    admit(&mut copy, capture, order)?;
    let warnings = warnings(&mut copy)?;
    create_schema(&mut copy, order)?;
    let fitted = fit_statements(&mut copy, capture, order.time_share, progress);
    if fitted.is_err() {
        // No workload needs the values, and the next fit begins as this one did. Ctrl-C may have ended the connection.
        drop(copy);
        if let Ok(mut copy) = Copy::open(&options.uninterrupted()) {
            drop(copy.try_briefly("drop the values", &format!("DROP SCHEMA {SCHEMA} CASCADE")));
        }
    }
    let fitted = fitted?;
    Ok(FittedWorkload { warnings: warnings.into_iter().chain(fitted.warnings).collect(), ..fitted })
}

/// Fits the statements, and arranges them to transactions.
fn fit_statements(
    copy: &mut Copy,
    capture: &CaptureRecord,
    time_share: f64,
    progress: &mut dyn FnMut(usize, usize) -> bool,
) -> Result<FittedWorkload, FitError> {
    let counters = counters(copy)?;
    let all: Vec<_> = of_use(capture, time_share);
    let (mut fitted, mut first_refusal, mut not_found) = (Vec::new(), None, 0);
    for (nth, statement) in all.iter().enumerate() {
        if progress(nth, all.len()) {
            return Err(FitError::Interrupted);
        }
        let found = of_statement(copy, capture, statement, nth + 1, counters.as_deref());
        fitted.push(admitted(copy, found)?.unwrap_or_else(|refusal| {
            let about = FittedStatement::new(nth + 1, statement);
            let left_out = Some(refusal.words.clone());
            not_found += u64::from(refusal.is_not_found());
            first_refusal.get_or_insert(refusal);
            Fitted { about: FittedStatement { left_out, ..about }, script: None, sampled: None }
        }));
    }
    let skews = skew::determine(capture, &fitted);
    for (nth, (one, skew)) in fitted.iter_mut().zip(skews).enumerate() {
        if progress(all.len(), all.len()) {
            return Err(FitError::Interrupted);
        }
        let kept = lists::keep(copy, one, skew, kept(all[nth])).map(Ok);
        if let Err(refusal) = admitted(copy, kept)? {
            one.left_out(&refusal);
            first_refusal.get_or_insert(refusal);
        }
    }
    if fitted.iter().all(|one| one.script.is_none()) {
        let why = first_refusal.unwrap_or_else(|| "it has none that can be part of a benchmark".to_owned().into());
        return Err(FitError::Nothing(why));
    }
    let transactions = transactions::arrange(copy, capture, &mut fitted)?;
    copy.ask_or_none("forget the statement", &format!("DEALLOCATE {NAME}"))?;
    let mut fidelity = Fidelity::new(capture, fitted.iter().map(|one| one.about.clone()).collect());
    fidelity.transactions = transactions.iter().map(|script| script.about.clone()).collect();
    Ok(FittedWorkload {
        files: directory::files(capture, &fitted, &transactions, &fidelity),
        fidelity,
        warnings: names_not_found(not_found).into_iter().collect(),
    })
}

/// Returns what was found of a statement. What the server refuses of one ends no fit.
fn admitted<T>(copy: &mut Copy, found: Result<Result<T, Refusal>, FitError>) -> Result<Result<T, Refusal>, FitError> {
    match found {
        Err(FitError::Query(QueryError { about, source })) if !source.is_lost() => {
            copy.ask_or_none("end the transaction", "ROLLBACK")?;
            let refusal = Refusal::of(&source);
            Ok(Err(Refusal { words: format!("failed to {about}: {refusal}"), ..refusal }))
        }
        found => found,
    }
}

/// Creates the schema of the values. That of an earlier fit is dropped only if the order says so.
fn create_schema(copy: &mut Copy, order: &FitOrder) -> Result<(), FitError> {
    let sql = format!("SELECT 1 FROM pg_namespace WHERE nspname = '{SCHEMA}'");
    if copy.cell("look for an earlier fit", &sql)?.is_some() {
        if !order.replace {
            return Err(FitError::Occupied);
        }
        copy.execute("drop the values of an earlier fit", &format!("DROP SCHEMA {SCHEMA} CASCADE"))?;
    }
    copy.execute("create the schema of the values", &format!("CREATE SCHEMA {SCHEMA}"))
}

/// Refuses the server and the database that were captured.
fn admit(copy: &mut Copy, capture: &CaptureRecord, order: &FitOrder) -> Result<(), FitError> {
    let identity =
        copy.ask_or_none("read the system identifier", "SELECT system_identifier FROM pg_control_system()")?;
    let system_identifier = identity.and_then(|rows| rows.into_iter().next()?.into_iter().next()?);
    let database = copy.cell("read the name of the database", "SELECT current_database()")?.unwrap_or_default();
    let started_at = copy.cell("read when the server was started", &format!("SELECT {STARTED}"))?.unwrap_or_default();
    let here = CapturedServer { database, system_identifier, started_at, ..CapturedServer::default() };
    if order.captured_server { Ok(()) } else { admit_server(&capture.head.server, &here) }
}

/// Refuses a server that is the captured one, or that may be.
fn admit_server(captured: &CapturedServer, here: &CapturedServer) -> Result<(), FitError> {
    let is_system = here.system_identifier.is_some() && here.system_identifier == captured.system_identifier;
    // A copy is started by itself. The identifier may be hidden from the role.
    let is_server = !here.started_at.is_empty() && here.started_at == captured.started_at;
    match here.database == captured.database {
        true if is_server => Err(FitError::SameServer),
        true if is_system => Err(FitError::SameSystem),
        _ => Ok(()),
    }
}

/// Returns what on the copy makes the workload less than it could be.
fn warnings(copy: &mut Copy) -> Result<Vec<String>, FitError> {
    let without = copy.unanalysed()?.map(|table| {
        format!("{table} has no statistics, and plans are not those of the captured server: execute ANALYZE on the copy, and fit again")
    });
    Ok(without.into_iter().collect())
}

/// Returns that so many statements name what is not found on the copy.
fn names_not_found(statements: u64) -> Option<String> {
    (statements > 0).then(|| {
        let names = if statements == 1 { "names" } else { "name" };
        let statements = units::plural(statements, "statement");
        format!(
            "{statements} {names} tables or functions that are not found: temporary ones, or those of a schema that is not in search_path \
             (--target \"… options='-c search_path=…'\")"
        )
    })
}

/// Returns the view of the copy's own counters, if it has one.
fn counters(copy: &mut Copy) -> Result<Option<String>, FitError> {
    let sql = "SELECT quote_ident(nspname) || '.pg_stat_statements' FROM pg_extension e \
               JOIN pg_namespace n ON n.oid = e.extnamespace WHERE extname = 'pg_stat_statements'";
    let Some(view) = copy.cell("look for pg_stat_statements", sql)? else { return Ok(None) };
    let works = copy.ask_or_none("look for pg_stat_statements", &format!("SELECT count(*) FROM {view}(false)"))?;
    Ok(works.map(|_| view))
}

/// Returns the statements that can be part of a benchmark, from the one that takes most time, until they have this share of it or are
/// as many as a run can have.
fn of_use(capture: &CaptureRecord, time_share: f64) -> Vec<&CapturedStatement> {
    let of_use = || capture.statements.iter().filter(|statement| statement.refused.is_none());
    let all: f64 = of_use().map(|statement| statement.exec_time_ms).sum();
    let mut before = 0.0;
    let is_within = |statement: &&CapturedStatement| {
        let is_within = before <= all * time_share;
        before += statement.exec_time_ms;
        is_within
    };
    of_use().take_while(is_within).take(SCRIPTS_MAX - transactions::scripts_max(capture)).collect()
}

/// A statement, fitted or left out.
struct Fitted {
    about: FittedStatement,
    /// The script with its calls, and the query that reads its values.
    script: Option<Script>,
    /// Where its values come from, if it has parameters.
    sampled: Option<Sampled>,
}

impl Fitted {
    /// Leaves out the statement after all.
    fn left_out(&mut self, refusal: &Refusal) {
        self.script = None;
        let about = &mut self.about;
        (about.rows_per_call, about.blocks_per_call, about.values) = (None, None, None);
        (about.is_representative, about.left_out) = (false, Some(refusal.words.clone()));
        about.executed.clear();
    }
}

/// Where the values of a statement come from.
struct Sampled {
    parameters: Parameters,
    mixture: Mixture,
    /// By what it finds its rows.
    lookup: Lookup,
}

impl Sampled {
    /// Returns by what it finds its rows, if its values are of any rows.
    fn lookup(&self) -> &Lookup {
        let is_any =
            |sampling: &Sampling| sampling.fixed.is_none() && !sampling.is_missing && sampling.picked.is_none();
        let are_any = matches!(&self.mixture.parts[..], [(_, sampling)] if is_any(sampling));
        if are_any { &self.lookup } else { &Lookup::None }
    }

    /// Returns the unique key by which it looks up one row, if it does.
    fn key(&self) -> Option<&UniqueKey> {
        match self.lookup() {
            Lookup::Unique(key) => Some(key),
            Lookup::Unknown { .. } | Lookup::None => None,
        }
    }
}

/// A script of the directory.
struct Script {
    text: String,
    /// The name and the query of its values, if it has parameters.
    values: Option<(String, String)>,
    calls: f64,
    /// The statement, for scripts of several.
    statement: ScriptStatement,
}

fn of_statement(
    copy: &mut Copy,
    capture: &CaptureRecord,
    statement: &CapturedStatement,
    nth: usize,
    counters: Option<&str>,
) -> Result<Result<Fitted, Refusal>, FitError> {
    let wanted = PerCall { rows: statement.per_call(statement.rows), blocks: statement.per_call(statement.blocks()) };
    let about = FittedStatement::new(nth, statement);
    let Classified { kind, refused, .. } = classify(&statement.text, false);
    if let Some(why) = refused.or_else(|| wording::is_unsafe(&statement.text).map(str::to_owned)) {
        return Ok(Err(why.into()));
    }
    let patience_ms = (statement.per_call(statement.exec_time_ms) * 100.0).clamp(PATIENCE_MS, PATIENCE_MAX_MS);
    let prepared = match prepared::prepare(copy, capture, statement, wanted)? {
        Ok(prepared) => prepared,
        Err(why) => return Ok(Err(why)),
    };
    let text = match directory::script(&prepared.text, &format!("s{nth}")) {
        Ok(text) => text,
        Err(why) => return Ok(Err(why.into())),
    };
    let common = common_values(copy, &prepared.parameters.roles)?;
    let way = prepared.way(copy, kind, counters)?;
    let mut find =
        |way: Way| mixture::nearest(copy, &Method { way, patience_ms }, &prepared.parameters, wanted, &common);
    let mut found = find(way)?;
    // A function may write.
    if found.as_ref().is_err_and(|why| why.is(READ_ONLY)) {
        found = find(Way::Explain { writes: true })?;
    }
    let mixture = match found {
        Ok(mixture) => mixture,
        Err(why) => return Ok(Err(why)),
    };
    let how: Vec<_> = mixture
        .parts
        .iter()
        .map(|(share, sampling)| match mixture.parts.len() {
            1 => sampling.words(&prepared.parameters),
            _ => format!("{}: {}", pgdyno_text::brief::percent(*share), sampling.words(&prepared.parameters)),
        })
        .collect();
    let about = FittedStatement {
        executed: vec![prepared.text.clone()],
        rows_per_call: Some(mixture.per_call.rows),
        blocks_per_call: Some(mixture.per_call.blocks),
        is_representative: mixture.per_call.represents(wanted),
        values: Some(if prepared.parameters.roles.is_empty() { "no parameters".to_owned() } else { how.join("; ") }),
        ..about
    };
    let Prepared { text: sql, numbers, keys, returned, parameters, lookup } = prepared;
    let Parameters { roles, types, .. } = parameters.clone();
    let values = lists::name_and_query(nth, roles.len());
    let scripted = ScriptStatement { text: sql, numbers, keys, roles, types, returned };
    let script = Some(Script { text, values, calls: statement.calls, statement: scripted });
    Ok(Ok(Fitted { about, script, sampled: Some(Sampled { parameters, mixture, lookup }) }))
}

/// Returns the most common values of the columns that parameters are equal to.
fn common_values(copy: &mut Copy, roles: &[Role]) -> Result<Vec<CommonValue>, FitError> {
    let mut common = Vec::new();
    for role in roles {
        let Role::Column(How::Equal, source, name) = role else { continue };
        let (table, column) = (quote::literal(&source.table), quote::literal(name));
        let sql = format!(
            "SELECT unnest(most_common_vals::text::text[]) FROM pg_stats \
             WHERE format('%I.%I', schemaname, tablename)::regclass = {table}::regclass AND attname = {column} \
             AND inherited = (SELECT relkind = 'p' FROM pg_class WHERE oid = {table}::regclass) LIMIT {COMMON}"
        );
        let found = copy.ask_or_none("read the common values of a column", &sql)?;
        for value in found.into_iter().flatten().flatten().flatten() {
            common.push((source.clone(), name.clone(), value));
        }
    }
    Ok(common)
}

/// Returns the number of executions whose values are kept.
fn kept(statement: &CapturedStatement) -> usize {
    let is_reader = statement.shared_blks_read > statement.blocks() * READ_SHARE;
    if is_reader { KEPT_OF_READERS } else { KEPT }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_found_is_counted_with_the_remedy() {
        assert_eq!(names_not_found(0), None);
        assert!(names_not_found(1).unwrap().starts_with("1 statement names tables"));
        assert!(names_not_found(7).unwrap().starts_with("7 statements name tables"));
    }

    #[test]
    fn the_captured_server_is_known_by_its_start_and_a_physical_copy_by_its_identifier() {
        let server = |identifier: Option<&str>, started_at: &str, database: &str| CapturedServer {
            database: database.to_owned(),
            system_identifier: identifier.map(str::to_owned),
            started_at: started_at.to_owned(),
            ..CapturedServer::default()
        };
        let captured = server(Some("7"), "10:00", "shop");
        let of = |captured: &CapturedServer, here| admit_server(captured, &here);
        assert!(matches!(of(&captured, server(Some("7"), "10:00", "shop")), Err(FitError::SameServer)));
        let physical = of(&captured, server(Some("7"), "11:00", "shop")).unwrap_err();
        assert!(
            physical.to_string().contains("physical copy") && physical.remedy().unwrap().contains("--captured-server")
        );
        // A service may hide the identifier.
        let hidden = server(None, "10:00", "shop");
        assert!(matches!(of(&hidden, hidden.clone()), Err(FitError::SameServer)));
        assert!(of(&hidden, server(None, "11:00", "shop")).is_ok());
        assert!(of(&captured, server(Some("8"), "11:00", "shop")).is_ok());
        assert!(of(&captured, server(Some("7"), "10:00", "lab")).is_ok(), "a copy beside it");
        assert!(of(&server(None, "", "shop"), server(None, "", "shop")).is_ok());
    }
}
