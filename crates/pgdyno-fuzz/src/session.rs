//! Any bytes as a server's messages in a session.
//!
//! The first four bytes choose how statements are sent and how many; the rest is what the server sends. The events are the
//! same whether it comes in one read or byte by byte.

use pgdyno_wire::backend::{self, ServerMessage};
use pgdyno_wire::{
    Capture, Event, ParamType, ParamValue, ProtocolError, QueryMode, Received, Session, Statement, StmtId, TextParams,
    TxStatus, Wire,
};

/// How statements are sent.
#[derive(Clone, Copy)]
struct Sending {
    mode: QueryMode,
    wire: Wire,
    capture: Capture,
    /// Numbers of statements of four groups, two bits each.
    groups: u8,
    pipelined: bool,
}

impl Sending {
    fn new([mode, capture, groups, split]: [u8; 4]) -> Self {
        Self {
            mode: [QueryMode::Simple, QueryMode::Extended, QueryMode::Prepared][usize::from(mode % 3)],
            wire: if mode & 0x10 == 0 { Wire::Native } else { Wire::Libpq },
            capture: [Capture::Nothing, Capture::Rows, Capture::Results, Capture::Count][usize::from(capture % 4)],
            groups,
            pipelined: split & 1 == 1,
        }
    }
}

pub(crate) fn run(input: &[u8]) {
    let Some((head, server)) = input.split_first_chunk::<4>() else { return };
    let sending = Sending::new(*head);
    let whole = Conversation::new(sending).events_of([server]);
    // Like the engine, first try the usual answer.
    let mut quick = Conversation::new(sending);
    quick.quick = true;
    assert_eq!(quick.events_of([server]), whole, "tried first");
    let length = 1 + usize::from(head[3] >> 1) % 17;
    assert_eq!(Conversation::new(sending).events_of(server.chunks(length)), whole, "reads of {length} bytes");
    let mut quick = Conversation::new(sending);
    quick.quick = true;
    assert_eq!(quick.events_of(server.chunks(length)), whole, "tried first, reads of {length} bytes");
}

struct Conversation {
    session: Session,
    sending: Sending,
    statements: [Statement; 2],
    out: Vec<u8>,
    groups_sent: u32,
    quick: bool,
    events: Vec<String>,
}

impl Conversation {
    fn new(sending: Sending) -> Self {
        let statements = [
            Statement::new("SELECT abalance FROM pgbench_accounts WHERE aid = $1", &[ParamType::Int4]),
            Statement::new("INSERT INTO t VALUES ($1, $2)", &[ParamType::Int8, ParamType::Text]),
        ];
        let mut session = Session::new(sending.mode, statements.len());
        session.speak(sending.wire);
        let (out, events) = (Vec::new(), Vec::new());
        let mut this = Self { session, sending, statements, out, groups_sent: 0, quick: false, events };
        this.send();
        this
    }

    /// Sends the next group of statements, or two groups when pipelined.
    fn send(&mut self) {
        for _ in 0..=u8::from(self.sending.pipelined) {
            // From the second time on, prepared statements are sent by name.
            let many = 1 + (self.sending.groups >> (2 * (self.groups_sent % 4))) % 4;
            self.groups_sent += 1;
            let count = if self.sending.mode == QueryMode::Simple { 1 } else { many };
            for nth in 0..count {
                self.out.clear();
                let id = StmtId(u16::from(nth % 2).into());
                let (session, capture, out) = (&mut self.session, self.sending.capture, &mut self.out);
                if nth == 3 {
                    session.query_params(
                        id,
                        b"SELECT $1",
                        TextParams { count: 1, encoded: b"\0\0\0\x011" },
                        capture,
                        out,
                    );
                } else if nth % 2 == 0 {
                    session.execute(id, &self.statements[0], &[ParamValue::Int4(7)], capture, out);
                } else {
                    session.execute(
                        id,
                        &self.statements[1],
                        &[ParamValue::Int8(7), ParamValue::Text("it's")],
                        capture,
                        out,
                    );
                }
            }
            self.session.sync(&mut self.out);
        }
    }

    /// Returns the events of these reads, as text.
    fn events_of<'a>(mut self, reads: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
        let mut unread = Vec::new();
        for read in reads {
            unread.extend_from_slice(read);
            match self.take(&unread) {
                Ok(used) => drop(unread.drain(..used)),
                Err(error) => {
                    assert!(error.to_string().starts_with("server sent"), "an error names what it read: {error}");
                    self.events.push(error.to_string());
                    break;
                }
            }
        }
        self.events
    }

    /// Consumes the complete messages of `unread`. Returns their length in bytes.
    fn take(&mut self, unread: &[u8]) -> Result<usize, ProtocolError> {
        if self.quick
            && let Some((stmt, status)) = self.session.receive_answer(unread)
        {
            self.events.push(format!("complete {stmt:?}"));
            self.ready(status, true, None);
            return Ok(unread.len());
        }
        let mut at = 0;
        loop {
            let (event, used) = match self.session.receive(&unread[at..])? {
                Received::NeedMore { used } => return Ok(at + used),
                Received::Event { event, used } => (event, used),
            };
            assert!(used > 0 && at + used <= unread.len());
            at += used;
            match event {
                Event::Columns(body) => self.events.push(format!("columns {:?}", backend::column_names(body))),
                Event::Row(row) => {
                    assert!(row.columns().flatten().map(<[u8]>::len).sum::<usize>() <= row.body().len());
                    self.events.push(format!("row {:?} {:?}", row.columns().count(), row.text(0)));
                }
                Event::Complete(stmt) => self.events.push(format!("complete {stmt:?}")),
                Event::Part(stmt) => self.events.push(format!("part {stmt:?}")),
                Event::Notice(body) => self.events.push(ServerMessage::parse(body).to_string()),
                Event::Error { code, raw } => {
                    assert_eq!(ServerMessage::parse(raw).code, code);
                    self.events.push(format!("error {code}"));
                }
                Event::Ready { status, all_done, text } => self.ready(status, all_done, text),
                Event::Copy { wanted } => {
                    self.out.clear();
                    if wanted {
                        self.session.end_copy(&mut self.out);
                    }
                    self.events.push(format!("copy {wanted}"));
                }
            }
        }
    }

    fn ready(&mut self, status: TxStatus, all_done: bool, text: Option<StmtId>) {
        self.events.push(format!("ready {status:?} {all_done} {text:?}"));
        assert_eq!(all_done, !self.session.is_busy());
        if all_done {
            self.send();
        }
    }
}
