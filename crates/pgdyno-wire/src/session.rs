//! One connection after its start: sends statements, and receives events.

use crate::backend::{self, DataRow, DecodeError};
use crate::fifo::Fifo;
use crate::prepared::Prepared;
use crate::{ParamValue, QueryMode, SqlState, Statement, StmtId, Wire, frontend};

/// State of the transaction block in ReadyForQuery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TxStatus {
    /// Outside of a block.
    Idle,
    /// In a transaction block.
    InBlock,
    /// In a failed transaction block, which can only be rolled back.
    Failed,
}

/// An event, in the order of the server's messages.
#[derive(Debug)]
pub enum Event<'a> {
    /// Columns of the following rows, of a statement that was sent with [`Capture::Results`]: the body of the
    /// message, for [`backend::column_names`].
    Columns(&'a [u8]),
    /// A row of a statement that was sent with a capture.
    Row(DataRow<'a>),
    /// A statement succeeded.
    Complete(StmtId),
    /// One of the statements of a text succeeded, or one that must find a row ([`Session::lacks_row`]). ReadyForQuery
    /// completes it.
    Part(StmtId),
    /// A notice: the body of the message, for [`backend::ServerMessage::parse`].
    Notice(&'a [u8]),
    /// A statement failed. `raw` is the body of the message, for [`backend::ServerMessage::parse`].
    Error {
        /// The SQLSTATE.
        code: SqlState,
        /// All fields.
        raw: &'a [u8],
    },
    /// The reply to a batch is complete.
    Ready {
        /// The state of the transaction block.
        status: TxStatus,
        /// Whether no other reply is pending.
        all_done: bool,
        /// The text of statements that succeeded with it.
        text: Option<StmtId>,
    },
    /// The server expects or sends COPY data, which no measured client uses.
    Copy {
        /// Whether the server waits for data: only [`Session::end_copy`] ends that.
        wanted: bool,
    },
}

/// Result of [`Session::receive`].
#[derive(Debug)]
pub enum Received<'a> {
    /// No event in the input, of which the first `used` bytes were consumed.
    NeedMore {
        /// Bytes that the caller may drop.
        used: usize,
    },
    /// An event, and the number of bytes up to its end.
    Event {
        /// What happened.
        event: Event<'a>,
        /// Bytes that the caller may drop after handling the event.
        used: usize,
    },
}

/// The error when the server's bytes are invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProtocolError {
    /// A message is malformed.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// A message without a request.
    #[error("server sent message '{}' where none was awaited", *.0 as char)]
    Unexpected(u8),
    /// One reply begins more COPYs than a script's text can have statements.
    #[error("server began more than {COPIES_MAX} COPYs in one answer: no statement asks for so many")]
    Copies,
}

/// Part of a statement's result that the caller wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Capture {
    /// Nothing: rows are skipped.
    #[default]
    Nothing,
    /// Rows, to be counted or hashed but not to be stored.
    Count,
    /// Rows.
    Rows,
    /// Rows and the names of their columns.
    Results,
}

/// A statement whose end is pending.
#[derive(Clone, Copy, Debug)]
struct Expected {
    stmt: StmtId,
    capture: Capture,
}

/// COPYs of one reply, each of which has an answer queued: a text of statements may have several.
const COPIES_MAX: u32 = 1_000;

/// A complete message of its kind, without content.
const BIND_COMPLETE: &[u8] = b"2\0\0\0\x04";

/// Statements between two ReadyForQuery.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    statements: u32,
    parses: u32,
    /// One text with any number of statements; or one statement that must find a row.
    text: bool,
    /// One statement that must find a row.
    finds: bool,
    failed: bool,
}

/// Parameters in text, as in a Bind message: each its length in four bytes, most significant first, and its bytes;
/// the length of NULL is -1.
#[derive(Clone, Copy, Debug)]
pub struct TextParams<'a> {
    /// Number of parameters.
    pub count: u16,
    /// Their bytes.
    pub encoded: &'a [u8],
}

/// State of one connection in the extended and simple query protocol.
///
/// Statements are sent with [`Session::execute`], a group of them is closed with [`Session::sync`], and
/// the server's bytes go to [`Session::receive`] until it says [`Received::NeedMore`].
#[derive(Debug)]
pub struct Session {
    mode: QueryMode,
    wire: Wire,
    prepared: Prepared,
    expected: Fifo<Expected>,
    parsing: Fifo<StmtId>,
    groups: Fifo<Group>,
    open: Group,
    /// COPYs of the reply in progress.
    copies: u32,
}

impl Session {
    /// Returns a session for `statements` statements, none of them prepared on the server yet.
    #[must_use]
    pub fn new(mode: QueryMode, statements: usize) -> Self {
        Self {
            mode,
            wire: Wire::Native,
            // Other modes prepare nothing, and there may be thousands of clients and of statements.
            prepared: Prepared::new(if mode == QueryMode::Prepared { statements } else { 0 }),
            expected: Fifo::new(),
            parsing: Fifo::new(),
            groups: Fifo::new(),
            open: Group::default(),
            copies: 0,
        }
    }

    /// Sets the form of statements.
    pub fn speak(&mut self, wire: Wire) {
        self.wire = wire;
    }

    /// Returns the form of statements.
    #[must_use]
    pub fn wire(&self) -> Wire {
        self.wire
    }

    /// Returns the query mode.
    #[must_use]
    pub fn mode(&self) -> QueryMode {
        self.mode
    }

    /// Appends one statement to `out`, in the mode of the session.
    #[inline]
    pub fn execute(
        &mut self,
        id: StmtId,
        statement: &Statement,
        values: &[ParamValue<'_>],
        capture: Capture,
        out: &mut Vec<u8>,
    ) {
        self.expect(id, capture);
        if self.prepared.contains(id) && !self.describes(capture) && statement.by_template(id, values, out) {
            return;
        }
        self.execute_in_parts(id, statement, values, capture, out);
    }

    /// Appends one statement that must find a row, before a Sync. It ends with [`Event::Part`] and [`Event::Ready`]; between
    /// them [`Session::lacks_row`] says if it found none. Its rows are skipped.
    #[inline]
    pub fn find(&mut self, id: StmtId, statement: &Statement, values: &[ParamValue<'_>], out: &mut Vec<u8>) {
        (self.open.text, self.open.finds) = (true, true);
        self.execute(id, statement, values, Capture::Nothing, out);
    }

    /// Returns true if the statement that has just ended must find a row and found none. `input` is what [`Session::receive`] used
    /// last: it ends with the command tag.
    #[must_use]
    pub fn lacks_row(&self, input: &[u8]) -> bool {
        self.groups.first().is_some_and(|group| group.finds) && input.ends_with(b" 0\0")
    }

    /// Appends one statement that does not fit a template.
    #[inline(never)]
    fn execute_in_parts(
        &mut self,
        id: StmtId,
        statement: &Statement,
        values: &[ParamValue<'_>],
        capture: Capture,
        out: &mut Vec<u8>,
    ) {
        let name = match self.mode {
            QueryMode::Simple => {
                statement.query(values, out);
                self.open.text = true;
                self.close_group();
                return;
            }
            QueryMode::Extended => {
                statement.parse(self.wire, None, out);
                None
            }
            QueryMode::Prepared => {
                if !self.prepared.contains(id) {
                    statement.parse(self.wire, Some(id), out);
                    self.parsed(id);
                }
                Some(id)
            }
        };
        statement.bind(self.wire, name, values, out);
        self.describe(capture, out);
        frontend::execute(out);
    }

    /// Appends a text of one or more statements as a simple query, in any mode. It counts as statement `id`. libpq:
    /// `PQsendQuery`.
    pub fn query(&mut self, id: StmtId, sql: &[u8], capture: Capture, out: &mut Vec<u8>) {
        debug_assert_eq!(self.open.statements, 0, "a simple query inside an open pipeline");
        self.expect(id, capture);
        frontend::query(out, sql);
        self.open.text = true;
        self.close_group();
    }

    /// Returns true if it asks for the columns: libpq always does; otherwise only if their names are read.
    #[inline]
    fn describes(&self, capture: Capture) -> bool {
        self.wire == Wire::Libpq || capture == Capture::Results
    }

    #[inline]
    fn describe(&self, capture: Capture, out: &mut Vec<u8>) {
        if self.describes(capture) {
            frontend::describe_portal(out);
        }
    }

    /// Appends a statement with `count` parameters in text, whose types the server infers: unnamed Parse, Bind,
    /// Describe if the form needs it, Execute. libpq: `PQsendQueryParams`, without its Sync.
    pub fn query_params(
        &mut self,
        id: StmtId,
        sql: &[u8],
        params: TextParams<'_>,
        capture: Capture,
        out: &mut Vec<u8>,
    ) {
        self.expect(id, capture);
        frontend::parse(out, b"", sql);
        frontend::bind_text(out, b"", params.count, params.encoded);
        self.describe(capture, out);
        frontend::execute(out);
    }

    /// Appends a Parse of statement `id` under `name`. libpq: `PQsendPrepare`, without its Sync.
    pub fn prepare(&mut self, id: StmtId, name: &[u8], sql: &[u8], out: &mut Vec<u8>) {
        frontend::parse(out, name, sql);
        self.parsed(id);
    }

    /// Notes that a Parse of statement `id` was sent.
    fn parsed(&mut self, id: StmtId) {
        self.assume_prepared(id);
        self.parsing.push(id);
        self.open.parses += 1;
    }

    /// Treats statement `id` as prepared, although the server may have refused it: pgbench executes it nevertheless.
    pub fn assume_prepared(&mut self, id: StmtId) {
        if self.mode == QueryMode::Prepared {
            self.prepared.set(id, true);
        }
    }

    /// Returns true if statement `id` was prepared on this connection.
    #[must_use]
    pub fn is_prepared(&self, id: StmtId) -> bool {
        self.prepared.contains(id)
    }

    /// Appends a statement that was prepared as `name`: Bind, Describe if the form needs it, Execute. libpq:
    /// `PQsendQueryPrepared`, without its Sync.
    #[inline]
    pub fn query_prepared(
        &mut self,
        id: StmtId,
        name: &[u8],
        params: TextParams<'_>,
        capture: Capture,
        out: &mut Vec<u8>,
    ) {
        self.expect(id, capture);
        frontend::bind_text(out, name, params.count, params.encoded);
        self.describe(capture, out);
        frontend::execute(out);
    }

    #[inline]
    fn expect(&mut self, stmt: StmtId, capture: Capture) {
        self.expected.push(Expected { stmt, capture });
        self.open.statements += 1;
    }

    /// Closes the group of statements with a Sync, if one is open; the server answers with ReadyForQuery.
    #[inline]
    pub fn sync(&mut self, out: &mut Vec<u8>) {
        if self.open.statements > 0 || self.open.parses > 0 {
            self.sync_always(out);
        }
    }

    /// Closes the group of statements with a Sync, even if it is empty. libpq: `PQpipelineSync`.
    #[inline]
    pub fn sync_always(&mut self, out: &mut Vec<u8>) {
        frontend::sync(out);
        self.close_group();
    }

    /// Returns true if the present rows are to be stored: their statement was sent with more than [`Capture::Count`].
    #[must_use]
    pub fn keeps_rows(&self) -> bool {
        self.expected.first().is_some_and(|e| matches!(e.capture, Capture::Rows | Capture::Results))
    }

    /// Returns true if a reply is pending.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        !self.groups.is_empty()
    }

    /// Returns true if statements were sent without a Sync after them.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.open.statements > 0 || self.open.parses > 0
    }

    /// Returns the statement that the server is working on, as far as its replies show.
    #[must_use]
    pub fn current(&self) -> Option<StmtId> {
        self.expected.first().map(|e| e.stmt)
    }

    /// Answers [`Event::Copy`] if data is expected: there are no rows. libpq: `PQputCopyEnd` without a message, as
    /// pgbench ends it; the server's log shows no error then.
    pub fn end_copy(&self, out: &mut Vec<u8>) {
        frontend::copy_done(out);
        // While it expects data the server ignores a Sync: the one of this group is lost, and it needs another.
        if self.groups.first().is_some_and(|group| !group.text) {
            frontend::sync(out);
        }
    }

    #[inline]
    fn close_group(&mut self) {
        self.groups.push(std::mem::take(&mut self.open));
    }

    /// Reads the server's bytes up to the next event. Call it again with the bytes after `used` until it returns
    /// [`Received::NeedMore`].
    ///
    /// # Errors
    /// When the bytes are no PostgreSQL messages, or were not requested. The connection is unusable then.
    #[inline(always)]
    pub fn receive<'a>(&mut self, input: &'a [u8]) -> Result<Received<'a>, ProtocolError> {
        let mut rest = input;
        while let Some((message, after)) = backend::split_message(rest)? {
            rest = after;
            // The most frequent ones, before the table of all.
            if message.tag == b'2' {
                continue;
            }
            let used = input.len() - rest.len();
            let event = match message.tag {
                b'D' => match self.expected.first() {
                    None | Some(Expected { capture: Capture::Nothing, .. }) => continue,
                    Some(_) => Event::Row(DataRow::new(message.body)),
                },
                b'T' => match self.expected.first() {
                    Some(Expected { capture: Capture::Results, .. }) => Event::Columns(message.body),
                    _ => continue,
                },
                b'C' | b'I' | b's' => {
                    let (Some(group @ Group { statements: 1.., .. }), Some(Expected { stmt, .. })) =
                        (self.groups.first_mut(), self.expected.first())
                    else {
                        return Err(ProtocolError::Unexpected(message.tag));
                    };
                    let done = *stmt;
                    // A text may have several statements: ReadyForQuery ends it.
                    if group.text {
                        Event::Part(done)
                    } else {
                        group.statements -= 1;
                        self.expected.pop();
                        Event::Complete(done)
                    }
                }
                b'N' => Event::Notice(message.body),
                b'Z' => return self.ready(message.body, used),
                b'E' => {
                    if let Some(group) = self.groups.first_mut() {
                        group.failed = true;
                    }
                    Event::Error { code: backend::error_code(message.body), raw: message.body }
                }
                b'1' => {
                    if let Some(group) = self.groups.first_mut().filter(|g| g.parses > 0) {
                        group.parses -= 1;
                        self.parsing.pop();
                    }
                    continue;
                }
                // CloseComplete, NoData, ParameterDescription, ParameterStatus, notifications,
                // BackendKeyData: nothing to do.
                b'3' | b'n' | b't' | b'S' | b'A' | b'K' => continue,
                b'G' | b'H' | b'W' => {
                    self.copies += 1;
                    if self.copies > COPIES_MAX {
                        return Err(ProtocolError::Copies);
                    }
                    Event::Copy { wanted: message.tag != b'H' }
                }
                b'd' | b'c' => continue,
                tag => return Err(ProtocolError::Unexpected(tag)),
            };
            return Ok(Received::Event { event, used });
        }
        Ok(Received::NeedMore { used: input.len() - rest.len() })
    }

    /// Returns the statement that succeeded and the state of the transaction block, if `input` is exactly the whole
    /// reply to a single statement without captured rows: the usual content of a read. Otherwise it changes nothing,
    /// and [`Session::receive`] reads the input.
    #[inline]
    pub fn receive_answer(&mut self, input: &[u8]) -> Option<(StmtId, TxStatus)> {
        let &Group { statements: 1, parses: 0, text: false, failed: false, .. } = self.groups.only()? else {
            return None;
        };
        let &Expected { stmt, capture: Capture::Nothing } = self.expected.only()? else { return None };
        let mut rest = input.strip_prefix(BIND_COMPLETE)?;
        loop {
            let (message, after) = backend::split_message(rest).ok()??;
            rest = after;
            match message.tag {
                b'D' | b'T' | b'n' => {}
                b'C' => break,
                _ => return None,
            }
        }
        let &[b'Z', 0, 0, 0, 5, status] = rest else { return None };
        self.groups.pop();
        self.expected.pop();
        Some((stmt, tx_status(&[status])))
    }

    #[inline]
    fn ready<'a>(&mut self, body: &[u8], used: usize) -> Result<Received<'a>, ProtocolError> {
        let Some(group) = self.groups.pop() else { return Err(ProtocolError::Unexpected(b'Z')) };
        self.copies = 0;
        let status = tx_status(body);
        // After an error the server skipped the rest of the group (a text of statements ends here in any case);
        // statements whose Parse was not answered are not prepared.
        let text = self.expected.first().filter(|_| group.text && !group.failed).map(|e| e.stmt);
        for _ in 0..group.statements {
            self.expected.pop();
        }
        for _ in 0..group.parses {
            if let Some(id) = self.parsing.pop() {
                self.prepared.set(id, false);
            }
        }
        Ok(Received::Event { event: Event::Ready { status, all_done: self.groups.is_empty(), text }, used })
    }
}

/// Returns the state in the body of a ReadyForQuery.
#[inline]
fn tx_status(body: &[u8]) -> TxStatus {
    match body {
        b"I" => TxStatus::Idle,
        b"T" => TxStatus::InBlock,
        _ => TxStatus::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ParamType;

    fn msg(tag: u8, body: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        frontend::message(&mut out, tag, |out| out.extend_from_slice(body));
        out
    }

    fn drain(session: &mut Session, input: &[u8]) -> Vec<String> {
        let mut seen = Vec::new();
        let mut rest = input;
        loop {
            match session.receive(rest).unwrap() {
                Received::NeedMore { used } => {
                    assert_eq!(used, rest.len(), "bytes are left over");
                    return seen;
                }
                Received::Event { event, used } => {
                    seen.push(match event {
                        Event::Columns(body) => format!("columns {}", backend::column_names(body).join(",")),
                        Event::Row(row) => format!("row {:?}", row.text(0)),
                        Event::Notice(_) => "notice".into(),
                        Event::Complete(id) => format!("complete {}", id.0),
                        Event::Error { code, .. } => format!("error {code}"),
                        Event::Part(id) => format!("part {}", id.0),
                        Event::Ready { status, all_done, text: None } => format!("ready {status:?} {all_done}"),
                        Event::Ready { status, all_done, text: Some(id) } => {
                            format!("text {} {status:?} {all_done}", id.0)
                        }
                        Event::Copy { .. } => "copy".into(),
                    });
                    rest = &rest[used..];
                }
            }
        }
    }

    fn statement() -> Statement {
        Statement::new("select $1", &[ParamType::Int4])
    }

    #[test]
    fn a_prepared_statement_is_parsed_once() {
        let (mut session, s, mut out) = (Session::new(QueryMode::Prepared, 1), statement(), Vec::new());
        session.execute(StmtId(0), &s, &[ParamValue::Int4(1)], Capture::Rows, &mut out);
        session.sync(&mut out);
        assert_eq!(out[0], b'P');
        let reply = [
            msg(b'1', b""),
            msg(b'2', b""),
            msg(b'D', b"\0\x01\0\0\0\x011"),
            msg(b'C', b"SELECT 1\0"),
            msg(b'Z', b"I"),
        ]
        .concat();
        assert_eq!(drain(&mut session, &reply), ["row Some(\"1\")", "complete 0", "ready Idle true"]);
        out.clear();
        session.execute(StmtId(0), &s, &[ParamValue::Int4(1)], Capture::Count, &mut out);
        session.sync(&mut out);
        let reply = &reply[5..];
        assert_eq!(session.receive_answer(reply), None, "somebody counts the rows");
        assert_eq!(drain(&mut session, reply), ["row Some(\"1\")", "complete 0", "ready Idle true"]);
        out.clear();
        session.execute(StmtId(0), &s, &[ParamValue::Int4(2)], Capture::Nothing, &mut out);
        session.sync(&mut out);
        assert_eq!(out[0], b'B');
        assert!(session.is_busy());
    }

    #[test]
    fn a_failed_parse_is_sent_again_and_the_rest_of_the_pipeline_is_dropped() {
        let (mut session, s, mut out) = (Session::new(QueryMode::Prepared, 2), statement(), Vec::new());
        session.execute(StmtId(0), &s, &[ParamValue::Int4(1)], Capture::Nothing, &mut out);
        session.execute(StmtId(1), &s, &[ParamValue::Int4(1)], Capture::Nothing, &mut out);
        session.sync(&mut out);
        let reply = [
            msg(b'1', b""),
            msg(b'2', b""),
            msg(b'C', b"SELECT 1\0"),
            msg(b'E', b"SERROR\0C42P01\0Mno\0\0"),
            msg(b'Z', b"I"),
        ]
        .concat();
        assert_eq!(drain(&mut session, &reply), ["complete 0", "error 42P01", "ready Idle true"]);
        assert_eq!([0, 1].map(|id| session.is_prepared(StmtId(id))), [true, false]);
        assert!(session.expected.is_empty() && session.parsing.is_empty() && !session.is_busy());
    }

    #[test]
    fn simple_queries_end_with_ready_for_query_however_many_statements_they_hold() {
        let (mut session, mut out) = (Session::new(QueryMode::Simple, 2), Vec::new());
        session.query(StmtId(0), b"begin; select 1", Capture::Results, &mut out);
        session.query(StmtId(1), b"end", Capture::Nothing, &mut out);
        let reply = [
            msg(b'C', b"BEGIN\0"),
            msg(b'T', b"\0\x01a\0................."),
            msg(b'C', b"SELECT 1\0"),
            msg(b'Z', b"T"),
            msg(b'C', b"COMMIT\0"),
            msg(b'Z', b"I"),
        ]
        .concat();
        assert_eq!(
            drain(&mut session, &reply),
            ["part 0", "columns a", "part 0", "text 0 InBlock false", "part 1", "text 1 Idle true"]
        );
        assert!(session.expected.is_empty());
    }

    #[test]
    fn messages_in_libpqs_form_are_prepared_once_and_described_each_time() {
        let (mut session, mut out) = (Session::new(QueryMode::Prepared, 1), Vec::new());
        session.speak(Wire::Libpq);
        assert!(!session.is_prepared(StmtId(0)));
        session.prepare(StmtId(0), b"P_0", b"select $1", &mut out);
        session.sync(&mut out);
        assert_eq!(out, b"P\0\0\0\x14P_0\0select $1\0\0\0S\0\0\0\x04");
        assert_eq!(drain(&mut session, &[msg(b'1', b""), msg(b'Z', b"I")].concat()), ["ready Idle true"]);
        assert!(session.is_prepared(StmtId(0)));
        out.clear();
        let params = TextParams { count: 2, encoded: b"\0\0\0\x017\xff\xff\xff\xff" };
        session.query_prepared(StmtId(0), b"P_0", params, Capture::Results, &mut out);
        session.sync(&mut out);
        let tags: Vec<_> = std::iter::successors(Some(out.as_slice()), |rest| {
            backend::next_message(rest).unwrap().map(|m| &rest[m.len..]).filter(|rest| !rest.is_empty())
        })
        .map(|rest| rest[0])
        .collect();
        assert_eq!(tags, b"BDES");
        assert_eq!(
            &out[5..],
            &b"\0P_0\0\0\0\0\x02\0\0\0\x017\xff\xff\xff\xff\0\x01\0\0D\0\0\0\x06P\0E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04"[..]
        );
    }

    #[test]
    fn a_pipeline_holds_more_statements_than_sixteen_bits_count() {
        const STATEMENTS: usize = 70_000;
        let (mut session, mut out) = (Session::new(QueryMode::Extended, 1), Vec::new());
        let nothing = TextParams { count: 0, encoded: b"" };
        for _ in 0..STATEMENTS {
            session.query_params(StmtId(0), b"select 1", nothing, Capture::Nothing, &mut out);
        }
        session.sync(&mut out);
        let one = [msg(b'1', b""), msg(b'2', b""), msg(b'C', b"SELECT 1\0")].concat();
        let reply = [one.repeat(STATEMENTS), msg(b'Z', b"I")].concat();
        let seen = drain(&mut session, &reply);
        assert_eq!((seen.len(), seen.last().map(String::as_str)), (STATEMENTS + 1, Some("ready Idle true")));
        assert!(session.expected.is_empty() && !session.is_busy());
    }

    #[test]
    fn a_failed_prepare_is_not_prepared() {
        let (mut session, mut out) = (Session::new(QueryMode::Prepared, 1), Vec::new());
        session.prepare(StmtId(0), b"P_0", b"select nothing", &mut out);
        session.sync(&mut out);
        let reply = [msg(b'E', b"SERROR\0C42703\0Mno\0\0"), msg(b'Z', b"I")].concat();
        assert_eq!(drain(&mut session, &reply), ["error 42703", "ready Idle true"]);
        assert!(!session.is_prepared(StmtId(0)));
    }

    #[test]
    fn a_copy_is_ended_with_a_sync_in_place_of_the_one_that_was_passed_over() {
        let (mut session, mut out) = (Session::new(QueryMode::Extended, 1), Vec::new());
        let copy = Statement::new("copy t from stdin", &[]);
        session.execute(StmtId(0), &copy, &[], Capture::Nothing, &mut out);
        session.sync(&mut out);
        out.clear();
        session.end_copy(&mut out);
        assert_eq!(out, b"c\0\0\0\x04S\0\0\0\x04");

        let mut session = Session::new(QueryMode::Simple, 1);
        session.query(StmtId(0), b"copy t from stdin", Capture::Nothing, &mut out);
        out.clear();
        session.end_copy(&mut out);
        assert_eq!(out, b"c\0\0\0\x04");
        assert_eq!(drain(&mut session, &msg(b'G', b"\0\0\0")), ["copy"]);
    }

    #[test]
    fn copies_without_end_are_an_error_and_parameters_without_end_are_passed_over() {
        let (mut session, mut out) = (Session::new(QueryMode::Simple, 1), Vec::new());
        session.query(StmtId(0), b"copy t from stdin\\; copy t from stdin", Capture::Nothing, &mut out);
        let parameters = msg(b'S', b"application_name\0x\0").repeat(100_000);
        assert_eq!(drain(&mut session, &parameters), Vec::<String>::new());
        let copies = msg(b'G', b"\0\0\0").repeat(COPIES_MAX as usize);
        assert_eq!(drain(&mut session, &copies).len(), COPIES_MAX as usize);
        assert_eq!(session.receive(&msg(b'G', b"\0\0\0")).unwrap_err(), ProtocolError::Copies);
        // The next reply starts again.
        let (mut session, reply) = (Session::new(QueryMode::Simple, 1), [copies, msg(b'Z', b"I")].concat());
        for _ in 0..3 {
            session.query(StmtId(0), b"copy t from stdin", Capture::Nothing, &mut out);
            assert_eq!(drain(&mut session, &reply).len(), COPIES_MAX as usize + 1);
        }
    }

    #[test]
    fn one_byte_at_a_time_gives_the_same_events() {
        let reply = [msg(b'1', b""), msg(b'2', b""), msg(b'C', b"SELECT 1\0"), msg(b'Z', b"I")].concat();
        let (mut session, s, mut out) = (Session::new(QueryMode::Extended, 1), statement(), Vec::new());
        session.execute(StmtId(0), &s, &[ParamValue::Int4(1)], Capture::Nothing, &mut out);
        session.sync(&mut out);
        let (mut pending, mut events) = (Vec::new(), 0);
        for byte in reply {
            pending.push(byte);
            match session.receive(&pending).unwrap() {
                Received::NeedMore { used }
                | Received::Event { used, event: Event::Complete(_) | Event::Ready { .. } } => {
                    events += usize::from(used > 0 && pending[0] != b'1' && pending[0] != b'2');
                    pending.drain(..used);
                }
                Received::Event { event, .. } => panic!("{event:?}"),
            }
        }
        assert_eq!(events, 2);
        assert!(pending.is_empty());
    }

    /// The short path is used for its input, gives the same result there, and leaves no trace otherwise.
    #[test]
    fn a_whole_answer_is_what_its_events_say() {
        let [one, two, row, columns, done, ready] = [
            msg(b'1', b""),
            msg(b'2', b""),
            msg(b'D', b"\0\x01\0\0\0\x011"),
            msg(b'T', b"\0\0"),
            msg(b'C', b"SELECT 1\0"),
            msg(b'Z', b"T"),
        ];
        let error = msg(b'E', b"SERROR\0C42P01\0Mno\0\0");
        let plain = [two.clone(), row.clone(), done.clone(), ready.clone()].concat();
        let described = [two.clone(), columns.clone(), row.clone(), row.clone(), done.clone(), ready.clone()].concat();
        let others = [
            [two.clone(), error, ready.clone()].concat(),
            [two.clone(), done.clone(), done.clone(), ready.clone()].concat(),
            [two.clone(), ready.clone()].concat(),
            [plain.as_slice(), &two].concat(),
            [one, two.clone(), done.clone(), ready.clone()].concat(),
            [two.clone(), msg(b'N', b"SNOTICE\0\0"), done.clone(), ready].concat(),
        ];
        let asked = |capture, statements: u32| {
            let mut session = Session::new(QueryMode::Prepared, 2);
            (0..2).for_each(|id| session.assume_prepared(StmtId(id)));
            for id in 0..statements {
                session.execute(StmtId(id), &statement(), &[ParamValue::Int4(1)], capture, &mut Vec::new());
            }
            session.sync(&mut Vec::new());
            session
        };
        for whole in [&plain, &described] {
            let mut session = asked(Capture::Nothing, 1);
            assert_eq!(session.receive_answer(whole), Some((StmtId(0), TxStatus::InBlock)));
            assert!(!session.is_busy() && session.current().is_none());
            assert_eq!(drain(&mut asked(Capture::Nothing, 1), whole), ["complete 0", "ready InBlock true"]);
            for cut in 0..whole.len() {
                assert_eq!(asked(Capture::Nothing, 1).receive_answer(&whole[..cut]), None, "{cut} bytes");
            }
            assert_eq!(asked(Capture::Rows, 1).receive_answer(whole), None);
            assert_eq!(asked(Capture::Nothing, 2).receive_answer(whole), None);
            assert_eq!(asked(Capture::Nothing, 0).receive_answer(whole), None);
        }
        for other in others {
            let (mut session, mut untouched) = (asked(Capture::Nothing, 1), asked(Capture::Nothing, 1));
            assert_eq!(session.receive_answer(&other), None);
            assert_eq!(format!("{session:?}"), format!("{untouched:?}"));
            assert_eq!(untouched.receive_answer(&plain), Some((StmtId(0), TxStatus::InBlock)));
        }
    }

    #[test]
    fn a_statement_that_must_find_a_row_says_if_it_found_none() {
        for mode in [QueryMode::Simple, QueryMode::Prepared] {
            for (finds, tag, lacks) in
                [(true, &b"UPDATE 0\0"[..], true), (true, b"SELECT 10\0", false), (false, b"UPDATE 0\0", false)]
            {
                let mut session = Session::new(mode, 1);
                session.assume_prepared(StmtId(0));
                let (statement, values) = (statement(), [ParamValue::Int4(1)]);
                match finds {
                    true => session.find(StmtId(0), &statement, &values, &mut Vec::new()),
                    false => session.execute(StmtId(0), &statement, &values, Capture::Nothing, &mut Vec::new()),
                }
                session.sync(&mut Vec::new());
                let ends = [msg(b'D', b"\0\x01\0\0\0\x011"), msg(b'C', tag)].concat();
                let Received::Event { used, .. } = session.receive(&ends).unwrap() else { panic!("no end") };
                assert_eq!(session.lacks_row(&ends[..used]), lacks, "{mode:?}");
                drain(&mut session, &msg(b'Z', b"I"));
                assert!(!session.is_busy() && session.current().is_none() && !session.is_open());
            }
        }
    }

    #[test]
    fn garbage_is_an_error_and_not_a_panic() {
        let mut session = Session::new(QueryMode::Simple, 0);
        assert_eq!(
            session.receive(b"HTTP/1.1 400 Bad Request\r\n").unwrap_err(),
            DecodeError::Length { tag: b'H', len: 0x5454_502f }.into()
        );
        assert_eq!(session.receive(&msg(b'Z', b"I")).unwrap_err(), ProtocolError::Unexpected(b'Z'));
    }
}
