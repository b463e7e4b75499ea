//! What one client does: transactions as steps, each step a batch of statements and what follows.

use pgdyno_wire::{Session, Statement, StmtId, Value, backend::DataRow};

use crate::Rng;

/// Number of a client within its run, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClientId(pub u32);

/// Index of a transaction kind in its workload's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TxnId(pub u8);

/// What a script is made from.
#[derive(Clone, Debug)]
pub struct ClientContext {
    /// Which client it is.
    pub id: ClientId,
    /// How many clients there are in the run.
    pub clients: u32,
    /// The client's own stream.
    pub rng: Rng,
}

/// The start of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begin {
    /// Its kind.
    pub txn: TxnId,
    /// Time to let pass before its intended start: think time of the last one, keying time of this one.
    pub wait_ns: u64,
}

impl Begin {
    /// A transaction that starts at once.
    #[must_use]
    pub fn now(txn: TxnId) -> Self {
        Self { txn, wait_ns: 0 }
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
    /// The transaction ends with the reply to this batch, or at once when the batch is empty.
    Finish(Verdict),
}

/// The rows that a batch brought back, of the statements that were sent with [`Batch::fetch`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Reply<'a> {
    rows: &'a [u8],
    count: u32,
}

impl<'a> Reply<'a> {
    /// Rows as [`Reply::keep`] put them.
    #[must_use]
    pub fn new(rows: &'a [u8], count: u32) -> Self {
        Self { rows, count }
    }

    /// Appends a row to a buffer that [`Reply::new`] can read.
    pub fn keep(buffer: &mut Vec<u8>, row: DataRow<'_>) {
        buffer.extend_from_slice(&(row.body().len() as u32).to_le_bytes());
        buffer.extend_from_slice(row.body());
    }

    /// How many rows there are.
    #[must_use]
    pub fn row_count(&self) -> u32 {
        self.count
    }

    /// The rows in the order in which they came.
    pub fn rows(&self) -> impl Iterator<Item = DataRow<'a>> + use<'a> {
        let mut rest = self.rows;
        std::iter::from_fn(move || {
            let (len, tail) = rest.split_first_chunk::<4>()?;
            let (body, tail) = tail.split_at_checked(u32::from_le_bytes(*len) as usize)?;
            rest = tail;
            Some(DataRow::new(body))
        })
    }

    /// The only or first row.
    #[must_use]
    pub fn first(&self) -> Option<DataRow<'a>> {
        self.rows().next()
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
}

impl<'a> Batch<'a> {
    /// A batch that appends to `out`.
    #[must_use]
    pub fn new(session: &'a mut Session, statements: &'a [Statement], out: &'a mut Vec<u8>) -> Self {
        Self { session, statements, out }
    }

    /// Adds a statement whose rows nobody reads.
    #[inline]
    pub fn execute(&mut self, id: StmtId, values: &[Value<'_>]) {
        self.session.execute(id, &self.statements[usize::from(id.0)], values, false, self.out);
    }

    /// Adds a statement whose rows the next step reads.
    #[inline]
    pub fn fetch(&mut self, id: StmtId, values: &[Value<'_>]) {
        self.session.execute(id, &self.statements[usize::from(id.0)], values, true, self.out);
    }

    /// Closes the batch.
    #[inline]
    pub fn close(self) {
        self.session.sync(self.out);
    }
}

/// One client's script. It holds its own random stream and its place in the transaction.
///
/// ```text
/// begin ─► step ─► Await ─► step ─► … ─► Finish ─► begin
///            ▲                │
///            └──── restart ◄──┘ on 40001 and 40P01, while tries are left
/// ```
pub trait ClientScript: Send {
    /// Draws the next transaction and all of its inputs.
    fn begin(&mut self) -> Begin;
    /// Adds the statements of the next step to `batch`; `reply` holds what the last ones brought.
    fn step(&mut self, reply: Reply<'_>, batch: &mut Batch<'_>) -> Next;
    /// Goes back to the first step of the same transaction with the same inputs.
    fn restart(&mut self);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_rows_come_back_in_order() {
        let mut buffer = Vec::new();
        Reply::keep(&mut buffer, DataRow::new(b"\0\x01\0\0\0\x01a"));
        Reply::keep(&mut buffer, DataRow::new(b"\0\x01\0\0\0\x02bc"));
        let reply = Reply::new(&buffer, 2);
        assert_eq!(reply.rows().map(|r| r.text(0).unwrap()).collect::<Vec<_>>(), ["a", "bc"]);
        assert_eq!(reply.first().and_then(|r| r.text(0)), Some("a"));
    }
}
