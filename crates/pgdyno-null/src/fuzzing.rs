//! The server's half of a connection, without a socket, for the fuzz targets. No part of the interface.

use crate::conversation::Conversation;

/// One connection.
#[derive(Default)]
pub struct Answering(Conversation);

impl std::fmt::Debug for Answering {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Answering").finish_non_exhaustive()
    }
}

impl Answering {
    /// Appends the answer to `bytes`; whether the client wants to go on.
    pub fn answer(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> bool {
        self.0.answer(bytes, out)
    }
}
