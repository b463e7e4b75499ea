//! A stream: one client that does each of its tasks once, queries or refresh functions.

use pgdyno_wire::{Capture, StmtId};
use pgdyno_workload::{Batch, Begin, ClientScript, Next, Note, Reply, TxnId, Verdict};

use crate::query_set::{self, QUERIES, limit};

use super::refresh::{self, RefreshProgress, SETS, Set, State};
use super::scale::ScaleFactor;

/// A refresh function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    /// RF1 inserts the orders of the next set, one transaction after another.
    Insert,
    /// RF2 deletes as many.
    Delete,
}

impl Function {
    /// Returns its transaction in reports, which follows those of the queries.
    pub(super) fn txn(self) -> TxnId {
        TxnId(QUERIES as u8 + self as u8)
    }
}

/// The statements that are no queries.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ids {
    pub(super) insert: StmtId,
    pub(super) delete: StmtId,
    /// Reads the stamp.
    pub(super) state: StmtId,
    /// Limits the time of queries.
    pub(super) limit: StmtId,
}

/// One query of a stream.
pub(super) struct Query {
    /// Its number, 1 to 22.
    pub(super) number: usize,
    pub(super) text: String,
}

/// A part of a stream, which is one transaction in reports.
pub(super) enum Task {
    Query(Query),
    Refresh(Function),
}

/// A stream.
pub(super) struct Stream {
    tasks: Vec<Task>,
    ids: Ids,
    scale: ScaleFactor,
    /// SQL that limits the time of each query of the session, until it is sent.
    limit: Option<String>,
    /// Tasks begun.
    begun: usize,
    /// The refresh function in progress.
    refresh: Refresh,
    /// Whether its last transaction is to be tried again.
    again: bool,
    /// The set whose orders were inserted, and of which none was deleted yet.
    inserted: Option<Set>,
}

/// A refresh function as far as it has come.
#[derive(Default)]
enum Refresh {
    /// It has not begun.
    #[default]
    New,
    /// The stamp is being read.
    Reading,
    /// Its set, the transactions that are left, and the last one sent.
    Working(Set, Box<dyn Iterator<Item = String> + Send>, String),
}

impl Stream {
    /// Returns a stream of these tasks; each query may take so many milliseconds, or any time.
    pub(super) fn new(tasks: Vec<Task>, ids: Ids, scale: ScaleFactor, timeout_ms: Option<i64>) -> Self {
        Self {
            tasks,
            ids,
            scale,
            limit: timeout_ms.map(limit),
            begun: 0,
            refresh: Refresh::New,
            again: false,
            inserted: None,
        }
    }

    /// Returns the set after those that the stamp notes, or why there is none.
    fn next_set(&self, reply: Reply<'_>) -> Result<Set, String> {
        let again = "; load the data again with --replace, or leave refresh functions out with --no-refresh";
        let Some(note) = reply.first().and_then(|row| row.text(0)) else {
            return Err(format!("refresh functions need the stamp of pgdyno's load, and there is none{again}"));
        };
        match State::read(note) {
            Some(State { pairs, progress: RefreshProgress::Whole }) => Set::of(self.scale, pairs + 1)
                .ok_or_else(|| format!("all {SETS} sets of the refresh functions are used{again}")),
            Some(_) => Err(format!("the stamp says '{note}': another run refreshes the same data")),
            None => Err(format!("the stamp says '{note}', which this pgdyno does not know{again}")),
        }
    }

    /// Sends the next transaction of a refresh function.
    fn refresh(&mut self, function: Function, reply: Reply<'_>, batch: &mut Batch<'_>) -> Next {
        if matches!(self.refresh, Refresh::New) {
            self.refresh = match self.inserted.take().filter(|_| function == Function::Delete) {
                Some(set) => Refresh::Working(set, Box::new(set.deletes()), String::new()),
                None => {
                    batch.query(self.ids.state, refresh::read_sql().as_bytes(), Capture::Rows);
                    self.refresh = Refresh::Reading;
                    return Next::Await;
                }
            };
        } else if matches!(self.refresh, Refresh::Reading) {
            self.refresh = match self.next_set(reply) {
                Ok(set) => Refresh::Working(set, Box::new(set.inserts()), String::new()),
                Err(why) => {
                    batch.note(Note::Error(why));
                    return Next::Abort;
                }
            };
        }
        let Refresh::Working(set, transactions, last) = &mut self.refresh else { return Next::Abort };
        if !std::mem::take(&mut self.again) {
            let Some(sql) = transactions.next() else {
                self.inserted = Some(*set).filter(|_| function == Function::Insert);
                return Next::Finish(Verdict::Committed);
            };
            *last = sql;
        }
        let statement = match function {
            Function::Insert => self.ids.insert,
            Function::Delete => self.ids.delete,
        };
        batch.query(statement, last.as_bytes(), Capture::Nothing);
        Next::Await
    }
}

impl ClientScript for Stream {
    fn begin(&mut self) -> Option<Begin> {
        (self.refresh, self.again) = (Refresh::New, false);
        loop {
            let task = self.tasks.get(self.begun)?;
            self.begun += 1;
            match task {
                Task::Query(query) => return Some(Begin::now(query_set::txn(query.number))),
                // Nothing is deleted unless as much was inserted.
                Task::Refresh(Function::Delete) if self.inserted.is_none() => {}
                Task::Refresh(function) => return Some(Begin::now(function.txn())),
            }
        }
    }

    fn step(&mut self, reply: Reply<'_>, batch: &mut Batch<'_>) -> Next {
        if let Some(limit) = self.limit.take() {
            batch.query(self.ids.limit, limit.as_bytes(), Capture::Nothing);
            return Next::Await;
        }
        match &self.tasks[self.begun - 1] {
            Task::Query(query) => {
                batch.query(query_set::statement(query.number), query.text.as_bytes(), Capture::Nothing);
                Next::Finish(Verdict::Committed)
            }
            Task::Refresh(function) => self.refresh(*function, reply, batch),
        }
    }

    fn restart(&mut self) {
        // The server has undone the last transaction of a refresh function, and those before it are committed.
        match self.refresh {
            Refresh::Working(..) => self.again = true,
            Refresh::New | Refresh::Reading => self.refresh = Refresh::New,
        }
    }
}
