//! Asking whether the data is right.

pub(crate) mod ask;
pub(crate) mod durability;
pub(crate) mod question;
pub(crate) mod scenario;

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use pgdyno_net::{ConnectOptions, Halt, Rows};
use pgdyno_workload::{Capabilities, Check, CheckCost, DataSet, Expect, RowCount, Table};

use crate::check::ask::{Answer, ask};
use crate::check::question::{CheckError, CheckProgress, DIFFERENCES_SHOWN, Question, SHOWN};
use crate::session;
use crate::state::schema::Difference;
use crate::state::{layout, relations};

/// When the data is checked.
#[derive(Clone, Copy, Debug)]
pub enum Moment<'a> {
    /// Right after the load: the number of rows, and every [`Expect::NoRow`].
    AfterLoad,
    /// Whenever nothing drives it: the schema, the rows of tables that runs leave as many, every [`Expect::NoRow`], and
    /// every [`Expect::UnchangedByRun`] for the baseline. Of tables of more than [`COUNTED_ROWS_MAX`] rows it is asked
    /// only whether they have any, so that a run does not wait for that.
    AtRest,
    /// The same, with the rows of every such table counted.
    InFull,
    /// Right before a run, once [`DataSet::before_run`] is done: every [`Expect::UnchangedByRun`], for the
    /// baseline.
    BeforeRun,
    /// After a run, as [`Moment::AtRest`]: all that was not broken before, and every [`Expect::UnchangedByRun`]
    /// against the baseline.
    AfterRun(&'a Baseline),
}

/// What a run is held against afterwards.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    /// What the checks that a run must not change brought before it.
    unchanging: Vec<(&'static str, Rows)>,
    /// Conditions that were broken already.
    broken: Vec<&'static str>,
    /// Tables whose rows were not as many as were loaded.
    miscounted: Vec<&'static str>,
    /// How the schema differed from the one that was loaded.
    differences: Vec<Difference>,
    /// Why it could not be held against that.
    schema_unknown: Option<String>,
}

impl Baseline {
    /// How the schema differed from the one that was loaded.
    #[must_use]
    pub fn differences(&self) -> &[Difference] {
        &self.differences
    }

    /// Why the schema could not be held against the one that was loaded, and the remedy; `None` where it was.
    #[must_use]
    pub fn schema_unknown(&self) -> Option<&str> {
        self.schema_unknown.as_deref()
    }

    /// Each check that a run must not change, and the rows that it brought, as `col=value col=value`.
    pub fn figures(&self) -> impl Iterator<Item = (&'static str, Vec<String>)> {
        self.unchanging.iter().map(|(name, rows)| (*name, texts(rows)))
    }
}

/// What the checks found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CheckReport {
    /// Every check that was asked for a verdict, in order.
    pub checks: Vec<CheckResult>,
    /// Tables with their indexes and TOAST, in bytes: the sum of `pg_total_relation_size`.
    pub data_bytes: u64,
    /// For the check after the run; empty but for [`Moment::BeforeRun`] and [`Moment::AtRest`].
    pub baseline: Baseline,
    /// All checks together.
    pub seconds: f64,
}

impl CheckReport {
    /// Whether every check holds.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.checks.iter().all(|check| check.holds)
    }
}

/// What one check found.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckResult {
    /// The clause or name; `rows of …` for the number of rows, [`SCHEMA`] for the schema.
    pub name: String,
    /// What must hold.
    pub condition: String,
    /// Whether it does.
    pub holds: bool,
    /// From the begin of its first query to the end of its last one; other checks may go on beside it.
    pub seconds: f64,
    /// The first five rows that break it, as `col=value col=value`.
    pub violations: Vec<String>,
    /// Whether there are more.
    pub more: bool,
}

/// Asks what `moment` asks for, over so many connections, each with a read-only transaction of its own: one query after
/// another, and the large ones part by part. Where the server has no room for all connections those that there are do
/// the work. Limits of time that the role or database may have do not count. `progress` is told before each query, by
/// several threads.
///
/// # Errors
/// When there is no connection, a query fails, or `stop` is set; what still runs on the server is cancelled then.
pub fn check(
    options: &ConnectOptions,
    connections: usize,
    data: &dyn DataSet,
    caps: &Capabilities,
    moment: Moment<'_>,
    progress: &(dyn Fn(&CheckProgress<'_>) + Sync),
    stop: &AtomicBool,
) -> Result<CheckReport, CheckError> {
    let began = Instant::now();
    let tables = data.tables(caps);
    let checks = data.checks();
    let halt = Halt::new(stop);
    let options = &halt.options(options);
    let interrupted = |check: &str| CheckError::Interrupted { check: check.to_owned() };
    let mut admin = halt.connect(options)?.ok_or_else(|| interrupted("begin"))?;
    let mut report = CheckReport::default();
    let (mut loaded, mut emptied) = (Vec::new(), None);
    if moment.is_later() {
        let known = halt.watched(|| layout::known(&mut admin, data, caps));
        let known = known.map_err(|error| match halt.is_interrupted() {
            true => interrupted("schema"),
            false => CheckError::Schema(error),
        })?;
        (loaded, emptied) = (known.rows, known.emptied);
        report.baseline.schema_unknown = known.schema_unknown;
        if let Some(differences) = known.differences {
            report.checks.push(schema_verdict(&differences, moment, began.elapsed().as_secs_f64()));
            report.baseline.differences = differences;
        }
    }
    let questions = questions(&tables, &loaded, &checks, moment);
    let answers = ask(&mut admin, options, connections.max(1), &questions, progress, &halt)?;
    for (question, answer) in questions.iter().zip(answers) {
        match (question, moment) {
            // What a run must not change is no verdict before the run.
            (Question::Check(check), _)
                if check.expect.is_unchanged_by_run() && !matches!(moment, Moment::AfterRun(_)) =>
            {
                report.checks.extend(since_load(check, &answer, &emptied, moment));
                report.baseline.unchanging.push((check.name, answer.rows));
            }
            _ => {
                let result = verdict(question, &answer, moment);
                match question {
                    Question::Check(check) if !result.holds => report.baseline.broken.push(check.name),
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
    report.data_bytes = size.map_err(|source| match halt.is_interrupted() {
        true => interrupted(check),
        false => CheckError::Failed { check: check.to_owned(), source },
    })?;
    report.seconds = began.elapsed().as_secs_f64();
    Ok(report)
}

/// Larger tables are counted only where somebody asks for it: counting so many rows takes seconds.
pub const COUNTED_ROWS_MAX: u64 = 20_000_000;

/// What [`CheckResult::name`] says for the schema.
pub const SCHEMA: &str = "schema";

/// What [`CheckResult::condition`] says for it.
pub const SCHEMA_CONDITION: &str =
    "columns, keys, indexes, constraints, partitions and routines are those that were loaded";

impl Moment<'_> {
    /// Whether the data may have changed since it was loaded.
    fn is_later(self) -> bool {
        !matches!(self, Self::AfterLoad | Self::BeforeRun)
    }
}

/// `loaded` says how many rows each table had after its load, where that is known.
fn questions<'a>(
    tables: &[Table],
    loaded: &[(String, u64)],
    checks: &'a [Check],
    moment: Moment<'_>,
) -> Vec<Question<'a>> {
    let asked = |check: &&Check| match moment {
        Moment::InFull => true,
        _ if check.cost == CheckCost::Heavy => false,
        Moment::AfterLoad => !check.expect.is_unchanged_by_run(),
        Moment::BeforeRun => check.expect.is_unchanged_by_run(),
        Moment::AtRest => true,
        Moment::AfterRun(before) => !before.broken.contains(&check.name),
    };
    let counted = |table: &&Table| match moment {
        Moment::AfterLoad => true,
        Moment::BeforeRun => false,
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

/// What differs from what was loaded; after a run, what did not differ before it.
fn schema_verdict(differences: &[Difference], moment: Moment<'_>, seconds: f64) -> CheckResult {
    let is_new = |difference: &&Difference| match moment {
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
        seconds,
        violations,
        more,
    }
}

/// What the rows of an answer mean.
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
    let (name, seconds) = (question.name(), answer.seconds());
    CheckResult { name, condition, holds: violations.is_empty(), seconds, violations, more }
}

/// Whether what was zero right after the load is so still, where that is asked and can be known: `emptied` are the
/// tables that were emptied or rewritten since.
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
    let zero = answer.rows.rows.iter().flatten().all(|value| value.as_deref() == Some("0"));
    Some(CheckResult {
        name: check.name.to_owned(),
        condition: check.condition.to_owned(),
        holds: zero,
        seconds: answer.seconds(),
        violations: if zero { Vec::new() } else { texts(&answer.rows) },
        more: false,
    })
}

/// Rows that were there before and are not the same now, and the other way round.
fn changes(check: &str, baseline: &Baseline, now: &Rows) -> Vec<String> {
    let before = baseline.unchanging.iter().find(|(name, _)| *name == check);
    let Some((_, before)) = before else {
        return vec!["it was not asked before the run".to_owned()];
    };
    let (before, now) = (texts(before), texts(now));
    let longest = before.len().max(now.len());
    let at = |rows: &[String], n: usize| rows.get(n).cloned().unwrap_or_else(|| "no row".to_owned());
    let pairs = (0..longest).map(|n| (at(&before, n), at(&now, n)));
    pairs.filter(|(was, is)| was != is).map(|(was, is)| format!("was {was}, is {is}")).collect()
}

/// Each row as `col=value col=value`.
pub(crate) fn texts(rows: &Rows) -> Vec<String> {
    let text = |row: &Vec<Option<String>>| {
        let fields = rows.columns.iter().zip(row);
        let fields = fields.map(|(name, value)| format!("{name}={}", value.as_deref().unwrap_or("NULL")));
        fields.collect::<Vec<_>>().join(" ")
    };
    rows.rows.iter().map(text).collect()
}
