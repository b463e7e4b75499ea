//! Taking a capture: the counters at both ends of a window, and between them the connections.

mod connections;
mod counters;
mod log;
mod pace;
mod relations;
mod server;
mod session;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use pgdyno_net::{ConnectError, ConnectOptions};
use pgdyno_text::units;

use crate::classify::{Classified, classify, has_constants};
use crate::form::{
    CaptureHead, CaptureRecord, CapturedStatement, DatabaseActivity, FORMAT_VERSION, StatementKind, Window,
};
use crate::refusal::QueryError;
use connections::Connections;
use counters::{Counted, Counters, Entry};
use log::Logs;
pub(crate) use log::of_any_time as log_of_any_time;
use pace::Minutes;
use relations::Activity;
use server::Facts;
pub(crate) use server::STARTED;
use session::Session;

/// What to capture.
#[derive(Clone, Debug)]
pub struct CaptureOrder {
    /// The length of the window.
    pub window: Duration,
    /// Whether constants that the server has left in texts become parameters.
    pub anonymise: bool,
    /// Logs of the server with sampled transactions: files, or directories of them. They are read at the end of the window.
    pub logs: Vec<PathBuf>,
    /// `log_line_prefix` of a log in stderr's form; `None`: the server's setting.
    pub log_prefix: Option<String>,
}

/// What a capture reports while it is taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Progress {
    /// The window has begun, or goes on.
    Watching {
        /// How much of it is over, in seconds.
        elapsed_s: f64,
        /// Connections that execute a statement now.
        active: u64,
    },
    /// The window is over, and the counters are read again.
    Reading,
}

/// Why a capture cannot be taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TakeError {
    /// The server cannot be reached.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The server refused a query, or the connection is lost.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// It counts no statements, or shows none to this role.
    #[error("{why}")]
    Uncounted {
        /// Why.
        why: String,
        /// What to do.
        remedy: String,
    },
    /// A log cannot be read.
    #[error("cannot read the log {path}: {error}")]
    Log {
        /// Its path.
        path: String,
        /// Why not.
        error: io::Error,
    },
    /// The counters at both ends do not belong together.
    #[error("{why}")]
    Broken {
        /// Why.
        why: String,
        /// What to do.
        remedy: String,
    },
}

impl TakeError {
    /// Returns what to do about it.
    #[must_use]
    pub fn remedy(&self) -> Option<String> {
        match self {
            Self::Connect(_) => None,
            Self::Query(query) => query.source.remedy(),
            Self::Log { .. } => Some(
                "name a file that exists here when the window begins, or its directory, and may be read".to_owned(),
            ),
            Self::Uncounted { remedy, .. } | Self::Broken { remedy, .. } => Some(remedy.clone()),
        }
    }
}

/// How often connections are counted.
const SAMPLE_EVERY: Duration = Duration::from_secs(1);

/// Reads the server's counters, waits for the window, and reads them again, over one connection that only reads. `wait` sleeps for at
/// most so long, and returns true when the user wants the window to end now; called without a length while logs are read, when the reading
/// is to end. A connection that is lost is opened again.
///
/// # Errors
/// When the server cannot be reached, counts no statements, does not show them to this role, or lost its counters in between.
pub fn take(
    options: &ConnectOptions,
    wanted: &CaptureOrder,
    wait: &mut dyn FnMut(Duration) -> bool,
    progress: &mut dyn FnMut(Progress),
) -> Result<CaptureRecord, TakeError> {
    let mut session = Session::open(options)?;
    let facts = Facts::read(&mut session)?;
    let activity = Activity::read(&mut session)?;
    let database = server::database(&mut session)?;
    let mut warnings = facts.warnings();
    let logs = Logs::begin(&mut session, wanted, &mut warnings)?;
    let queries = session.cost().queries;
    let before = Counters::read(&mut session, &facts)?;
    let began = Instant::now();
    let began_at = facts.now.clone();
    let (mut connections, mut minutes) = (Connections::default(), Minutes::default());
    let (mut interrupted, mut active, mut missed) = (false, 0, 0);
    while began.elapsed() < wanted.window && !interrupted {
        let elapsed_s = began.elapsed().as_secs_f64();
        match connections.sample(&mut session, minutes.lack(elapsed_s)) {
            Ok((of_sample, transactions)) => {
                active = of_sample;
                if transactions > 0.0 {
                    minutes.sample(elapsed_s, transactions);
                }
            }
            // The counters go on, and the server may be reached again before the window ends.
            Err(TakeError::Query(QueryError { source, .. })) if source.is_lost() => missed += 1,
            Err(error) => return Err(error),
        }
        progress(Progress::Watching { elapsed_s: began.elapsed().as_secs_f64(), active });
        interrupted = wait(SAMPLE_EVERY.min(wanted.window.saturating_sub(began.elapsed())));
    }
    progress(Progress::Reading);
    let after = Counters::read(&mut session, &facts)?;
    let seconds = began.elapsed().as_secs_f64();
    // These, too, before logs are read, which may take minutes.
    let own = (session.cost().queries - queries) as f64;
    let database = server::database(&mut session)?.since(&database);
    let activity_after = Activity::read(&mut session);
    server::admit_same(&mut session, &facts)?;
    let grown = after.since(&before)?;
    warnings.extend(grown.warnings());
    warnings.extend(missing_samples(missed));
    let texts = counters::texts(&mut session, &facts, &grown.entries)?;
    let statements = statements(&grown.entries, &texts, wanted.anonymise, &mut warnings);
    let transactions = match logs {
        Some(logs) => {
            let reading = logs.end(&mut session, &facts.server.database)?;
            reading.transactions(&statements, &mut || wait(Duration::ZERO), &mut warnings)
        }
        None => None,
    };
    let bytes = server::size(&mut session)?;
    let database = DatabaseActivity { committed: (database.committed - own).max(0.0), bytes, ..database };
    let settings = server::settings(&mut session)?;
    let relations = activity_after.and_then(|after| relations::read(&mut session, [&activity, &after], &mut warnings));
    let relations = match relations {
        // The statements are worth the window without them.
        Err(TakeError::Query(error)) => {
            warnings.push(format!("tables and indexes are not in the capture: {error}"));
            Vec::new()
        }
        relations => relations?,
    };
    let head = CaptureHead {
        format_version: FORMAT_VERSION,
        pgdyno: env!("CARGO_PKG_VERSION").to_owned(),
        server: facts.server,
        window: Window { began_at, seconds },
        cost: session.cost(),
        database,
        connections: connections.means(),
        transactions_by_minute: minutes.transactions(),
        warnings,
        settings,
    };
    Ok(CaptureRecord { head, statements, relations, transactions })
}

/// Returns that connections were not counted so many times.
fn missing_samples(missed: u64) -> Option<String> {
    (missed > 0).then(|| {
        let times = units::plural(missed, "time");
        format!("the server did not answer {times} within the window: connections and transactions of these moments are not counted")
    })
}

/// Returns the statements by their texts, those that took most time first. One text has several entries where clients bind
/// parameters of different types, and where several roles execute it.
fn statements(
    entries: &[Entry],
    texts: &BTreeMap<String, counters::Text>,
    anonymise: bool,
    warnings: &mut Vec<String>,
) -> Vec<CapturedStatement> {
    let mut by_text: BTreeMap<String, (Classified, Vec<String>, Counted)> = BTreeMap::new();
    let (mut hidden, mut constants) = (Counted::default(), 0);
    let left_out = |begin: &str, why| Classified { refused: Some(why), ..classify(begin, true) };
    for entry in entries {
        let classified = match texts.get(&entry.queryid) {
            Some(counters::Text::Whole(text)) if session::is_own(text) => continue,
            Some(counters::Text::Whole(text)) => {
                let classified = classify(text, anonymise);
                let is_query = matches!(classified.kind, StatementKind::Read | StatementKind::Write);
                constants += u64::from(is_query && has_constants(&classified.text));
                classified
            }
            Some(counters::Text::TooLong(begin)) => {
                left_out(begin, format!("its text is longer than {}", units::bytes(counters::TEXT_MAX)))
            }
            Some(counters::Text::TooMany(begin)) => {
                let bytes = units::bytes(counters::TEXTS_MAX);
                left_out(begin, format!("its text is left out: those of statements with more time take {bytes}"))
            }
            None => {
                hidden.add(&entry.counted);
                continue;
            }
        };
        let (_, queryids, counted) =
            by_text.entry(classified.text.clone()).or_insert_with(|| (classified, Vec::new(), Counted::default()));
        queryids.push(entry.queryid.clone());
        counted.add(&entry.counted);
    }
    if hidden.calls > 0.0 {
        warnings.push(format!(
            "{} calls are missing, which took {} of the server: their texts were no longer there at the end",
            units::grouped(hidden.calls),
            units::duration(hidden.exec_time_ms / 1e3)
        ));
    }
    if constants > 0 {
        warnings.push(format!(
            "{} {} constants, which may be data of users: --anonymise makes parameters of them",
            units::plural(constants, "text"),
            if constants == 1 { "has" } else { "have" }
        ));
    }
    if by_text.is_empty() && hidden.calls == 0.0 {
        warnings.push("no statement was executed in this database within the window".to_owned());
    }
    let mut statements: Vec<_> = by_text.into_values().map(statement).collect();
    statements.sort_by(|a, b| b.exec_time_ms.total_cmp(&a.exec_time_ms));
    statements
}

fn statement((classified, queryids, counted): (Classified, Vec<String>, Counted)) -> CapturedStatement {
    CapturedStatement {
        text: classified.text,
        queryids,
        kind: classified.kind,
        refused: classified.refused,
        calls: counted.calls,
        rows: counted.rows,
        exec_time_ms: counted.exec_time_ms,
        plan_time_ms: counted.plan_time_ms,
        shared_blks_hit: counted.shared_blks_hit,
        shared_blks_read: counted.shared_blks_read,
        shared_blks_dirtied: counted.shared_blks_dirtied,
        temp_blks_read: counted.temp_blks_read,
        temp_blks_written: counted.temp_blks_written,
        wal_bytes: counted.wal_bytes,
    }
}
