//! Scripts of several statements: the transactions that the captured server's log has.

use std::collections::{BTreeMap, BTreeSet};

use super::copy::{Copy, FitError};
use super::directory::{FittedTransaction, ScriptForm, ScriptSql, TransactionScript, name};
use super::results::StatementColumns;
use super::roles::Role;
use super::types::{self, Types};
use super::values::WHOLE;
use super::{Fitted, SCHEMA, Script, results, wording};
use crate::form::{CaptureRecord, CapturedTransaction};
use pgdyno_workload::IsolationLevel;

/// Transactions that become scripts.
const TRANSACTIONS_MAX: usize = 32;

/// Executions of a statement in a row, and of all statements of a script.
const REPEATS_MAX: f64 = 50.0;
const EXECUTIONS_MAX: usize = 200;

/// Rounds in which the shares of transactions and single statements are adjusted to the captured calls.
const ROUNDS: usize = 200;

/// The share of its calls with which a statement is also assumed outside of transactions before they are adjusted. Less than ten times
/// of it afterwards counts as none.
const SINGLE_SHARE: f64 = 1e-3;

/// A statement as scripts have it.
#[derive(Clone, Debug, Default)]
pub(super) struct ScriptStatement {
    /// Its text, with `$1` for the first column of its values.
    pub(super) text: String,
    /// The captured parameters that these columns are for.
    pub(super) numbers: Vec<u32>,
    /// SQL in the text in place of a captured parameter: keys of new rows.
    pub(super) keys: BTreeMap<u32, String>,
    /// What each column of its values is for, and its type.
    pub(super) roles: Vec<Role>,
    pub(super) types: Vec<String>,
    /// The columns of tables that it returns.
    pub(super) returned: Vec<(String, String)>,
}

/// A statement of the script: which one, and its step in the transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Execution {
    /// Its place among the fitted statements.
    fitted: usize,
    step: usize,
    /// Its place among the executions of the step.
    repeat: usize,
}

/// Returns how many scripts the transactions of a capture can become.
pub(super) fn scripts_max(capture: &CaptureRecord) -> usize {
    several(capture).count().min(TRANSACTIONS_MAX)
}

/// Returns the transactions that have more than one statement.
fn several(capture: &CaptureRecord) -> impl Iterator<Item = &CapturedTransaction> {
    let kinds = capture.transactions.iter().flat_map(|transactions| &transactions.kinds);
    kinds.filter(|kind| kind.steps.len() > 1 || kind.steps.iter().any(|step| step.calls_mean > 1.5))
}

/// Makes scripts of the captured transactions, and leaves to the scripts of single statements the calls that these have alone.
pub(super) fn arrange(
    copy: &mut Copy,
    capture: &CaptureRecord,
    fitted: &mut [Fitted],
) -> Result<Vec<TransactionScript>, FitError> {
    let mut places = BTreeMap::new();
    for (at, one) in fitted.iter().enumerate().filter(|(_, one)| one.script.is_some()) {
        let statement = capture.statements.iter().position(|statement| statement.text == one.about.text);
        places.extend(statement.map(|statement| (statement, at)));
    }
    let columns = if several(capture).next().is_some() { results::columns(copy, fitted)? } else { Vec::new() };
    let mut scripts = Vec::new();
    let mut counts = Vec::new();
    for kind in several(capture).take(TRANSACTIONS_MAX) {
        let executions = executions(kind, &places);
        if executions.len() < 2 {
            continue;
        }
        let parts = TransactionParts { kind, executions: &executions, columns: &columns };
        let Some(MadeScript { text, sent, values }) = script(copy, &parts, fitted)? else { continue };
        for (execution, sent) in executions.iter().zip(sent) {
            fitted[execution.fitted].about.add_text(sent);
        }
        let files = executions.iter().map(|one| fitted[one.fitted].about.script.clone()).collect();
        let file = format!("t{:02}-{}.sql", scripts.len() + 1, name(&fitted[executions[0].fitted].about.text));
        let about = FittedTransaction { script: file, statements: files, calls_per_s: 0.0 };
        scripts.push(TransactionScript { text, values, calls: 0.0, about });
        counts.push((kind.count as f64, executions));
    }
    if scripts.is_empty() {
        return Ok(scripts);
    }
    let calls: Vec<_> = fitted.iter().map(|one| one.script.as_ref().map_or(0.0, |script| script.calls)).collect();
    let mut shares = Shares::new(&calls, logged(capture, &places, calls.len()), &counts);
    shares.adjust(&calls);
    let window_s = capture.head.window.seconds.max(1.0);
    for (script, calls) in scripts.iter_mut().zip(shares.transactions()) {
        script.calls = calls;
        script.about.calls_per_s = calls / window_s;
    }
    for (at, one) in fitted.iter_mut().enumerate() {
        if let Some(script) = &mut one.script {
            script.calls = shares.single(at, calls[at]);
        }
    }
    Ok(scripts)
}

/// Returns the statements that a transaction executes, as far as they are fitted.
fn executions(kind: &CapturedTransaction, places: &BTreeMap<usize, usize>) -> Vec<Execution> {
    let mut executions = Vec::new();
    for (step, of) in kind.steps.iter().enumerate() {
        let Some(fitted) = places.get(&of.statement).copied() else { continue };
        let repeats = of.calls_mean.round().clamp(1.0, REPEATS_MAX) as usize;
        executions.extend((0..repeats).map(|repeat| Execution { fitted, step, repeat }));
    }
    executions.truncate(EXECUTIONS_MAX);
    executions
}

/// Returns how often the log has each fitted statement.
fn logged(capture: &CaptureRecord, places: &BTreeMap<usize, usize>, fitted: usize) -> Vec<f64> {
    let mut logged = vec![0.0; fitted];
    for kind in capture.transactions.iter().flat_map(|transactions| &transactions.kinds) {
        for step in &kind.steps {
            if let Some(at) = places.get(&step.statement) {
                logged[*at] += kind.count as f64 * step.calls_mean;
            }
        }
    }
    logged
}

/// Where a parameter of a transaction has its value from.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Origin {
    /// A variable: a column of the values that an execution has drawn.
    Drawn { execution: usize, column: usize },
    /// The key of a row that an earlier statement has inserted.
    Key(String),
    /// A column of the row that an earlier execution returns. Until it returns one, it has the value of a drawn column.
    Returned { by: usize, name: String, execution: usize, column: usize },
}

impl Origin {
    /// Returns the variable with the value.
    fn variable(&self) -> Option<String> {
        match self {
            Self::Drawn { execution, column } => Some(drawn(*execution, *column)),
            Self::Returned { by, name, .. } => Some(format!("{}{name}", prefix_of_returned(*by))),
            Self::Key(_) => None,
        }
    }
}

/// Returns the variable of a column of the values that an execution has drawn.
fn drawn(execution: usize, column: usize) -> String {
    format!("{}p{}", prefix_of_drawn(execution), column + 1)
}

/// Returns the prefix of the variables with the values that an execution has drawn.
fn prefix_of_drawn(execution: usize) -> String {
    format!("t{}_", execution + 1)
}

/// Returns the prefix of the variables with the row that an execution returns.
fn prefix_of_returned(execution: usize) -> String {
    format!("r{}_", execution + 1)
}

/// What a script is made of.
struct TransactionParts<'a> {
    kind: &'a CapturedTransaction,
    executions: &'a [Execution],
    /// The columns of all fitted statements.
    columns: &'a [StatementColumns],
}

/// The statements of a transaction.
struct Transaction<'a> {
    parts: &'a TransactionParts<'a>,
    statements: Vec<&'a ScriptStatement>,
    /// The first step and parameter with the value of a later one.
    sources: BTreeMap<(usize, u32), (usize, u32)>,
}

impl<'a> Transaction<'a> {
    fn new(parts: &'a TransactionParts<'a>, statements: Vec<&'a ScriptStatement>) -> Self {
        let mut flows: Vec<_> = parts.kind.flows.iter().collect();
        flows.sort_by_key(|flow| flow.step);
        let mut sources = BTreeMap::new();
        for flow in flows {
            let from = (flow.from_step, flow.from_parameter);
            let source = sources.get(&from).copied().unwrap_or(from);
            sources.entry((flow.step, flow.parameter)).or_insert(source);
        }
        Self { parts, statements, sources }
    }

    /// Returns where the value of a captured parameter comes from. Of several that are always equal the statement that takes most time
    /// draws it: its values decide most. All are drawn before the first statement.
    fn origin(&self, execution: usize, parameter: u32) -> Option<Origin> {
        let step = self.parts.executions[execution].step;
        let equal = self.equal(step, parameter);
        if equal.is_empty() {
            let own = self.own(execution, parameter)?;
            let is_repeated = self.parts.executions.iter().filter(|other| other.step == step).nth(1).is_some();
            return Some(if is_repeated { own } else { self.or_returned(own, execution, parameter) });
        }
        let first = |(step, parameter): (usize, u32)| Some((self.first(step)?, parameter));
        let places: Vec<_> = equal.into_iter().filter_map(first).collect();
        let key = places
            .iter()
            .filter(|(at, _)| *at < execution)
            .find_map(|(at, parameter)| self.own(*at, *parameter).filter(|origin| matches!(origin, Origin::Key(_))));
        let drawn = || {
            let all = places.iter().filter_map(|(at, parameter)| Some((*at, self.own(*at, *parameter)?)));
            let all = all.filter(|(_, origin)| matches!(origin, Origin::Drawn { .. }));
            // Statements that take more time come first.
            all.min_by_key(|(at, _)| self.parts.executions[*at].fitted).map(|(_, origin)| origin)
        };
        let (first, parameter) = *places.iter().min()?;
        key.or_else(|| Some(self.or_returned(drawn()?, first, parameter)))
    }

    /// Returns the result that has the value of a parameter, which no earlier parameter has; or else where it is drawn.
    fn or_returned(&self, drawn: Origin, execution: usize, parameter: u32) -> Origin {
        let Origin::Drawn { execution: drawn_by, column } = drawn else { return drawn };
        let columns = |at: usize| &self.parts.columns[self.parts.executions[at].fitted];
        let returned = (0..execution).rev().find_map(|by| {
            let name = columns(by).gives(columns(execution), parameter)?.to_owned();
            Some(Origin::Returned { by, name, execution: drawn_by, column })
        });
        returned.unwrap_or(drawn)
    }

    /// Returns the steps and parameters that always have the same value as this one, itself included; none if it has its own in each
    /// execution.
    fn equal(&self, step: usize, parameter: u32) -> Vec<(usize, u32)> {
        let first = self.sources.get(&(step, parameter)).copied().unwrap_or((step, parameter));
        let later = self.sources.iter().filter(|(_, source)| **source == first).map(|(later, _)| *later);
        let mut equal: Vec<_> = later.collect();
        if !equal.is_empty() && !equal.contains(&first) {
            equal.push(first);
        }
        equal
    }

    /// Returns the first execution of a step.
    fn first(&self, step: usize) -> Option<usize> {
        self.parts.executions.iter().position(|execution| execution.step == step)
    }

    fn own(&self, execution: usize, parameter: u32) -> Option<Origin> {
        let statement = self.statements[execution];
        if let Some(column) = statement.numbers.iter().position(|number| *number == parameter) {
            return Some(Origin::Drawn { execution, column });
        }
        // The last number that the session has taken from the sequence is the key of the row.
        let sequence = statement.keys.get(&parameter)?.strip_prefix("nextval(")?;
        Some(Origin::Key(format!("(SELECT currval({sequence})")))
    }

    /// Returns where the values of an execution come from, by the columns of its values.
    fn origins(&self, execution: usize) -> Vec<Origin> {
        let numbers = self.statements[execution].numbers.iter().enumerate();
        let of = |(column, number): (usize, &u32)| {
            self.origin(execution, *number).unwrap_or(Origin::Drawn { execution, column })
        };
        numbers.map(of).collect()
    }

    /// Returns the SQL of an execution with these origins. A key has the type of its sequence: where the statement does not take it,
    /// the value is drawn.
    fn accepted_sql(&self, copy: &mut Copy, execution: usize, origins: Vec<Origin>) -> Result<ScriptSql, FitError> {
        let sql = self.sql(execution, &origins);
        let has_key = origins.iter().any(|origin| matches!(origin, Origin::Key(_)));
        if !has_key || types::prepare(copy, &sql.sent, &Types::new())?.is_ok() {
            return Ok(sql);
        }
        let is_drawn = |(column, origin): (usize, Origin)| match origin {
            Origin::Key(_) => Origin::Drawn { execution, column },
            origin => origin,
        };
        let origins: Vec<_> = origins.into_iter().enumerate().map(is_drawn).collect();
        Ok(self.sql(execution, &origins))
    }

    /// Returns the SQL of an execution with these origins, and with the numbers of its variables in place of them.
    fn sql(&self, execution: usize, origins: &[Origin]) -> ScriptSql {
        let text = &self.statements[execution].text;
        let mut variables = Vec::new();
        let origin = |column: u32| origins.get((column as usize).saturating_sub(1));
        let sent = wording::with_variables(text, |column| match origin(column) {
            Some(Origin::Key(sql)) => sql.clone(),
            Some(origin) => {
                variables.extend(origin.variable());
                format!("${}", variables.len())
            }
            None => format!("${column}"),
        });
        let text = wording::with_variables(text, |column| match origin(column) {
            Some(Origin::Key(sql)) => sql.clone(),
            Some(origin) => format!(":{}", origin.variable().unwrap_or_default()),
            None => format!(":p{column}"),
        });
        ScriptSql { text, sent, variables, collects: None }
    }
}

/// A script of a transaction.
struct MadeScript {
    text: String,
    /// The text of each execution.
    sent: Vec<String>,
    /// Names and queries of the lists of values that no statement has.
    values: Vec<(String, String)>,
}

/// A drawn value that a variable of a returned row has until there is a row.
struct Until {
    by: usize,
    name: String,
    execution: usize,
    column: usize,
}

impl Until {
    /// Returns the list with this column alone, by its name, from the list of the statement that draws it.
    fn list(&self, list: &str) -> (String, String) {
        let Self { name, column, .. } = self;
        let column = column + 1;
        (format!("{list}_p{column}_{name}"), format!("SELECT p{column} AS \"{name}\" FROM {SCHEMA}.{list}"))
    }
}

/// Returns the script of a transaction; `None` if a run would read it otherwise.
fn script(copy: &mut Copy, parts: &TransactionParts<'_>, fitted: &[Fitted]) -> Result<Option<MadeScript>, FitError> {
    let TransactionParts { kind, executions, .. } = *parts;
    let scripts: Vec<_> = executions.iter().filter_map(|one| fitted[one.fitted].script.as_ref()).collect();
    let statements: Vec<_> = scripts.iter().map(|script| &script.statement).collect();
    let transaction = Transaction::new(parts, statements);
    let mut all = Vec::new();
    // Variables of rows that are returned, with the values that they have until then.
    let mut before = BTreeMap::new();
    let mut returning = BTreeSet::new();
    for execution in 0..transaction.statements.len() {
        let origins = transaction.origins(execution);
        for origin in &origins {
            if let (Origin::Returned { by, name, execution, column }, Some(variable)) = (origin, origin.variable()) {
                let (by, name, execution, column) = (*by, name.clone(), *execution, *column);
                before.entry(variable).or_insert(Until { by, name, execution, column });
                returning.insert(by);
            }
        }
        all.push(transaction.accepted_sql(copy, execution, origins)?);
    }
    returning.into_iter().for_each(|by: usize| all[by].collects = Some(prefix_of_returned(by)));
    let (mut draws, values) = draws(&transaction, &scripts, &all, before);
    let level = |level: IsolationLevel| format!("BEGIN ISOLATION LEVEL {}", level.name().to_uppercase());
    let begin = kind.isolation.map_or_else(|| "BEGIN".to_owned(), level);
    draws.text += &format!("{begin};\n");
    for sql in &all {
        let end = sql.collects.as_ref().map_or_else(|| ";".to_owned(), |prefix| format!(" \\aset {prefix}"));
        draws.text += &format!("{}{end}\n", sql.text);
    }
    draws.text += "COMMIT;\n";
    let form = ScriptForm { lists: &draws.lists, sets: draws.sets, begin: &begin, statements: &all };
    let matches = form.matches(&draws.text);
    Ok(matches.then(|| MadeScript { text: draws.text, sent: all.into_iter().map(|sql| sql.sent).collect(), values }))
}

/// The begin of a script, which draws values.
#[derive(Default)]
struct Draws {
    text: String,
    lists: Vec<String>,
    /// The number of variables that have the value of another one.
    sets: usize,
}

/// Returns the commands that draw the values of a transaction, and lists of values that they need beside those of the statements. A number
/// can be copied to another variable; any other value is drawn for it.
fn draws(
    transaction: &Transaction<'_>,
    scripts: &[&Script],
    all: &[ScriptSql],
    before: BTreeMap<String, Until>,
) -> (Draws, Vec<(String, String)>) {
    let is_number = |until: &Until| {
        let data_type = transaction.statements[until.execution].types.get(until.column);
        data_type.is_none_or(|data_type| WHOLE.contains(&data_type.as_str()))
    };
    let (sets, others): (Vec<_>, Vec<_>) = before.into_iter().partition(|(_, until)| is_number(until));
    let sets: Vec<_> =
        sets.into_iter().map(|(variable, until)| (variable, drawn(until.execution, until.column))).collect();
    let mut draws = Draws { sets: sets.len(), ..Draws::default() };
    let mut draw = |list: &str, prefix: &str| {
        draws.text += &format!("\\values {list} {prefix}\n");
        draws.lists.push(list.to_owned());
    };
    for (at, script) in scripts.iter().enumerate() {
        let prefix = prefix_of_drawn(at);
        let mut used = all.iter().flat_map(|sql| &sql.variables).chain(sets.iter().map(|(_, drawn)| drawn));
        if let Some((list, _)) = script.values.as_ref().filter(|_| used.any(|variable| variable.starts_with(&prefix))) {
            draw(list, &prefix);
        }
    }
    let mut values = Vec::new();
    for (_, until) in others {
        if let Some((list, _)) = &scripts[until.execution].values {
            let (list, query) = until.list(list);
            draw(&list, &prefix_of_returned(until.by));
            values.push((list, query));
        }
    }
    sets.iter().for_each(|(variable, drawn)| draws.text += &format!("\\set {variable} :{drawn}\n"));
    (draws, values)
}

/// How often transactions and single statements are executed, so that each statement has its captured calls.
struct Shares {
    /// Calls of each transaction, with how often it executes each statement.
    transactions: Vec<(f64, BTreeMap<usize, f64>)>,
    /// Calls of each statement by itself.
    single: Vec<f64>,
}

impl Shares {
    /// Begins with the shares of the log. `logged` is how often it has each statement, `counts` how often each transaction.
    fn new(calls: &[f64], logged: Vec<f64>, counts: &[(f64, Vec<Execution>)]) -> Self {
        let in_log = |(calls, logged): (&f64, &f64)| if *logged > 0.0 { *calls } else { 0.0 };
        let captured: f64 = calls.iter().zip(&logged).map(in_log).sum();
        // Of how many calls the log has one.
        let factor = captured / logged.iter().sum::<f64>().max(1.0);
        let mut single: Vec<_> = logged.iter().map(|logged| logged * factor).collect();
        let mut transactions = Vec::new();
        for (count, executions) in counts {
            let mut executed = BTreeMap::new();
            for execution in executions {
                *executed.entry(execution.fitted).or_insert(0.0) += 1.0;
            }
            executed.iter().for_each(|(at, times)| single[*at] -= count * factor * times);
            transactions.push((count * factor, executed));
        }
        let least = single.iter().zip(calls).map(|(single, calls)| single.max(calls * SINGLE_SHARE));
        Self { transactions, single: least.collect() }
    }

    /// Adjusts them to the captured calls: the shares that are nearest to those of the log (multiplicative algebraic reconstruction;
    /// Gordon, Bender, Herman 1970).
    fn adjust(&mut self, calls: &[f64]) {
        for _ in 0..ROUNDS {
            for (at, wanted) in calls.iter().enumerate().filter(|(_, wanted)| **wanted > 0.0) {
                let times = |executed: &BTreeMap<usize, f64>| executed.get(&at).copied().unwrap_or_default();
                let of_transactions: f64 =
                    self.transactions.iter().map(|(calls, executed)| calls * times(executed)).sum();
                let most = self.transactions.iter().map(|(_, executed)| times(executed)).fold(1.0, f64::max);
                let ratio = (wanted / (self.single[at] + of_transactions)).clamp(1e-3, 1e3);
                for (calls, executed) in &mut self.transactions {
                    *calls *= ratio.powf(times(executed) / most);
                }
                self.single[at] *= ratio.powf(1.0 / most);
            }
        }
    }

    fn transactions(&self) -> impl Iterator<Item = f64> {
        self.transactions.iter().map(|(calls, _)| *calls)
    }

    /// Returns the calls of a statement by itself.
    fn single(&self, at: usize, calls: f64) -> f64 {
        let is_in_transaction = self.transactions.iter().any(|(_, executed)| executed.contains_key(&at));
        let single = self.single[at];
        if is_in_transaction && single < calls * SINGLE_SHARE * 10.0 { 0.0 } else { single }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::{ParameterFlow, TransactionStep};

    fn kind(steps: &[(usize, f64)], flows: &[(usize, u32, usize, u32)]) -> CapturedTransaction {
        let step =
            |(statement, calls_mean): &(usize, f64)| TransactionStep { statement: *statement, calls_mean: *calls_mean };
        let flow = |(step, parameter, from_step, from_parameter): &(usize, u32, usize, u32)| ParameterFlow {
            step: *step,
            parameter: *parameter,
            from_step: *from_step,
            from_parameter: *from_parameter,
        };
        CapturedTransaction {
            count: 10,
            isolation: None,
            steps: steps.iter().map(step).collect(),
            flows: flows.iter().map(flow).collect(),
        }
    }

    fn statement(text: &str, numbers: &[u32]) -> ScriptStatement {
        ScriptStatement { text: text.to_owned(), numbers: numbers.to_vec(), ..ScriptStatement::default() }
    }

    /// The columns of statements of which nothing is known.
    fn unknown() -> Vec<StatementColumns> {
        vec![StatementColumns::default(); 3]
    }

    #[test]
    fn a_new_value_is_that_of_a_row_that_an_earlier_statement_returned() {
        let kind = kind(&[(0, 1.0), (1, 1.0), (2, 1.0), (3, 3.0)], &[(2, 1, 1, 1)]);
        let executions = executions(&kind, &BTreeMap::from([(0, 0), (1, 1), (2, 2), (3, 1)]));
        let [lock, use_row] = [statement("select id from q", &[]), statement("delete from q where id = $1", &[1])];
        let needs = StatementColumns::example(&[], &[(1, "q.id")]);
        let columns = [StatementColumns::example(&[("q.id", "id")], &[]), needs.clone(), needs];
        let all = vec![&lock, &use_row, &use_row, &use_row, &use_row, &use_row];
        let parts = TransactionParts { kind: &kind, executions: &executions, columns: &columns };
        let transaction = Transaction::new(&parts, all);
        let returned = |execution| Origin::Returned { by: 0, name: "id".to_owned(), execution, column: 0 };
        assert_eq!([1, 2].map(|at| transaction.origin(at, 1).unwrap()), [returned(1), returned(1)], "both are equal");
        let drawn = |execution| Origin::Drawn { execution, column: 0 };
        assert_eq!([3, 4].map(|at| transaction.origin(at, 1).unwrap()), [drawn(3), drawn(4)], "each has its own value");
        let sql = transaction.sql(1, &transaction.origins(1));
        assert_eq!(
            (sql.text.as_str(), sql.sent.as_str()),
            ("delete from q where id = :r1_id", "delete from q where id = $1")
        );
        assert_eq!(sql.variables, ["r1_id"]);
    }

    #[test]
    fn a_parameter_has_the_value_of_those_that_it_is_equal_to() {
        let insert = ScriptStatement {
            keys: BTreeMap::from([(1, "nextval('s.q')".to_owned())]),
            ..statement("insert into o values (nextval('s.q'), $1)", &[2])
        };
        let line = statement("insert into l values ($1, $2, $3)", &[1, 2, 3]);
        let kind = kind(&[(5, 1.0), (9, 1.0), (7, 2.2)], &[(0, 1, 0, 1), (2, 1, 0, 1), (2, 2, 2, 2), (2, 3, 1, 4)]);
        // The second statement is left out: what came from it is drawn once.
        let executions = executions(&kind, &BTreeMap::from([(5, 0), (7, 1)]));
        assert_eq!(executions.iter().map(|one| (one.fitted, one.repeat)).collect::<Vec<_>>(), [(0, 0), (1, 0), (1, 1)]);
        let columns = unknown();
        let parts = TransactionParts { kind: &kind, executions: &executions, columns: &columns };
        let transaction = Transaction::new(&parts, vec![&insert, &line, &line]);
        let drawn = |execution, column| Some(Origin::Drawn { execution, column });
        let key = || Some(Origin::Key("(SELECT currval('s.q'))".to_owned()));
        assert_eq!([1, 2, 3].map(|n| transaction.origin(1, n)), [key(), drawn(1, 1), drawn(1, 2)]);
        assert_eq!([1, 2, 3].map(|n| transaction.origin(2, n)), [key(), drawn(1, 1), drawn(1, 2)]);
        let origins: Vec<_> = [1, 2, 3].iter().filter_map(|n| transaction.origin(2, *n)).collect();
        let sql = transaction.sql(2, &origins);
        assert_eq!(sql.text, "insert into l values ((SELECT currval('s.q')), :t2_p2, :t2_p3)");
        assert_eq!(sql.sent, "insert into l values ((SELECT currval('s.q')), $1, $2)");
        assert_eq!(sql.variables, ["t2_p2", "t2_p3"]);
    }

    #[test]
    fn the_statement_that_takes_most_time_draws_a_common_value() {
        let kind = kind(&[(0, 1.0), (1, 1.0), (2, 2.0)], &[(1, 2, 0, 1), (2, 1, 1, 2)]);
        let executions = executions(&kind, &BTreeMap::from([(0, 2), (1, 0), (2, 1)]));
        let [a, b] = [statement("select $1", &[1]), statement("select $1 + $2", &[1, 2])];
        let columns = unknown();
        let parts = TransactionParts { kind: &kind, executions: &executions, columns: &columns };
        let transaction = Transaction::new(&parts, vec![&a, &b, &a, &a]);
        let drawn = |execution, column| Some(Origin::Drawn { execution, column });
        assert_eq!([0, 2, 3].map(|at| transaction.origin(at, 1)), [drawn(1, 1), drawn(1, 1), drawn(1, 1)]);
        assert_eq!([1, 2].map(|n| transaction.origin(1, n)), [drawn(1, 0), drawn(1, 1)]);
    }

    #[test]
    fn statements_that_share_a_value_of_one_that_is_left_out_share_it_still() {
        let kind = kind(&[(0, 1.0), (1, 1.0), (2, 1.0)], &[(1, 1, 0, 1), (2, 1, 0, 1)]);
        let executions = executions(&kind, &BTreeMap::from([(1, 0), (2, 1)]));
        let [a, b] = [statement("select $1", &[1]), statement("select $1", &[1])];
        let columns = unknown();
        let parts = TransactionParts { kind: &kind, executions: &executions, columns: &columns };
        let transaction = Transaction::new(&parts, vec![&a, &b]);
        assert_eq!(transaction.origin(1, 1), Some(Origin::Drawn { execution: 0, column: 0 }));
    }

    #[test]
    fn a_key_that_is_no_number_is_drawn_until_a_row_is_returned() {
        let kind = kind(&[(0, 1.0), (1, 1.0)], &[]);
        let executions = executions(&kind, &BTreeMap::from([(0, 0), (1, 1)]));
        for (data_type, begin) in
            [("bigint", "\\values s2 t2_\n\\set r1_id :t2_p1\n"), ("uuid", "\\values s2_p1_id r1_\n")]
        {
            let lock = statement("select id from q", &[]);
            let delete =
                ScriptStatement { types: vec![data_type.to_owned()], ..statement("delete from q where id = $1", &[1]) };
            let columns =
                [StatementColumns::example(&[("q.id", "id")], &[]), StatementColumns::example(&[], &[(1, "q.id")])];
            let parts = TransactionParts { kind: &kind, executions: &executions, columns: &columns };
            let transaction = Transaction::new(&parts, vec![&lock, &delete]);
            let script = |statement: &ScriptStatement, values: Option<&str>| Script {
                text: String::new(),
                values: values.map(|list| (list.to_owned(), String::new())),
                calls: 1.0,
                statement: statement.clone(),
            };
            let [first, second] = [script(&lock, None), script(&delete, Some("s2"))];
            let all: Vec<_> = [0, 1].iter().map(|at| transaction.sql(*at, &transaction.origins(*at))).collect();
            let until = Until { by: 0, name: "id".to_owned(), execution: 1, column: 0 };
            let before = BTreeMap::from([("r1_id".to_owned(), until)]);
            let (draws, values) = draws(&transaction, &[&first, &second], &all, before);
            assert_eq!(draws.text, begin);
            assert_eq!(draws.lists.len(), 1);
            if data_type == "uuid" {
                let query = format!("SELECT p1 AS \"id\" FROM {SCHEMA}.s2");
                assert_eq!(values, [("s2_p1_id".to_owned(), query)]);
            }
        }
    }

    fn shares(calls: &[f64], logged: &[f64], counts: &[(f64, &[usize])]) -> (Vec<f64>, Vec<f64>) {
        let execution = |fitted: &usize| Execution { fitted: *fitted, step: 0, repeat: 0 };
        let counts: Vec<_> = counts.iter().map(|(count, all)| (*count, all.iter().map(execution).collect())).collect();
        let mut shares = Shares::new(calls, logged.to_vec(), &counts);
        shares.adjust(calls);
        let round = |calls: f64| (calls / 10.0).round() * 10.0;
        let single = calls.iter().enumerate().map(|(at, calls)| round(shares.single(at, *calls)));
        (shares.transactions().map(round).collect(), single.collect())
    }

    #[test]
    fn each_statement_has_its_captured_calls() {
        // One in ten is sampled: 100 of (0, 1, 1), and 50 of 0 by itself.
        let found = shares(&[1500.0, 2000.0], &[150.0, 200.0], &[(100.0, &[0, 1, 1])]);
        assert_eq!(found, (vec![1000.0], vec![500.0, 0.0]));
        // A role that is not sampled executes 0 and 2.
        let found = shares(&[5000.0, 1000.0, 700.0], &[100.0, 100.0, 0.0], &[(100.0, &[0, 1])]);
        assert_eq!(found, (vec![1000.0], vec![4000.0, 0.0, 700.0]));
        // Two transactions with a common statement.
        let found = shares(&[4000.0, 3000.0, 1000.0], &[40.0, 30.0, 10.0], &[(30.0, &[0, 1]), (10.0, &[0, 2])]);
        assert_eq!(found, (vec![3000.0, 1000.0], vec![0.0, 0.0, 0.0]));
    }
}
