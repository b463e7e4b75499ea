//! The commits of a run with a ledger, one a line: `ledger.csv`. It is written while the run goes on.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::path::Path;
use std::sync::Arc;

use crate::error::{StoreError, io_error, malformed};
use crate::layout::LEDGER;
use crate::store::open_beside;

/// The first line of the file.
const HEADER: &str = "client,number,class,begun_us,ended_us,marker,sqlstate,server";
/// Between the place of a row and a key that is no whole number.
const BEFORE_KEY: &str = "/=";
/// The longest key that has room in a line.
pub const KEY_BYTES_MAX: usize = 1000;
/// pgdyno writes no longer line: the longest address is a path.
const LINE_BYTES_MAX: u64 = 8192;
/// Commits that are further apart than a year are not those of one run.
const RUN_US_MAX: u64 = 366 * 86_400 * 1_000_000;

/// Knowledge of a client about a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkerClass {
    /// Acknowledged.
    Acknowledged,
    /// Acknowledged by a server that did not wait for its synchronous standbys to the end.
    LocallyOnly,
    /// Failed.
    Failed,
    /// Unknown.
    Unknown,
}

/// A commit of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerEntry {
    /// The number of the client, from 0.
    pub client: u32,
    /// The number of the transaction among those of its client, from 1.
    pub number: u64,
    /// What the client knows.
    pub class: MarkerClass,
    /// When its first byte was sent, in microseconds since 1970.
    pub begun_us: u64,
    /// When its client knew how it ended.
    pub ended_us: u64,
    /// Its marker, if the client knows it.
    pub marker: Option<[i64; 3]>,
    /// The key of its row, if that is no whole number. The first number of the marker is the place of the row then.
    pub key: Option<Box<str>>,
    /// The SQLSTATE of its failure, if the server gave one.
    pub sqlstate: Option<String>,
    /// The address of its server.
    pub server: Arc<str>,
}

impl MarkerClass {
    const ALL: [Self; 4] = [Self::Acknowledged, Self::LocallyOnly, Self::Failed, Self::Unknown];

    /// Returns its word in the file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Acknowledged => "acknowledged",
            Self::LocallyOnly => "locally-only",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
        }
    }

    /// Returns true if the server said that it is committed.
    #[must_use]
    pub fn is_acknowledged(self) -> bool {
        matches!(self, Self::Acknowledged | Self::LocallyOnly)
    }
}

/// The file of a run in progress.
#[derive(Debug)]
pub struct LedgerFile(File);

impl LedgerFile {
    /// Creates it in the directory of a run.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn create(directory: &Path) -> Result<Self, StoreError> {
        let path = directory.join(LEDGER);
        let create = || {
            let mut file = File::options().write(true).create_new(true).open(&path)?;
            writeln!(file, "{HEADER}")?;
            Ok(file)
        };
        create().map(Self).map_err(io_error("create", &path))
    }

    /// Appends commits, and waits until the disk has them.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn append(&mut self, entries: &[LedgerEntry]) -> std::io::Result<()> {
        let lines: String = entries.iter().map(line).collect();
        self.0.write_all(lines.as_bytes())?;
        self.0.sync_data()
    }
}

fn line(entry: &LedgerEntry) -> String {
    let LedgerEntry { client, number, class, begun_us, ended_us, marker, key, sqlstate, server } = entry;
    let marker = match (marker, key) {
        (Some([place, ..]), Some(key)) => format!("{place}{BEFORE_KEY}{}", encoded(key)),
        (Some([a, b, c]), None) => format!("{a}/{b}/{c}"),
        (None, _) => String::new(),
    };
    let sqlstate = sqlstate.as_deref().unwrap_or_default();
    // A directory of sockets may have any name.
    let server = server.replace(|c: char| matches!(c, ',' | '"') || c.is_control(), "?");
    format!("{client},{number},{},{begun_us},{ended_us},{marker},{sqlstate},{server}\n", class.name())
}

/// Returns a key without characters that end a cell, a line or a key: others than letters, digits and `-` are `%` and two hexadecimal
/// digits for each byte.
fn encoded(key: &str) -> String {
    let mut text = String::with_capacity(key.len());
    for byte in key.bytes() {
        match byte {
            b'-' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => text.push(byte.into()),
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

/// Returns the key of such a text.
fn decoded(text: &str) -> Option<Box<str>> {
    let mut parts = text.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    let key = String::from_utf8(bytes).ok()?;
    (!key.is_empty()).then(|| key.into())
}

/// Reads the commits of a run.
///
/// # Errors
/// When there is no such file, the system refuses, or a line that is whole does not fit.
pub fn read_ledger(directory: &Path) -> Result<Vec<LedgerEntry>, StoreError> {
    let path = directory.join(LEDGER);
    let file = open_beside(directory, LEDGER).map_err(io_error("read", &path))?;
    parse(BufReader::new(file)).map_err(|error| match error {
        NotALedger::Io(source) => io_error("read", &path)(source),
        NotALedger::Malformed(why) => malformed(&path, why),
    })
}

/// Why commits cannot be read.
pub(crate) enum NotALedger {
    Io(std::io::Error),
    Malformed(String),
}

/// Reads the lines of a file.
pub(crate) fn parse(mut file: impl BufRead) -> Result<Vec<LedgerEntry>, NotALedger> {
    let (mut entries, mut servers, mut bytes) = (Vec::<LedgerEntry>::new(), HashSet::new(), Vec::new());
    for nth in 1.. {
        bytes.clear();
        (&mut file).take(LINE_BYTES_MAX).read_until(b'\n', &mut bytes).map_err(NotALedger::Io)?;
        let line = match bytes.strip_suffix(b"\n") {
            Some(line) => String::from_utf8_lossy(line),
            None if bytes.len() as u64 == LINE_BYTES_MAX => {
                return Err(NotALedger::Malformed(format!("line {nth} has more than {LINE_BYTES_MAX} bytes")));
            }
            // The last line of a run that was killed may be a part of one.
            None => break,
        };
        let first_us = entries.first().map(|entry| entry.begun_us);
        match (nth, entry(&line, &mut servers)) {
            (1, _) if line == HEADER => {}
            (1, _) => return Err(NotALedger::Malformed(format!("its first line is not {HEADER}"))),
            (_, Some(entry)) if is_of_one_run(&entry, first_us) => entries.push(entry),
            _ => {
                return Err(NotALedger::Malformed(format!("line {nth} does not fit the columns of its header")));
            }
        }
    }
    Ok(entries)
}

/// Returns true if the times of a commit can be those of the run whose first commit began then.
fn is_of_one_run(entry: &LedgerEntry, first_us: Option<u64>) -> bool {
    let from_first = entry.ended_us.abs_diff(first_us.unwrap_or(entry.begun_us));
    entry.begun_us <= entry.ended_us && entry.ended_us - entry.begun_us <= RUN_US_MAX && from_first <= RUN_US_MAX
}

/// Parses a line. Addresses of servers are kept once.
fn entry(line: &str, servers: &mut HashSet<Arc<str>>) -> Option<LedgerEntry> {
    let mut cells = line.splitn(8, ',');
    let mut cell = || cells.next();
    let (client, number) = (cell()?.parse().ok()?, cell()?.parse().ok()?);
    let class = cell().and_then(|word| MarkerClass::ALL.into_iter().find(|class| class.name() == word))?;
    let (begun_us, ended_us) = (cell()?.parse().ok()?, cell()?.parse().ok()?);
    let MarkerCell { marker, key } = MarkerCell::parse(cell()?)?;
    let sqlstate = Some(cell()?).filter(|code| !code.is_empty()).map(str::to_owned);
    let server = cell()?;
    let server = servers.get(server).cloned().unwrap_or_else(|| {
        let new: Arc<str> = server.into();
        servers.insert(Arc::clone(&new));
        new
    });
    Some(LedgerEntry { client, number, class, begun_us, ended_us, marker, key, sqlstate, server })
}

/// A marker, and its key if that is no whole number.
#[derive(Default)]
struct MarkerCell {
    marker: Option<[i64; 3]>,
    key: Option<Box<str>>,
}

impl MarkerCell {
    fn parse(text: &str) -> Option<Self> {
        if text.is_empty() {
            return Some(Self::default());
        }
        if let Some((place, key)) = text.split_once(BEFORE_KEY) {
            return Some(Self { marker: Some([place.parse().ok()?, 0, 0]), key: Some(decoded(key)?) });
        }
        let mut numbers = text.split('/').map(|number| number.parse().ok());
        Some(Self { marker: Some([numbers.next()??, numbers.next()??, numbers.next()??]), key: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries() -> Vec<LedgerEntry> {
        let entry = |number, class, marker, sqlstate: Option<&str>| LedgerEntry {
            client: 3,
            number,
            class,
            begun_us: 1_700_000_000_000_000,
            ended_us: 1_700_000_000_000_950,
            marker,
            key: None,
            sqlstate: sqlstate.map(str::to_owned),
            server: "db1:5432".into(),
        };
        let key = |key: &str| LedgerEntry {
            key: Some(key.into()),
            ..entry(5, MarkerClass::Acknowledged, Some([2, 0, 0]), None)
        };
        vec![
            entry(1, MarkerClass::Acknowledged, Some([3, 1, 0]), None),
            entry(2, MarkerClass::LocallyOnly, Some([3, 2, 0]), None),
            entry(3, MarkerClass::Failed, None, Some("40001")),
            entry(4, MarkerClass::Unknown, Some([-1, 2, 3001]), Some("57P01")),
            key("0d9ac7e2-5a3e-4f0e-9d7c-2f5b6a1c8e40"),
            key("a, \"b\"/=100 %\n\u{e4}"),
        ]
    }

    #[test]
    fn commits_are_read_back_as_they_were_written_and_an_incomplete_line_is_left_out() {
        let directory = tempfile::tempdir().unwrap();
        assert!(read_ledger(directory.path()).is_err(), "there is none");
        let mut file = LedgerFile::create(directory.path()).unwrap();
        let entries = entries();
        file.append(&entries[..1]).unwrap();
        file.append(&entries[1..]).unwrap();
        assert_eq!(read_ledger(directory.path()).unwrap(), entries);
        file.0.write_all(b"3,5,acknow").unwrap();
        assert_eq!(read_ledger(directory.path()).unwrap(), entries);
        file.0.write_all(b"\n").unwrap();
        let error = read_ledger(directory.path()).unwrap_err().to_string();
        assert!(error.contains("line 8 does not fit"), "{error}");
    }

    #[test]
    fn lines_that_no_run_wrote_are_refused() {
        let read = |lines: &str| match parse(format!("{HEADER}\n{lines}\n").as_bytes()) {
            Ok(entries) => Ok(entries.len()),
            Err(NotALedger::Malformed(why)) => Err(why),
            Err(NotALedger::Io(error)) => panic!("{error}"),
        };
        let line = |begun_us: u64, ended_us: u64| format!("1,1,unknown,{begun_us},{ended_us},,,a");
        assert_eq!(read(&line(5, 7)), Ok(1));
        for marker in ["1/=", "1/=%", "1/=%4", "1/=%zz", "1/=%FF", "x/=a", "1/2"] {
            let line = format!("1,1,unknown,5,7,{marker},,a");
            assert!(read(&line).unwrap_err().contains("line 2 does not fit"), "{marker}");
        }
        assert!(read(&line(7, 5)).unwrap_err().contains("line 2 does not fit"), "it ends before it begins");
        let apart = format!("{}\n{}", line(5, 7), line(u64::MAX - 1, u64::MAX));
        assert!(read(&apart).unwrap_err().contains("line 3 does not fit"), "centuries later");
        assert!(read(&line(0, u64::MAX)).is_err());
        let year = RUN_US_MAX;
        let endless = format!("{}\n{}", line(3 * year, 3 * year + 2), line(year, 3 * year + 4));
        assert!(read(&endless).unwrap_err().contains("line 3 does not fit"), "it lasts for two years");
        let endless = format!("{}{}", line(5, 7), "x".repeat(10_000));
        assert!(read(&endless).unwrap_err().contains("line 2 has more than 8192 bytes"));
    }

    #[test]
    fn an_address_does_not_break_the_columns() {
        let entry = LedgerEntry { server: "/a,b\n\"c".into(), ..entries().remove(0) };
        assert!(line(&entry).ends_with(",/a?b??c\n"), "{}", line(&entry));
    }
}
