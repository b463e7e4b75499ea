//! Complete messages over a blocking transport.

use std::io;
use std::time::Duration;

use pgdyno_wire::backend::{self, DecodeError, Message};

use crate::Deadline;
use crate::transport::{Patient as _, Transport};
use crate::vigil::Vigil;

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
    deadline: Deadline,
}

impl Channel {
    pub(crate) fn new(transport: Transport, deadline: Deadline) -> Self {
        Self { transport, buffer: Vec::new(), start: 0, end: 0, lent: 0, deadline }
    }

    /// Returns the deadline.
    pub(crate) fn deadline(&self) -> Deadline {
        self.deadline
    }

    /// Sets the deadline of everything that follows.
    pub(crate) fn set_deadline(&mut self, deadline: Deadline) -> io::Result<()> {
        let had_one = std::mem::replace(&mut self.deadline, deadline) != Deadline::NEVER;
        if had_one && deadline == Deadline::NEVER {
            self.transport.set_read_timeout(None)?;
            self.transport.set_write_timeout(None)?;
        }
        Ok(())
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.transport.write_by(bytes, self.deadline)
    }

    /// Waits for the next message of at most `bytes`, and reports the wait if it is long.
    pub(crate) fn receive_at_most(
        &mut self,
        bytes: usize,
        vigil: Option<&mut Vigil>,
    ) -> Result<Message<'_>, ReceiveError> {
        self.receive_if(|tag, len| len <= bytes && is_plausible(tag, len), vigil)
    }

    /// Waits for the next message. Calls `may_come` with its type and length as soon as these are there: a refused
    /// message is not read into memory.
    pub(crate) fn receive_if(
        &mut self,
        may_come: impl Fn(u8, usize) -> bool,
        mut vigil: Option<&mut Vigil>,
    ) -> Result<Message<'_>, ReceiveError> {
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
                None => {
                    if let Some(vigil) = vigil.as_deref_mut() {
                        self.await_input(vigil)?;
                    }
                    self.fill()?;
                }
            }
        };
        self.lent = len;
        let message = backend::next_message(&self.buffer[self.start..self.start + len])?;
        // The loop ended because the message is complete.
        message.ok_or(ReceiveError::Closed)
    }

    /// Waits until there is something to read, and looks for the cause of the wait whenever that is due.
    fn await_input(&mut self, vigil: &mut Vigil) -> io::Result<()> {
        loop {
            // Also if the server goes on sending: notices are no answer.
            vigil.look_if_due();
            if self.is_readable_within(vigil.next().earlier(self.deadline).left())? {
                return Ok(());
            }
            self.deadline.remaining()?;
        }
    }

    /// Returns bytes that were read and are not part of a returned message: for an excerpt, or to pass on.
    pub(crate) fn unread(&self) -> &[u8] {
        &self.buffer[self.start + self.lent..self.end]
    }

    /// Returns true if there is something to read. Does not wait.
    pub(crate) fn is_readable(&mut self) -> io::Result<bool> {
        self.is_readable_within(Some(Duration::ZERO))
    }

    /// Returns true as soon as there is something to read, false if there is nothing until then; `None` waits for ever.
    /// A signal that ends the wait begins it anew.
    pub(crate) fn is_readable_within(&mut self, patience: Option<Duration>) -> io::Result<bool> {
        if !self.unread().is_empty() || self.transport.has_buffered() {
            return Ok(true);
        }
        let mut fds = [rustix::event::PollFd::new(&self.transport, rustix::event::PollFlags::IN)];
        let limit = patience.map(|patience| rustix::event::Timespec {
            tv_sec: patience.as_secs() as _,
            tv_nsec: patience.subsec_nanos().into(),
        });
        loop {
            match rustix::event::poll(&mut fds, limit.as_ref()) {
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
