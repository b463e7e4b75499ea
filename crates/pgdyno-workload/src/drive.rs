//! The work of a workload's clients.

use std::sync::Arc;

use pgdyno_wire::Statement;

use crate::numbered::Numbers;
use crate::{
    Answers, Capabilities, Group, Judgement, Ledger, Metric, NumberedDrive, Oracle, Scripts, ServerCount, Stage, Txn,
    ValueLists, WindowFigures,
};

/// The work of clients: what they run and when, and what its figures are.
#[derive(Clone)]
pub struct Drive {
    /// Scripts of the groups, in the order in which records have their transactions and statements.
    pub scripts: Vec<Scripts>,
    /// The stages of a run, in order. The first one gives the run its figures.
    pub stages: Vec<Stage>,
    /// Metrics beside those of all workloads; runs are known by the first one.
    pub metrics: &'static [Metric],
    /// Numbers of clients and connections that suit it.
    pub clients: ClientCounts,
    /// The table that its transactions make longer under its queries.
    pub growth: Option<Growth>,
    /// What `--plans` explains.
    pub explained: Explained,
    /// What is known of the answers to its queries.
    pub answers: Option<Arc<dyn Answers>>,
    /// Whether its transactions are few queries that read much: a private server is sized for that.
    pub is_analytic: bool,
    /// Lists of values that its scripts draw from.
    pub value_lists: Option<Arc<dyn ValueLists>>,
    /// Markers by which its commits are found again.
    pub ledger: Option<Ledger>,
    /// Warnings about its parameters.
    pub advice: Vec<String>,
}

/// Numbers of clients and connections that suit a drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientCounts {
    /// Clients if the user gives no number; `None` for the usual number.
    pub clients: Option<u32>,
    /// Connections that all clients share; `None` if each has its own.
    pub connections_max: Option<u32>,
}

/// A table that transactions make longer, and with which queries take longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Growth {
    /// The table.
    pub table: &'static str,
    /// A query for about its rows.
    pub rows_query: &'static str,
    /// The name of the transaction that adds rows.
    pub txn: &'static str,
    /// Rows that it adds on average.
    pub rows_each: u64,
    /// The names of transactions that read neither this table nor another one that grows with it.
    pub unaffected: &'static [&'static str],
}

/// Queries whose plans are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explained {
    /// SQL that sets the session up as those of the clients are.
    pub setup: Option<String>,
    /// Name and text of each query.
    pub queries: Vec<(&'static str, String)>,
}

impl Drive {
    /// Returns a drive of one stage, in which each of the scripts has a group of the user's number of clients.
    #[must_use]
    pub fn new(scripts: Vec<Scripts>) -> Self {
        let groups = scripts.iter().map(|scripts| Group::new(scripts.group)).collect();
        Self {
            scripts,
            stages: vec![Stage::new(Stage::ONLY, groups)],
            metrics: &[],
            clients: ClientCounts::default(),
            growth: None,
            explained: Explained::default(),
            answers: None,
            is_analytic: false,
            value_lists: None,
            ledger: None,
            advice: Vec::new(),
        }
    }

    /// Returns the scripts that groups run.
    fn used_scripts(&self) -> impl Iterator<Item = &Scripts> {
        self.scripts.iter().filter(|scripts| self.is_used(scripts, &self.stages))
    }

    /// Returns true if a group of these stages runs the scripts.
    fn is_used(&self, scripts: &Scripts, stages: &[Stage]) -> bool {
        let mut groups = stages.iter().flat_map(|stage| &stage.groups);
        self.scripts.len() == 1 || groups.any(|group| group.name == scripts.group)
    }

    /// Numbers transactions, statements and tallies over all scripts, for a server with these capabilities.
    #[must_use]
    pub fn numbered(&self, caps: &Capabilities) -> NumberedDrive {
        NumberedDrive::new(&self.scripts, caps)
    }

    /// Returns the transactions of all scripts.
    #[must_use]
    pub fn txns(&self) -> Vec<Txn> {
        self.scripts.iter().flat_map(|scripts| &scripts.txns).cloned().collect()
    }

    /// Returns the statements of all scripts.
    #[must_use]
    pub fn statements(&self, caps: &Capabilities) -> Vec<Statement> {
        self.numbered(caps).statements.into_iter().map(|numbered| numbered.statement).collect()
    }

    /// Returns the names of the tallies of all scripts.
    #[must_use]
    pub fn tallies(&self) -> Vec<&'static str> {
        self.scripts.iter().flat_map(|scripts| scripts.tallies).copied().collect()
    }

    /// Returns true if the transactions of the run only read.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.used_scripts().all(|scripts| scripts.is_read_only)
    }

    /// Returns the names of the transactions of the run that only read, so that a reader can run them.
    #[must_use]
    pub fn readable(&self) -> Vec<&'static str> {
        let txns = self.used_scripts().flat_map(|scripts| &scripts.txns);
        txns.filter(|txn| txn.is_read_only && txn.weight > 0.0).map(|txn| txn.name).collect()
    }

    /// Returns true if the run runs commands on the driver's machine.
    #[must_use]
    pub fn runs_commands(&self) -> bool {
        self.used_scripts().any(|scripts| scripts.runs_commands)
    }

    /// Returns true if clients of the run share what they know while they run.
    #[must_use]
    pub fn has_shared_state(&self) -> bool {
        self.used_scripts().any(|scripts| scripts.has_shared_state)
    }

    /// Returns the counts of transactions that the server's tables have, beside those of metrics.
    #[must_use]
    pub fn server_counts(&self) -> Vec<ServerCount> {
        self.used_scripts().flat_map(|scripts| &scripts.server_counts).cloned().collect()
    }

    /// Does what takes time once, before the run.
    pub fn prepare(&self) {
        self.used_scripts().filter_map(|scripts| scripts.prepare.as_ref()).for_each(|prepare| prepare());
    }

    /// Returns warnings before a run with so many clients.
    #[must_use]
    pub fn advice(&self, clients: u32) -> Vec<String> {
        let of_scripts = self.used_scripts().filter_map(|scripts| scripts.adviser.as_ref());
        of_scripts.flat_map(|adviser| adviser(clients)).chain(self.advice.iter().cloned()).collect()
    }

    /// Returns what another program needs to answer the queries over the same rows ([`Answers::oracle`]).
    #[must_use]
    pub fn oracle(&self, changes: Option<&str>) -> Option<Oracle> {
        self.answers.as_ref()?.oracle(changes)
    }

    /// Returns a name for the rows that queries read ([`Answers::rows_read`]).
    #[must_use]
    pub fn rows_read(&self, changes: Option<&str>, in_run: bool) -> Option<String> {
        self.answers.as_ref()?.rows_read(changes, in_run)
    }

    /// Judges the figures of the first stage; its transactions and tallies are those of all scripts.
    #[must_use]
    pub fn judge(&self, figures: &WindowFigures<'_>) -> Vec<Judgement> {
        let first_stage = self.stages.get(..1).unwrap_or_default();
        let mut numbers = Numbers::default();
        let mut judged = Vec::new();
        for scripts in &self.scripts {
            numbers = numbers.next(scripts, 0);
            if let (Some(judge), true) = (&scripts.judge, self.is_used(scripts, first_stage)) {
                let txns = figures.txns.get(numbers.txns.clone()).unwrap_or_default();
                let tallies = figures.tallies.get(numbers.tallies.clone()).unwrap_or_default();
                judged.extend(judge(&WindowFigures { txns, tallies, ..*figures }));
            }
        }
        judged
    }
}

impl ClientCounts {
    /// Returns the number of clients if the user `asked` for one, or for none and `usual` is the usual number.
    #[must_use]
    pub fn clients(self, asked: Option<u32>, usual: u32) -> u32 {
        asked.or(self.clients).unwrap_or(usual)
    }

    /// Returns the number of connections that so many clients share; `None` if each has its own.
    #[must_use]
    pub fn connections(self, clients: u32) -> Option<u32> {
        self.connections_max.map(|most| clients.min(most))
    }
}

#[cfg(test)]
mod tests;
