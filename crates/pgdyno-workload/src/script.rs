//! What one client does: transactions as steps, each step a batch of statements and what follows.

use std::borrow::Cow;

use pgdyno_wire::backend::{DataRow, ServerMessage, column_names};
use pgdyno_wire::{Capture, QueryMode, Session, Statement, StmtId, TextParams, Value, libpq};

use crate::Rng;

/// Number of a client within its group, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClientId(pub u32);

/// Index of a transaction kind in its workload's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TxnId(pub u8);

/// What a script is made from.
#[derive(Clone, Debug)]
pub struct ClientContext {
    /// The name of its stage.
    pub stage: &'static str,
    /// The name of its group.
    pub group: &'static str,
    /// Which client of its group it is.
    pub id: ClientId,
    /// How many clients its group has.
    pub clients: u32,
    /// The client's own stream.
    pub rng: Rng,
}

/// From when on a wait counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Since {
    /// The end of the last transaction.
    #[default]
    End,
    /// The intended start of the last transaction: it was only queued, and nobody waited for its end (TPC-C clause
    /// 2.7.1.2, deferred Delivery). Where it takes longer than the wait, the next one starts late.
    Start,
}

/// The start of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begin {
    /// Its kind.
    pub txn: TxnId,
    /// Time to let pass before its intended start: think time of the last one, keying time of this one.
    pub wait_ns: u64,
    /// From when on that time counts.
    pub since: Since,
}

impl Begin {
    /// A transaction that starts at once.
    #[must_use]
    pub fn now(txn: TxnId) -> Self {
        Self { txn, wait_ns: 0, since: Since::End }
    }
}

/// How a transaction ended that met no error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Its work is committed.
    Committed,
    /// It was rolled back because the workload wants it so (TPC-C clause 2.4.1.4).
    RolledBack,
}

/// What follows a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Send the batch, await its reply, then step again.
    Await,
    /// Step again after so many nanoseconds; the batch must be empty.
    Sleep(u64),
    /// Run the command of [`ClientScript::shell`] on the driver's machine, then step again; the batch must be empty.
    /// Its output is for [`ClientScript::shell_done`] with `capture`, else for the user.
    Shell {
        /// Whether the script reads the output.
        capture: bool,
    },
    /// The transaction ends with the reply to this batch, or at once when the batch is empty.
    Finish(Verdict),
    /// The script cannot go on: its client is given up. Why was said by [`Batch::note`].
    Abort,
}

/// Something that the user should read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// Something went wrong.
    Error(String),
    /// Something is worth knowing.
    Info(String),
    /// The words of a script, to be shown as they are.
    Words(String),
    /// A notice of the server.
    Notice(Box<ServerMessage>),
}

impl Note {
    /// The text without its level; a notice as libpq puts it.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Error(text) | Self::Info(text) | Self::Words(text) => text.into(),
            Self::Notice(message) => libpq::notice(message, "").trim_end_matches('\n').to_owned().into(),
        }
    }
}

/// What went wrong in a transaction.
#[derive(Debug)]
pub enum Trouble<'a> {
    /// The server refused a statement.
    Server {
        /// The statement, as far as the server's answers tell.
        stmt: Option<StmtId>,
        /// How many results of the same batch came before it.
        results: u32,
        /// What the server says.
        message: &'a ServerMessage,
    },
    /// After an error, and a rollback where there was something to roll back.
    Decided {
        /// Whether the same transaction is tried again, or has failed for good.
        again: bool,
        /// How often it was tried.
        tries: u32,
        /// Time since its intended start.
        elapsed_ns: u64,
    },
    /// The connection broke.
    Lost {
        /// The statement whose answer was awaited, if one was.
        stmt: Option<StmtId>,
        /// How many results of the same batch had come.
        results: u32,
        /// The server's last words, where it had any.
        said: Option<&'a str>,
        /// What the system said.
        why: &'a str,
    },
    /// The transaction's last step was done, and its transaction block is still open.
    LeftOpen,
    /// The connection for this transaction could not be opened.
    NotConnected,
}

/// What becomes of a client whose transaction failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnTrouble {
    /// The failure is counted, and the client goes on with its next transaction.
    Count,
    /// It is passed over: the client goes on with the next step.
    Ignore,
    /// The workload wanted it: the transaction ended so. The server has undone its work.
    Finish(Verdict),
    /// The client is given up.
    Abort,
}

/// What came of a command on the driver's machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellOutcome {
    /// Whether it was run and said that all was well.
    pub success: bool,
    /// The beginning of what it printed; `None` when it could not be run or read.
    pub output: Option<Vec<u8>>,
}

/// What a batch brought back, of the statements that were sent with a [`Capture`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Reply<'a> {
    entries: &'a [u8],
    rows: u32,
}

/// One result of a statement that was sent with [`Capture::Results`].
#[derive(Clone, Debug, Default)]
pub struct ResultSet<'a> {
    /// The names of its columns; `None` for a statement that returns no rows, such as an UPDATE.
    pub columns: Option<Vec<String>>,
    /// How many rows it has.
    pub row_count: u32,
    /// The last of its rows.
    pub last_row: Option<DataRow<'a>>,
}

/// What the server sent, kept for the next step. Of a result with columns only the last row is kept, and how many there
/// were; of other rows all are, up to [`REPLY_BYTES_MAX`].
#[derive(Debug, Default)]
pub struct ReplyBuffer {
    /// Entries: a type byte, the length of the body, the body.
    entries: Vec<u8>,
    rows: u32,
    /// Of the result in progress that has columns: where its last row is, and how many there are.
    last: Option<(usize, u32)>,
}

/// What one reply may take, in bytes. No transaction that is measured reads as much.
pub const REPLY_BYTES_MAX: usize = 256 * 1024 * 1024;

/// A reply is more than may be kept: what came last is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TooMuch {
    /// It takes more than [`REPLY_BYTES_MAX`].
    #[error("the script keeps what a statement brings, and this brings more than {} MiB: select less", REPLY_BYTES_MAX >> 20)]
    Bytes,
    /// It has more rows than [`crate::Results::Rows`] allows.
    #[error("the workload keeps up to {cap} rows of a statement, and this brings more")]
    Rows {
        /// How many are allowed.
        cap: u32,
    },
}

/// The last row of a result, after how many there are.
const LAST_ROW: u8 = b'L';
const ROW: u8 = b'D';
const COLUMNS: u8 = b'T';
const END: u8 = b'C';

impl ReplyBuffer {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets everything, and keeps the memory.
    #[inline]
    pub fn clear(&mut self) {
        self.entries.clear();
        self.rows = 0;
        self.last = None;
    }

    /// Begins an entry of so many bytes, if there is room for it.
    fn begin(&mut self, kind: u8, length: usize) -> Result<(), TooMuch> {
        if self.entries.len() + length > REPLY_BYTES_MAX {
            return Err(TooMuch::Bytes);
        }
        let [a, b, c, d] = (length as u32).to_le_bytes();
        self.entries.extend_from_slice(&[kind, a, b, c, d]);
        Ok(())
    }

    /// Keeps a row.
    ///
    /// # Errors
    /// Where there is no room for it.
    pub fn row(&mut self, row: DataRow<'_>) -> Result<(), TooMuch> {
        let body = row.body();
        self.rows = self.rows.saturating_add(1);
        if let Some((at, count)) = &mut self.last {
            *count = count.saturating_add(1);
            let (at, count) = (*at, *count);
            self.entries.truncate(at);
            self.begin(LAST_ROW, 4 + body.len())?;
            self.entries.extend_from_slice(&count.to_le_bytes());
        } else {
            self.begin(ROW, body.len())?;
        }
        self.entries.extend_from_slice(body);
        Ok(())
    }

    /// Keeps the columns of the rows that follow: the body of a RowDescription.
    ///
    /// # Errors
    /// Where there is no room for it.
    pub fn columns(&mut self, body: &[u8]) -> Result<(), TooMuch> {
        self.begin(COLUMNS, body.len())?;
        self.entries.extend_from_slice(body);
        self.last = Some((self.entries.len(), 0));
        Ok(())
    }

    /// Keeps the end of a statement.
    #[inline]
    pub fn end(&mut self) {
        self.last = None;
        self.entries.extend_from_slice(&[END, 0, 0, 0, 0]);
    }

    /// What was kept.
    #[inline]
    #[must_use]
    pub fn reply(&self) -> Reply<'_> {
        Reply { entries: &self.entries, rows: self.rows }
    }
}

impl<'a> Reply<'a> {
    /// How many rows there are.
    #[must_use]
    pub fn row_count(&self) -> u32 {
        self.rows
    }

    fn entries(&self) -> impl Iterator<Item = (u8, &'a [u8])> + use<'a> {
        let mut rest = self.entries;
        std::iter::from_fn(move || {
            let (&[kind, a, b, c, d], tail) = rest.split_first_chunk::<5>()?;
            let (body, tail) = tail.split_at_checked(u32::from_le_bytes([a, b, c, d]) as usize)?;
            rest = tail;
            Some((kind, body))
        })
    }

    /// The rows in the order in which they came.
    pub fn rows(&self) -> impl Iterator<Item = DataRow<'a>> + use<'a> {
        self.entries().filter(|(kind, _)| *kind == ROW).map(|(_, body)| DataRow::new(body))
    }

    /// The only or first row.
    #[must_use]
    pub fn first(&self) -> Option<DataRow<'a>> {
        self.rows().next()
    }

    /// The results of statements that were sent with [`Capture::Results`], in the order in which they ended.
    pub fn results(&self) -> impl Iterator<Item = ResultSet<'a>> + use<'a> {
        let mut entries = self.entries();
        std::iter::from_fn(move || {
            let mut result = ResultSet::default();
            for (kind, body) in entries.by_ref() {
                match kind {
                    COLUMNS => result.columns = Some(column_names(body)),
                    LAST_ROW => {
                        let (count, row) = body.split_first_chunk::<4>()?;
                        result.row_count = u32::from_le_bytes(*count);
                        result.last_row = Some(DataRow::new(row));
                    }
                    _ => return Some(result),
                }
            }
            None
        })
    }
}

/// The statements of one step, on their way to the server.
///
/// All statements of a batch go out together, as one pipeline with one Sync at its end (in simple mode:
/// one Query each).
#[derive(Debug)]
pub struct Batch<'a> {
    session: &'a mut Session,
    statements: &'a [Statement],
    out: &'a mut Vec<u8>,
    notes: &'a mut Vec<Note>,
    held: bool,
    /// For statements whose rows the script does not read.
    unread: Capture,
}

impl<'a> Batch<'a> {
    /// A batch that appends to `out`, and what the script has to say to `notes`.
    #[must_use]
    pub fn new(
        session: &'a mut Session,
        statements: &'a [Statement],
        out: &'a mut Vec<u8>,
        notes: &'a mut Vec<Note>,
    ) -> Self {
        Self { session, statements, out, notes, held: false, unread: Capture::Nothing }
    }

    /// Lets the rows that the script does not ask for come by `unread`.
    #[inline]
    #[must_use]
    pub fn with_unread(mut self, unread: Capture) -> Self {
        self.unread = unread;
        self
    }

    #[inline]
    fn capture(&self, asked: Capture) -> Capture {
        if asked == Capture::Nothing { self.unread } else { asked }
    }

    /// Adds a statement whose rows the script does not read, unless its group keeps them ([`crate::Results::Rows`]).
    #[inline]
    pub fn execute(&mut self, id: StmtId, values: &[Value<'_>]) {
        self.session.execute(id, &self.statements[id.0 as usize], values, self.unread, self.out);
    }

    /// Adds a statement whose rows the next step reads.
    #[inline]
    pub fn fetch(&mut self, id: StmtId, values: &[Value<'_>]) {
        self.session.execute(id, &self.statements[id.0 as usize], values, Capture::Rows, self.out);
    }

    /// The query mode.
    #[must_use]
    pub fn mode(&self) -> QueryMode {
        self.session.mode()
    }

    /// Adds a text of one or more statements, as libpq's `PQsendQuery` sends it. It counts as statement `id`.
    pub fn query(&mut self, id: StmtId, sql: &[u8], capture: Capture) {
        self.session.query(id, sql, self.capture(capture), self.out);
    }

    /// Adds a statement with parameters in text, as libpq's `PQsendQueryParams` sends it.
    pub fn query_params(&mut self, id: StmtId, sql: &[u8], params: TextParams<'_>, capture: Capture) {
        self.session.query_params(id, sql, params, self.capture(capture), self.out);
    }

    /// Whether statement `id` was prepared on this connection by [`Batch::prepare`].
    #[must_use]
    pub fn is_prepared(&self, id: StmtId) -> bool {
        self.session.is_prepared(id)
    }

    /// Takes statement `id` for prepared, whatever the server said.
    pub fn assume_prepared(&mut self, id: StmtId) {
        self.session.assume_prepared(id);
    }

    /// Prepares statement `id` under `name`, as libpq's `PQsendPrepare` does.
    pub fn prepare(&mut self, id: StmtId, name: &[u8], sql: &[u8]) {
        self.session.prepare(id, name, sql, self.out);
    }

    /// Adds a statement that is prepared, as libpq's `PQsendQueryPrepared` sends it.
    #[inline]
    pub fn query_prepared(&mut self, id: StmtId, name: &[u8], params: TextParams<'_>, capture: Capture) {
        self.session.query_prepared(id, name, params, self.capture(capture), self.out);
    }

    /// Ends what was added so far by a Sync of its own, even where nothing was added.
    pub fn sync(&mut self) {
        self.session.sync_always(self.out);
    }

    /// Leaves the batch open: the next step adds to the same pipeline.
    pub fn hold(&mut self) {
        self.held = true;
    }

    /// Says something to the user.
    pub fn note(&mut self, note: Note) {
        self.notes.push(note);
    }

    /// Closes the batch.
    #[inline]
    pub fn close(self) {
        if !self.held {
            self.session.sync(self.out);
        }
    }
}

/// One client's script. It holds its own random stream and its place in the transaction.
///
/// ```text
/// begin ─► step ─► Await ─► step ─► … ─► Finish ─► begin ─► … ─► None: done
///            ▲                │
///            └──── restart ◄──┘ on 40001 and 40P01, while tries are left
/// ```
pub trait ClientScript: Send {
    /// Draws the next transaction and all of its inputs. Returns `None` when the client is done: it begins no more.
    fn begin(&mut self) -> Option<Begin>;
    /// Adds the statements of the next step to `batch`; `reply` holds what the last ones brought.
    fn step(&mut self, reply: Reply<'_>, batch: &mut Batch<'_>) -> Next;
    /// Goes back to the first step of the same transaction with the same inputs.
    fn restart(&mut self);
    /// A command for the driver's shell, after [`Next::Shell`].
    fn shell(&self) -> &[u8] {
        b""
    }
    /// What came of the command.
    fn shell_done(&mut self, _outcome: ShellOutcome) {}
    /// The statement, in reports, that the time of the last [`Next::Sleep`] or [`Next::Shell`] counts for.
    fn waiting(&self) -> Option<StmtId> {
        None
    }
    /// Adds what the transaction that has just ended so did to the counts of [`crate::Drive::counted`].
    fn tally(&self, _verdict: Verdict, _counts: &mut [u64]) {}
    /// Hears that the transaction failed, or is tried again, and says what becomes of the client; what the user
    /// should read goes to `notes`.
    fn on_trouble(&mut self, _trouble: &Trouble<'_>, _notes: &mut Vec<Note>) -> OnTrouble {
        OnTrouble::Count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_rows_come_back_in_order() {
        let mut buffer = ReplyBuffer::new();
        buffer.row(DataRow::new(b"\0\x01\0\0\0\x01a")).unwrap();
        buffer.row(DataRow::new(b"\0\x01\0\0\0\x02bc")).unwrap();
        let reply = buffer.reply();
        assert_eq!(reply.rows().map(|r| r.text(0).unwrap()).collect::<Vec<_>>(), ["a", "bc"]);
        assert_eq!(reply.first().and_then(|r| r.text(0)), Some("a"));
    }

    #[test]
    fn results_are_told_apart_by_their_ends() {
        let mut buffer = ReplyBuffer::new();
        buffer.end();
        buffer.columns(b"\0\x01x\0..................").unwrap();
        buffer.row(DataRow::new(b"\0\x01\0\0\0\x01a")).unwrap();
        buffer.row(DataRow::new(b"\0\x01\0\0\0\x01b")).unwrap();
        buffer.end();
        let results: Vec<_> = buffer.reply().results().collect();
        assert_eq!(results.len(), 2);
        assert!(results[0].columns.is_none() && results[0].last_row.is_none());
        assert_eq!(results[1].columns.as_deref(), Some(&["x".to_owned()][..]));
        assert_eq!((results[1].row_count, results[1].last_row.and_then(|r| r.text(0))), (2, Some("b")));
    }

    #[test]
    fn rows_without_end_take_no_memory_without_end() {
        let body = [&b"\0\x01\0\x0f\x42\x40"[..], &[b'x'; 1_000_000]].concat();
        let mut buffer = ReplyBuffer::new();
        buffer.columns(b"\0\x01x\0..................").unwrap();
        for _ in 0..1_000 {
            buffer.row(DataRow::new(&body)).unwrap();
        }
        assert!(buffer.entries.capacity() < 4 * body.len());
        buffer.end();
        assert_eq!(buffer.reply().results().next().map(|result| result.row_count), Some(1_000));
        // Rows that a workload reads one by one are all kept, as far as there is room.
        buffer.clear();
        let kept = (0..).take_while(|_| buffer.row(DataRow::new(&body)).is_ok()).count();
        assert_eq!(kept, REPLY_BYTES_MAX / (body.len() + 5));
        assert_eq!(buffer.reply().rows().count(), kept);
    }
}
