//! Transactions from the server's log: which statements they have, in which order, and which parameters have the same value.
//!
//! The log has the values of parameters. They are compared and counted by their hashes, and none is kept.

mod entries;
mod grouping;
mod kinds;
mod line;
mod messages;
mod prefix;
mod profiles;
mod records;
mod texts;

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use pgdyno_text::units;

use super::session::{self, MARK, Session, text};
use super::{CaptureOrder, TakeError};
use crate::form::{CapturedStatement, CapturedTransactions};
use entries::{Entries, EntryText};
use grouping::Sessions;
use line::LogLine;
use messages::Messages;
use prefix::LinePrefix;
use records::{LogFormat, records};
use texts::Texts;

/// Characters of a time with milliseconds.
const TIME: usize = 23;

/// Characters of a time without them.
const SECONDS: usize = 19;

/// Records between two looks at whether the reading is to end.
const LOOK_EVERY: u64 = 1000;

/// How much older than the window a file of a directory may be: clocks differ.
const OLDER: Duration = Duration::from_secs(3600);

/// The share of transactions or statements that is worth a warning.
const SHARE: u64 = 10;

/// Logs that are read at the end of a window.
pub(super) struct Logs<'a> {
    paths: &'a [PathBuf],
    since: SystemTime,
    began: ServerTime,
    /// The setting `log_line_prefix`.
    prefix: String,
}

/// A time by the server's clock, as its log has it.
#[derive(Clone, Debug, Default)]
struct ServerTime {
    /// In the zone of the log.
    text: String,
    /// In seconds since 1970.
    epoch: String,
}

impl<'a> Logs<'a> {
    /// Begins a window; `None` without a log. Settings with which the log is of no use become warnings.
    pub(super) fn begin(
        session: &mut Session,
        wanted: &'a CaptureOrder,
        warnings: &mut Vec<String>,
    ) -> Result<Option<Self>, TakeError> {
        let paths = wanted.logs.as_slice();
        if paths.is_empty() {
            return Ok(None);
        }
        let since = SystemTime::now().checked_sub(OLDER).unwrap_or(SystemTime::UNIX_EPOCH);
        let prefix = match &wanted.log_prefix {
            Some(prefix) => prefix.clone(),
            None => setting(session, "log_line_prefix")?,
        };
        for path in paths {
            let failed = |error| TakeError::Log { path: path.display().to_string(), error };
            for file in files(path, since).map_err(failed)? {
                let has_prefix = has_prefix(&file).map_err(failed)?;
                if let Some(Err(why)) = has_prefix.then(|| LinePrefix::new(&prefix)) {
                    let remedy = format!("{}; --log-prefix names another one", prefix::REMEDY);
                    return Err(TakeError::Uncounted { why, remedy });
                }
            }
        }
        warnings.extend(settings(session)?);
        Ok(Some(Self { paths, since, began: time(session)?, prefix }))
    }

    /// Returns the lines that belong to the window, which ends now.
    pub(super) fn end(self, session: &mut Session, database: &'a str) -> Result<Reading<'a>, TakeError> {
        let ended = time(session)?;
        Ok(Reading { paths: self.paths, since: self.since, began: self.began, ended, database, prefix: self.prefix })
    }
}

/// Returns true if a file has lines with a prefix.
fn has_prefix(file: &Path) -> io::Result<bool> {
    let is_named = file.extension().is_some_and(|end| end == "csv" || end == "json");
    let mut log = BufReader::new(File::open(file)?);
    if log.fill_buf()?.is_empty() {
        return Ok(!is_named);
    }
    Ok(match LogFormat::of(&mut log)? {
        LogFormat::Csv => false,
        LogFormat::Stderr => true,
        LogFormat::Json => {
            let begin = log.fill_buf()?;
            PAYLOADS.iter().any(|key| begin.windows(key.len()).any(|part| part == *key))
        }
    })
}

/// Keys of the entries of services: Google Cloud Logging, records and rows of Azure Monitor.
const PAYLOADS: [&[u8]; 3] = [b"\"textPayload\"", b"\"properties\"", b"\"Message\""];

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

/// Returns a setting.
fn setting(session: &mut Session, name: &str) -> Result<String, TakeError> {
    let rows = session.ask("read the settings of the log", &format!("SELECT {MARK} current_setting('{name}')"))?;
    Ok(text(rows.first().and_then(|row| row.first())))
}

/// Returns the time of the server, as its log has it.
fn time(session: &mut Session) -> Result<ServerTime, TakeError> {
    let sql = format!(
        "SELECT {MARK} to_char(now AT TIME ZONE current_setting('log_timezone'), 'YYYY-MM-DD HH24:MI:SS.MS'), \
         to_char(extract(epoch FROM now), 'FM9999999990.000') FROM clock_timestamp() AS now"
    );
    let rows = session.ask("read the time of the log", &sql)?;
    let row = rows.first().map(Vec::as_slice).unwrap_or_default();
    Ok(ServerTime { text: text(row.first()), epoch: text(row.get(1)) })
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
    // A server may write several, with the same lines.
    let plain = || {
        let is_such = |file: &&(SystemTime, PathBuf)| {
            let name = file.1.file_name().unwrap_or_default().to_string_lossy();
            name.ends_with(".log") || name.contains(".log.")
        };
        found.iter().filter(is_such).map(|(_, file)| file.clone()).collect()
    };
    let csv_or_plain = || Some(of("csv")).filter(|all| !all.is_empty()).unwrap_or_else(plain);
    Ok(Some(of("json")).filter(|all| !all.is_empty()).unwrap_or_else(csv_or_plain))
}

/// Returns the transactions of a log of any time, whose lines have this prefix if it has stderr's form.
pub(crate) fn of_any_time(
    mut log: &[u8],
    database: &str,
    prefix: &str,
    statements: &[CapturedStatement],
) -> io::Result<Option<CapturedTransactions>> {
    let ended = ServerTime { text: "9999".to_owned(), epoch: "9999".to_owned() };
    let prefix = prefix.to_owned();
    let window =
        Reading { paths: &[], since: SystemTime::UNIX_EPOCH, began: ServerTime::default(), ended, database, prefix };
    let mut read = Read::new(statements);
    let _ = window.read_from(&mut log, &mut read, &mut || false)?;
    window.rest(&mut read);
    Ok(read.transactions())
}

/// The lines that are read.
pub(super) struct Reading<'a> {
    paths: &'a [PathBuf],
    since: SystemTime,
    began: ServerTime,
    ended: ServerTime,
    database: &'a str,
    /// The setting `log_line_prefix`.
    prefix: String,
}

/// What was read so far.
struct Read {
    texts: Texts,
    records: u64,
    lines: u64,
    executed: u64,
    statements: u64,
    sessions: Sessions,
    messages: Messages,
    entries: Entries,
    /// Whether lines have no database.
    lacks_database: bool,
}

impl Reading<'_> {
    /// Reads the logs until `is_ended` returns true, and returns their transactions. A log that cannot be used makes no capture void:
    /// warnings say why.
    pub(super) fn transactions(
        &self,
        statements: &[CapturedStatement],
        is_ended: &mut dyn FnMut() -> bool,
        warnings: &mut Vec<String>,
    ) -> Option<CapturedTransactions> {
        let mut read = Read::new(statements);
        'all: for path in self.paths {
            let mut failed =
                |error: io::Error| warnings.push(format!("cannot read the log {}: {error}", path.display()));
            let found = files(path, self.since).unwrap_or_else(|error| {
                failed(error);
                Vec::new()
            });
            for file in found {
                match self.read(&file, &mut read, is_ended) {
                    Ok(ControlFlow::Continue(())) => {}
                    Ok(ControlFlow::Break(())) => {
                        let records = units::plural(read.records, "record");
                        warnings.push(format!("the log was read in part: you ended it after {records}"));
                        break 'all;
                    }
                    Err(error) => failed(error),
                }
            }
        }
        self.rest(&mut read);
        warnings.extend(read.warnings(self.database));
        read.transactions()
    }

    fn read(&self, file: &Path, read: &mut Read, is_ended: &mut dyn FnMut() -> bool) -> io::Result<ControlFlow<()>> {
        self.read_from(&mut BufReader::with_capacity(1 << 16, File::open(file)?), read, is_ended)
    }

    fn read_from(
        &self,
        log: &mut impl BufRead,
        read: &mut Read,
        is_ended: &mut dyn FnMut() -> bool,
    ) -> io::Result<ControlFlow<()>> {
        let format = LogFormat::of(log)?;
        let prefix = LinePrefix::new(&self.prefix);
        if let (LogFormat::Stderr, Err(why)) = (format, &prefix) {
            return Err(io::Error::other(format!("{why}: {}", prefix::REMEDY)));
        }
        records(log, format, |record| {
            read.records += 1;
            if read.records.is_multiple_of(LOOK_EVERY) && is_ended() {
                return ControlFlow::Break(());
            }
            self.record(record, format, prefix.as_ref().ok(), read);
            ControlFlow::Continue(())
        })
    }

    fn record(&self, record: &[u8], format: LogFormat, prefix: Option<&LinePrefix>, read: &mut Read) {
        if format == LogFormat::Stderr {
            return self.prefixed(&String::from_utf8_lossy(record), "", prefix, read);
        }
        // The time comes first in a line of CSV.
        let is_csv = format == LogFormat::Csv;
        if is_csv && record.get(..TIME).is_some_and(|time| time < self.began.text.as_bytes()) {
            return;
        }
        let Some(line) = LogLine::of(record, format) else { return };
        match line.payload {
            None => self.line(&line, read),
            Some(text) => {
                let number = prefix.and_then(|prefix| prefix.read(&text)).map_or(0, |prefixed| prefixed.number);
                let text = EntryText { line: text, detail: line.detail };
                for ready in read.entries.add(&line.timestamp, number, text) {
                    self.prefixed(&ready.line, &ready.detail, prefix, read);
                }
            }
        }
    }

    /// Reads a line in stderr's form, whose detail may be apart from it.
    fn prefixed(&self, text: &str, detail: &str, prefix: Option<&LinePrefix>, read: &mut Read) {
        let Some(prefix) = prefix else { return };
        let Some(mut prefixed) = prefix.read(text).filter(|prefixed| self.has(&prefixed.line, prefix.has_database()))
        else {
            return;
        };
        detail.clone_into(&mut prefixed.line.detail);
        read.lacks_database |= !prefix.has_database();
        for line in read.messages.add(prefixed) {
            read.add(&line);
        }
    }

    fn line(&self, line: &LogLine, read: &mut Read) {
        if self.has(line, true) {
            read.add(line);
        }
    }

    /// Reads what has waited for later lines.
    fn rest(&self, read: &mut Read) {
        let prefix = LinePrefix::new(&self.prefix).ok();
        while let Some(EntryText { line, detail }) = read.entries.next() {
            self.prefixed(&line, &detail, prefix.as_ref(), read);
        }
        for line in read.messages.end() {
            read.add(&line);
        }
        read.sessions.end();
    }

    /// Returns true if a line is of the database and within the window.
    fn has(&self, line: &LogLine, has_database: bool) -> bool {
        (!has_database || line.database == self.database) && self.is_within(&line.timestamp)
    }

    fn is_within(&self, timestamp: &str) -> bool {
        let is_date = timestamp.as_bytes().get(4) == Some(&b'-');
        let (began, ended) = match is_date {
            true => (&self.began.text, &self.ended.text),
            false => (&self.began.epoch, &self.ended.epoch),
        };
        let length = match timestamp.as_bytes().get(SECONDS) {
            Some(b'.') => TIME,
            // Without milliseconds.
            _ if is_date => SECONDS,
            _ => timestamp.len(),
        };
        let time = timestamp.get(..length).unwrap_or_default();
        (began.get(..length).unwrap_or(began)..=ended.as_str()).contains(&time)
    }
}

impl Read {
    fn new(statements: &[CapturedStatement]) -> Self {
        Self {
            texts: Texts::new(statements),
            records: 0,
            lines: 0,
            executed: 0,
            statements: 0,
            sessions: Sessions::default(),
            messages: Messages::default(),
            entries: Entries::default(),
            lacks_database: false,
        }
    }

    fn add(&mut self, line: &LogLine) {
        self.lines += 1;
        if line.is_error() {
            self.sessions.set_failed(line.session(), true);
        }
        let Some(text) = line.executed().filter(|text| !session::is_own(text)) else { return };
        self.executed += 1;
        let executed = self.texts.executed(line, text);
        self.statements += executed.len() as u64;
        let number = match line.lacks_transaction {
            true => self.sessions.number(line.session(), &executed),
            false => line.transaction(),
        };
        self.sessions.add(line.session(), number, executed);
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
        let mut all = self.doubts();
        all.extend(self.lack(database));
        all
    }

    /// Returns what makes figures of the log doubtful.
    fn doubts(&self) -> Vec<String> {
        let mut all = Vec::new();
        if self.entries.late > 0 {
            let late = units::count(self.entries.late);
            all.push(format!(
                "{late} entries of the log came far behind later ones: export them in ascending order of their time"
            ));
        }
        if self.lacks_database && self.executed > 0 {
            all.push(
                "log_line_prefix has no database (%d): statements of other databases with the same texts are counted, too"
                    .to_owned(),
            );
        }
        all
    }

    /// Returns why the log has few or no transactions.
    fn lack(&self, database: &str) -> Option<String> {
        let Sessions { kinds, incomplete, unknown, .. } = &self.sessions;
        let why = if self.messages.foreign > 0 && self.executed == 0 {
            let lines = units::plural(self.messages.foreign, "line");
            format!(
                "{lines} of the log are in another language than English: set lc_messages = C, or add csvlog to log_destination"
            )
        } else if self.lines == 0 {
            format!(
                "the log has no line of {database} within the window: name the log of this server in --log, and set \
                 log_transaction_sample_rate; a log of stderr has the server's log_line_prefix, or that of --log-prefix"
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
            return None;
        };
        Some(why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(prefix: &str) -> Reading<'static> {
        let at = |time: &str, seconds: u32| ServerTime {
            text: format!("2026-11-28 10:{time}.000"),
            epoch: format!("{}.000", 1_795_860_000 + seconds),
        };
        let (began, ended) = (at("00:00", 0), at("10:00", 600));
        let prefix = prefix.to_owned();
        Reading { paths: &[], since: SystemTime::UNIX_EPOCH, began, ended, database: "shop", prefix }
    }

    fn line(time: &str, database: &str, message: &str) -> String {
        let line = serde_json::json!({ "timestamp": format!("2026-11-28 10:{time}.500 CET"), "dbname": database,
            "session_id": "a", "vxid": "3/0", "message": message });
        format!("{line}\n")
    }

    fn read(log: &str) -> Read {
        read_with("%m [%p] %q%u@%d ", log)
    }

    fn read_with(prefix: &str, log: &str) -> Read {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), log).unwrap();
        let mut read = Read::new(&[]);
        let reading = reading(prefix);
        assert!(reading.read(file.path(), &mut read, &mut || false).unwrap().is_continue());
        reading.rest(&mut read);
        read
    }

    #[test]
    fn lines_of_stderr_are_read_with_any_time() {
        let lines = |begin: &str| {
            let line = |text: &str| format!("{begin}LOG:  duration: 0.012 ms  statement: {text}\n");
            [line("begin"), line("select\n\t1"), line("commit")].concat()
        };
        for (prefix, begin, is_in) in [
            ("%m [%p] %d ", "2026-11-28 10:05:00.500 CET [7] shop ", true),
            ("%m [%p] %d ", "2026-11-28 10:05:00.500 CET [7] other ", false),
            ("%m [%p] %d ", "2026-11-28 09:59:59.999 CET [7] shop ", false),
            ("%t [%p] %d ", "2026-11-28 10:00:00 CET [7] shop ", true),
            ("%t [%p] %d ", "2026-11-28 10:10:00 CET [7] shop ", true),
            ("%t [%p] %d ", "2026-11-28 10:10:01 CET [7] shop ", false),
            ("%n [%p] %d ", "1795860300.123 [7] shop ", true),
            ("%n [%p] %d ", "1795861300.123 [7] shop ", false),
        ] {
            let read = read_with(prefix, &lines(begin));
            let wanted = if is_in { (3, 3, 1) } else { (0, 0, 0) };
            assert_eq!((read.lines, read.executed, read.sessions.unknown), wanted, "{begin}");
        }
    }

    #[test]
    fn entries_of_cloud_logging_are_read_in_the_order_of_their_time() {
        let entry = |nth: u32, text: &str| {
            let line = format!(
                "2026-11-28 10:05:00.500 UTC [7]: [{nth}-1] db=shop LOG:  duration: 0.012 ms  statement: {text}"
            );
            let time = format!("2026-11-28T10:05:00.{}Z", 500 + nth);
            format!("{}\n", serde_json::json!({ "insertId": "x", "timestamp": time, "textPayload": line }))
        };
        let log = [entry(3, "commit"), entry(1, "begin"), entry(2, "select 1")].concat();
        let read = read_with("%m [%p]: [%l-1] db=%d ", &log);
        assert_eq!((read.lines, read.sessions.unknown, read.sessions.incomplete), (3, 1, 0));
        assert!(read.warnings("shop").concat().contains("compute_query_id"));
    }

    #[test]
    fn records_of_azure_monitor_have_the_detail_apart() {
        let text = "duration: 0.012 ms  execute a: select $1";
        let message = |time: &str| format!("2026-11-28 10:05:{time} UTC-6b0aecc7.d70-LOG:  {text}");
        let record = |time: &str| {
            let properties = serde_json::json!({ "prefix": "", "message": message(time), "detail": "parameters: $1 = '5'",
                "errorLevel": "LOG", "sqlerrcode": "00000" });
            let record = serde_json::json!({ "resourceId": "/SUBSCRIPTIONS/X", "time": format!("2026-11-28T10:05:{time}.000Z"),
                "category": "PostgreSQLLogs", "operationName": "LogEvent", "properties": properties });
            format!("{record}\n")
        };
        let row =
            serde_json::json!({ "TimeGenerated": "2026-11-28T10:05:09Z", "Message": message("09"), "Detail": null });
        let log = [record("02"), record("01"), format!("{row}\n")].concat();
        let read = read_with("%t-%c-", &log);
        assert_eq!((read.lines, read.executed, read.sessions.unknown), (3, 3, 3));
        assert!(read.warnings("shop").concat().contains("no database (%d)"));
    }

    #[test]
    fn the_reading_ends_where_the_user_wants_it() {
        let log = line("05:00", "shop", "duration: 0.012 ms  statement: select 1").repeat(10_000);
        let (mut read, mut looks) = (Read::new(&[]), 0);
        let mut is_ended = || {
            looks += 1;
            looks == 3
        };
        let done = reading("").read_from(&mut log.as_bytes(), &mut read, &mut is_ended).unwrap();
        assert!(done.is_break() && read.lines == 3 * LOOK_EVERY - 1, "{}", read.lines);
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
        let foreign =
            "2026-11-28 10:05:00.500 CET [7] app@shop PROTOKOLL:  Dauer: 0.012 ms  Anweisung: select 'secret'\n";
        assert!(warning(foreign).contains("lc_messages = C") && !warning(foreign).contains("secret"));
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
        let plain = "2026-11-28 10:05:00.500 CET [7] app@shop LOG:  duration: 0.236 ms  execute a: select $1, \"b\"\n\tfrom t\n\
                     2026-11-28 10:05:00.500 CET [7] app@shop DETAIL:  parameters: $1 = '5'\n";
        let entry = format!("{}\n", serde_json::json!({ "timestamp": "2026-11-28T10:05:00.5Z", "textPayload": plain }));
        for whole in [json.repeat(2), csv.repeat(2), plain.repeat(2), entry.repeat(2)] {
            for _ in 0..2000 {
                let mut bytes = whole.clone().into_bytes();
                for _ in 0..=next(4) {
                    let at = next(bytes.len());
                    bytes[at] = DAMAGE[next(DAMAGE.len())];
                }
                bytes.truncate(bytes.len() - next(20));
                let (mut log, mut read) = (bytes.as_slice(), Read::new(&[]));
                let reading = reading("%m [%p] %u@%d ");
                // A first line that is damaged may have another form.
                drop(reading.read_from(&mut log, &mut read, &mut || false));
                reading.rest(&mut read);
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
        fs::remove_file(directory.path().join("a.csv")).unwrap();
        fs::write(directory.path().join("notes.txt"), "").unwrap();
        assert_eq!(found(SystemTime::UNIX_EPOCH), [directory.path().join("c.log")]);
    }
}
