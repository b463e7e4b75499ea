//! Markers: how old the data is that queries see on another server.
//!
//! Each client of the transactions has a row. Where a transaction writes, it writes its number there, too, in the same
//! transaction. A query reads all rows first, in a transaction with one snapshot (after HATtrick, SIGMOD 2022, which joins
//! the rows to the query; so a query without rows showed nothing).

use std::sync::Arc;

use pgdyno_wire::{ParamType, ParamValue, Statement, StmtId};
use pgdyno_workload::{
    Batch, Begin, Capabilities, ClientId, ClientScript, Failure, FailureAction, Marks, Next, Note, Partitions, Program,
    Reply, RowCount, Scripts, ShellOutcome, Table, Txn, Verdict,
};

/// Begins the transaction of a query, takes its snapshot and reads the markers. A standby refuses SERIALIZABLE.
pub(super) const BEGIN: &str = "begin isolation level repeatable read read only; select client, number from ch_markers";

/// Ends the transaction of a query.
pub(super) const END: &str = "commit";

/// Empties the table before a run: numbers begin with 1.
pub(super) const EMPTY: &str = "truncate ch_markers";

/// Bytes of the table with a few clients.
const BYTES: u64 = 8192;

/// Transactions that write in any case.
const WRITERS: [&str; 3] = ["new-order", "payment", "delivery"];

/// Returns the table. Pages have room for the new versions of a row, which then need no new entry in the index.
pub(super) fn table() -> Table {
    Table {
        name: "ch_markers",
        ddl: "CREATE TABLE ch_markers (client integer NOT NULL, number bigint NOT NULL) WITH (fillfactor = 20)"
            .to_owned(),
        indexes: vec!["ALTER TABLE ch_markers ADD CONSTRAINT ch_markers_pkey PRIMARY KEY (client)".to_owned()],
        foreign_keys: Vec::new(),
        rows: RowCount::Exact(0),
        grows: true,
        bytes: BYTES,
        partitions: Partitions::None,
        distribution: None,
        binary: Vec::new(),
        source: None,
    }
}

/// Returns the same scripts, whose transactions write markers.
pub(super) fn marked(scripts: Scripts) -> Scripts {
    let (program, txns) = (scripts.program, writers(&scripts.txns));
    let marked = move |caps: &Capabilities| {
        let Program { mut statements, client } = program(caps);
        let (write, writers) = (statements.add(write()), txns.clone());
        Program::new(statements, move |context| {
            Box::new(Marked::new(client(context), context.id, write, writers.clone()))
        })
    };
    Scripts { program: Arc::new(marked), ..scripts }
}

/// Returns for each of the transactions whether it writes.
fn writers(txns: &[Txn]) -> Arc<[bool]> {
    txns.iter().map(|txn| WRITERS.contains(&txn.name)).collect()
}

/// Returns the statement that writes a marker.
fn write() -> Statement {
    Statement::new(
        "insert into ch_markers (client, number) values ($1, $2) on conflict (client) do update set number = excluded.number",
        &[ParamType::Int4, ParamType::Int8],
    )
}

/// Reads the markers from the reply to [`BEGIN`] into `seen`, by client.
pub(super) fn read(reply: Reply<'_>, seen: &mut Vec<u64>) {
    seen.clear();
    for row in reply.rows() {
        let number = |column| row.text(column).and_then(|text| text.parse::<u64>().ok());
        let (Some(client), Some(number)) = (number(0), number(1)) else { continue };
        let client = client as usize;
        if seen.len() <= client {
            seen.resize(client + 1, 0);
        }
        seen[client] = number;
    }
}

/// A client of the transactions that writes markers.
pub(super) struct Marked {
    client: Box<dyn ClientScript>,
    id: ClientId,
    write: StmtId,
    /// Whether transactions of each kind write.
    writers: Arc<[bool]>,
    /// The number of the last transaction that writes.
    number: u64,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// The transaction only reads.
    Reads,
    /// The marker is still to be sent.
    Begun,
    /// It was sent.
    Sent,
    /// The transaction, and with it the marker, was rolled back on purpose.
    RolledBack,
}

impl Marked {
    fn new(client: Box<dyn ClientScript>, id: ClientId, write: StmtId, writers: Arc<[bool]>) -> Self {
        Self { client, id, write, writers, number: 0, state: State::Reads }
    }
}

impl ClientScript for Marked {
    fn begin(&mut self) -> Option<Begin> {
        let begin = self.client.begin()?;
        let writes = self.writers.get(usize::from(begin.txn.0)).is_some_and(|writes| *writes);
        self.number += u64::from(writes);
        self.state = if writes { State::Begun } else { State::Reads };
        Some(begin)
    }

    fn step(&mut self, reply: Reply<'_>, batch: &mut Batch<'_>) -> Next {
        if self.state == State::Begun {
            self.state = State::Sent;
            // In one pipeline with the first statement: BEGIN goes on with the transaction that this one has begun.
            batch.execute(self.write, &[ParamValue::Int4(self.id.0 as i32), ParamValue::Int8(self.number as i64)]);
        }
        let next = self.client.step(reply, batch);
        if next == Next::Finish(Verdict::RolledBack) {
            self.state = State::RolledBack;
        }
        next
    }

    fn restart(&mut self) {
        if self.state != State::Reads {
            self.state = State::Begun;
        }
        self.client.restart();
    }

    fn shell(&self) -> &[u8] {
        self.client.shell()
    }

    fn shell_done(&mut self, outcome: ShellOutcome) {
        self.client.shell_done(outcome);
    }

    fn waiting(&self) -> Option<StmtId> {
        self.client.waiting()
    }

    fn tally(&self, verdict: Verdict, counts: &mut [u64]) {
        self.client.tally(verdict, counts);
    }

    fn location(&self, stmt: Option<StmtId>, position: Option<u32>) -> Option<String> {
        self.client.location(stmt, position)
    }

    fn marks(&self) -> Marks<'_> {
        if self.state == State::Sent { Marks::Wrote(self.number) } else { Marks::None }
    }

    fn on_failure(&mut self, failure: &Failure<'_>, notes: &mut Vec<Note>) -> FailureAction {
        let then = self.client.on_failure(failure, notes);
        if then == FailureAction::Finish(Verdict::RolledBack) {
            self.state = State::RolledBack;
        }
        then
    }
}

#[cfg(test)]
mod tests {
    use pgdyno_wire::{QueryMode, Session};
    use pgdyno_workload::{Since, TxnId};

    use super::*;

    /// Runs the transactions of these kinds; each is one statement.
    struct Kinds(std::vec::IntoIter<u8>, Verdict);

    impl ClientScript for Kinds {
        fn begin(&mut self) -> Option<Begin> {
            self.0.next().map(|kind| Begin { txn: TxnId(kind), wait_ns: 0, since: Since::End })
        }

        fn step(&mut self, _: Reply<'_>, batch: &mut Batch<'_>) -> Next {
            batch.execute(StmtId(0), &[]);
            Next::Finish(self.1)
        }

        fn restart(&mut self) {}
    }

    fn marked(kinds: Vec<u8>, verdict: Verdict) -> Marked {
        let txns = ["new-order", "payment", "order-status"].map(|name| Txn::new(name, 1.0, 1));
        Marked::new(Box::new(Kinds(kinds.into_iter(), verdict)), ClientId(3), StmtId(1), writers(&txns))
    }

    /// Returns true if a step sent a marker.
    fn sends(client: &mut Marked) -> bool {
        let statements = [Statement::new("select 1", &[]), write()];
        let mut session = Session::new(QueryMode::Extended, statements.len());
        let (mut out, mut notes) = (Vec::new(), Vec::new());
        let mut batch = Batch::new(&mut session, &statements, &mut out, &mut notes);
        client.step(Reply::default(), &mut batch);
        batch.close();
        out.windows(10).any(|part| part == b"ch_markers")
    }

    #[test]
    fn a_transaction_that_writes_writes_its_number_and_one_that_reads_none() {
        let mut client = marked(vec![0, 2, 1], Verdict::Committed);
        client.begin();
        assert!(sends(&mut client) && client.marks() == Marks::Wrote(1));
        client.begin();
        assert!(!sends(&mut client) && client.marks() == Marks::None);
        client.begin();
        assert!(sends(&mut client) && client.marks() == Marks::Wrote(2));
        client.restart();
        assert!(client.marks() == Marks::None && sends(&mut client) && client.marks() == Marks::Wrote(2), "once more");
    }

    #[test]
    fn what_is_rolled_back_on_purpose_has_no_marker() {
        let mut client = marked(vec![0], Verdict::RolledBack);
        client.begin();
        assert!(sends(&mut client) && client.marks() == Marks::None);
    }
}
