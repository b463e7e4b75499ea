//! Numbers over all scripts of a drive.

use std::ops::Range;

use pgdyno_wire::Statement;

use crate::{Capabilities, ClientMaker, Scripts, Txn};

/// The scripts of a drive for one server. Transactions, statements and tallies are numbered over all of them, in the
/// order of the scripts: as the engine counts them, and as records list them.
pub struct NumberedDrive {
    /// Transactions of all scripts.
    pub txns: Vec<Txn>,
    /// Statements of all scripts.
    pub statements: Vec<NumberedStatement>,
    /// The scripts.
    pub scripts: Vec<NumberedScripts>,
}

/// A statement of a drive.
#[derive(Clone, Debug)]
pub struct NumberedStatement {
    /// Its text and the types of its parameters.
    pub statement: Statement,
    /// Number of the transaction that it is a part of, if it is part of only one.
    pub txn: Option<usize>,
    /// Whether QPS counts its executions ([`crate::ScriptStatement::is_counted`]).
    pub is_counted: bool,
}

/// Scripts, and the numbers of what they number from 0.
pub struct NumberedScripts {
    /// The name of the group that runs them, unless all groups do.
    pub group: &'static str,
    /// The numbers.
    pub numbers: Numbers,
    /// Makes the script of one client.
    pub client: Box<ClientMaker>,
}

/// Numbers within a drive of the transactions, statements and tallies of one of its scripts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    /// Of the transactions.
    pub txns: Range<usize>,
    /// Of the statements.
    pub statements: Range<usize>,
    /// Of the tallies.
    pub tallies: Range<usize>,
}

impl Numbers {
    /// Returns the numbers of the scripts that follow, which have so many statements.
    pub(crate) fn next(&self, scripts: &Scripts, statements: usize) -> Self {
        let next = |range: &Range<usize>, count| range.end..range.end + count;
        Self {
            txns: next(&self.txns, scripts.txns.len()),
            statements: next(&self.statements, statements),
            tallies: next(&self.tallies, scripts.tallies.len()),
        }
    }
}

impl NumberedDrive {
    pub(crate) fn new(scripts: &[Scripts], caps: &Capabilities) -> Self {
        let mut drive = Self { txns: Vec::new(), statements: Vec::new(), scripts: Vec::new() };
        let mut numbers = Numbers::default();
        for scripts in scripts {
            let program = (scripts.program)(caps);
            let statements = program.statements.list();
            numbers = numbers.next(scripts, statements.len());
            let first_txn = numbers.txns.start;
            drive.txns.extend(scripts.txns.iter().cloned());
            drive.statements.extend(statements.iter().map(|of_scripts| NumberedStatement {
                statement: of_scripts.statement.clone(),
                txn: of_scripts.txn.map(|txn| first_txn + usize::from(txn.0)),
                is_counted: of_scripts.is_counted,
            }));
            let (group, numbers) = (scripts.group, numbers.clone());
            drive.scripts.push(NumberedScripts { group, numbers, client: program.client });
        }
        drive
    }

    /// Returns the place in [`NumberedDrive::scripts`] of those that the group of this name runs; `None` if there are
    /// none.
    #[must_use]
    pub fn position_of(&self, group: &str) -> Option<usize> {
        match &self.scripts[..] {
            [_] => Some(0),
            several => several.iter().position(|scripts| scripts.group == group),
        }
    }

    /// Returns the scripts that the group of this name runs; `None` if there are none.
    #[must_use]
    pub fn scripts_of(&self, group: &str) -> Option<&NumberedScripts> {
        self.scripts.get(self.position_of(group)?)
    }
}
