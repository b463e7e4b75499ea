//! The work of a workload's clients.

use pgdyno_wire::Statement;

use crate::{Capabilities, ClientContext, ClientScript, Figures, Group, Judgement, Metric, Oracle, Stage};

/// One kind of transaction.
#[derive(Clone, Debug, PartialEq)]
pub struct Txn {
    /// `new-order`, `select-only`.
    pub name: &'static str,
    /// Its share of the mix; shares are relative to their sum.
    pub weight: f64,
    /// SELECT, INSERT, UPDATE and DELETE statements in one transaction, for QPS.
    pub queries: u32,
}

/// Use of a statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatementUse {
    /// The transaction that it is a part of, as a place in [`Drive::txns`], if it is part of only one.
    pub txn: Option<usize>,
    /// Whether QPS counts its executions, because not every transaction of its kind executes it. [`Txn::queries`]
    /// does not include it then.
    pub is_counted: bool,
}

/// Counts beside transactions and their latencies.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counted {
    /// Metrics of the workload; its runs are known by the first one.
    pub metrics: &'static [Metric],
    /// Names of what the clients count, such as remote accesses; [`ClientScript::tally`] counts.
    pub tallies: &'static [&'static str],
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

/// Numbers of clients and connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientCounts {
    /// Clients.
    pub clients: u32,
    /// Connections that the clients share; `None` if each has its own.
    pub connections: Option<u32>,
}

/// A table that transactions make longer, and with which queries take longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Growth {
    /// The table.
    pub table: &'static str,
    /// A query for about its rows.
    pub rows_query: &'static str,
    /// The transaction that adds rows, as a place in [`Drive::txns`].
    pub txn: usize,
    /// Rows that it adds on average.
    pub rows_each: u64,
    /// Transactions that read neither this table nor another one that grows with it, as places in [`Drive::txns`].
    pub unaffected: &'static [usize],
}

/// Queries whose plans are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explained {
    /// SQL that sets the session up as those of the clients are.
    pub setup: Option<String>,
    /// Name and text of each query.
    pub queries: Vec<(&'static str, String)>,
}

/// The work of clients, their counts, and the meaning of the figures.
pub trait Drive: Send + Sync {
    /// Returns kinds of transactions, in the order of their [`TxnId`](crate::TxnId)s.
    fn txns(&self) -> Vec<Txn>;
    /// Returns statements, in the order of their ids.
    fn statements(&self, caps: &Capabilities) -> Vec<Statement>;
    /// Returns what `--plans` explains; no queries if it explains none.
    fn explained(&self) -> Explained {
        Explained::default()
    }
    /// Returns what another program needs to answer the queries over the same rows, if that is possible. `changes` is
    /// what earlier runs have changed, in the words of the stamp.
    fn oracle(&self, _changes: Option<&str>) -> Option<Oracle> {
        None
    }
    /// Returns a name for the rows that queries read: queries with the same text have the same answers wherever it is
    /// the same. `None` if there is none, or they change meanwhile. `changes` is as for [`Drive::oracle`], `in_run`
    /// whether the first stage of a run reads them, which may change them before.
    fn rows_read(&self, _changes: Option<&str>, _in_run: bool) -> Option<String> {
        None
    }
    /// Returns the use of the statement with this number.
    fn statement_use(&self, _statement: usize) -> StatementUse {
        StatementUse::default()
    }
    /// Returns the stages of a run, in order. Transactions, statements and tallies are numbered over all of them. The
    /// first stage gives the run its figures.
    fn stages(&self) -> Vec<Stage> {
        vec![Stage::new(Stage::ONLY, vec![Group::new(Group::ONLY)])]
    }
    /// Does what takes time once, before the run: what the scripts of its clients read.
    fn prepare(&self) {}
    /// Returns the script of one client.
    fn client(&self, context: &ClientContext) -> Box<dyn ClientScript>;
    /// Returns the counts beside transactions.
    fn counted(&self) -> Counted {
        Counted::default()
    }
    /// Returns counts of transactions that the server's tables have, beside those of its metrics. They may read whole
    /// tables: a run that checks nothing does not ask for them.
    fn server_counts(&self) -> Vec<ServerCount> {
        Vec::new()
    }
    /// Returns true if its transactions only read, as far as their statements show. A standby can run them then.
    fn is_read_only(&self) -> bool {
        false
    }
    /// Returns true if its scripts run commands on the driver's machine.
    fn runs_commands(&self) -> bool {
        false
    }
    /// Returns true if its clients share what they know while they run: several drivers cannot run it together then.
    fn has_shared_state(&self) -> bool {
        false
    }
    /// Returns true if its transactions are few queries that read much: a private server is sized for that.
    fn is_analytic(&self) -> bool {
        false
    }
    /// Returns the numbers of clients and connections: as many clients as the user `asked` for; without that, as many
    /// as suit the workload, or the `usual` number.
    fn client_counts(&self, asked: Option<u32>, usual: u32) -> ClientCounts {
        ClientCounts { clients: asked.unwrap_or(usual), connections: None }
    }
    /// Returns the table that its transactions make longer under its queries.
    fn growth(&self) -> Option<Growth> {
        None
    }
    /// Returns why a transaction of this kind, as a place in [`Drive::txns`], may return no rows; reports say so where it
    /// returned none.
    fn why_no_rows(&self, _txn: usize) -> Option<&'static str> {
        None
    }
    /// Judges the figures of a run by the workload's own rules.
    fn judge(&self, _figures: &Figures<'_>) -> Vec<Judgement> {
        Vec::new()
    }
    /// Returns warnings before a run with so many clients, such as those that pgbench and HammerDB give.
    fn advice(&self, _clients: u32) -> Vec<String> {
        Vec::new()
    }
}
