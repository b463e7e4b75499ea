//! Work of one client: transactions as steps, each step a batch of statements and what follows.

use std::borrow::Cow;

use pgdyno_wire::backend::{DataRow, ServerMessage, column_names};
use pgdyno_wire::{Capture, ParamValue, QueryMode, Session, Statement, StmtId, TextParams, libpq};

use crate::Rng;

/// Number of a client within its group, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClientId(pub u32);

/// Number of a kind of transaction within [`crate::Scripts::txns`], from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TxnId(pub u8);

/// Input of a client's script.
#[derive(Clone, Debug)]
pub struct ClientContext {
    /// The name of its stage.
    pub stage: &'static str,
    /// The name of its group.
    pub group: &'static str,
    /// Number of the client within its group.
    pub id: ClientId,
    /// Number of clients in its group.
    pub clients: u32,
    /// The client's own stream.
    pub rng: Rng,
    /// The seed of the run.
    pub seed: u64,
    /// Whether the run has a ledger of its commits.
    pub has_ledger: bool,
}

/// Start of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Since {
    /// The end of the last transaction.
    #[default]
    End,
    /// The intended start of the last transaction, because it was only queued, and nobody waited for its end (TPC-C
    /// clause 2.7.1.2, deferred Delivery). If that takes longer than the wait, the next one starts late.
    Start,
}

/// The start of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begin {
    /// Its kind.
    pub txn: TxnId,
    /// Time before its intended start: think time of the last transaction, keying time of this one.
    pub wait_ns: u64,
    /// Start of that time.
    pub since: Since,
}

impl Begin {
    /// Returns a transaction that starts at once.
    #[must_use]
    pub fn now(txn: TxnId) -> Self {
        Self { txn, wait_ns: 0, since: Since::End }
    }
}

/// How a transaction without an error ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Its work was committed.
    Committed,
    /// The workload rolled it back on purpose (TPC-C clause 2.4.1.4).
    RolledBack,
}

/// Action after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Send the batch, wait for its reply, then step again.
    Await,
    /// Step again after so many nanoseconds; the batch must be empty.
    Sleep(u64),
    /// Run the command of [`ClientScript::shell`] on the driver's machine, then step again; the batch must be empty.
    /// Its output goes to [`ClientScript::shell_done`] with `capture`, else to the user.
    Shell {
        /// Whether the script reads the output.
        capture: bool,
    },
    /// The transaction ends with the reply to this batch; at once if the batch is empty.
    Finish(Verdict),
    /// The script cannot continue: its client is aborted. [`Batch::note`] gave the reason.
    Abort,
}

/// A message for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// An error.
    Error(String),
    /// Information.
    Info(String),
    /// Output of a script, to be shown as it is.
    Words(String),
    /// A notice of the server.
    Notice(Box<ServerMessage>),
}

impl Note {
    /// Returns the text without its level; a notice as libpq formats it.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Error(text) | Self::Info(text) | Self::Words(text) => text.into(),
            Self::Notice(message) => libpq::notice(message, "").trim_end_matches('\n').to_owned().into(),
        }
    }
}

/// A failure in a transaction, or what follows from it.
#[derive(Debug)]
pub enum Failure<'a> {
    /// The server reported an error for a statement.
    Server {
        /// The statement, as far as the server's replies show.
        stmt: Option<StmtId>,
        /// Number of results of the same batch before it.
        results: u32,
        /// The server's message.
        message: &'a ServerMessage,
    },
    /// The decision after an error, and after the rollback if there was one.
    Decided {
        /// Whether the transaction is tried again; if not, it failed for good.
        again: bool,
        /// Number of tries.
        tries: u32,
        /// Time since its intended start.
        elapsed_ns: u64,
    },
    /// The connection was lost.
    Lost {
        /// The statement in progress, if there was one.
        stmt: Option<StmtId>,
        /// Number of results of the same batch that had arrived.
        results: u32,
        /// The server's last message, if any.
        said: Option<&'a str>,
        /// The system's message.
        why: &'a str,
    },
    /// The last step of the transaction was done, and its transaction block is still open.
    LeftOpen,
    /// The connection for this transaction could not be opened.
    NotConnected,
}

/// Action for a client whose transaction failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureAction {
    /// Count the failure; the client goes on with its next transaction.
    Count,
    /// Try the transaction again, as after a serialization failure, while tries are left.
    Retry,
    /// Ignore it; the client goes on with the next step.
    Ignore,
    /// The workload expected it: the transaction ended so. The server has undone its work.
    Finish(Verdict),
    /// Abort the client.
    Abort,
}

/// Result of a command on the driver's machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellOutcome {
    /// Whether it was run and succeeded.
    pub success: bool,
    /// The beginning of its output; `None` if it could not be run or read.
    pub output: Option<Vec<u8>>,
}

/// Reply to a batch: rows of the statements that were sent with a [`Capture`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Reply<'a> {
    entries: &'a [u8],
    rows: u32,
}

/// One result of a statement that was sent with [`Capture::Results`].
#[derive(Clone, Debug, Default)]
pub struct ResultSet<'a> {
    /// Names of its columns; `None` for a statement without rows, such as an UPDATE.
    pub columns: Option<Vec<String>>,
    /// Number of rows.
    pub row_count: u32,
    /// The last of its rows.
    pub last_row: Option<DataRow<'a>>,
}

/// Reply of the server, kept for the next step. Of a result with columns, it keeps the last row and the number of
/// rows; of other results, all rows, up to [`REPLY_BYTES_MAX`].
#[derive(Debug, Default)]
pub struct ReplyBuffer {
    /// Entries: a type byte, the length of the body, the body.
    entries: Vec<u8>,
    rows: u32,
    /// Position of the last row, and number of rows, of the result in progress with columns.
    last: Option<(usize, u32)>,
}

/// Limit of one reply, in bytes. No measured transaction reads as much.
pub const REPLY_BYTES_MAX: usize = 256 * 1024 * 1024;

/// The error when a reply is too large. The last part of it is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TooMuch {
    /// It takes more than [`REPLY_BYTES_MAX`].
    #[error("the script keeps what a statement brings, and this brings more than {} MiB: select less", REPLY_BYTES_MAX >> 20)]
    Bytes,
    /// It has more rows than [`crate::Results::Rows`] allows.
    #[error("the workload keeps up to {cap} rows of a statement, and this brings more")]
    Rows {
        /// The limit.
        cap: u32,
    },
}

/// The last row of a result, after the number of rows.
const LAST_ROW: u8 = b'L';
const ROW: u8 = b'D';
const COLUMNS: u8 = b'T';
const END: u8 = b'C';

impl ReplyBuffer {
    /// Returns an empty buffer.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Empties it, and keeps its memory.
    #[inline]
    pub fn clear(&mut self) {
        self.entries.clear();
        self.rows = 0;
        self.last = None;
    }

    /// Begins an entry of so many bytes, if there is room.
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
    /// When there is no room.
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
    /// When there is no room.
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

    /// Returns the reply.
    #[inline]
    #[must_use]
    pub fn reply(&self) -> Reply<'_> {
        Reply { entries: &self.entries, rows: self.rows }
    }
}

impl<'a> Reply<'a> {
    /// Returns the number of rows.
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

    /// Returns the rows in their order.
    pub fn rows(&self) -> impl Iterator<Item = DataRow<'a>> + use<'a> {
        self.entries().filter(|(kind, _)| *kind == ROW).map(|(_, body)| DataRow::new(body))
    }

    /// Returns the first row.
    #[must_use]
    pub fn first(&self) -> Option<DataRow<'a>> {
        self.rows().next()
    }

    /// Returns the results of statements that were sent with [`Capture::Results`], in the order in which they ended.
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

/// Statements of one step, to be sent to the server.
///
/// All statements of a batch are sent together, as one pipeline with one Sync at its end; in simple mode as one Query
/// each.
#[derive(Debug)]
pub struct Batch<'a> {
    session: &'a mut Session,
    /// Those of the scripts.
    statements: &'a [Statement],
    /// Number of the first of them within the run, by which the session knows it.
    first: u32,
    out: &'a mut Vec<u8>,
    notes: &'a mut Vec<Note>,
    held: bool,
    /// Capture of statements whose rows the script does not read.
    unread: Capture,
}

impl<'a> Batch<'a> {
    /// Returns a batch that appends to `out`, and messages of the script to `notes`.
    #[must_use]
    pub fn new(
        session: &'a mut Session,
        statements: &'a [Statement],
        out: &'a mut Vec<u8>,
        notes: &'a mut Vec<Note>,
    ) -> Self {
        Self { session, statements, first: 0, out, notes, held: false, unread: Capture::Nothing }
    }

    /// Sets the number within the run of the first of the statements; scripts number them from 0.
    #[inline]
    #[must_use]
    pub fn numbered_from(mut self, first: u32) -> Self {
        self.first = first;
        self
    }

    /// Returns the statement's number within the run.
    #[inline]
    fn number(&self, id: StmtId) -> StmtId {
        StmtId(self.first + id.0)
    }

    /// Sets the capture of rows that the script does not ask for.
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
    pub fn execute(&mut self, id: StmtId, values: &[ParamValue<'_>]) {
        self.session.execute(self.number(id), &self.statements[id.0 as usize], values, self.unread, self.out);
    }

    /// Adds a statement that fails if it returns or changes no row (SQLSTATE 02000). It is the last one of its batch, and the
    /// script does not read its rows.
    #[inline]
    pub fn find(&mut self, id: StmtId, values: &[ParamValue<'_>]) {
        self.session.find(self.number(id), &self.statements[id.0 as usize], values, self.out);
    }

    /// Adds a statement whose rows the next step reads.
    #[inline]
    pub fn fetch(&mut self, id: StmtId, values: &[ParamValue<'_>]) {
        self.session.execute(self.number(id), &self.statements[id.0 as usize], values, Capture::Rows, self.out);
    }

    /// Returns the query mode.
    #[must_use]
    pub fn mode(&self) -> QueryMode {
        self.session.mode()
    }

    /// Adds a text of one or more statements, as libpq's `PQsendQuery` sends it. It counts as statement `id`.
    pub fn query(&mut self, id: StmtId, sql: &[u8], capture: Capture) {
        self.session.query(self.number(id), sql, self.capture(capture), self.out);
    }

    /// Adds a statement with parameters in text, as libpq's `PQsendQueryParams` sends it.
    pub fn query_params(&mut self, id: StmtId, sql: &[u8], params: TextParams<'_>, capture: Capture) {
        self.session.query_params(self.number(id), sql, params, self.capture(capture), self.out);
    }

    /// Returns true if [`Batch::prepare`] prepared statement `id` on this connection.
    #[must_use]
    pub fn is_prepared(&self, id: StmtId) -> bool {
        self.session.is_prepared(self.number(id))
    }

    /// Treats statement `id` as prepared, whatever the server replied.
    pub fn assume_prepared(&mut self, id: StmtId) {
        self.session.assume_prepared(self.number(id));
    }

    /// Prepares statement `id` under `name`, as libpq's `PQsendPrepare` does.
    pub fn prepare(&mut self, id: StmtId, name: &[u8], sql: &[u8]) {
        self.session.prepare(self.number(id), name, sql, self.out);
    }

    /// Adds a prepared statement, as libpq's `PQsendQueryPrepared` sends it.
    #[inline]
    pub fn query_prepared(&mut self, id: StmtId, name: &[u8], params: TextParams<'_>, capture: Capture) {
        self.session.query_prepared(self.number(id), name, params, self.capture(capture), self.out);
    }

    /// Adds a Sync after the statements so far, even if there are none.
    pub fn sync(&mut self) {
        self.session.sync_always(self.out);
    }

    /// Leaves the batch open: the next step continues the same pipeline.
    pub fn hold(&mut self) {
        self.held = true;
    }

    /// Adds a message for the user.
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

/// Markers of a committed transaction. A client that changes data writes its own marker, a number that grows, in the same
/// transaction; a query on another server reads the markers of all of them. So it is known which commits it saw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Marks<'a> {
    /// None.
    #[default]
    None,
    /// The marker that the transaction wrote.
    Wrote(u64),
    /// The markers that the transaction read, by the number of the client that wrote them.
    Saw(&'a [u64]),
    /// The order that the transaction entered: its warehouse, its district and its number (TPC-C clause 2.4).
    Ordered([i32; 3]),
    /// The row that the transaction inserted, by its key.
    Keyed {
        /// The place of its table and column in [`crate::LedgerMarkers::Keys`].
        place: u32,
        /// The value of the key.
        key: RowKey<'a>,
    },
}

/// The value of a row's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKey<'a> {
    /// A whole number.
    Number(i64),
    /// A text, such as a UUID.
    Text(&'a [u8]),
}

/// One client's script. It holds its own random stream and its place in the transaction.
///
/// ```text
/// begin ─► step ─► Await ─► step ─► … ─► Finish ─► begin ─► … ─► None: done
///            ▲                │
///            └──── restart ◄──┘ on 40001 and 40P01, while tries are left
/// ```
pub trait ClientScript: Send {
    /// Draws the next transaction and all of its inputs. Returns `None` if the client is finished.
    fn begin(&mut self) -> Option<Begin>;
    /// Adds the statements of the next step to `batch`. `reply` is the reply to the last ones.
    fn step(&mut self, reply: Reply<'_>, batch: &mut Batch<'_>) -> Next;
    /// Goes back to the first step of the same transaction with the same inputs.
    fn restart(&mut self);
    /// Returns the command for the driver's shell, after [`Next::Shell`].
    fn shell(&self) -> &[u8] {
        b""
    }
    /// Takes the result of the command.
    fn shell_done(&mut self, _outcome: ShellOutcome) {}
    /// Returns the statement to which reports add the time of the last [`Next::Sleep`] or [`Next::Shell`].
    fn waiting(&self) -> Option<StmtId> {
        None
    }
    /// Adds the counts of the transaction that has just ended to those of [`crate::Scripts::tallies`].
    fn tally(&self, _verdict: Verdict, _counts: &mut [u64]) {}
    /// Returns the markers of the transaction that has just ended.
    fn marks(&self) -> Marks<'_> {
        Marks::None
    }
    /// Returns true if the transaction may be committed before its last batch is sent. It is asked outside of a transaction
    /// block: the batch in flight commits by itself, unless it begins a block.
    fn may_commit_early(&self) -> bool {
        true
    }
    /// Returns true if the batch in flight is to commit the transaction block, although it is not the last one.
    fn is_committing(&self) -> bool {
        false
    }
    /// Returns file and line of the statement that failed, as `my.sql:3`, where the user wrote it. `stmt` is `None`
    /// while one is prepared. `position` is the server's: in characters from 1, in the text that was sent.
    fn location(&self, _stmt: Option<StmtId>, _position: Option<u32>) -> Option<String> {
        None
    }
    /// Handles a failed transaction; returns what the client does next. Adds messages for the user to `notes`.
    fn on_failure(&mut self, _failure: &Failure<'_>, _notes: &mut Vec<Note>) -> FailureAction {
        FailureAction::Count
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
    fn results_are_distinguished_by_their_ends() {
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
        // All rows that a workload reads one by one are kept, as far as there is room.
        buffer.clear();
        let kept = (0..).take_while(|_| buffer.row(DataRow::new(&body)).is_ok()).count();
        assert_eq!(kept, REPLY_BYTES_MAX / (body.len() + 5));
        assert_eq!(buffer.reply().rows().count(), kept);
    }
}
