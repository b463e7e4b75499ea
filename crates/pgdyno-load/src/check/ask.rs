//! The queries of checks, distributed over several connections.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pgdyno_net::{Admin, AdminError, ConnectOptions, Halt, TextRows, quote};
use pgdyno_workload::{CheckCost, CheckSql, Expect, Screen};

use crate::check::question::{CheckError, CheckProgress, Question, SHOWN};
use crate::{session, steps};

/// Memory limit of one operation of a query: beyond it hashing gains little.
const MEMORY_BYTES_MAX: u64 = 256 << 20;

/// Time for one connection to run all queries before the others are opened: a session costs the server as much as a check of small tables.
const HEAD_START: Duration = Duration::from_millis(100);

/// Cost of a query of small tables, relative to the large ones of one check.
const CHEAP: f64 = 0.02;

/// Result of a question.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    /// Rows of all parts, in their order.
    pub(crate) rows: TextRows,
    /// The server's reason, if it cannot run the query.
    pub(crate) refused: Option<String>,
    began: Option<Instant>,
    ended: Option<Instant>,
}

impl Answer {
    pub(crate) fn seconds(&self) -> f64 {
        self.began.zip(self.ended).map_or(0.0, |(from, to)| to.duration_since(from).as_secs_f64())
    }
}

/// One query: a question or a part of it.
struct Query {
    question: usize,
    sql: CheckSql,
    /// Whether its rows are violations, of which few are read.
    are_violations: bool,
    /// Estimated cost: a check that reads large tables costs 1.
    cost: f64,
}

/// State that all connections share.
struct Board<'a> {
    questions: &'a [Question<'a>],
    queries: &'a [Query],
    /// Memory of one operation of a query; `None`: as the server's setting says.
    memory: Option<&'a str>,
    halt: &'a Halt<'a>,
    progress: &'a (dyn Fn(&CheckProgress<'_>) + Sync),
    state: Mutex<State>,
    /// Notified when no query is left to take.
    all_taken: Condvar,
}

#[derive(Default)]
struct State {
    taken: usize,
    done: usize,
    cost_done: f64,
    /// By query.
    rows: Vec<Option<TextRows>>,
    /// By question.
    times: Vec<(Option<Instant>, Option<Instant>)>,
    /// By question, the server's reason if it cannot run the query.
    refused: Vec<Option<String>>,
    /// The first error; later ones follow from it.
    error: Option<CheckError>,
}

/// The first steps of checks, as errors name them.
const MEMORY: &str = "how much memory queries may use";
const SNAPSHOT: &str = "the data (its transaction did not begin)";

/// How questions are asked.
#[derive(Clone, Copy)]
pub(crate) struct Asking<'a> {
    /// Of the further connections.
    pub(crate) options: &'a ConnectOptions,
    /// At most, with the first one.
    pub(crate) connections: usize,
    pub(crate) progress: &'a (dyn Fn(&CheckProgress<'_>) + Sync),
    /// Can close all connections.
    pub(crate) halt: &'a Halt<'a>,
}

/// Runs all questions over `admin`, and over as many more connections as the server has room for. Returns the results
/// in the order of the questions. Checks that share a screen are asked only if it finds something.
pub(crate) fn ask(
    admin: &mut Admin,
    questions: &[Question<'_>],
    asking: Asking<'_>,
) -> Result<Vec<Answer>, CheckError> {
    let mut ask = |questions: &[Question<'_>]| ask_each(admin, questions, asking);
    let screens = screens(questions);
    let is_screened =
        |question: &Question<'_>| screen_of(question).is_some_and(|own| place_of(own, &screens).is_some());
    let at_once = questions.iter().filter(|question| !is_screened(question)).copied();
    let mut first = ask(&at_once.chain(screens.iter().copied().map(Question::Screen)).collect::<Vec<_>>())?;
    let screened = first.split_off(first.len() - screens.len());
    // The time of a screen is that of each of its checks.
    let shown_by = |question: &Question<'_>| {
        let screen = &screened[place_of(screen_of(question)?, &screens)?];
        let is_clear = screen.rows.rows.is_empty() && screen.refused.is_none();
        is_clear.then(|| Answer { began: screen.began, ended: screen.ended, ..Answer::default() })
    };
    let is_open = |question: &&Question<'_>| is_screened(question) && shown_by(question).is_none();
    let open: Vec<_> = questions.iter().filter(is_open).copied().collect();
    let mut second = if open.is_empty() { Vec::new() } else { ask(&open)? }.into_iter();
    let mut first = first.into_iter();
    let answer = |question: &Question<'_>| match is_screened(question) {
        false => first.next(),
        true => shown_by(question).or_else(|| second.next()),
    };
    Ok(questions.iter().map(answer).map(Option::unwrap_or_default).collect())
}

/// Returns the screens that two or more of the questions share.
fn screens<'a>(questions: &[Question<'a>]) -> Vec<&'a Screen> {
    let all: Vec<&Screen> = questions.iter().filter_map(screen_of).collect();
    let is_first = |(nth, screen): &(usize, &&Screen)| place_of(screen, &all) == Some(*nth);
    let is_shared = |screen: &&Screen| all.iter().filter(|other| other.name == screen.name).count() > 1;
    all.iter().enumerate().filter(is_first).map(|(_, screen)| *screen).filter(is_shared).collect()
}

fn screen_of<'a>(question: &Question<'a>) -> Option<&'a Screen> {
    match question {
        Question::Check(check) => check.screen.as_ref(),
        Question::Rows { .. } | Question::AnyRow { .. } | Question::Screen(_) => None,
    }
}

fn place_of(screen: &Screen, all: &[&Screen]) -> Option<usize> {
    all.iter().position(|other| other.name == screen.name)
}

/// Runs each of these questions.
fn ask_each(admin: &mut Admin, questions: &[Question<'_>], asking: Asking<'_>) -> Result<Vec<Answer>, CheckError> {
    let Asking { options, connections, progress, halt } = asking;
    let queries = queries(questions, connections as u64);
    let wanted = connections.min(queries.len());
    let memory = memory(admin, wanted).map_err(|source| match halt.is_interrupted() {
        true => CheckError::Interrupted { check: MEMORY.to_owned() },
        false => CheckError::Failed { check: MEMORY.to_owned(), source },
    })?;
    let state = State {
        rows: vec![None; queries.len()],
        times: vec![(None, None); questions.len()],
        refused: vec![None; questions.len()],
        ..State::default()
    };
    let memory = memory.as_deref();
    let board = Board {
        questions,
        queries: &queries,
        memory,
        halt,
        progress,
        state: Mutex::new(state),
        all_taken: Condvar::new(),
    };
    halt.watched(|| {
        std::thread::scope(|scope| {
            let board = &board;
            for _ in 1..wanted {
                // Used as soon as it is open: a time limit on idle sessions may be shorter than the time to open all.
                scope.spawn(move || {
                    let admin = board.has_more_after_head_start().then(|| Admin::connect(options).ok());
                    admin.flatten().map(|mut admin| board.work(&mut admin))
                });
            }
            board.work(admin);
        });
    });
    board.answers()
}

impl Board<'_> {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits, and returns true if there are still queries to take.
    fn has_more_after_head_start(&self) -> bool {
        let goes_on = |state: &mut State| state.taken < self.queries.len() && !self.halt.is_set();
        let waited = self.all_taken.wait_timeout_while(self.state(), HEAD_START, goes_on);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        goes_on(&mut state)
    }

    /// Runs queries on one connection.
    fn work(&self, admin: &mut Admin) {
        self.halt.watch_always(admin.cancel_handle());
        admin.wait_without_limit();
        let mut check = SNAPSHOT.to_owned();
        if let Err(source) = self.ask_all(admin, &mut check) {
            let mut state = self.state();
            let error = match self.halt.is_interrupted() {
                true => CheckError::Interrupted { check },
                false => CheckError::Failed { check, source },
            };
            state.error.get_or_insert(error);
            self.halt.fail();
        }
        // A late cancel request can hit the first of them. If both fail the connection is lost.
        drop(admin.execute("rollback").or_else(|_| admin.execute("rollback")));
        self.all_taken.notify_all();
    }

    /// Runs one query after another, until none is left or all must stop. Sets `check` to the one in progress.
    fn ask_all(&self, admin: &mut Admin, check: &mut String) -> Result<(), AdminError> {
        begin(admin, self.memory)?;
        while let Some((nth, query)) = self.next(check) {
            let began = Instant::now();
            // Without a text the user has ended the check, which `next` reports.
            let Some(sql) = query.sql.text(&|| self.halt.is_set()) else { continue };
            let rows = admin.query(&if query.are_violations { violations(&sql) } else { sql });
            // What this check itself has cancelled is not left out.
            if let Err(error) = &rows
                && !self.halt.is_set()
                && self.questions[query.question].may_be_refused(error.code())
            {
                self.state().refused[query.question] = Some(error.reason());
                // The failed transaction has changed nothing.
                admin.execute("rollback")?;
                begin(admin, self.memory)?;
            } else {
                self.state().rows[nth] = Some(rows?);
            }
            let mut state = self.state();
            state.done += 1;
            state.cost_done += query.cost;
            let (first, last) = &mut state.times[query.question];
            *first = Some(first.map_or(began, |first| first.min(began)));
            *last = Some(Instant::now());
        }
        Ok(())
    }

    fn next(&self, check: &mut String) -> Option<(usize, &Query)> {
        let mut state = self.state();
        let nth = state.taken;
        let query = self.queries.get(nth)?;
        *check = self.questions[query.question].name();
        if self.halt.is_set() {
            if self.halt.is_interrupted() {
                state.error.get_or_insert(CheckError::Interrupted { check: check.clone() });
            }
            return None;
        }
        state.taken += 1;
        let (done, share) = (state.done, state.cost_done / self.queries.iter().map(|q| q.cost).sum::<f64>());
        drop(state);
        (self.progress)(&CheckProgress { check, done, total: self.queries.len(), share });
        Some((nth, query))
    }

    fn answers(self) -> Result<Vec<Answer>, CheckError> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = state.error {
            return Err(error);
        }
        let answer = |((began, ended), refused)| Answer { rows: TextRows::default(), refused, began, ended };
        let mut answers: Vec<_> = state.times.into_iter().zip(state.refused).map(answer).collect();
        for (query, rows) in self.queries.iter().zip(state.rows) {
            let (answer, rows) = (&mut answers[query.question].rows, rows.unwrap_or_default());
            // A part that was refused has none.
            if !rows.columns.is_empty() {
                answer.columns = rows.columns;
            }
            answer.rows.extend(rows.rows);
        }
        Ok(answers)
    }
}

/// Begins a transaction without time limits, whose operations may use this `memory`. The settings end with the transaction:
/// behind a pooler the session belongs to another client then.
fn begin(admin: &mut Admin, memory: Option<&str>) -> Result<(), AdminError> {
    session::begin_read_only(admin)?;
    memory.map_or(Ok(()), |memory| admin.execute(&format!("set local work_mem = '{memory}'")).map(drop))
}

/// Returns the memory with which all queries together use about as much as the server's own cache; `None` if that is not
/// known, so that the server's setting stays.
fn memory(admin: &mut Admin, sharers: usize) -> Result<Option<String>, AdminError> {
    let outcome = admin.query_opt(&format!(
        "select greatest(pg_size_bytes(current_setting('work_mem')), least({MEMORY_BYTES_MAX}, \
         pg_size_bytes(current_setting('shared_buffers')) / {})) / 1024 || 'kB'",
        8 * sharers
    ));
    // Checks of small data take as long without it: nothing is said.
    let done = steps::CHECK_MEMORY.decide(outcome).map_err(|error| error.source)?;
    Ok(done.or_warn(drop).flatten())
}

fn queries(questions: &[Question<'_>], connections: u64) -> Vec<Query> {
    let of_one = |(nth, question): (usize, &Question<'_>)| {
        let (texts, are_violations) = texts(question, connections);
        let cost = match question {
            Question::Check(check) if check.cost != CheckCost::Cheap => 1.0 / texts.len() as f64,
            Question::Screen(_) => 1.0 / texts.len() as f64,
            Question::Check(_) | Question::Rows { .. } | Question::AnyRow { .. } => CHEAP,
        };
        texts.into_iter().map(move |sql| Query { question: nth, sql, are_violations, cost }).collect::<Vec<_>>()
    };
    questions.iter().enumerate().flat_map(of_one).collect()
}

/// Returns the queries of a question, and whether their rows are violations.
fn texts(question: &Question<'_>, connections: u64) -> (Vec<CheckSql>, bool) {
    let one = |sql: String| (vec![sql.into()], false);
    match question {
        Question::Rows { table, .. } => one(format!("select count(*) from {}", quote::identifier(table))),
        Question::AnyRow { table } => {
            one(format!("select count(*) from (select from {} limit 1) any_row", quote::identifier(table)))
        }
        Question::Screen(screen) => (screen.parts.queries(connections).into_iter().map(CheckSql::from).collect(), true),
        Question::Check(check) => {
            let are_violations = matches!(check.expect, Expect::NoRow | Expect::Answer);
            let texts = match &check.parts {
                Some(parts) if are_violations => parts.queries(connections).into_iter().map(CheckSql::from).collect(),
                _ => vec![check.sql.clone()],
            };
            (texts, are_violations)
        }
    }
}

/// With MATERIALIZED it is planned for all rows: the planner must not choose a slow plan in the hope of a quick first
/// row, for there should be none. One row more than is shown means that there are more.
fn violations(sql: &str) -> String {
    format!(
        "with violation as materialized (\n{}\n) select * from violation limit {}",
        sql.trim_end().trim_end_matches(';'),
        SHOWN + 1
    )
}
