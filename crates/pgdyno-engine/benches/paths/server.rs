//! The server's part: an answer to everything, as the null server gives it.

use pgdyno_wire::backend;

const ROW_DESCRIPTION: &[u8] = b"T\0\0\0\x21\0\x01abalance\0\0\0\0\0\0\0\0\0\0\x17\0\x04\xff\xff\xff\xff\0\0";
const ROW_AND_TAG: &[u8] = b"D\0\0\0\x0b\0\x01\0\0\0\x011C\0\0\0\x0dSELECT 1\0";
const READY: &[u8] = b"Z\0\0\0\x05I";

/// What comes back for `sent`.
pub(super) fn answer(sent: &[u8]) -> Vec<u8> {
    let (mut rest, mut reply) = (sent, Vec::new());
    while let Ok(Some(message)) = backend::next_message(rest) {
        rest = &rest[message.len..];
        reply.extend_from_slice(match message.tag {
            b'P' => b"1\0\0\0\x04",
            b'B' => b"2\0\0\0\x04",
            b'D' => ROW_DESCRIPTION,
            b'E' => ROW_AND_TAG,
            b'S' => READY,
            _ => b"",
        });
    }
    reply
}
