//! The server's half of a connection without a socket, for the fuzz targets. Not part of the interface.

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
    /// Appends the answer to `bytes` to `out`. Returns whether the connection stays open.
    pub fn answer(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> bool {
        self.0.answer(bytes, out)
    }
}
