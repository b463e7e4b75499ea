//! Writes the commits of a run into its directory while it goes on: a kill of pgdyno loses at most the last batch.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use pgdyno_engine::{CommitClass, Observer, TxEnd};
use pgdyno_results::{KEY_BYTES_MAX, LedgerEntry, LedgerFile, MarkerClass};
use pgdyno_wire::SqlState;
use pgdyno_workload::{Marks, RowKey};

use crate::exit_code::Code;
use crate::failure::{OrFail, Result};

/// Time between two batches.
const BATCH: Duration = Duration::from_millis(100);

/// The writer of a run's commits, in a thread of its own: the disk must not delay a client.
pub(crate) struct LedgerWriter {
    waiting: Arc<Mutex<Vec<LedgerEntry>>>,
    /// The numbers of the transactions whose commits are written.
    txns: Vec<usize>,
    /// The time of day at which the stage's time is 0.
    epoch_ns: AtomicU64,
    /// Dropped to end the thread.
    end: Sender<()>,
    thread: JoinHandle<std::io::Result<()>>,
}

impl LedgerWriter {
    /// Begins the file in the directory of a run. `txns` are the numbers of the transactions whose commits are written.
    ///
    /// # Errors
    /// When it cannot be created.
    pub(crate) fn open(directory: &Path, txns: Vec<usize>) -> Result<Self> {
        let mut file = LedgerFile::create(directory).or_fail(Code::Start)?;
        let waiting = Arc::<Mutex<Vec<LedgerEntry>>>::default();
        let (end, ended) = channel();
        let of_thread = Arc::clone(&waiting);
        let thread = std::thread::Builder::new().name("ledger".to_owned());
        let thread = thread.spawn(move || write(&mut |batch| file.append(batch), &of_thread, &ended));
        let thread = thread.or_fail(Code::Start)?;
        Ok(Self { waiting, txns, epoch_ns: AtomicU64::new(0), end, thread })
    }

    /// Returns the observer of one engine thread. `epoch_ns` is the time of day at which the stage's time is 0.
    pub(crate) fn observer(&self, epoch_ns: u64) -> Box<dyn Observer> {
        self.epoch_ns.store(epoch_ns, Ordering::Relaxed);
        Box::new(OfThread {
            waiting: Arc::clone(&self.waiting),
            txns: self.txns.clone(),
            epoch_ns,
            servers: HashMap::new(),
            unknown: "".into(),
        })
    }

    /// Returns a moment of the last stage in microseconds since 1970.
    pub(crate) fn at_us(&self, ns: u64) -> u64 {
        (self.epoch_ns.load(Ordering::Relaxed) + ns) / 1_000
    }

    /// Writes the last batch.
    ///
    /// # Errors
    /// When a batch could not be written.
    pub(crate) fn close(self) -> std::result::Result<(), String> {
        drop(self.end);
        let written = self.thread.join().unwrap_or_else(|_| Err(std::io::Error::other("its thread panicked")));
        written.map_err(|error| format!("failed to write the ledger: {error}; commits are missing in it"))
    }
}

/// Writes batches until the end of the run. After an error commits are dropped: a part of a line may be in the file.
fn write(
    append: &mut dyn FnMut(&[LedgerEntry]) -> std::io::Result<()>,
    waiting: &Mutex<Vec<LedgerEntry>>,
    ended: &Receiver<()>,
) -> std::io::Result<()> {
    let mut written = Ok(());
    loop {
        let is_last = ended.recv_timeout(BATCH) == Err(RecvTimeoutError::Disconnected);
        let batch = std::mem::take(&mut *waiting.lock().unwrap_or_else(PoisonError::into_inner));
        if !batch.is_empty() && written.is_ok() {
            written = append(&batch);
        }
        if is_last {
            return written;
        }
    }
}

/// The observer of one engine thread in one stage.
struct OfThread {
    waiting: Arc<Mutex<Vec<LedgerEntry>>>,
    txns: Vec<usize>,
    epoch_ns: u64,
    /// The server of each client.
    servers: HashMap<u32, Arc<str>>,
    unknown: Arc<str>,
}

impl OfThread {
    fn at_us(&self, ns: u64) -> u64 {
        (self.epoch_ns + ns) / 1_000
    }
}

impl Observer for OfThread {
    fn connected(&mut self, client: u32, _: i32, server: &str) {
        let known = self.servers.values().find(|known| &***known == server).cloned();
        self.servers.insert(client, known.unwrap_or_else(|| server.into()));
    }

    fn transaction(&mut self, _: &TxEnd) {}

    fn commit(&mut self, end: &TxEnd, class: CommitClass, code: Option<SqlState>, marks: Marks<'_>) {
        if !self.txns.contains(&end.txn) {
            return;
        }
        let key = match marks {
            Marks::Keyed { key: RowKey::Text(text), .. } => std::str::from_utf8(text).ok(),
            _ => None,
        };
        let key = key.filter(|key| key.len() <= KEY_BYTES_MAX);
        let entry = LedgerEntry {
            client: end.client,
            number: end.number,
            class: match class {
                CommitClass::Acknowledged => MarkerClass::Acknowledged,
                CommitClass::LocallyOnly => MarkerClass::LocallyOnly,
                CommitClass::Failed => MarkerClass::Failed,
                CommitClass::Unknown => MarkerClass::Unknown,
            },
            begun_us: self.at_us(end.begun.0),
            ended_us: self.at_us(end.end.0),
            marker: match marks {
                Marks::Wrote(sequence) => Some([i64::from(end.client), sequence.cast_signed(), 0]),
                Marks::Ordered(order) => Some(order.map(i64::from)),
                Marks::Keyed { place, key: RowKey::Number(number) } => Some([i64::from(place), number, 0]),
                Marks::Keyed { place, key: RowKey::Text(_) } => key.map(|_| [i64::from(place), 0, 0]),
                Marks::None | Marks::Saw(_) => None,
            },
            key: key.map(Box::from),
            sqlstate: code.map(|code| code.to_string()),
            server: Arc::clone(self.servers.get(&end.client).unwrap_or(&self.unknown)),
        };
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};

    use super::super::account::tests::entry;
    use super::*;

    #[test]
    fn after_an_error_nothing_more_is_written_or_kept() {
        let waiting = Mutex::new(vec![entry(1, MarkerClass::Acknowledged, 1.0)]);
        let (end, ended) = channel::<()>();
        let mut end = Some(end);
        let mut batches = 0;
        let written = write(
            &mut |_| {
                batches += 1;
                waiting.lock().unwrap().push(entry(2, MarkerClass::Acknowledged, 2.0));
                // The next look is the last one.
                drop(end.take());
                Err(Error::from(ErrorKind::StorageFull))
            },
            &waiting,
            &ended,
        );
        assert_eq!(written.unwrap_err().kind(), ErrorKind::StorageFull);
        assert_eq!((batches, waiting.lock().unwrap().len()), (1, 0));
    }
}
