//! Checks of the data.

pub(crate) mod ask;
pub(crate) mod durability;
pub(crate) mod question;
pub(crate) mod scenario;

use std::time::Instant;

use pgdyno_net::{ConnectOptions, Halt, Stop, TextRows};
use pgdyno_workload::{Capabilities, Check, CheckCost, DataSet, Expect, RowCount, Table};

use crate::check::ask::{Answer, Asking, ask};
use crate::check::question::{CheckError, CheckProgress, DIFFERENCES_SHOWN, Question, SHOWN};
use crate::state::schema::SchemaDifference;
use crate::state::{layout, relations};
use crate::{session, steps};

/// Point in the life of the data at which it is checked.
#[derive(Clone, Copy, Debug)]
pub enum Moment<'a> {
    /// Right after the load: the number of rows, and every [`Expect::NoRow`].
    AfterLoad,
    /// At rest: the schema, the row counts of tables whose number of rows never changes, every [`Expect::NoRow`], and
    /// every [`Expect::UnchangedByRun`] for the baseline. A table of more than [`COUNTED_ROWS_MAX`] rows is only
    /// checked for being empty, so that a run does not wait for the count.
    AtRest,
    /// As at rest, with the rows of every such table counted.
    InFull,
    /// Right before a run, after [`DataSet::before_run`]: every [`Expect::UnchangedByRun`], for the baseline.
    BeforeRun,
    /// After a run, as [`Moment::AtRest`]: everything that did not fail before, and every [`Expect::UnchangedByRun`]
    /// compared with the baseline.
    AfterRun(&'a Baseline),
    /// These checks and nothing else, at rest.
    Only(&'a [Check]),
}

/// State before a run, with which the checks after it compare.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    /// Results of the checks that a run must not change.
    unchanging: Vec<(&'static str, TextRows)>,
    /// Conditions that failed already.
    broken: Vec<&'static str>,
    /// Tables whose rows were not as many as were loaded.
    miscounted: Vec<&'static str>,
    /// Differences of the schema from the one that was loaded.
    differences: Vec<SchemaDifference>,
    /// The reason why it could not be compared with that.
    schema_unknown: Option<String>,
}

impl Baseline {
    /// Returns the differences of the schema from the one that was loaded.
    #[must_use]
    pub fn differences(&self) -> &[SchemaDifference] {
        &self.differences
    }

    /// Returns the reason why the schema could not be compared with the one that was loaded, and the remedy; `None`
    /// if it was compared.
    #[must_use]
    pub fn schema_unknown(&self) -> Option<&str> {
        self.schema_unknown.as_deref()
    }

    /// Returns each check that a run must not change, and its rows, as `col=value col=value`.
    pub fn figures(&self) -> impl Iterator<Item = (&'static str, Vec<String>)> {
        self.unchanging.iter().map(|(name, rows)| (*name, texts(rows)))
    }
}

/// Result of the checks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CheckReport {
    /// Every check with a result, in order.
    pub checks: Vec<CheckResult>,
    /// Tables with their indexes and TOAST, in bytes: the sum of `pg_total_relation_size`.
    pub data_bytes: Option<u64>,
    /// For the check after the run; empty except for [`Moment::BeforeRun`] and [`Moment::AtRest`].
    pub baseline: Baseline,
    /// Time of all checks together.
    pub seconds: f64,
}

impl CheckReport {
    /// Returns true if every check holds that could be made.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.checks.iter().all(|check| check.holds || check.refused.is_some())
    }
}

/// Result of one check.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckResult {
    /// The clause or name; `rows of …` for the number of rows, [`SCHEMA`] for the schema.
    pub name: String,
    /// The condition.
    pub condition: String,
    /// Whether the condition holds.
    pub holds: bool,
    /// The server's reason, if it cannot run the query of an [`Expect::Answer`]: then the condition was not checked.
    pub refused: Option<String>,
    /// From the start of its first query to the end of its last one; other checks may run meanwhile.
    pub seconds: f64,
    /// The first five rows that violate it, as `col=value col=value`.
    pub violations: Vec<String>,
    /// Whether there are more violations.
    pub more: bool,
}

/// Runs the checks of `moment` over so many connections, each with a read-only transaction of its own: one query
/// after another, and the large ones part by part. If the server has no room for all connections, fewer do the work.
/// Time limits of the role or database are lifted. Calls `progress` before each query, from several threads.
///
/// # Errors
/// When there is no connection, a query fails, or `stop` is set. Queries that still run on the server are cancelled
/// then.
pub fn check(
    options: &ConnectOptions,
    connections: usize,
    data: &dyn DataSet,
    caps: &Capabilities,
    moment: Moment<'_>,
    progress: &(dyn Fn(&CheckProgress<'_>) + Sync),
    stop: &Stop,
) -> Result<CheckReport, CheckError> {
    let began = Instant::now();
    let tables = data.tables(caps);
    let halt = Halt::new(stop);
    let options = &halt.options(options);
    let interrupted = |check: &str| CheckError::Interrupted { check: check.to_owned() };
    let mut admin = halt.connect(options)?.ok_or_else(|| interrupted("the connection"))?;
    // Checks read all rows.
    admin.wait_without_limit();
    let mut report = CheckReport::default();
    let (mut loaded, mut emptied, mut changes) = (Vec::new(), None, None);
    if moment.is_later() {
        let known = halt.watched(|| layout::known(&mut admin, data, caps));
        let known = known.map_err(|error| match halt.is_interrupted() {
            true => interrupted("schema"),
            false => CheckError::Schema(error),
        })?;
        (loaded, emptied, changes) = (known.rows, known.emptied, known.changes);
        report.baseline.schema_unknown = known.schema_unknown;
        if let Some(differences) = known.differences {
            report.checks.push(schema_verdict(&differences, moment, began.elapsed().as_secs_f64()));
            report.baseline.differences = differences;
        }
    }
    let checks = match moment {
        Moment::Only(checks) => checks.to_vec(),
        _ => changes.map_or_else(|| data.checks(), |changes| data.changed(&changes).checks),
    };
    let questions = questions(&tables, &loaded, &checks, moment);
    let answers =
        ask(&mut admin, &questions, Asking { options, connections: connections.max(1), progress, halt: &halt })?;
    for (question, answer) in questions.iter().zip(answers) {
        match (question, moment) {
            // Before the run, a check that a run must not change has no result yet.
            (Question::Check(check), _)
                if check.expect.is_unchanged_by_run() && !matches!(moment, Moment::AfterRun(_)) =>
            {
                report.checks.extend(since_load(check, &answer, &emptied, moment));
                match not_checkable(check, &answer) {
                    None => report.baseline.unchanging.push((check.name, answer.rows)),
                    Some(result) => {
                        report.baseline.broken.push(check.name);
                        report.checks.push(result);
                    }
                }
            }
            _ => {
                let result = verdict(question, &answer, moment);
                match question {
                    Question::Check(check) if !result.holds && result.refused.is_none() => {
                        report.baseline.broken.push(check.name)
                    }
                    Question::Rows { table, .. } | Question::AnyRow { table } if !result.holds => {
                        report.baseline.miscounted.push(table);
                    }
                    _ => {}
                }
                report.checks.push(result);
            }
        }
    }
    let names: Vec<_> = tables.iter().map(|table| table.name).collect();
    let size = halt.watched(|| {
        session::in_read_only(&mut admin, |admin| {
            let schema = admin.query_one("select quote_ident(current_schema())")?;
            relations::sizes(admin, caps, &schema, &names)
        })
    });
    let check = "size of the data";
    // Nothing of a check depends on it.
    report.data_bytes = match steps::SIZES.decide(size) {
        Ok(done) => done.or_warn(drop),
        Err(_) if halt.is_interrupted() => return Err(interrupted(check)),
        Err(error) => return Err(CheckError::Failed { check: check.to_owned(), source: error.source }),
    };
    report.seconds = began.elapsed().as_secs_f64();
    Ok(report)
}

/// Larger tables are counted only on request: it takes seconds.
pub const COUNTED_ROWS_MAX: u64 = 20_000_000;

/// [`CheckResult::name`] of the schema.
pub const SCHEMA: &str = "schema";

/// [`CheckResult::condition`] of the schema.
pub const SCHEMA_CONDITION: &str =
    "columns, keys, indexes, constraints, partitions and routines are those that were loaded";

impl Moment<'_> {
    /// Whether the data may have changed since it was loaded.
    fn is_later(self) -> bool {
        !matches!(self, Self::AfterLoad | Self::BeforeRun | Self::Only(_))
    }
}

/// `loaded` has the rows of each table after its load, if known.
fn questions<'a>(
    tables: &[Table],
    loaded: &[(String, u64)],
    checks: &'a [Check],
    moment: Moment<'_>,
) -> Vec<Question<'a>> {
    let asked = |check: &&Check| match moment {
        Moment::InFull | Moment::Only(_) => true,
        _ if check.cost == CheckCost::Heavy => false,
        Moment::AfterLoad => !check.expect.is_unchanged_by_run(),
        Moment::BeforeRun => check.expect.is_unchanged_by_run(),
        Moment::AtRest => true,
        Moment::AfterRun(before) => check.expect != Expect::Answer && !before.broken.contains(&check.name),
    };
    let counted = |table: &&Table| match moment {
        Moment::AfterLoad => true,
        Moment::BeforeRun | Moment::Only(_) => false,
        Moment::AtRest | Moment::InFull => !table.grows,
        Moment::AfterRun(before) => !table.grows && !before.miscounted.contains(&table.name),
    };
    let count = |table: &Table| {
        let known = loaded.iter().find(|(name, _)| name == table.name);
        let rows = known.map_or(table.rows, |(_, rows)| RowCount::Exact(*rows));
        let in_full = matches!(moment, Moment::AfterLoad | Moment::InFull);
        match rows.expected() > COUNTED_ROWS_MAX && !in_full {
            true => Question::AnyRow { table: table.name },
            false => Question::Rows { table: table.name, rows },
        }
    };
    tables.iter().filter(counted).map(count).chain(checks.iter().filter(asked).map(Question::Check)).collect()
}

/// Returns the differences from the loaded schema; after a run, those that did not exist before it.
fn schema_verdict(differences: &[SchemaDifference], moment: Moment<'_>, seconds: f64) -> CheckResult {
    let is_new = |difference: &&SchemaDifference| match moment {
        Moment::AfterRun(before) => !before.differences.contains(difference),
        _ => true,
    };
    let mut violations: Vec<_> = differences.iter().filter(is_new).map(ToString::to_string).collect();
    let more = violations.len() > DIFFERENCES_SHOWN;
    violations.truncate(DIFFERENCES_SHOWN);
    CheckResult {
        name: SCHEMA.to_owned(),
        condition: SCHEMA_CONDITION.to_owned(),
        holds: violations.is_empty(),
        refused: None,
        seconds,
        violations,
        more,
    }
}

/// Returns what the rows of a result mean.
fn verdict(question: &Question<'_>, answer: &Answer, moment: Moment<'_>) -> CheckResult {
    let rows = &answer.rows;
    let (condition, mut violations) = match question {
        Question::Rows { rows: expected, .. } => {
            let found = rows.rows.first().and_then(|row| row[0].as_deref()).unwrap_or_default();
            let admitted = found.parse().is_ok_and(|n| expected.admits(n));
            let violation = (!admitted).then(|| format!("count={found}"));
            (format!("count(*) = {expected}"), violation.into_iter().collect())
        }
        Question::AnyRow { .. } => {
            let found = rows.rows.first().and_then(|row| row[0].as_deref()) == Some("1");
            let violation = (!found).then(|| "count=0".to_owned());
            ("has rows; `pgdyno check` counts them".to_owned(), violation.into_iter().collect())
        }
        // Its checks are asked for what they find.
        Question::Screen(screen) => (screen.name.to_owned(), texts(rows)),
        Question::Check(check) => {
            let violations = match (check.expect, moment) {
                (expect, Moment::AfterRun(before)) if expect.is_unchanged_by_run() => changes(check.name, before, rows),
                _ => texts(rows),
            };
            (check.condition.to_owned(), violations)
        }
    };
    let more = violations.len() > SHOWN;
    violations.truncate(SHOWN);
    // What one part of a check has found does not depend on another that was refused.
    let refused = answer.refused.clone().filter(|_| violations.is_empty());
    let (name, seconds) = (question.name(), answer.seconds());
    CheckResult {
        name,
        condition,
        holds: violations.is_empty() && refused.is_none(),
        refused,
        seconds,
        violations,
        more,
    }
}

/// Returns whether a value that was zero right after the load is still zero, if that is checked and can be known:
/// `emptied` are the tables that were emptied or rewritten since.
fn since_load(
    check: &Check,
    answer: &Answer,
    emptied: &Option<Vec<String>>,
    moment: Moment<'_>,
) -> Option<CheckResult> {
    let (Expect::ZeroSinceLoad { unless_emptied }, Moment::InFull, Some(emptied)) = (check.expect, moment, emptied)
    else {
        return None;
    };
    if unless_emptied.is_some_and(|table| emptied.iter().any(|name| name == table)) {
        return None;
    }
    if answer.refused.is_some() {
        return Some(verdict(&Question::Check(check), answer, moment));
    }
    let zero = answer.rows.rows.iter().flatten().all(|value| value.as_deref() == Some("0"));
    Some(CheckResult {
        name: check.name.to_owned(),
        condition: check.condition.to_owned(),
        holds: zero,
        refused: None,
        seconds: answer.seconds(),
        violations: if zero { Vec::new() } else { texts(&answer.rows) },
        more: false,
    })
}

/// Beginning of [`CheckResult::refused`] for a condition that cannot be checked with the data that is there.
pub const NOT_CHECKABLE: &str = "not checkable: ";

/// Returns the result of a condition that cannot be checked with the rows before the run; `None` if it can.
fn not_checkable(check: &Check, answer: &Answer) -> Option<CheckResult> {
    let Expect::UnchangedFrom { value, otherwise } = check.expect else { return None };
    let value = value.to_string();
    if answer.rows.rows.iter().flatten().all(|found| found.as_deref() == Some(&value)) {
        return None;
    }
    let found = texts(&answer.rows).join(", ");
    Some(CheckResult {
        name: check.name.to_owned(),
        condition: check.condition.to_owned(),
        holds: false,
        refused: Some(format!("{NOT_CHECKABLE}{otherwise} ({found}, and there are {value} keys)")),
        seconds: answer.seconds(),
        violations: Vec::new(),
        more: false,
    })
}

/// Returns rows that existed before and do not exist now, and the reverse.
fn changes(check: &str, baseline: &Baseline, now: &TextRows) -> Vec<String> {
    let before = baseline.unchanging.iter().find(|(name, _)| *name == check);
    let Some((_, before)) = before else {
        return vec!["it was not checked before the run".to_owned()];
    };
    let (before, now) = (texts(before), texts(now));
    let longest = before.len().max(now.len());
    let at = |rows: &[String], n: usize| rows.get(n).cloned().unwrap_or_else(|| "no row".to_owned());
    let pairs = (0..longest).map(|n| (at(&before, n), at(&now, n)));
    pairs.filter(|(was, is)| was != is).map(|(was, is)| format!("was {was}, is {is}")).collect()
}

/// Formats each row as `col=value col=value`.
pub(crate) fn texts(rows: &TextRows) -> Vec<String> {
    let text = |row: &Vec<Option<String>>| {
        let fields = rows.columns.iter().zip(row);
        let fields = fields.map(|(name, value)| format!("{name}={}", value.as_deref().unwrap_or("NULL")));
        fields.collect::<Vec<_>>().join(" ")
    };
    rows.rows.iter().map(text).collect()
}
