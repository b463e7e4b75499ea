//! Messages of the server: finds their boundaries, and reads their fields.

use crate::SqlState;

/// Limit of a message's length. A larger one is taken for garbage: PostgreSQL's own limit for a row is 1 GiB.
pub const MAX_MESSAGE_BYTES: usize = 1 << 30;

/// Type byte and body of one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// The type byte.
    pub tag: u8,
    /// The content after the length.
    pub body: &'a [u8],
    /// Length of the whole message, including type and length.
    pub len: usize,
}

/// The error when a message could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The length field is impossible.
    #[error("server sent message '{}' with an impossible length of {len} bytes", *tag as char)]
    Length {
        /// The type byte.
        tag: u8,
        /// The length in it.
        len: u32,
    },
    /// A field ends after the message.
    #[error("server sent a message '{}' that ends too early", *tag as char)]
    Truncated {
        /// The type byte.
        tag: u8,
    },
}

/// Returns the first message of `input`; `None` if it is incomplete.
///
/// # Errors
/// When the length field is impossible.
#[inline]
pub fn next_message(input: &[u8]) -> Result<Option<Message<'_>>, DecodeError> {
    Ok(split_message(input)?.map(|(message, _)| message))
}

/// Returns the first message and the rest.
///
/// # Errors
/// When the length field is impossible.
#[inline]
pub(crate) fn split_message(input: &[u8]) -> Result<Option<(Message<'_>, &[u8])>, DecodeError> {
    let Some((&[tag, a, b, c, d], tail)) = input.split_first_chunk::<5>() else {
        return Ok(None);
    };
    let len = u32::from_be_bytes([a, b, c, d]);
    // A complete message has a possible length: one comparison for all bounds.
    let Some((body, rest)) = tail.split_at_checked(len.wrapping_sub(4) as usize) else {
        return if is_possible(len) { Ok(None) } else { Err(DecodeError::Length { tag, len }) };
    };
    Ok(Some((Message { tag, body, len: len as usize + 1 }, rest)))
}

#[cold]
fn is_possible(len: u32) -> bool {
    (4..=MAX_MESSAGE_BYTES).contains(&(len as usize))
}

/// One row of a result, borrowed from the receive buffer.
#[derive(Clone, Copy, Debug)]
pub struct DataRow<'a> {
    body: &'a [u8],
}

impl<'a> DataRow<'a> {
    /// Returns the row in the body of a `D` message.
    #[must_use]
    pub fn new(body: &'a [u8]) -> Self {
        Self { body }
    }

    /// Returns the row's bytes, to store them.
    #[must_use]
    pub fn body(&self) -> &'a [u8] {
        self.body
    }

    /// Returns the columns in order; `None` is NULL. Ends early if the message is cut off.
    pub fn columns(&self) -> impl Iterator<Item = Option<&'a [u8]>> + use<'a> {
        let mut rest = self.body.get(2..).unwrap_or_default();
        let columns = self.body.first_chunk::<2>().map_or(0, |b| u16::from_be_bytes(*b));
        (0..columns).map_while(move |_| {
            let (len, tail) = rest.split_first_chunk::<4>()?;
            let len = i32::from_be_bytes(*len);
            if len < 0 {
                rest = tail;
                return Some(None);
            }
            let (value, tail) = tail.split_at_checked(len as usize)?;
            rest = tail;
            Some(Some(value))
        })
    }

    /// Returns column `index` as text; `None` if it is NULL, absent or not UTF-8.
    #[must_use]
    pub fn text(&self, index: usize) -> Option<&'a str> {
        self.columns().nth(index).flatten().and_then(|v| std::str::from_utf8(v).ok())
    }
}

/// Returns the names of a result's columns, from the body of a `T` message.
#[must_use]
pub fn column_names(body: &[u8]) -> Vec<String> {
    let mut rest = body.get(2..).unwrap_or_default();
    let mut names = Vec::new();
    while let Some(end) = rest.iter().position(|&b| b == 0) {
        names.push(String::from_utf8_lossy(&rest[..end]).into_owned());
        rest = rest.get(end + 19..).unwrap_or_default();
    }
    names
}

/// Returns name and value of an `S` message (ParameterStatus).
#[must_use]
pub fn parameter_status(body: &[u8]) -> Option<(&str, &str)> {
    let mut parts = body.split(|&b| b == 0);
    let name = std::str::from_utf8(parts.next()?).ok()?;
    let value = std::str::from_utf8(parts.next()?).ok()?;
    Some((name, value))
}

/// Returns process id and secret key of a `K` message (BackendKeyData), which cancel this backend's query.
#[must_use]
pub fn backend_key(body: &[u8]) -> Option<(i32, &[u8])> {
    let (pid, key) = body.split_first_chunk::<4>()?;
    Some((i32::from_be_bytes(*pid), key))
}

/// Returns the number of rows in a command tag: 5 of `INSERT 0 5`; `None` for tags without one.
#[must_use]
pub fn rows_of_tag(tag: &[u8]) -> Option<u64> {
    let tag = tag.strip_suffix(b"\0").unwrap_or(tag);
    let last = tag.rsplit(|&b| b == b' ').next()?;
    std::str::from_utf8(last).ok()?.parse().ok()
}

/// An error or a notice of the server, with its fields for users.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerMessage {
    /// `ERROR`, `FATAL`, `PANIC`, `WARNING`, … not localised if the server sends that (9.6+).
    pub severity: String,
    /// The SQLSTATE.
    pub code: SqlState,
    /// The primary message.
    pub message: String,
    /// Details, if any.
    pub detail: Option<String>,
    /// The server's hint, if any.
    pub hint: Option<String>,
    /// Its context: functions and statements, innermost first.
    pub context: Option<String>,
    /// Position in the statement that was sent, in characters from 1.
    pub position: Option<u32>,
    /// A statement that the server ran internally, and the position in it.
    pub internal: Option<(String, Option<u32>)>,
    /// The severity in the server's language.
    pub localized_severity: Option<String>,
}

/// The routine of the server that waits for synchronous standbys.
const SYNC_REP: &[u8] = b"SyncRepWaitForLSN";

/// Returns true if a notice says that the server did not wait for its synchronous standbys to the end, and that the transaction
/// is committed on this server only. The text is in the server's language: SQLSTATE and routine distinguish it from other warnings.
/// 57P01 from the same routine ends the session, and no answer follows.
///
/// Source: PostgreSQL, `src/backend/replication/syncrep.c`.
#[must_use]
pub fn is_local_commit(body: &[u8]) -> bool {
    let has = |wanted: u8, text: &[u8]| fields(body).any(|(field, value)| field == wanted && value == text);
    has(b'C', b"01000") && has(b'R', SYNC_REP)
}

impl ServerMessage {
    /// Reads the body of an `E` or `N` message; skips unknown fields.
    #[must_use]
    pub fn parse(body: &[u8]) -> Self {
        let mut this = Self::default();
        let mut internal_position = None;
        for (field, value) in fields(body) {
            let text = || String::from_utf8_lossy(value).into_owned();
            match field {
                b'S' => {
                    if this.severity.is_empty() {
                        this.severity = text();
                    }
                    this.localized_severity = Some(text());
                }
                b'V' => this.severity = text(),
                b'C' => this.code = SqlState::from_bytes(value),
                b'M' => this.message = text(),
                b'D' => this.detail = Some(text()),
                b'H' => this.hint = Some(text()),
                b'W' => this.context = Some(text()),
                b'P' => this.position = text().parse().ok(),
                b'p' => internal_position = text().parse().ok(),
                b'q' => this.internal = Some((text(), None)),
                _ => {}
            }
        }
        if let Some((_, position)) = &mut this.internal {
            *position = internal_position;
        }
        this
    }

    /// Returns true if the server closes the connection with it.
    #[must_use]
    pub fn is_fatal(&self) -> bool {
        matches!(self.severity.as_str(), "FATAL" | "PANIC")
    }
}

impl std::fmt::Display for ServerMessage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {} (SQLSTATE {})", self.severity, self.message, self.code)?;
        if let Some(detail) = &self.detail {
            write!(f, "; {detail}")?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "; hint: {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ServerMessage {}

/// Returns the SQLSTATE of the body of an `E` message, without reading the rest.
#[must_use]
pub fn error_code(body: &[u8]) -> SqlState {
    // As in libpq and in [`ServerMessage::parse`], the last field of a kind counts.
    fields(body)
        .filter(|(field, _)| *field == b'C')
        .last()
        .map_or_else(SqlState::default, |(_, value)| SqlState::from_bytes(value))
}

fn fields(body: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    body.split(|&b| b == 0).filter_map(|field| field.split_first().map(|(&tag, value)| (tag, value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_found_only_when_it_is_whole() {
        let bytes = b"Z\0\0\0\x05I";
        for cut in 0..bytes.len() {
            assert_eq!(next_message(&bytes[..cut]), Ok(None), "{cut} bytes");
        }
        assert_eq!(next_message(bytes), Ok(Some(Message { tag: b'Z', body: b"I", len: 6 })));
    }

    #[test]
    fn an_impossible_length_is_an_error_and_not_a_wait_for_ever() {
        assert!(next_message(b"Z\0\0\0\x03").is_err());
        assert!(next_message(b"Z\xff\xff\xff\xff").is_err());
    }

    #[test]
    fn rows_are_read_column_by_column() {
        let body = b"\0\x03\0\0\0\x0242\xff\xff\xff\xff\0\0\0\0";
        let row = DataRow::new(body);
        assert_eq!(row.columns().collect::<Vec<_>>(), [Some(b"42".as_slice()), None, Some(b"".as_slice())]);
        assert_eq!(row.text(0), Some("42"));
        assert_eq!(row.text(1), None);
        assert_eq!(row.text(9), None);
    }

    #[test]
    fn a_cut_row_ends_early() {
        assert_eq!(DataRow::new(b"\0\x02\0\0\0\x0942").columns().count(), 0);
    }

    #[test]
    fn an_error_is_read_with_its_fields() {
        let body = b"SFEHLER\0VERROR\0C40001\0Mcould not serialize\0Dbecause\0Htry again\0\0";
        let error = ServerMessage::parse(body);
        assert_eq!(error.to_string(), "ERROR: could not serialize (SQLSTATE 40001); because; hint: try again");
        assert_eq!(error_code(body), SqlState::SERIALIZATION_FAILURE);
        assert!(!error.is_fatal());
        let error = ServerMessage::parse(b"VERROR\0C42703\0Mno column\0p8\0P15\0qSELECT x\0\0");
        let twice = b"SERROR\0C40001\0C23505\0Mtwice\0\0";
        assert_eq!(error_code(twice), ServerMessage::parse(twice).code, "the last one counts for both");
        assert_eq!((error.position, error.internal), (Some(15), Some(("SELECT x".to_owned(), Some(8)))));
    }

    #[test]
    fn tags_show_their_rows() {
        assert_eq!(rows_of_tag(b"INSERT 0 5\0"), Some(5));
        assert_eq!(rows_of_tag(b"COPY 100000\0"), Some(100_000));
        assert_eq!(rows_of_tag(b"BEGIN\0"), None);
    }
}
