//! The scripts of a run, numbered over all of its groups.

use std::ops::Range;
use std::sync::Arc;

use pgdyno_wire::{Statement, StmtId};
use pgdyno_workload::{Capabilities, ClientMaker, Drive, NumberedDrive};

use crate::RunError;
use crate::fleet::numbered;

/// Numbers within the run of what the scripts of a group number from 0.
#[derive(Clone, Debug)]
pub struct GroupNumbers {
    /// The statements of the scripts.
    pub statements: Arc<[Statement]>,
    /// Number of their first transaction.
    pub first_txn: usize,
    /// Number of their first statement.
    pub first_statement: u32,
    /// Numbers of their tallies.
    pub tallies: Range<usize>,
}

impl GroupNumbers {
    /// Returns the number within the run of a statement of the scripts.
    pub(crate) fn within_run(&self, stmt: StmtId) -> usize {
        (self.first_statement + stmt.0) as usize
    }

    /// Returns the statement of the scripts with this number within the run.
    pub(crate) fn within_scripts(&self, stmt: Option<StmtId>) -> Option<StmtId> {
        stmt.and_then(|stmt| stmt.0.checked_sub(self.first_statement)).map(StmtId)
    }
}

/// The scripts of a run for one server.
pub(crate) struct RunScripts {
    drive: NumberedDrive,
    /// Statements of all scripts.
    pub(crate) statements: Arc<[Statement]>,
    /// For each of the scripts.
    numbers: Vec<GroupNumbers>,
}

impl RunScripts {
    pub(crate) fn new(drive: &Drive, caps: &Capabilities) -> Self {
        let drive = drive.numbered(caps);
        let statements = numbered(drive.statements.iter().map(|numbered| numbered.statement.clone()).collect());
        let numbers = drive.scripts.iter().map(|scripts| GroupNumbers {
            statements: statements[scripts.numbers.statements.clone()].into(),
            first_txn: scripts.numbers.txns.start,
            first_statement: scripts.numbers.statements.start as u32,
            tallies: scripts.numbers.tallies.clone(),
        });
        Self { numbers: numbers.collect(), statements, drive }
    }

    /// Returns the number of transactions of all scripts.
    pub(crate) fn txns(&self) -> usize {
        self.drive.txns.len()
    }

    /// Returns for each transaction of all scripts whether it only reads.
    pub(crate) fn readable(&self) -> Arc<[bool]> {
        self.drive.txns.iter().map(|txn| txn.is_read_only).collect()
    }

    /// Returns true if a transaction of a group's scripts only reads.
    pub(crate) fn has_reads(&self, group: &str) -> bool {
        let txns = self.drive.position_of(group).and_then(|nth| {
            let first = self.numbers[nth].first_txn;
            let end = self.numbers.get(nth + 1).map_or(self.txns(), |next| next.first_txn);
            self.drive.txns.get(first..end)
        });
        txns.is_some_and(|txns| txns.iter().any(|txn| txn.is_read_only))
    }

    /// Returns the number of tallies of all scripts.
    pub(crate) fn tallies(&self) -> usize {
        self.numbers.last().map_or(0, |numbers| numbers.tallies.end)
    }

    /// Returns the numbers of a group's scripts, and what makes the script of one of its clients.
    ///
    /// # Errors
    /// When there are no scripts for the group.
    pub(crate) fn of(&self, group: &str) -> Result<(&GroupNumbers, &ClientMaker), RunError> {
        let none = || RunError::Stages(format!("group '{group}' of the workload has no scripts"));
        let nth = self.drive.position_of(group).ok_or_else(none)?;
        Ok((&self.numbers[nth], &*self.drive.scripts[nth].client))
    }
}
