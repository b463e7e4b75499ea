//! The server's half of one connection, sans-IO.

use pgdyno_wire::{backend, frontend};

const SSL_REQUEST: i32 = 80_877_103;
const GSS_REQUEST: i32 = 80_877_104;

/// State of one connection.
#[derive(Default)]
pub(crate) struct Conversation {
    started: bool,
    /// Number of parameters of the statement prepared last: clients describe a statement right after they prepare it.
    parameters: u16,
    /// Beginning of a message that is not complete yet.
    pending: Vec<u8>,
}

impl Conversation {
    /// Appends the answer to `bytes` to `out`. Returns whether the connection stays open.
    pub(crate) fn answer(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> bool {
        if self.pending.is_empty() {
            let (used, open) = self.answer_complete(bytes, out);
            self.pending.extend_from_slice(&bytes[used..]);
            return open;
        }
        let mut pending = std::mem::take(&mut self.pending);
        pending.extend_from_slice(bytes);
        let (used, open) = self.answer_complete(&pending, out);
        pending.drain(..used);
        self.pending = pending;
        open
    }

    /// Answers the complete messages of `bytes`. Returns how many bytes those have and whether the connection stays open.
    fn answer_complete(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> (usize, bool) {
        let mut used = 0;
        while !self.started {
            let Some((len, body)) = bytes[used..].split_first_chunk::<4>() else {
                return (used, true);
            };
            let len = u32::from_be_bytes(*len) as usize;
            if len < 8 {
                return (used, false);
            }
            let Some(body) = body.get(..len - 4) else {
                return (used, true);
            };
            used += len;
            match body.first_chunk::<4>().map(|code| i32::from_be_bytes(*code)) {
                Some(SSL_REQUEST | GSS_REQUEST) => out.push(b'N'),
                // Nothing runs that could be cancelled: close the connection, as PostgreSQL does after a cancel request.
                Some(frontend::CANCEL_REQUEST) => return (used, false),
                Some(frontend::PROTOCOL_3_0..) => {
                    self.started = true;
                    greet(out);
                }
                _ => return (used, false),
            }
        }
        while let Ok(Some(message)) = backend::next_message(&bytes[used..]) {
            used += message.len;
            match message.tag {
                b'P' => {
                    self.parameters = parameters(message.body);
                    out.extend_from_slice(b"1\0\0\0\x04");
                }
                b'B' => out.extend_from_slice(b"2\0\0\0\x04"),
                b'C' => out.extend_from_slice(b"3\0\0\0\x04"),
                b'D' => {
                    if message.body.first() == Some(&b'S') {
                        describe_parameters(self.parameters, out);
                    }
                    out.extend_from_slice(ROW_DESCRIPTION);
                }
                b'E' => out.extend_from_slice(ROW_AND_TAG),
                b'S' => out.extend_from_slice(READY),
                b'Q' => {
                    out.extend_from_slice(ROW_DESCRIPTION);
                    out.extend_from_slice(ROW_AND_TAG);
                    out.extend_from_slice(READY);
                }
                b'X' => return (used, false),
                _ => {}
            }
        }
        (used, true)
    }
}

/// RowDescription of one column `n` of type int4 in text format.
const ROW_DESCRIPTION: &[u8] = b"T\0\0\0\x1a\0\x01n\0\0\0\0\0\0\0\0\0\0\x17\0\x04\xff\xff\xff\xff\0\0";
/// DataRow (1) and CommandComplete `SELECT 1`.
const ROW_AND_TAG: &[u8] = b"D\0\0\0\x0b\0\x01\0\0\0\x011C\0\0\0\x0dSELECT 1\0";
const READY: &[u8] = b"Z\0\0\0\x05I";

/// Returns the highest `$n` in the text of a Parse message.
fn parameters(body: &[u8]) -> u16 {
    let sql = body.split(|b| *b == 0).nth(1).unwrap_or_default();
    let number = |text: &[u8]| {
        let digits = text.iter().take_while(|b| b.is_ascii_digit()).count();
        std::str::from_utf8(&text[..digits]).ok()?.parse().ok()
    };
    sql.split(|b| *b == b'$').skip(1).filter_map(number).max().unwrap_or(0)
}

/// Appends a ParameterDescription of `count` integers.
fn describe_parameters(count: u16, out: &mut Vec<u8>) {
    const INT4: u32 = 23;
    frontend::message(out, b't', |out| {
        out.extend_from_slice(&count.to_be_bytes());
        (0..count).for_each(|_| out.extend_from_slice(&INT4.to_be_bytes()));
    });
}

fn greet(out: &mut Vec<u8>) {
    out.extend_from_slice(b"R\0\0\0\x08\0\0\0\0");
    for (name, value) in [
        ("server_version", crate::VERSION),
        ("client_encoding", "UTF8"),
        ("standard_conforming_strings", "on"),
        ("integer_datetimes", "on"),
    ] {
        frontend::message(out, b'S', |out| {
            frontend::cstr(out, name);
            frontend::cstr(out, value);
        });
    }
    out.extend_from_slice(b"K\0\0\0\x0c\0\0\0\x01\0\0\0\x01");
    out.extend_from_slice(READY);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_select_is_answered_byte_by_byte_as_in_one_piece() {
        let mut sent = Vec::new();
        frontend::ssl_request(&mut sent);
        frontend::startup(&mut sent, [("user", "x")]);
        frontend::query(&mut sent, b"select 1");
        frontend::sync(&mut sent);
        let (mut whole, mut pieces) = (Vec::new(), Vec::new());
        assert!(Conversation::default().answer(&sent, &mut whole));
        let mut conversation = Conversation::default();
        assert!(sent.iter().all(|b| conversation.answer(&[*b], &mut pieces)));
        assert_eq!(whole, pieces);
        let mut tags = Vec::new();
        let mut rest = &whole[1..];
        while let Some(message) = backend::next_message(rest).unwrap() {
            tags.push(message.tag as char);
            rest = &rest[message.len..];
        }
        assert_eq!((whole[0], tags.iter().collect::<String>(), rest.len()), (b'N', "RSSSSKZTDCZZ".to_owned(), 0));
    }

    #[test]
    fn a_prepared_statement_is_described_with_its_parameters() {
        let mut sent = Vec::new();
        frontend::startup(&mut sent, [("user", "x")]);
        frontend::parse(&mut sent, b"s", b"select $2::int + $10 + $1");
        frontend::message(&mut sent, b'D', |out| out.extend_from_slice(b"Ss\0"));
        let mut out = Vec::new();
        assert!(Conversation::default().answer(&sent, &mut out));
        let at = out.windows(5).position(|found| found == b"1\0\0\0\x04").unwrap() + 5;
        let described = backend::next_message(&out[at..]).unwrap().unwrap();
        assert_eq!(
            (described.tag, described.body.len(), &described.body[..6]),
            (b't', 2 + 10 * 4, &b"\0\x0a\0\0\0\x17"[..])
        );
        assert_eq!(&out[at + described.len..], ROW_DESCRIPTION);
        assert_eq!(parameters(b"\0begin\0\0\0"), 0);
    }

    #[test]
    fn a_cancel_request_is_answered_by_closing_the_connection() {
        let (mut sent, mut out) = (Vec::new(), Vec::new());
        frontend::cancel_request(&mut sent, 1, &[0; 4]);
        assert!(!Conversation::default().answer(&sent, &mut out));
        assert_eq!(out, b"");
    }

    #[test]
    fn garbage_ends_the_conversation() {
        assert!(!Conversation::default().answer(&[0; 8], &mut Vec::new()));
    }
}
