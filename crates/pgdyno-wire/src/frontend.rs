//! Messages of the client. Each function appends one to a buffer.
//!
//! Source: PostgreSQL documentation, chapter "Frontend/Backend Protocol", section "Message Formats".

/// The protocol version 3.0, as in the startup message.
pub const PROTOCOL_3_0: i32 = 196_608;
const SSL_REQUEST: i32 = 80_877_103;
/// The code of a cancel request, in place of the version.
pub const CANCEL_REQUEST: i32 = 80_877_102;

/// Appends one message: its type byte, its length, and the output of `body`.
#[inline]
pub fn message(out: &mut Vec<u8>, tag: u8, body: impl FnOnce(&mut Vec<u8>)) {
    out.push(tag);
    with_length(out, body);
}

#[inline]
fn with_length(out: &mut Vec<u8>, body: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    body(out);
    let len = (out.len() - start) as u32;
    out[start..start + 4].copy_from_slice(&len.to_be_bytes());
}

/// Appends a string and a zero byte. Cuts `s` at a zero byte: the rest would be read as another field.
pub fn cstr(out: &mut Vec<u8>, s: &str) {
    bytes(out, s.as_bytes());
}

/// Appends text of any encoding, as [`cstr`] does.
#[inline]
fn bytes(out: &mut Vec<u8>, s: &[u8]) {
    let end = s.iter().position(|&b| b == 0).unwrap_or(s.len());
    out.extend_from_slice(&s[..end]);
    out.push(0);
}

/// Appends the startup message with its run-time parameters (`user`, `database`, …).
pub fn startup<'a>(out: &mut Vec<u8>, params: impl IntoIterator<Item = (&'a str, &'a str)>) {
    with_length(out, |out| {
        out.extend_from_slice(&PROTOCOL_3_0.to_be_bytes());
        for (name, value) in params {
            cstr(out, name);
            cstr(out, value);
        }
        out.push(0);
    });
}

/// Appends an SSLRequest; the server answers with one byte, `S` or `N`.
pub fn ssl_request(out: &mut Vec<u8>) {
    with_length(out, |out| out.extend_from_slice(&SSL_REQUEST.to_be_bytes()));
}

/// Appends a CancelRequest, on a connection of its own, for the query of the backend with this key.
pub fn cancel_request(out: &mut Vec<u8>, process_id: i32, secret_key: &[u8]) {
    with_length(out, |out| {
        out.extend_from_slice(&CANCEL_REQUEST.to_be_bytes());
        out.extend_from_slice(&process_id.to_be_bytes());
        out.extend_from_slice(secret_key);
    });
}

/// Appends a password, or the MD5 answer, as a zero-terminated string.
pub fn password(out: &mut Vec<u8>, password: &[u8]) {
    message(out, b'p', |out| {
        out.extend_from_slice(password);
        out.push(0);
    });
}

/// Appends the first answer of a SASL exchange.
pub fn sasl_initial_response(out: &mut Vec<u8>, mechanism: &str, data: &[u8]) {
    message(out, b'p', |out| {
        cstr(out, mechanism);
        out.extend_from_slice(&(data.len() as i32).to_be_bytes());
        out.extend_from_slice(data);
    });
}

/// Appends a later answer of a SASL exchange.
pub fn sasl_response(out: &mut Vec<u8>, data: &[u8]) {
    message(out, b'p', |out| out.extend_from_slice(data));
}

/// Appends a simple query: one or more statements in one text.
pub fn query(out: &mut Vec<u8>, sql: &[u8]) {
    message(out, b'Q', |out| bytes(out, sql));
}

/// Appends a Parse of a statement whose parameter types the server infers.
pub fn parse(out: &mut Vec<u8>, name: &[u8], sql: &[u8]) {
    message(out, b'P', |out| {
        bytes(out, name);
        bytes(out, sql);
        out.extend_from_slice(&[0, 0]);
    });
}

/// Appends a Bind of `count` parameters in text, each preceded by its length, to the unnamed portal; results come in
/// text.
#[inline]
pub fn bind_text(out: &mut Vec<u8>, name: &[u8], count: u16, encoded: &[u8]) {
    message(out, b'B', |out| {
        out.push(0);
        bytes(out, name);
        out.extend_from_slice(&[0, 0]);
        out.extend_from_slice(&count.to_be_bytes());
        out.extend_from_slice(encoded);
        out.extend_from_slice(&[0, 1, 0, 0]);
    });
}

/// Appends a Describe of the unnamed portal.
#[inline]
pub fn describe_portal(out: &mut Vec<u8>) {
    out.extend_from_slice(&[b'D', 0, 0, 0, 6, b'P', 0]);
}

/// Appends a Sync, which ends a group of extended-protocol messages; the server answers with ReadyForQuery.
#[inline]
pub fn sync(out: &mut Vec<u8>) {
    out.extend_from_slice(&[b'S', 0, 0, 0, 4]);
}

/// Appends an Execute of the unnamed portal, for all of its rows.
#[inline]
pub fn execute(out: &mut Vec<u8>) {
    out.extend_from_slice(&[b'E', 0, 0, 0, 9, 0, 0, 0, 0, 0]);
}

/// Appends a Terminate.
pub fn terminate(out: &mut Vec<u8>) {
    out.extend_from_slice(&[b'X', 0, 0, 0, 4]);
}

/// Appends a CopyData message.
pub fn copy_data(out: &mut Vec<u8>, data: &[u8]) {
    message(out, b'd', |out| out.extend_from_slice(data));
}

/// Appends the header of a CopyData message, whose `len` bytes the caller sends itself.
#[must_use]
pub fn copy_data_header(len: usize) -> [u8; 5] {
    let [a, b, c, d] = (len as u32 + 4).to_be_bytes();
    [b'd', a, b, c, d]
}

/// Appends a CopyDone.
pub fn copy_done(out: &mut Vec<u8>) {
    out.extend_from_slice(&[b'c', 0, 0, 0, 4]);
}

/// Appends a CopyFail with an error that the server will report.
pub fn copy_fail(out: &mut Vec<u8>, reason: &str) {
    message(out, b'f', |out| cstr(out, reason));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_count_themselves_and_the_body() {
        let mut out = Vec::new();
        query(&mut out, b"select 1");
        assert_eq!(out, b"Q\x00\x00\x00\x0dselect 1\x00");
    }

    #[test]
    fn a_startup_message_has_no_type_byte() {
        let mut out = Vec::new();
        startup(&mut out, [("user", "x")]);
        assert_eq!(out, b"\x00\x00\x00\x10\x00\x03\x00\x00user\x00x\x00\x00");
    }

    #[test]
    fn a_zero_byte_cannot_smuggle_in_a_second_field() {
        let mut out = Vec::new();
        cstr(&mut out, "a\0superuser");
        assert_eq!(out, b"a\0");
    }
}
