//! Scripts of a group of clients: its transactions, their statements, and the script of each client.

use std::sync::Arc;

use pgdyno_wire::{Statement, StmtId};

use crate::{Capabilities, ClientContext, ClientScript, Judgement, TxnId, WindowFigures};

/// One kind of transaction.
#[derive(Clone, Debug, PartialEq)]
pub struct Txn {
    /// `new-order`, `select-only`.
    pub name: &'static str,
    /// Its share of the mix; shares are relative to their sum.
    pub weight: f64,
    /// SELECT, INSERT, UPDATE and DELETE statements in one transaction, for QPS.
    pub queries: u32,
    /// Why it may return no rows; reports say so where it returned none.
    pub why_no_rows: Option<&'static str>,
    /// Whether it only reads and a reader can run it. Queries have a server of their own.
    pub is_read_only: bool,
}

impl Txn {
    /// Returns a kind of transaction that returns rows, or of which none are expected.
    #[must_use]
    pub fn new(name: &'static str, weight: f64, queries: u32) -> Self {
        Self { name, weight, queries, why_no_rows: None, is_read_only: false }
    }

    /// Returns the same kind of transaction, which only reads if `is_read_only`.
    #[must_use]
    pub fn reading(self, is_read_only: bool) -> Self {
        Self { is_read_only, ..self }
    }
}

/// A statement of scripts.
#[derive(Clone, Debug)]
pub struct ScriptStatement {
    /// Its text and the types of its parameters.
    pub statement: Statement,
    /// The transaction that it is a part of, if it is part of only one.
    pub txn: Option<TxnId>,
    /// Whether QPS counts its executions, because not every transaction of its kind executes it. [`Txn::queries`]
    /// does not include it then.
    pub is_counted: bool,
}

impl ScriptStatement {
    /// Returns a statement of this transaction.
    #[must_use]
    pub fn of(txn: TxnId, statement: Statement) -> Self {
        Self { txn: Some(txn), ..Self::from(statement) }
    }
}

impl From<Statement> for ScriptStatement {
    /// Returns a statement that is part of no transaction alone.
    fn from(statement: Statement) -> Self {
        Self { statement, txn: None, is_counted: false }
    }
}

/// Statements in the order of their ids, which count from 0.
#[derive(Clone, Debug, Default)]
pub struct Statements(Vec<ScriptStatement>);

impl Statements {
    /// Returns no statements.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a statement. Returns the id by which scripts name it.
    pub fn add(&mut self, statement: impl Into<ScriptStatement>) -> StmtId {
        self.0.push(statement.into());
        StmtId(self.0.len() as u32 - 1)
    }

    /// Returns them in order.
    #[must_use]
    pub fn list(&self) -> &[ScriptStatement] {
        &self.0
    }
}

impl<S: Into<ScriptStatement>> FromIterator<S> for Statements {
    fn from_iter<I: IntoIterator<Item = S>>(statements: I) -> Self {
        Self(statements.into_iter().map(Into::into).collect())
    }
}

/// Makes the script of one client.
pub type ClientMaker = dyn Fn(&ClientContext) -> Box<dyn ClientScript> + Send + Sync;

/// Statements and clients for a server.
pub struct Program {
    /// The statements.
    pub statements: Statements,
    /// Makes the script of one client, which sends these statements.
    pub client: Box<ClientMaker>,
}

impl Program {
    /// Returns a program of these statements; `client` makes the script of one client.
    pub fn new(
        statements: Statements,
        client: impl Fn(&ClientContext) -> Box<dyn ClientScript> + Send + Sync + 'static,
    ) -> Self {
        Self { statements, client: Box::new(client) }
    }
}

/// Makes the program for a server with these capabilities.
pub type ProgramMaker = dyn Fn(&Capabilities) -> Program + Send + Sync;

/// Judges the figures of transactions by the workload's own rules.
pub type Judge = dyn Fn(&WindowFigures<'_>) -> Vec<Judgement> + Send + Sync;

/// Returns warnings before a run with so many clients, such as those that pgbench and HammerDB give.
pub type Adviser = dyn Fn(u32) -> Vec<String> + Send + Sync;

/// What the clients of a group run. Transactions, statements and tallies are numbered from 0 within it;
/// [`crate::Drive::numbered`] numbers them over all scripts of a run.
#[derive(Clone)]
pub struct Scripts {
    /// The name of the group that runs them. If a drive has only these, every group runs them.
    pub group: &'static str,
    /// Kinds of transactions, in the order of their [`TxnId`]s.
    pub txns: Vec<Txn>,
    /// Makes statements and clients.
    pub program: Arc<ProgramMaker>,
    /// Names of what the clients count beside transactions, such as remote accesses; [`ClientScript::tally`] counts.
    pub tallies: &'static [&'static str],
    /// Whether the transactions only read, as far as their statements show. A standby can run them then.
    pub is_read_only: bool,
    /// Whether they run commands on the driver's machine.
    pub runs_commands: bool,
    /// Whether the clients share what they know while they run: several drivers cannot run them together then.
    pub has_shared_state: bool,
    /// Counts of transactions that the server's tables have, beside those of metrics. They may read whole tables: a run
    /// that checks nothing does not ask for them.
    pub server_counts: Vec<ServerCount>,
    /// Does what takes time once, before the run: what the clients read.
    pub prepare: Option<Arc<dyn Fn() + Send + Sync>>,
    /// Gives warnings before a run.
    pub adviser: Option<Arc<Adviser>>,
    /// Judges the figures of these transactions. It is asked if they run in the first stage.
    pub judge: Option<Arc<Judge>>,
}

impl Scripts {
    /// Returns scripts of these transactions, which write, for the group of this name.
    pub fn new(
        group: &'static str,
        txns: Vec<Txn>,
        program: impl Fn(&Capabilities) -> Program + Send + Sync + 'static,
    ) -> Self {
        Self {
            group,
            txns,
            program: Arc::new(program),
            tallies: &[],
            is_read_only: false,
            runs_commands: false,
            has_shared_state: false,
            server_counts: Vec::new(),
            prepare: None,
            adviser: None,
            judge: None,
        }
    }
}

/// Committed transactions that the server's tables count, too. If both counts differ, the run is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerCount {
    /// Their name in the plural: `inserts`.
    pub counted: &'static str,
    /// The names of the transactions.
    pub transactions: &'static [&'static str],
    /// A query that returns one number, which each of the transactions increases by 1.
    pub query: String,
    /// What it means if the tables count another number, and what can be done.
    pub if_different: &'static str,
}

impl ServerCount {
    /// The reason if no other is known.
    pub const OTHER_PROGRAM: &'static str = "does another program drive the same tables?";
}
