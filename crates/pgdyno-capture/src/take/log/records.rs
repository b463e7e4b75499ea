//! The records of a log: lines of JSON, or of CSV whose quoted fields may have several lines.

use std::io::{self, BufRead};

/// Bytes of a record that are kept. A longer one is left out.
const RECORD_MAX: usize = 4 << 20;

/// The format of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LogFormat {
    /// `csvlog`.
    Csv,
    /// `jsonlog`.
    Json,
}

impl LogFormat {
    /// Returns the format that a log has by its first character.
    pub(super) fn of(log: &mut impl BufRead) -> io::Result<Self> {
        Ok(if log.fill_buf()?.first() == Some(&b'{') { Self::Json } else { Self::Csv })
    }
}

/// Calls `take` with each whole record. The last one may still be written: without its end it is left out.
pub(super) fn records(log: &mut impl BufRead, format: LogFormat, mut take: impl FnMut(&[u8])) -> io::Result<()> {
    let (mut record, mut is_quoted, mut is_too_long) = (Vec::new(), false, false);
    loop {
        let part = log.fill_buf()?;
        if part.is_empty() {
            return Ok(());
        }
        let end = part.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(part.len(), |end| end + 1);
        let part = &part[..taken];
        if format == LogFormat::Csv {
            is_quoted ^= part.iter().filter(|byte| **byte == b'"').count() % 2 == 1;
        }
        is_too_long |= record.len() + part.len() > RECORD_MAX;
        if is_too_long {
            record.clear();
        } else {
            record.extend_from_slice(part);
        }
        log.consume(taken);
        if end.is_some() && !is_quoted {
            if !is_too_long {
                take(&record);
            }
            record.clear();
            is_too_long = false;
        }
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
        records(&mut log, format, |record| found.push(String::from_utf8_lossy(record).into_owned())).unwrap();
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
    fn the_format_is_that_of_the_first_character() {
        assert_eq!(LogFormat::of(&mut &b"{\"timestamp\""[..]).unwrap(), LogFormat::Json);
        assert_eq!(LogFormat::of(&mut &b"2026-11-28"[..]).unwrap(), LogFormat::Csv);
        assert_eq!(LogFormat::of(&mut &b""[..]).unwrap(), LogFormat::Csv);
    }
}
