//! Whole messages over a blocking transport.

use std::io::{self, Read as _, Write as _};
use std::time::Instant;

use pgdyno_wire::backend::{self, DecodeError, Message};

use crate::address::remaining;
use crate::transport::Transport;

/// The least room that a read is given.
const READ_BYTES: usize = 16 * 1024;

/// Why no message came.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReceiveError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("server closed the connection")]
    Closed,
    #[error(transparent)]
    Decode(#[from] DecodeError),
}

/// A transport and what came in and was not read yet.
#[derive(Debug)]
pub(crate) struct Channel {
    pub(crate) transport: Transport,
    buffer: Vec<u8>,
    /// `buffer[start..end]` is unread.
    start: usize,
    end: usize,
    /// Bytes of the message that was handed out last; it is dropped by the next call.
    lent: usize,
    /// When to give up waiting.
    deadline: Option<Instant>,
}

impl Channel {
    pub(crate) fn new(transport: Transport, deadline: Option<Instant>) -> Self {
        Self { transport, buffer: Vec::new(), start: 0, end: 0, lent: 0, deadline }
    }

    /// Waits without limit from now on.
    pub(crate) fn clear_deadline(&mut self) -> io::Result<()> {
        if self.deadline.take().is_some() {
            self.transport.set_read_timeout(None)?;
        }
        Ok(())
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.transport.write_all(bytes)?;
        self.transport.flush()
    }

    /// The next message, waited for.
    pub(crate) fn receive(&mut self) -> Result<Message<'_>, ReceiveError> {
        self.start += std::mem::take(&mut self.lent);
        let len = loop {
            match backend::next_message(&self.buffer[self.start..self.end])? {
                Some(message) => break message.len,
                None => self.fill()?,
            }
        };
        self.lent = len;
        let message = backend::next_message(&self.buffer[self.start..self.start + len])?;
        // The loop ended because the message is there as a whole.
        message.ok_or(ReceiveError::Closed)
    }

    /// Bytes that came and were not taken as messages: for an excerpt, or to hand over.
    pub(crate) fn unread(&self) -> &[u8] {
        &self.buffer[self.start + self.lent..self.end]
    }

    /// Whether there is something to read, found out without waiting.
    pub(crate) fn is_readable(&mut self) -> io::Result<bool> {
        if !self.unread().is_empty() {
            return Ok(true);
        }
        let mut fds = [rustix::event::PollFd::new(&self.transport, rustix::event::PollFlags::IN)];
        let now = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
        Ok(rustix::event::poll(&mut fds, Some(&now))? > 0)
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
        if let Some(left) = remaining(self.deadline)? {
            self.transport.set_read_timeout(Some(left))?;
        }
        loop {
            match self.transport.read(&mut self.buffer[self.end..]) {
                Ok(0) => return Err(ReceiveError::Closed),
                Ok(n) => {
                    self.end += n;
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // What a blocking socket says when its timeout is over.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Err(io::Error::from(io::ErrorKind::TimedOut).into());
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The transport, and what was read from it too much.
    pub(crate) fn into_parts(self) -> (Transport, Vec<u8>) {
        let unread = self.unread().to_vec();
        (self.transport, unread)
    }
}
