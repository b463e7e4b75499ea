//! COPY of rows to the server.

use std::sync::atomic::{AtomicU64, Ordering};

use pgdyno_net::{AdminError, CopyWriter, Halt};
use pgdyno_workload::{CopyBuf, Table};

use crate::LoadProgress;

/// Size of one CopyData message. Large ones save the server 11 to 19 % of the work of one message per row; larger
/// ones than this save no more.
const MESSAGE_BYTES: usize = 64 * 1024;
/// Smaller chunks are sent together.
const SEND_BYTES: usize = 512 * 1024;

/// Rows and bytes of a table sent so far, by all loaders.
#[derive(Debug, Default)]
pub(crate) struct Sent {
    rows: AtomicU64,
    bytes: AtomicU64,
}

impl Sent {
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

/// Writes the rows of `chunks` into one buffer, repeatedly, and sends it.
///
/// If everything must stop, it returns early without an error; the COPY must not be finished then.
pub(crate) fn send(
    table: &Table,
    mut chunks: impl FnMut() -> Option<u64>,
    buffer: &mut CopyBuf,
    writer: &mut CopyWriter<'_>,
    sent: &Sent,
    halt: &Halt<'_>,
    progress: &(dyn Fn(&LoadProgress<'_>) + Sync),
) -> Result<(), AdminError> {
    let Some(source) = &table.source else {
        return Ok(());
    };
    buffer.start(&table.binary);
    if !buffer.header().is_empty() {
        writer.write(buffer.header())?;
    }
    loop {
        let chunk = chunks();
        if let Some(chunk) = chunk {
            source.write(chunk, buffer);
        }
        if halt.is_set() {
            return Ok(());
        }
        if chunk.is_none() || buffer.bytes().len() >= SEND_BYTES {
            for message in buffer.bytes().chunks(MESSAGE_BYTES) {
                if halt.is_set() {
                    return Ok(());
                }
                writer.write(message)?;
            }
            let (rows, bytes) = (buffer.rows(), buffer.bytes().len() as u64);
            progress(&LoadProgress::Table {
                name: table.name,
                rows: sent.rows.fetch_add(rows, Ordering::Relaxed) + rows,
                rows_expected: table.rows.expected(),
                bytes: sent.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes,
            });
            buffer.clear();
        }
        if chunk.is_none() {
            return if buffer.trailer().is_empty() { Ok(()) } else { writer.write(buffer.trailer()) };
        }
    }
}
