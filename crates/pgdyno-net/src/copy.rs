//! COPY of rows into a table.

use std::io::{self, IoSlice, Write as _};

use pgdyno_wire::backend::{self, ServerMessage};
use pgdyno_wire::frontend;

use crate::Admin;
use crate::admin_error::{AdminError, server_error};

/// Limit of a CopyData message: PostgreSQL refuses more than 1 GiB.
const MAX_PIECE_BYTES: usize = 1 << 29;

/// A `COPY … FROM STDIN` in progress.
///
/// Each [`CopyWriter::write`] sends one CopyData message without copying it; 64 KiB and more at a time save the
/// server work. Dropping it without [`CopyWriter::finish`] makes the COPY fail, so that nothing of it stays.
#[derive(Debug)]
pub struct CopyWriter<'a> {
    admin: &'a mut Admin,
    sql: String,
    /// Whether the server has ended the COPY with an error.
    ended: bool,
}

impl<'a> CopyWriter<'a> {
    pub(crate) fn new(admin: &'a mut Admin, sql: String) -> Self {
        Self { admin, sql, ended: false }
    }

    /// Sends rows. They need not end at a row's boundary.
    ///
    /// # Errors
    /// When the server has ended the COPY (a full disk, a duplicate key, a cancel request), or the connection was
    /// lost.
    pub fn write(&mut self, data: &[u8]) -> Result<(), AdminError> {
        for piece in data.chunks(MAX_PIECE_BYTES) {
            // During a COPY the server sends only errors and warnings.
            while self.admin.has_answer(&self.sql)? {
                self.admin.begin_answer(&self.sql)?;
                let message = self.admin.receive(&self.sql)?;
                if message.tag == b'E' {
                    let error = server_error(&self.sql, ServerMessage::parse(message.body));
                    return Err(self.give_up(error));
                }
                self.admin.begin_data(&self.sql)?;
            }
            let header = frontend::copy_data_header(piece.len());
            if let Err(error) = write_both(self.admin.transport(), &header, piece) {
                self.ended = true;
                return Err(self.admin.write_failed(&error, &self.sql));
            }
        }
        Ok(())
    }

    /// Ends the COPY, and returns the number of rows that the server received.
    ///
    /// # Errors
    /// When the server refuses the rows.
    pub fn finish(mut self) -> Result<u64, AdminError> {
        let mut out = Vec::new();
        frontend::copy_done(&mut out);
        self.ended = true;
        self.admin.send(&out, &self.sql)?;
        let (mut rows, mut error) = (0, None);
        loop {
            let message = self.admin.receive(&self.sql)?;
            match message.tag {
                b'C' => rows = backend::rows_of_tag(message.body).unwrap_or(0),
                b'E' => error = Some(ServerMessage::parse(message.body)),
                b'Z' => break,
                _ => {}
            }
        }
        match error {
            Some(message) => Err(server_error(&self.sql, message)),
            None => Ok(rows),
        }
    }

    /// Makes the COPY fail; the connection can be used again.
    fn abort(&mut self) -> Result<(), AdminError> {
        let mut out = Vec::new();
        frontend::copy_fail(&mut out, "given up by the client");
        self.admin.send(&out, &self.sql)?;
        self.await_ready()
    }

    /// After the server's error: reads until it is ready for the next statement. It ignores COPY data meanwhile.
    fn give_up(&mut self, error: AdminError) -> AdminError {
        self.ended = true;
        match self.await_ready() {
            Ok(()) => error,
            Err(lost) => lost,
        }
    }

    fn await_ready(&mut self) -> Result<(), AdminError> {
        while self.admin.receive(&self.sql)?.tag != b'Z' {}
        Ok(())
    }
}

impl Drop for CopyWriter<'_> {
    fn drop(&mut self) {
        if !self.ended {
            // The next statement meets a lost connection again.
            drop(self.abort());
        }
    }
}

/// Writes header and body, with one system call if the socket takes them.
fn write_both(transport: &mut crate::Transport, header: &[u8], body: &[u8]) -> io::Result<()> {
    let mut sent = 0;
    while sent < header.len() {
        match transport.write_vectored(&[IoSlice::new(&header[sent..]), IoSlice::new(body)]) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(n) => sent += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    transport.write_all(&body[sent - header.len()..])?;
    transport.flush()
}
