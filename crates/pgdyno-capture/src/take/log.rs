//! Transactions from the server's log: which statements they have, in which order, and which parameters have the same value.
//!
//! The log has the values of parameters. They are compared and counted by their hashes, and none is kept.

mod grouping;
mod kinds;
mod line;
mod profiles;
mod records;
mod texts;

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use pgdyno_text::units;

use super::TakeError;
use super::session::{self, MARK, Session, text};
use crate::form::{CapturedStatement, CapturedTransactions};
use grouping::Sessions;
use line::LogLine;
use records::{LogFormat, records};
use texts::Texts;

/// Characters of a time with milliseconds.
const TIME: usize = 23;

/// How much older than the window a file of a directory may be: clocks differ.
const OLDER: Duration = Duration::from_secs(3600);

/// The share of transactions or statements that is worth a warning.
const SHARE: u64 = 10;

/// Logs that are read at the end of a window.
pub(super) struct Logs<'a> {
    paths: &'a [PathBuf],
    since: SystemTime,
    /// The begin of the window by the server's clock, in the zone of its log.
    began: String,
}

impl<'a> Logs<'a> {
    /// Begins a window; `None` without a log. Settings with which the log is of no use become warnings.
    pub(super) fn begin(
        session: &mut Session,
        paths: &'a [PathBuf],
        warnings: &mut Vec<String>,
    ) -> Result<Option<Self>, TakeError> {
        if paths.is_empty() {
            return Ok(None);
        }
        let since = SystemTime::now().checked_sub(OLDER).unwrap_or(SystemTime::UNIX_EPOCH);
        for path in paths {
            files(path, since)
                .and_then(|all| all.iter().try_for_each(|file| File::open(file).map(drop)))
                .map_err(|error| TakeError::Log { path: path.display().to_string(), error })?;
        }
        warnings.extend(settings(session)?);
        Ok(Some(Self { paths, since, began: time(session)? }))
    }

    /// Ends the window, and returns its transactions. A log that cannot be used makes no capture void: warnings say why.
    pub(super) fn end(
        self,
        session: &mut Session,
        database: &str,
        statements: &[CapturedStatement],
        warnings: &mut Vec<String>,
    ) -> Result<Option<CapturedTransactions>, TakeError> {
        let window = Reading { began: self.began, ended: time(session)?, database };
        let mut read = Read::default();
        let texts = Texts::new(statements);
        for path in self.paths {
            let done = files(path, self.since)
                .and_then(|all| all.iter().try_for_each(|file| window.read(file, &texts, &mut read)));
            if let Err(error) = done {
                warnings.push(format!("cannot read the log {}: {error}", path.display()));
            }
        }
        read.sessions.end();
        warnings.extend(read.warnings(database));
        Ok(read.transactions())
    }
}

/// Settings with which the log has other statements than those of sampled transactions, or has them in another form, and the values with
/// which it has not.
const SETTINGS: [(&str, &str); 3] =
    [("log_statement", "none"), ("log_min_duration_statement", "-1"), ("log_min_duration_sample", "-1")];

/// Returns which settings make the log of less use.
fn settings(session: &mut Session) -> Result<Vec<String>, TakeError> {
    let values = SETTINGS.map(|(name, _)| format!("current_setting('{name}')"));
    let rows = session.ask("read the settings of the log", &format!("SELECT {MARK} {}", values.join(", ")))?;
    let row = rows.first().map(Vec::as_slice).unwrap_or_default();
    let other = SETTINGS.iter().enumerate().filter_map(|(at, (name, wanted))| {
        let value = text(row.get(at));
        let why = "the log has statements in another form, or of transactions that are not sampled";
        (value != *wanted).then(|| format!("{name} is {value}: {why}; set it to {wanted}"))
    });
    Ok(other.collect())
}

/// Returns the time of the server, as its log has it.
fn time(session: &mut Session) -> Result<String, TakeError> {
    let sql = format!(
        "SELECT {MARK} to_char(clock_timestamp() AT TIME ZONE current_setting('log_timezone'), 'YYYY-MM-DD HH24:MI:SS.MS')"
    );
    let rows = session.ask("read the time of the log", &sql)?;
    Ok(text(rows.first().and_then(|row| row.first())))
}

/// Returns the files of a path, the oldest first: of a directory those that were written since, in one format.
fn files(path: &Path, since: SystemTime) -> io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(path)? {
        let file = entry?.path();
        // The server may remove an old file meanwhile.
        let Ok(written) = fs::metadata(&file).and_then(|about| about.modified()) else { continue };
        if written >= since {
            found.push((written, file));
        }
    }
    found.sort();
    let of = |format: &str| {
        let is_such = |file: &&(SystemTime, PathBuf)| file.1.extension().is_some_and(|end| end == format);
        found.iter().filter(is_such).map(|(_, file)| file.clone()).collect::<Vec<_>>()
    };
    // A server may write both, with the same lines.
    let json = of("json");
    Ok(if json.is_empty() { of("csv") } else { json })
}

/// Returns the transactions of a log of any time.
pub(crate) fn of_any_time(
    mut log: &[u8],
    database: &str,
    statements: &[CapturedStatement],
) -> io::Result<Option<CapturedTransactions>> {
    let window = Reading { began: String::new(), ended: "9999".to_owned(), database };
    let mut read = Read::default();
    window.read_from(&mut log, &Texts::new(statements), &mut read)?;
    read.sessions.end();
    Ok(read.transactions())
}

/// The lines that are read.
struct Reading<'a> {
    began: String,
    ended: String,
    database: &'a str,
}

/// What was read so far.
#[derive(Default)]
struct Read {
    lines: u64,
    executed: u64,
    statements: u64,
    sessions: Sessions,
}

impl Reading<'_> {
    fn read(&self, file: &Path, texts: &Texts, read: &mut Read) -> io::Result<()> {
        self.read_from(&mut BufReader::with_capacity(1 << 16, File::open(file)?), texts, read)
    }

    fn read_from(&self, log: &mut impl BufRead, texts: &Texts, read: &mut Read) -> io::Result<()> {
        let format = LogFormat::of(log)?;
        records(log, format, |record| {
            // The time comes first in a line of CSV.
            let is_csv = format == LogFormat::Csv;
            if is_csv && record.get(..TIME).is_some_and(|time| time < self.began.as_bytes()) {
                return;
            }
            if let Some(line) = LogLine::of(record, format).filter(|line| self.has(line)) {
                read.add(&line, texts);
            }
        })
    }

    fn has(&self, line: &LogLine) -> bool {
        let time = line.timestamp.get(..TIME).unwrap_or_default();
        line.database == self.database && (self.began.as_str()..=self.ended.as_str()).contains(&time)
    }
}

impl Read {
    fn add(&mut self, line: &LogLine, texts: &Texts) {
        self.lines += 1;
        if line.is_error() {
            self.sessions.set_failed(line.session(), true);
        }
        let Some(text) = line.executed().filter(|text| !session::is_own(text)) else { return };
        self.executed += 1;
        let executed = texts.executed(line, text);
        self.statements += executed.len() as u64;
        self.sessions.add(line.session(), line.transaction(), executed);
    }

    fn transactions(self) -> Option<CapturedTransactions> {
        let Sessions { kinds, profiles, rolled_back, incomplete, unknown, .. } = &self.sessions;
        (kinds.count > 0).then(|| CapturedTransactions {
            committed: kinds.count,
            rolled_back: *rolled_back,
            incomplete: *incomplete,
            unknown_statements: *unknown,
            kinds: kinds.captured(),
            profiles: profiles.captured(),
        })
    }

    /// Returns what is wrong with the log.
    fn warnings(&self, database: &str) -> Vec<String> {
        let Sessions { kinds, incomplete, unknown, .. } = &self.sessions;
        let why = if self.lines == 0 {
            format!(
                "the log has no line of {database} within the window: name the csvlog or jsonlog of this server in --log, and set \
                 log_transaction_sample_rate"
            )
        } else if self.executed == 0 {
            format!(
                "the log has {} of {database} within the window, and no statement with its duration: set \
                 log_transaction_sample_rate and log_statement = none, and lc_messages = C if the words are in another language",
                units::plural(self.lines, "line")
            )
        } else if kinds.count == 0 {
            format!(
                "the log has {} within the window, and no whole transaction of captured ones: set compute_query_id = on",
                units::plural(self.statements, "statement")
            )
        } else if *unknown > self.statements / SHARE {
            format!(
                "{} of {} in the log are not among the captured ones, and missing in their transactions: set compute_query_id = on",
                units::count(*unknown),
                units::plural(self.statements, "statement")
            )
        } else if *incomplete > kinds.count / SHARE {
            format!(
                "{} in the log have no begin or no end: turn off what else logs statements, such as log_min_duration_statement",
                units::plural(*incomplete, "transaction")
            )
        } else {
            return Vec::new();
        };
        vec![why]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading() -> Reading<'static> {
        let at = |time: &str| format!("2026-11-28 10:{time}.000");
        Reading { began: at("00:00"), ended: at("10:00"), database: "shop" }
    }

    fn line(time: &str, database: &str, message: &str) -> String {
        let line = serde_json::json!({ "timestamp": format!("2026-11-28 10:{time}.500 CET"), "dbname": database,
            "session_id": "a", "vxid": "3/0", "message": message });
        format!("{line}\n")
    }

    fn read(log: &str) -> Read {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), log).unwrap();
        let mut read = Read::default();
        reading().read(file.path(), &Texts::new(&[]), &mut read).unwrap();
        read.sessions.end();
        read
    }

    #[test]
    fn lines_of_the_window_and_the_database_are_read() {
        let select = "duration: 0.012 ms  statement: select 1";
        let log = [("59:00", "shop"), ("05:00", "shop"), ("05:00", "other"), ("10:00", "shop")]
            .map(|(time, database)| line(time, database, select));
        let found = read(&log.concat());
        assert_eq!((found.lines, found.executed, found.sessions.unknown), (1, 1, 1));
        let own = format!("duration: 0.012 ms  statement: SELECT {MARK} 1");
        let found = read(&line("05:00", "shop", &own));
        assert_eq!((found.lines, found.executed), (1, 0));
    }

    #[test]
    fn a_log_of_no_use_is_reported_with_the_remedy() {
        let warning = |log: &str| read(log).warnings("shop").join("; ");
        assert!(warning("").contains("no line of shop within the window"));
        assert!(warning("no log\n\"").contains("no line of shop"));
        let other = line("05:00", "shop", "connection authorized: user=secret");
        assert!(warning(&other).contains("lc_messages = C") && !warning(&other).contains("secret"));
        let unknown = line("05:00", "shop", "duration: 0.012 ms  statement: select 'secret'");
        assert!(warning(&unknown).contains("compute_query_id") && !warning(&unknown).contains("secret"));
    }

    #[test]
    fn a_damaged_log_is_read_to_its_end() {
        const DAMAGE: &[u8] = b"'\"\\$,\n\0-\xff{:;";
        let json = line(
            "05:00",
            "shop",
            "duration: 0.012 ms  statement: begin; select 'it''s' from t where a in (1, -2); commit",
        );
        let csv = "2026-11-28 10:05:00.500 CET,\"app\",\"shop\",34,\"[local]\",6b.d7,3,\"SELECT\",2026-11-28 10:01:27 CET,3/17,725,LOG,00000,\
                   \"duration: 0.236 ms  execute a: select $1, \"\"b\"\" from t\",\"parameters: $1 = '5'\",,,,,,,,\"psql\",\"client backend\",,7\n";
        let mut random = 1_u64;
        let mut next = |below: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) as usize % below
        };
        let texts = Texts::new(&[]);
        for whole in [json.repeat(2), csv.repeat(2)] {
            for _ in 0..2000 {
                let mut bytes = whole.clone().into_bytes();
                for _ in 0..=next(4) {
                    let at = next(bytes.len());
                    bytes[at] = DAMAGE[next(DAMAGE.len())];
                }
                bytes.truncate(bytes.len() - next(20));
                let (mut log, mut read) = (bytes.as_slice(), Read::default());
                let format = LogFormat::of(&mut log).unwrap();
                records(&mut log, format, |record| {
                    if let Some(line) = LogLine::of(record, format) {
                        read.add(&line, &texts);
                    }
                })
                .unwrap();
                read.sessions.end();
                assert!(read.lines <= 6 && read.transactions().is_none());
            }
        }
    }

    #[test]
    fn a_directory_has_the_files_of_one_format() {
        let directory = tempfile::tempdir().unwrap();
        for name in ["a.csv", "b.json", "c.log"] {
            fs::write(directory.path().join(name), "").unwrap();
        }
        let found = |since| files(directory.path(), since).unwrap();
        assert_eq!(found(SystemTime::UNIX_EPOCH), [directory.path().join("b.json")]);
        assert_eq!(found(SystemTime::now() + OLDER), [""; 0].map(PathBuf::from));
        fs::remove_file(directory.path().join("b.json")).unwrap();
        assert_eq!(found(SystemTime::UNIX_EPOCH), [directory.path().join("a.csv")]);
    }
}
