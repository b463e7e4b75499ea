//! Asking whether the data is right.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use pgdyno_net::{Admin, AdminError, Rows, quote};
use pgdyno_workload::{Capabilities, Check, Expect, Table, Workload};

use crate::halt::Halt;
use crate::load::sizes;

/// Violations that are shown of each check.
const SHOWN: usize = 5;

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
    /// After a run: every [`Expect::NoRow`], and every [`Expect::UnchangedByRun`] against the baseline.
    AfterRun(&'a Baseline),
}

/// What the checks that a run must not change brought before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline(Vec<(&'static str, Rows)>);

impl Baseline {
    /// Each check's name and the rows that it brought, as `col=value col=value`.
    pub fn figures(&self) -> impl Iterator<Item = (&'static str, Vec<String>)> {
        self.0.iter().map(|(name, rows)| (*name, texts(rows)))
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
    /// How long the query took.
    pub seconds: f64,
    /// The first five rows that break it, as `col=value col=value`.
    pub violations: Vec<String>,
    /// Whether there are more.
    pub more: bool,
}

/// Why the data could not be checked. What is wrong with it is no error.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// A check's query failed: a table is missing, say.
    #[error("check {check} cannot be asked: {source}")]
    Failed {
        /// The check.
        check: String,
        /// What the server says.
        source: AdminError,
    },
    /// The stop flag was set.
    #[error("interrupted during check {check}")]
    Interrupted {
        /// The check.
        check: String,
    },
}

/// Begins a transaction that limits of the role or database do not end.
const BEGIN: [&str; 3] = [
    "begin transaction read only",
    "set local statement_timeout = 0",
    "select set_config(name, '0', true) from pg_settings where name in ('lock_timeout', 'transaction_timeout', \
     'idle_in_transaction_session_timeout')",
];

/// Asks what `moment` asks for, one query after another, in one read-only transaction. Limits of time that the
/// role or database may have do not count. `progress` is told before each query: the check's name, which it is,
/// and of how many.
///
/// # Errors
/// When a query fails, or `stop` is set; its statement is cancelled then.
pub fn check(
    admin: &mut Admin,
    workload: &dyn Workload,
    caps: &Capabilities,
    moment: Moment<'_>,
    progress: &(dyn Fn(&str, usize, usize) + Sync),
    stop: &AtomicBool,
) -> Result<CheckReport, CheckError> {
    let began = Instant::now();
    let tables = workload.tables(caps);
    let checks = workload.checks();
    let questions = questions(&tables, &checks, moment);
    let halt = Halt::new(stop);
    halt.watch_over(admin.cancel_handle()).store(true, std::sync::atomic::Ordering::Relaxed);
    let mut report = CheckReport::default();
    let mut asked = Ok(());
    halt.watched(|| asked = ask_all(admin, &tables, &questions, moment, progress, &halt, &mut report));
    // No cancel request is under way any more; one that came late hits this statement, and no other.
    let ended = admin.execute("rollback").or_else(|_| admin.execute("rollback"));
    asked?;
    ended.map_err(|source| CheckError::Failed { check: "end".to_owned(), source })?;
    report.seconds = began.elapsed().as_secs_f64();
    Ok(report)
}

/// One query and what it must bring.
enum Question<'a> {
    Rows(&'a Table),
    Check(&'a Check),
}

impl Question<'_> {
    fn name(&self) -> String {
        match self {
            Self::Rows(table) => format!("rows of {}", table.name),
            Self::Check(check) => check.name.to_owned(),
        }
    }
}

fn questions<'a>(tables: &'a [Table], checks: &'a [Check], moment: Moment<'_>) -> Vec<Question<'a>> {
    let asked = |expect| match moment {
        Moment::AfterLoad => expect == Expect::NoRow,
        Moment::BeforeRun => expect == Expect::UnchangedByRun,
        Moment::AtRest | Moment::AfterRun(_) => true,
    };
    let counts = tables.iter().filter(|_| matches!(moment, Moment::AfterLoad)).map(Question::Rows);
    counts.chain(checks.iter().filter(|check| asked(check.expect)).map(Question::Check)).collect()
}

fn ask_all(
    admin: &mut Admin,
    tables: &[Table],
    questions: &[Question<'_>],
    moment: Moment<'_>,
    progress: &(dyn Fn(&str, usize, usize) + Sync),
    halt: &Halt<'_>,
    report: &mut CheckReport,
) -> Result<(), CheckError> {
    let guard = |check: &str, result: Result<Rows, AdminError>| {
        result.map_err(|source| match halt.is_set() {
            true => CheckError::Interrupted { check: check.to_owned() },
            false => CheckError::Failed { check: check.to_owned(), source },
        })
    };
    for sql in BEGIN {
        guard("begin", admin.query(sql))?;
    }
    let names: Vec<_> = tables.iter().map(|table| table.name).collect();
    for (n, question) in questions.iter().enumerate() {
        let name = question.name();
        if halt.is_set() {
            return Err(CheckError::Interrupted { check: name });
        }
        progress(&name, n + 1, questions.len());
        let began = Instant::now();
        let rows = guard(&name, admin.query(&sql(question)))?;
        let seconds = began.elapsed().as_secs_f64();
        match (question, moment) {
            (_, Moment::AfterRun(_)) | (Question::Rows(_), _) => {}
            // What a run must not change is no verdict before the run.
            (Question::Check(check), _) if check.expect == Expect::UnchangedByRun => {
                report.baseline.0.push((check.name, rows));
                continue;
            }
            (Question::Check(_), _) => {}
        }
        report.checks.push(answer(question, &rows, seconds, moment));
    }
    let size = admin
        .query_one("select quote_ident(current_schema())")
        .and_then(|schema| sizes(admin, &schema, &names))
        .map_err(|source| CheckError::Failed { check: "size of the data".to_owned(), source })?;
    report.data_bytes = size;
    Ok(())
}

fn sql(question: &Question<'_>) -> String {
    match question {
        Question::Rows(table) => format!("select count(*) from {}", quote::identifier(table.name)),
        // Behind MATERIALIZED it is planned as if all rows were wanted: the planner must not choose a slow
        // plan in the hope of a quick first row, for there should be none. One row more than is shown tells
        // that there are more.
        Question::Check(check) if check.expect == Expect::NoRow => format!(
            "with violation as materialized (\n{}\n) select * from violation limit {}",
            check.sql.trim_end().trim_end_matches(';'),
            SHOWN + 1
        ),
        Question::Check(check) => check.sql.clone(),
    }
}

/// What `rows` mean.
fn answer(question: &Question<'_>, rows: &Rows, seconds: f64, moment: Moment<'_>) -> CheckResult {
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
    CheckResult { name: question.name(), condition, holds: violations.is_empty(), seconds, violations, more }
}

/// Rows that were there before and are not the same now, and the other way round.
fn changes(check: &str, baseline: &Baseline, now: &Rows) -> Vec<String> {
    let before = baseline.0.iter().find(|(name, _)| *name == check);
    let Some((_, before)) = before else {
        return vec!["it was not asked before the run".to_owned()];
    };
    let (before, now) = (texts(before), texts(now));
    let longest = before.len().max(now.len());
    let at = |rows: &[String], n: usize| rows.get(n).cloned().unwrap_or_else(|| "no row".to_owned());
    let pairs = (0..longest).map(|n| (at(&before, n), at(&now, n)));
    pairs.filter(|(was, is)| was != is).map(|(was, is)| format!("was {was}, is {is}")).collect()
}

fn texts(rows: &Rows) -> Vec<String> {
    let text = |row: &Vec<Option<String>>| {
        let fields = rows.columns.iter().zip(row);
        let fields = fields.map(|(name, value)| format!("{name}={}", value.as_deref().unwrap_or("NULL")));
        fields.collect::<Vec<_>>().join(" ")
    };
    rows.rows.iter().map(text).collect()
}
