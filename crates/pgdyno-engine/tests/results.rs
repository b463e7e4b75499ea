//! Rows that statements bring: passed over, counted, hashed, or kept up to a bound.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::mpsc::{Receiver, Sender, channel};

use pgdyno_engine::fleet::{Fleet, numbered};
use pgdyno_engine::pacer::Pacer;
use pgdyno_engine::{ClientRules, Tick};
use pgdyno_measure::{Digest, StatementRows, ThreadCounts};
use pgdyno_wire::{QueryMode, Statement, StmtId, frontend};
use pgdyno_workload::{Batch, Begin, ClientScript, Next, Reply, Results, TxnId, Verdict};

/// A query in one step, and an empty one that reads what came; `said` receives the first column.
struct Script {
    reads: bool,
    said: Sender<Vec<String>>,
}

impl ClientScript for Script {
    fn begin(&mut self) -> Option<Begin> {
        self.reads = false;
        Some(Begin::now(TxnId(0)))
    }

    fn step(&mut self, reply: Reply<'_>, batch: &mut Batch<'_>) -> Next {
        if std::mem::replace(&mut self.reads, true) {
            self.said.send(reply.rows().map(|row| row.text(0).unwrap().to_owned()).collect()).unwrap();
            return Next::Finish(Verdict::Committed);
        }
        batch.execute(StmtId(0), &[]);
        Next::Await
    }

    fn restart(&mut self) {
        self.reads = false;
    }
}

fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    frontend::message(&mut out, tag, |out| out.extend_from_slice(body));
    out
}

fn row(text: &str) -> Vec<u8> {
    [&[0, 1], &(text.len() as u32).to_be_bytes()[..], text.as_bytes()].concat()
}

struct Connection {
    fleet: Fleet,
    said: Receiver<Vec<String>>,
    now: Tick,
}

impl Connection {
    fn new(results: Results, mode: QueryMode) -> Self {
        let (sender, said) = channel();
        let script = Box::new(Script { reads: false, said: sender });
        let statements = numbered(vec![Statement::new("SELECT x FROM t", &[])]);
        let rules = ClientRules { results, ..ClientRules::default() };
        let mut fleet = Fleet::new(0, vec![script], mode, statements, 1, rules, Pacer::Closed);
        fleet.advance(0, Tick(0));
        Self { fleet, said, now: Tick(0) }
    }

    /// Answers the query that was sent with these rows; a failure may come after them.
    fn answer(&mut self, rows: &[&str], fails: bool) {
        let sent = std::mem::take(self.fleet.output(0));
        let mut reply = Vec::new();
        if sent[0] == b'P' {
            reply.extend(message(b'1', b""));
        }
        if sent[0] != b'Q' {
            reply.extend(message(b'2', b""));
        }
        rows.iter().for_each(|text| reply.extend(message(b'D', &row(text))));
        if fails {
            reply.extend(message(b'E', b"SERROR\0C42P01\0Mno\0\0"));
        } else {
            reply.extend(message(b'C', format!("SELECT {}\0", rows.len()).as_bytes()));
        }
        reply.extend(message(b'Z', b"I"));
        self.now = self.now.after(1_000);
        self.fleet.receive(0, self.now, &reply).unwrap();
        // A script that waits for nothing goes on in its next turn.
        while self.fleet.run_one(self.now).is_some() {}
    }

    fn part(&mut self) -> ThreadCounts {
        self.fleet.recorder(0).take()
    }
}

fn digest(rows: &[&str]) -> Digest {
    let mut digest = Digest::default();
    rows.iter().for_each(|text| digest.row(&row(text)));
    digest
}

const MODES: [QueryMode; 3] = [QueryMode::Simple, QueryMode::Extended, QueryMode::Prepared];

#[test]
fn rows_are_counted_by_statement_and_kept_nowhere() {
    for mode in MODES {
        let mut connection = Connection::new(Results::Count, mode);
        connection.answer(&["a", "b", "c"], false);
        connection.answer(&[], false);
        connection.answer(&["d"], false);
        let part = connection.part();
        let rows = part.stmts[0].rows.as_deref().unwrap();
        assert_eq!((rows.count, rows.digest, rows.answered), (4, None, 2), "{mode:?}");
        assert_eq!((part.stmts[0].latency.count(), part.txns[0].committed), (3, 3), "{mode:?}");
        assert!(connection.said.try_iter().all(|rows| rows.is_empty()), "{mode:?}");
        let mut connection = Connection::new(Results::Discard, mode);
        connection.answer(&["a", "b", "c"], false);
        assert_eq!(connection.part().stmts[0].rows, None, "{mode:?}");
    }
}

#[test]
fn a_digest_is_of_all_executions() {
    for mode in MODES {
        let mut connection = Connection::new(Results::Digest, mode);
        connection.answer(&["a", "b"], false);
        connection.answer(&["c"], false);
        let rows = *connection.part().stmts[0].rows.clone().unwrap();
        let (first, second) = (digest(&["a", "b"]), digest(&["c"]));
        let sum = Digest {
            unordered: first.unordered.wrapping_add(second.unordered),
            ordered: first.ordered.wrapping_add(second.ordered),
        };
        assert_eq!((rows.count, rows.digest), (3, Some(sum)), "{mode:?}");
        // In the other order one half of it is the same.
        connection.answer(&["b", "a"], false);
        connection.answer(&["c"], false);
        let other = connection.part().stmts[0].rows.as_ref().and_then(|rows| rows.digest).unwrap();
        assert!(other.unordered == sum.unordered && other.ordered != sum.ordered, "{mode:?}");
        // No row at all is a result, too.
        connection.answer(&[], false);
        let none = connection.part().stmts[0].rows.clone().unwrap();
        assert_eq!(*none, StatementRows { digest: Some(Digest::default()), ..StatementRows::default() }, "{mode:?}");
    }
}

#[test]
fn rows_of_a_statement_that_fails_count_nowhere() {
    for results in [Results::Count, Results::Digest] {
        let mut connection = Connection::new(results, QueryMode::Prepared);
        connection.answer(&["a", "b"], true);
        connection.answer(&["c"], false);
        let part = connection.part();
        assert_eq!((part.stmts[0].failed, part.stmts[0].rows.as_ref().map(|rows| rows.count)), (1, Some(1)));
        let hashed = (results == Results::Digest).then(|| digest(&["c"]));
        assert_eq!(part.stmts[0].rows.as_ref().and_then(|rows| rows.digest), hashed);
    }
}

#[test]
fn rows_are_kept_up_to_the_bound_and_beyond_it_their_statement_has_failed() {
    for mode in MODES {
        let mut connection = Connection::new(Results::Rows { cap: 3 }, mode);
        connection.answer(&["a", "b", "c"], false);
        assert_eq!(connection.said.try_recv().unwrap(), ["a", "b", "c"], "{mode:?}");
        connection.answer(&["a", "b", "c", "d", "e"], false);
        assert!(connection.said.try_recv().is_err(), "{mode:?}: the script does not go on");
        connection.answer(&["f"], false);
        assert_eq!(connection.said.try_recv().unwrap(), ["f"], "{mode:?}");
        let part = connection.part();
        assert_eq!((part.stmts[0].failed, part.txns[0].failures(), part.txns[0].committed), (1, 1, 2), "{mode:?}");
        assert_eq!(part.stmts[0].rows.as_ref().map(|rows| rows.count), Some(4), "{mode:?}");
        let errors = connection.fleet.errors();
        let message = errors.values().next().map(|error| error.message.as_str());
        assert_eq!(message, Some("the workload keeps up to 3 rows of a statement, and this brings more"), "{mode:?}");
    }
}
