//! Asking whether the data is right.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use pgdyno_net::{Admin, ConnectOptions, Rows};
use pgdyno_workload::{Capabilities, Check, Expect, Table, Workload};

use crate::ask::{Answer, ask};
use crate::question::{CheckError, CheckProgress, Question, SHOWN};
use crate::relations;

/// When the data is checked.
#[derive(Clone, Copy, Debug)]
pub enum Moment<'a> {
    /// Right after the load: the number of rows, and every [`Expect::NoRow`].
    AfterLoad,
    /// Whenever nothing drives it: every [`Expect::NoRow`], and every [`Expect::UnchangedByRun`] for the
    /// baseline.
    AtRest,
    /// Right before a run, once [`Workload::before_run`] is done: every [`Expect::UnchangedByRun`], for the
    /// baseline.
    BeforeRun,
    /// After a run: every [`Expect::NoRow`] that was not broken before, and every [`Expect::UnchangedByRun`] against
    /// the baseline.
    AfterRun(&'a Baseline),
}

/// What a run is held against afterwards.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    /// What the checks that a run must not change brought before it.
    unchanging: Vec<(&'static str, Rows)>,
    /// Conditions that were broken already.
    broken: Vec<&'static str>,
}

impl Baseline {
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
    /// The clause or name; `rows of …` for the number of rows.
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
    workload: &dyn Workload,
    caps: &Capabilities,
    moment: Moment<'_>,
    progress: &(dyn Fn(&CheckProgress<'_>) + Sync),
    stop: &AtomicBool,
) -> Result<CheckReport, CheckError> {
    let began = Instant::now();
    let tables = workload.tables(caps);
    let checks = workload.checks();
    let questions = questions(&tables, &checks, moment);
    let mut admin = Admin::connect(options)?;
    let answers = ask(&mut admin, options, connections.max(1), &questions, progress, stop)?;
    let mut report = CheckReport::default();
    for (question, answer) in questions.iter().zip(answers) {
        match (question, moment) {
            // What a run must not change is no verdict before the run.
            (Question::Check(check), Moment::AfterLoad | Moment::AtRest | Moment::BeforeRun)
                if check.expect == Expect::UnchangedByRun =>
            {
                report.baseline.unchanging.push((check.name, answer.rows));
            }
            _ => {
                let result = verdict(question, &answer, moment);
                if let (Question::Check(check), false) = (question, result.holds) {
                    report.baseline.broken.push(check.name);
                }
                report.checks.push(result);
            }
        }
    }
    let names: Vec<_> = tables.iter().map(|table| table.name).collect();
    report.data_bytes = admin
        .query_one("select quote_ident(current_schema())")
        .and_then(|schema| relations::sizes(&mut admin, caps, &schema, &names))
        .map_err(|source| CheckError::Failed { check: "size of the data".to_owned(), source })?;
    report.seconds = began.elapsed().as_secs_f64();
    Ok(report)
}

fn questions<'a>(tables: &'a [Table], checks: &'a [Check], moment: Moment<'_>) -> Vec<Question<'a>> {
    let asked = |check: &&Check| match moment {
        Moment::AfterLoad => check.expect == Expect::NoRow,
        Moment::BeforeRun => check.expect == Expect::UnchangedByRun,
        Moment::AtRest => true,
        Moment::AfterRun(before) => !before.broken.contains(&check.name),
    };
    let counts = tables.iter().filter(|_| matches!(moment, Moment::AfterLoad)).map(Question::Rows);
    counts.chain(checks.iter().filter(asked).map(Question::Check)).collect()
}

/// What the rows of an answer mean.
fn verdict(question: &Question<'_>, answer: &Answer, moment: Moment<'_>) -> CheckResult {
    let rows = &answer.rows;
    let (condition, mut violations) = match question {
        Question::Rows(table) => {
            let found = rows.rows.first().and_then(|row| row[0].as_deref()).unwrap_or_default();
            let admitted = found.parse().is_ok_and(|n| table.rows.admits(n));
            let violation = (!admitted).then(|| format!("count={found}"));
            (format!("count(*) = {}", table.rows), violation.into_iter().collect())
        }
        Question::Check(check) => {
            let violations = match (check.expect, moment) {
                (Expect::UnchangedByRun, Moment::AfterRun(before)) => changes(check.name, before, rows),
                (Expect::NoRow | Expect::UnchangedByRun, _) => texts(rows),
            };
            (check.condition.to_owned(), violations)
        }
    };
    let more = violations.len() > SHOWN;
    violations.truncate(SHOWN);
    let (name, seconds) = (question.name(), answer.seconds());
    CheckResult { name, condition, holds: violations.is_empty(), seconds, violations, more }
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
