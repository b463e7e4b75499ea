//! One connection after its start: statements out, events in.

use std::collections::VecDeque;

use crate::backend::{self, DataRow, DecodeError};
use crate::{QueryMode, SqlState, Statement, StmtId, Value, frontend};

/// What ReadyForQuery says of the transaction block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TxStatus {
    /// Outside of a block.
    Idle,
    /// In a block.
    InBlock,
    /// In a block that can only be rolled back.
    Failed,
}

/// What happened, in the order of the server's messages.
#[derive(Debug)]
pub enum Event<'a> {
    /// A row of a statement that was sent with `capture`.
    Row(DataRow<'a>),
    /// A statement ended well; how many rows it says, where it says so.
    Complete(StmtId),
    /// A statement failed. `raw` is the body of the message, for [`backend::ServerMessage::parse`].
    Error {
        /// The SQLSTATE.
        code: SqlState,
        /// All fields.
        raw: &'a [u8],
    },
    /// A batch was answered.
    Ready {
        /// The state of the transaction block.
        status: TxStatus,
        /// Whether nothing more is awaited.
        all_done: bool,
    },
    /// The server wants COPY data or sends it: nothing that a measured client does.
    Copy,
}

/// What [`Session::receive`] found.
#[derive(Debug)]
pub enum Received<'a> {
    /// No event in the input, of which the first `used` bytes are done with.
    NeedMore {
        /// Bytes that the caller may drop.
        used: usize,
    },
    /// An event, and how much of the input it and what stood before it took.
    Event {
        /// What happened.
        event: Event<'a>,
        /// Bytes that the caller may drop once the event is handled.
        used: usize,
    },
}

/// Why the server's bytes make no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProtocolError {
    /// A message is malformed.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// A message came that nothing was sent for.
    #[error("server sent message '{}' where none was awaited", *.0 as char)]
    Unexpected(u8),
}

/// A statement whose end is awaited.
#[derive(Clone, Copy, Debug)]
struct Expected {
    stmt: StmtId,
    capture: bool,
}

/// What was sent between two ReadyForQuery.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    statements: u16,
    parses: u16,
}

/// One connection's view of the extended and simple query protocol.
///
/// Statements are sent with [`Session::execute`], a group of them is closed with [`Session::sync`], and
/// the server's bytes go to [`Session::receive`] until it says [`Received::NeedMore`].
#[derive(Debug)]
pub struct Session {
    mode: QueryMode,
    prepared: Vec<bool>,
    expected: VecDeque<Expected>,
    parsing: VecDeque<StmtId>,
    groups: VecDeque<Group>,
    open: Group,
}

impl Session {
    /// A session that knows `statements` statements, none of them prepared on the server yet.
    #[must_use]
    pub fn new(mode: QueryMode, statements: usize) -> Self {
        Self {
            mode,
            prepared: vec![false; statements],
            expected: VecDeque::with_capacity(1),
            parsing: VecDeque::new(),
            groups: VecDeque::with_capacity(1),
            open: Group::default(),
        }
    }

    /// The query mode.
    #[must_use]
    pub fn mode(&self) -> QueryMode {
        self.mode
    }

    /// Appends one statement to `out`. With `capture` its rows come back as [`Event::Row`], else they
    /// are passed over.
    #[inline]
    pub fn execute(
        &mut self,
        id: StmtId,
        statement: &Statement,
        values: &[Value<'_>],
        capture: bool,
        out: &mut Vec<u8>,
    ) {
        self.expected.push_back(Expected { stmt: id, capture });
        self.open.statements += 1;
        match self.mode {
            QueryMode::Simple => {
                statement.query(values, out);
                self.close_group();
            }
            QueryMode::Extended => {
                statement.parse(None, out);
                statement.bind(None, values, out);
                frontend::execute(out);
            }
            QueryMode::Prepared => {
                let slot = &mut self.prepared[usize::from(id.0)];
                if !*slot {
                    *slot = true;
                    statement.parse(Some(id), out);
                    self.parsing.push_back(id);
                    self.open.parses += 1;
                }
                statement.bind(Some(id), values, out);
                frontend::execute(out);
            }
        }
    }

    /// Appends a text of one or more statements as a simple query, whatever the mode. It counts as
    /// statement `id`.
    pub fn query(&mut self, id: StmtId, sql: &str, out: &mut Vec<u8>) {
        debug_assert_eq!(self.open.statements, 0, "a simple query inside an open pipeline");
        self.expected.push_back(Expected { stmt: id, capture: false });
        self.open.statements += 1;
        frontend::query(out, sql);
        self.close_group();
    }

    /// Closes the group of statements, if one is open, so that the server answers with ReadyForQuery.
    #[inline]
    pub fn sync(&mut self, out: &mut Vec<u8>) {
        if self.open.statements > 0 {
            frontend::sync(out);
            self.close_group();
        }
    }

    /// Whether an answer is awaited.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        !self.groups.is_empty()
    }

    /// The statement that the server works on, as far as its answers tell.
    #[must_use]
    pub fn current(&self) -> Option<StmtId> {
        self.expected.front().map(|e| e.stmt)
    }

    fn close_group(&mut self) {
        self.groups.push_back(std::mem::take(&mut self.open));
    }

    /// Reads the server's bytes up to the next event. To be called again, with what follows `used`,
    /// until it says [`Received::NeedMore`].
    ///
    /// # Errors
    /// When the bytes are no PostgreSQL messages, or none that was awaited. The connection is then of no
    /// more use.
    #[inline]
    pub fn receive<'a>(&mut self, input: &'a [u8]) -> Result<Received<'a>, ProtocolError> {
        let mut used = 0;
        while let Some(message) = backend::next_message(&input[used..])? {
            used += message.len;
            let event = match message.tag {
                b'D' => {
                    if !self.expected.front().is_some_and(|e| e.capture) {
                        continue;
                    }
                    Event::Row(DataRow::new(message.body))
                }
                b'C' | b'I' | b's' => {
                    // A simple query may hold several statements: the first one's end stands for it.
                    let group = self.groups.front_mut().ok_or(ProtocolError::Unexpected(message.tag))?;
                    if group.statements == 0 {
                        continue;
                    }
                    group.statements -= 1;
                    let done = self.expected.pop_front().ok_or(ProtocolError::Unexpected(message.tag))?;
                    Event::Complete(done.stmt)
                }
                b'Z' => return self.ready(message.body, used),
                b'E' => Event::Error { code: backend::error_code(message.body), raw: message.body },
                b'1' => {
                    if let Some(group) = self.groups.front_mut().filter(|g| g.parses > 0) {
                        group.parses -= 1;
                        self.parsing.pop_front();
                    }
                    continue;
                }
                // BindComplete, CloseComplete, RowDescription, NoData, ParameterDescription, notices,
                // ParameterStatus, notifications, BackendKeyData: nothing to do.
                b'2' | b'3' | b'T' | b'n' | b't' | b'N' | b'S' | b'A' | b'K' => continue,
                b'G' | b'H' | b'W' | b'd' | b'c' => Event::Copy,
                tag => return Err(ProtocolError::Unexpected(tag)),
            };
            return Ok(Received::Event { event, used });
        }
        Ok(Received::NeedMore { used })
    }

    fn ready<'a>(&mut self, body: &[u8], used: usize) -> Result<Received<'a>, ProtocolError> {
        let group = self.groups.pop_front().ok_or(ProtocolError::Unexpected(b'Z'))?;
        let status = match body {
            b"I" => TxStatus::Idle,
            b"T" => TxStatus::InBlock,
            _ => TxStatus::Failed,
        };
        // What the group still awaits was skipped by the server after an error (or, in simple mode,
        // ends here); statements whose Parse went unanswered are not prepared.
        for _ in 0..group.statements {
            self.expected.pop_front();
        }
        for _ in 0..group.parses {
            if let Some(id) = self.parsing.pop_front() {
                self.prepared[usize::from(id.0)] = false;
            }
        }
        Ok(Received::Event { event: Event::Ready { status, all_done: self.groups.is_empty() }, used })
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
                        Event::Row(row) => format!("row {:?}", row.text(0)),
                        Event::Complete(id) => format!("complete {}", id.0),
                        Event::Error { code, .. } => format!("error {code}"),
                        Event::Ready { status, all_done } => format!("ready {status:?} {all_done}"),
                        Event::Copy => "copy".into(),
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
        session.execute(StmtId(0), &s, &[Value::Int4(1)], true, &mut out);
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
        session.execute(StmtId(0), &s, &[Value::Int4(2)], false, &mut out);
        session.sync(&mut out);
        assert_eq!(out[0], b'B');
        assert!(session.is_busy());
    }

    #[test]
    fn a_failed_parse_is_sent_again_and_the_rest_of_the_pipeline_is_dropped() {
        let (mut session, s, mut out) = (Session::new(QueryMode::Prepared, 2), statement(), Vec::new());
        session.execute(StmtId(0), &s, &[Value::Int4(1)], false, &mut out);
        session.execute(StmtId(1), &s, &[Value::Int4(1)], false, &mut out);
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
        assert_eq!(session.prepared, [true, false]);
        assert!(session.expected.is_empty() && session.parsing.is_empty() && !session.is_busy());
    }

    #[test]
    fn simple_queries_end_with_ready_for_query_however_many_statements_they_hold() {
        let (mut session, mut out) = (Session::new(QueryMode::Simple, 2), Vec::new());
        session.query(StmtId(0), "begin; select 1", &mut out);
        session.query(StmtId(1), "end", &mut out);
        let reply =
            [msg(b'C', b"BEGIN\0"), msg(b'C', b"SELECT 1\0"), msg(b'Z', b"T"), msg(b'C', b"COMMIT\0"), msg(b'Z', b"I")]
                .concat();
        assert_eq!(drain(&mut session, &reply), ["complete 0", "ready InBlock false", "complete 1", "ready Idle true"]);
        assert!(session.expected.is_empty());
    }

    #[test]
    fn one_byte_at_a_time_gives_the_same_events() {
        let reply = [msg(b'1', b""), msg(b'2', b""), msg(b'C', b"SELECT 1\0"), msg(b'Z', b"I")].concat();
        let (mut session, s, mut out) = (Session::new(QueryMode::Extended, 1), statement(), Vec::new());
        session.execute(StmtId(0), &s, &[Value::Int4(1)], false, &mut out);
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
