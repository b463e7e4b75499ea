//! Complete messages over a blocking transport.

use std::io::{self, Write as _};
use std::time::{Duration, Instant};

use pgdyno_wire::backend::{self, DecodeError, Message};

use crate::transport::{Patient as _, Transport};

/// Minimum size of a read.
const READ_BYTES: usize = 16 * 1024;

/// The error when no message came.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReceiveError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("server closed the connection")]
    Closed,
    #[error(transparent)]
    Decode(#[from] DecodeError),
    #[error("server sent message '{}' of {len} bytes, which cannot be right here", .tag.escape_ascii())]
    Unexpected { tag: u8, len: usize },
}

/// Limit of most types of messages, as in libpq.
const SHORT_BYTES: usize = 30_000;

/// Returns true if a message of this type may have this length, as in libpq. Messages with a user's data may have any
/// length.
fn is_plausible(tag: u8, len: usize) -> bool {
    len <= SHORT_BYTES || matches!(tag, b'T' | b'D' | b'd' | b'V' | b'E' | b'N' | b'A')
}

/// A transport with its unread input.
#[derive(Debug)]
pub(crate) struct Channel {
    pub(crate) transport: Transport,
    buffer: Vec<u8>,
    /// `buffer[start..end]` is unread.
    start: usize,
    end: usize,
    /// Length of the message that was returned last; the next call drops it.
    lent: usize,
    /// Deadline of waits.
    deadline: Option<Instant>,
}

impl Channel {
    pub(crate) fn new(transport: Transport, deadline: Option<Instant>) -> Self {
        Self { transport, buffer: Vec::new(), start: 0, end: 0, lent: 0, deadline }
    }

    /// Returns the deadline.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Sets the deadline.
    pub(crate) fn set_deadline(&mut self, deadline: Instant) {
        self.deadline = Some(deadline);
    }

    /// Removes the deadline. Returns true if there was one.
    pub(crate) fn clear_deadline(&mut self) -> io::Result<bool> {
        let had = self.deadline.take().is_some();
        if had {
            self.transport.set_read_timeout(None)?;
        }
        Ok(had)
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.transport.write_all(bytes)?;
        self.transport.flush()
    }

    /// Waits for the next message.
    pub(crate) fn receive(&mut self) -> Result<Message<'_>, ReceiveError> {
        self.receive_if(is_plausible)
    }

    /// Waits for the next message. Calls `may_come` with its type and length as soon as these are there: a refused
    /// message is not read into memory.
    pub(crate) fn receive_if(&mut self, may_come: impl Fn(u8, usize) -> bool) -> Result<Message<'_>, ReceiveError> {
        self.start += std::mem::take(&mut self.lent);
        let len = loop {
            if let Some(&[tag, a, b, c, d]) = self.buffer[self.start..self.end].first_chunk::<5>() {
                let len = u32::from_be_bytes([a, b, c, d]) as usize;
                if !may_come(tag, len) {
                    return Err(ReceiveError::Unexpected { tag, len });
                }
            }
            match backend::next_message(&self.buffer[self.start..self.end])? {
                Some(message) => break message.len,
                None => self.fill()?,
            }
        };
        self.lent = len;
        let message = backend::next_message(&self.buffer[self.start..self.start + len])?;
        // The loop ended because the message is complete.
        message.ok_or(ReceiveError::Closed)
    }

    /// Returns bytes that were read and are not part of a returned message: for an excerpt, or to pass on.
    pub(crate) fn unread(&self) -> &[u8] {
        &self.buffer[self.start + self.lent..self.end]
    }

    /// Returns true if there is something to read. Does not wait.
    pub(crate) fn is_readable(&mut self) -> io::Result<bool> {
        self.is_readable_within(Duration::ZERO)
    }

    /// Returns true as soon as there is something to read, false if there is nothing until then. A signal that ends
    /// the wait begins it anew.
    pub(crate) fn is_readable_within(&mut self, patience: Duration) -> io::Result<bool> {
        if !self.unread().is_empty() || self.transport.has_buffered() {
            return Ok(true);
        }
        let mut fds = [rustix::event::PollFd::new(&self.transport, rustix::event::PollFlags::IN)];
        let limit =
            rustix::event::Timespec { tv_sec: patience.as_secs() as _, tv_nsec: patience.subsec_nanos().into() };
        loop {
            match rustix::event::poll(&mut fds, Some(&limit)) {
                Err(rustix::io::Errno::INTR) => {}
                other => return Ok(other? > 0),
            }
        }
    }

    fn fill(&mut self) -> Result<(), ReceiveError> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.buffer.len() - self.end < READ_BYTES {
            let len = (self.end + READ_BYTES).max(self.buffer.len() * 2);
            self.buffer.resize(len, 0);
        }
        match self.transport.read_by(&mut self.buffer[self.end..], self.deadline)? {
            0 => Err(ReceiveError::Closed),
            count => {
                self.end += count;
                Ok(())
            }
        }
    }

    /// Returns the transport, and the bytes that were read ahead.
    pub(crate) fn into_parts(self) -> (Transport, Vec<u8>) {
        let unread = self.unread().to_vec();
        (self.transport, unread)
    }
}
