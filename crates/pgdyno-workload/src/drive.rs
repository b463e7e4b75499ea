//! What the clients of a workload do.

use pgdyno_wire::Statement;

use crate::{Capabilities, ClientContext, ClientScript, Figures, Group, Judgement, Metric, Stage};

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

/// Where a statement is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatementUse {
    /// The transaction, in the order of [`Drive::txns`], that it is a part of, where it is of one alone.
    pub txn: Option<usize>,
    /// Whether QPS counts it as often as it is executed, because not every transaction of its kind executes it:
    /// [`Txn::queries`] is then without it.
    pub is_counted: bool,
}

/// What is counted beside transactions and their latencies.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counted {
    /// Metrics of the workload's own; the first is what its runs are known by.
    pub metrics: &'static [Metric],
    /// What the clients count, such as remote accesses; [`ClientScript::tally`] counts.
    pub tallies: &'static [&'static str],
}

/// How many take part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crowd {
    /// Clients.
    pub clients: u32,
    /// Connections that the clients share; `None`: each has its own.
    pub connections: Option<u32>,
}

/// What clients do, what of it is counted, and what the figures mean.
pub trait Drive: Send + Sync {
    /// Kinds of transactions, in the order of their [`TxnId`](crate::TxnId)s.
    fn txns(&self) -> Vec<Txn>;
    /// Statements, in the order of their ids.
    fn statements(&self, caps: &Capabilities) -> Vec<Statement>;
    /// Where the statement of this number is used.
    fn statement_use(&self, _statement: usize) -> StatementUse {
        StatementUse::default()
    }
    /// Returns what a run does, in order; transactions, statements and tallies are numbered over all of it. The first stage
    /// is the one that a run is known by.
    fn stages(&self) -> Vec<Stage> {
        vec![Stage::new(Stage::ONLY, vec![Group::new(Group::ONLY)])]
    }
    /// Returns what one client does.
    fn client(&self, context: &ClientContext) -> Box<dyn ClientScript>;
    /// What is counted beside transactions.
    fn counted(&self) -> Counted {
        Counted::default()
    }
    /// Whether its transactions only read, as far as their statements tell: then a standby can run them.
    fn is_read_only(&self) -> bool {
        false
    }
    /// Returns how many take part: as many clients as the user `asked` for; where nothing was asked, as many as suit the
    /// workload, or the `usual` number.
    fn crowd(&self, asked: Option<u32>, usual: u32) -> Crowd {
        Crowd { clients: asked.unwrap_or(usual), connections: None }
    }
    /// Judges the figures of a run by the workload's own rules.
    fn judge(&self, _figures: &Figures<'_>) -> Vec<Judgement> {
        Vec::new()
    }
    /// Returns what a user should know before this run with so many clients: pgbench's and HammerDB's habits.
    fn advice(&self, _clients: u32) -> Vec<String> {
        Vec::new()
    }
}
