//! The records of a log: lines of JSON, of CSV whose quoted fields may have several lines, or of stderr's form, in which further lines
//! begin with a tab.

use std::io::{self, BufRead};
use std::ops::ControlFlow;

/// Bytes of a record that are kept. A longer one is left out.
const RECORD_MAX: usize = 4 << 20;

/// Bytes of the first line that are looked at.
const PEEKED: usize = 4 << 10;

/// The format of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LogFormat {
    /// `csvlog`.
    Csv,
    /// `jsonlog`, or entries of a managed service's log.
    Json,
    /// stderr's: lines with `log_line_prefix`, and a tab in front of each further line of a text.
    Stderr,
}

/// Places of fields of CSV that are numbers, the process and the line; between them is the session.
const NUMBERS: [usize; 2] = [3, 6];

impl LogFormat {
    /// Returns the format that a log has by its first line.
    ///
    /// # Errors
    /// When it cannot be read, or is one array of JSON.
    pub(super) fn of(log: &mut impl BufRead) -> io::Result<Self> {
        let begin = log.fill_buf()?;
        match begin.first() {
            Some(b'{') => Ok(Self::Json),
            Some(b'[') if begin[1..].trim_ascii_start().first().is_none_or(|byte| b"{]".contains(byte)) => {
                Err(io::Error::other("it is one array of JSON: write one entry in each line, as `jq -c '.[]'` does"))
            }
            None => Ok(Self::Csv),
            Some(_) => Ok(if is_csv(begin) { Self::Csv } else { Self::Stderr }),
        }
    }
}

/// Returns true if a log begins with a line of `csvlog`.
fn is_csv(begin: &[u8]) -> bool {
    let line = begin.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let fields = fields(&String::from_utf8_lossy(&line[..line.len().min(PEEKED)]));
    let is_number = |place: &usize| fields.get(*place).is_some_and(|field| field.parse::<u64>().is_ok());
    NUMBERS.iter().all(is_number)
}

/// Calls `take` with each whole record until it breaks. The last one may still be written: without its end it is left out.
pub(super) fn records(
    log: &mut impl BufRead,
    format: LogFormat,
    mut take: impl FnMut(&[u8]) -> ControlFlow<()>,
) -> io::Result<ControlFlow<()>> {
    let (mut record, mut is_quoted, mut is_whole) = (Record::default(), false, false);
    loop {
        let part = log.fill_buf()?;
        // Lines of stderr's form that begin with a tab belong to the one before.
        let goes_on = format == LogFormat::Stderr && part.first() == Some(&b'\t');
        if is_whole && !goes_on && record.put(&mut take).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        if part.is_empty() {
            return Ok(ControlFlow::Continue(()));
        }
        let end = part.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(part.len(), |end| end + 1);
        let part = &part[..taken];
        if format == LogFormat::Csv {
            is_quoted ^= part.iter().filter(|byte| **byte == b'"').count() % 2 == 1;
        }
        record.add(part);
        log.consume(taken);
        is_whole = end.is_some() && !is_quoted;
    }
}

/// A record as far as it is read.
#[derive(Default)]
struct Record {
    bytes: Vec<u8>,
    is_too_long: bool,
}

impl Record {
    fn add(&mut self, part: &[u8]) {
        self.is_too_long |= self.bytes.len() + part.len() > RECORD_MAX;
        if self.is_too_long {
            self.bytes.clear();
        } else {
            self.bytes.extend_from_slice(part);
        }
    }

    /// Calls `take` with the record unless it is too long, and begins the next one.
    fn put(&mut self, take: &mut impl FnMut(&[u8]) -> ControlFlow<()>) -> ControlFlow<()> {
        let taken = if self.is_too_long { ControlFlow::Continue(()) } else { take(&self.bytes) };
        self.bytes.clear();
        self.is_too_long = false;
        taken
    }
}

/// Returns the fields of a record of CSV.
pub(super) fn fields(record: &str) -> Vec<String> {
    let (mut fields, mut field, mut is_quoted) = (Vec::new(), String::new(), false);
    let mut characters = record.trim_end_matches(['\n', '\r']).chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '"' if is_quoted && characters.next_if_eq(&'"').is_some() => field.push('"'),
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => fields.push(std::mem::take(&mut field)),
            c => field.push(c),
        }
    }
    fields.push(field);
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(log: &[u8], format: LogFormat) -> Vec<String> {
        let mut found = Vec::new();
        // A small buffer: records are cut anywhere.
        let mut log = io::BufReader::with_capacity(3, log);
        let read = records(&mut log, format, |record| {
            found.push(String::from_utf8_lossy(record).into_owned());
            ControlFlow::Continue(())
        });
        assert!(read.unwrap().is_continue());
        found
    }

    #[test]
    fn a_record_of_csv_may_have_several_lines() {
        let log = b"a,\"b \"\"c\"\"\n, d\",e\nf\nunfinished";
        assert_eq!(all(log, LogFormat::Csv), ["a,\"b \"\"c\"\"\n, d\",e\n", "f\n"]);
        assert_eq!(fields("a,\"b \"\"c\"\"\n, d\",e,,\n"), ["a", "b \"c\"\n, d", "e", "", ""]);
        assert_eq!(all(b"{\"a\":\"\\\"\"}\n{}\n", LogFormat::Json).len(), 2);
    }

    #[test]
    fn a_quote_without_an_end_takes_no_memory() {
        let mut log = vec![b'"'];
        log.resize(RECORD_MAX * 3, b'x');
        log.push(b'\n');
        assert_eq!(all(&log, LogFormat::Csv), [""; 0]);
        assert_eq!(all(&[&log[..], b"{}\n"].concat(), LogFormat::Json), ["{}\n"]);
    }

    #[test]
    fn further_lines_of_a_text_begin_with_a_tab() {
        let log = b"a\n\tb\n\t\tc\nd\n\ne\nunfinished";
        assert_eq!(all(log, LogFormat::Stderr), ["a\n\tb\n\t\tc\n", "d\n", "\n", "e\n"]);
        assert_eq!(all(b"a\n\tb\n", LogFormat::Stderr), ["a\n\tb\n"]);
        let mut log = b"a\n".to_vec();
        (0..RECORD_MAX).for_each(|_| log.extend(b"\tx\n"));
        log.extend(b"b\n");
        assert_eq!(all(&log, LogFormat::Stderr), ["b\n"], "a text that is too long is left out");
    }

    #[test]
    fn the_reader_may_break_off() {
        for (format, log) in [(LogFormat::Csv, "a\nb\n"), (LogFormat::Stderr, "a\nb\n"), (LogFormat::Json, "a\nb\n")] {
            let mut number = 0;
            let read = records(&mut log.as_bytes(), format, |_| {
                number += 1;
                ControlFlow::Break(())
            });
            assert!(read.unwrap().is_break() && number == 1, "{format:?}");
        }
    }

    #[test]
    fn the_format_is_that_of_the_first_line() {
        let of = |text: &str| LogFormat::of(&mut text.as_bytes());
        assert_eq!(of("{\"timestamp\"").unwrap(), LogFormat::Json);
        assert_eq!(of("").unwrap(), LogFormat::Csv);
        let csv = "2026-11-28 15:01:27.584 CET,\"app\",\"shop\",3440,\"[local]\",6b0aecc7.d70,3,\"INSERT\",\"select 1\nfrom t\"";
        assert_eq!(of(csv).unwrap(), LogFormat::Csv);
        assert_eq!(
            of("2026-11-28 15:01:27.584 CET,,,34,,6b.d7,1,,2026-11-28 15:01:27 CET,,0,LOG").unwrap(),
            LogFormat::Csv
        );
        assert_eq!(of("2026-11-28 15:01:27.584 CET [34] LOG:  a, b, 3, d, e, f, 7").unwrap(), LogFormat::Stderr);
        assert_eq!(of("[34] 2026-11-28 15:01:27.584 CET LOG:  a").unwrap(), LogFormat::Stderr);
        for array in ["[{}]", "[\n  {", "[", "[]"] {
            assert!(of(array).unwrap_err().to_string().contains("jq -c '.[]'"), "{array}");
        }
    }
}
