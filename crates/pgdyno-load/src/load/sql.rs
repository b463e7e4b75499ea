//! A load by SQL files.
//!
//! The whole load is one transaction, so that a failed load leaves nothing; it is repeatable read, so that its
//! objects can be distinguished from those that others create meanwhile. A statement that cannot run in a transaction, such as
//! VACUUM, divides it.

use std::collections::HashSet;
use std::time::Instant;

use pgdyno_net::{AdminError, quote};
use pgdyno_workload::{DataSet, SqlData, SqlFile, SqlStatement};

use crate::error::is_there;
use crate::load::loading::Load;
use crate::session::Session;
use crate::state::logbook::Found;
use crate::state::sql_objects::{self, Address, Marked};
use crate::state::taken;
use crate::{LoadError, LoadPhase, LoadProgress, LoadReport, Stamp, TableReport, Taken, steps};

impl Load<'_> {
    /// Runs the whole load.
    pub(crate) fn by_sql(
        mut self,
        control: &mut Session<'_>,
        sql: &SqlData,
        began: Instant,
    ) -> Result<LoadReport, LoadError> {
        (self.progress)(&LoadProgress::Plan { tables: 0, rows_expected: 0, rows_kept: 0, loaders: 1 });
        let mut stamp = Stamp::planned(self.data, &[]);
        let home = self.phase(LoadPhase::Prepare, |load| load.prepare(control, &stamp))?.schema;
        let mut making = Making { control, stamp: &stamp, home: &home, before: HashSet::new(), made: HashSet::new() };
        making.open()?;
        for (nth, file) in sql.files.iter().enumerate() {
            let phase = if nth == 0 { LoadPhase::Schema } else { LoadPhase::Rows };
            self.phase(phase, |load| {
                making.run(file, phase, load.progress).map_err(|error| making.taken(load.data, error))
            })?;
        }
        let (marked, tables) = making.finish()?;
        if marked.count == 0 {
            let file = sql.files.first().map(|file| file.name.clone()).unwrap_or_default();
            return Err(LoadError::Nothing { file });
        }
        self.notes.extend(
            marked
                .unmarkable
                .iter()
                .map(|what| format!("{what} cannot be marked as created by pgdyno; `pgdyno drop` will not drop it")),
        );
        stamp.rows = tables.iter().map(|table| (table.name.clone(), table.rows)).collect();
        let names: Vec<_> = marked.tables.iter().map(|table| quote::literal(&table.sql)).collect();
        let sql = format!(
            "select coalesce(sum(pg_total_relation_size(name::regclass)), 0)::bigint from unnest(array[{}]::text[]) name",
            names.join(", ")
        );
        let sizes = control.run(LoadPhase::Rows, None, |admin| Ok(admin.query_one(&sql)))?;
        let bytes = self.decide(&steps::SIZES, LoadPhase::Rows, sizes)?.and_then(|bytes| bytes.parse().ok());
        self.finish(control, &home, &mut stamp, &Found::default())?;
        let report = |table: Counted| TableReport {
            name: table.name,
            rows: table.rows,
            copy_bytes: 0,
            seconds: 0.0,
            loaders: 1,
        };
        Ok(self.report_of(stamp, tables.into_iter().map(report).collect(), bytes, 1, began))
    }
}

/// A table that SQL created.
struct Counted {
    name: String,
    rows: u64,
}

/// The transaction, or its present part.
struct Making<'a, 'h> {
    control: &'a mut Session<'h>,
    stamp: &'a Stamp,
    home: &'a str,
    /// Objects at the start of this part.
    before: HashSet<Address>,
    /// Objects that all parts created.
    made: HashSet<Address>,
}

/// How to treat a statement.
enum Role {
    Run,
    /// A COPY into a new table can freeze its rows only if the table was created in the same subtransaction.
    RunWithoutSavepoint,
    /// Skip it: the load is a transaction already.
    Skip,
    Refuse,
}

fn role(statement: &SqlStatement) -> (Role, String) {
    let mut words = statement.sql.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty());
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let role = match (first.to_ascii_lowercase().as_str(), second.to_ascii_lowercase().as_str()) {
        ("begin" | "commit" | "end", second) if second != "prepared" => Role::Skip,
        ("start", "transaction") => Role::Skip,
        ("commit" | "rollback" | "abort" | "savepoint" | "release", _) | ("prepare", "transaction") => Role::Refuse,
        ("copy", _) => Role::RunWithoutSavepoint,
        _ => Role::Run,
    };
    (role, first.to_ascii_uppercase())
}

/// Returns true if the server refused a statement because it is in a transaction: `25001`, a procedure that commits
/// by itself, `2D000`, and the new value of an enum, `55P04`.
fn must_stand_alone(error: &AdminError) -> bool {
    error.code().is_some_and(|code| matches!(code.as_str(), "25001" | "2D000" | "55P04"))
}

impl Making<'_, '_> {
    fn open(&mut self) -> Result<(), LoadError> {
        self.control.execute(LoadPhase::Schema, None, "begin isolation level repeatable read")?;
        self.before = self.control.run(LoadPhase::Schema, None, sql_objects::everything)?;
        Ok(())
    }

    /// Marks all objects so far. Earlier ones are marked again: their comments may have been changed.
    fn mark(&mut self) -> Result<Marked, LoadError> {
        let now = self.control.run(LoadPhase::Schema, None, sql_objects::everything)?;
        self.made.extend(now.difference(&self.before));
        let Self { control, stamp, home, made, .. } = self;
        control
            .run(LoadPhase::Schema, None, |admin| sql_objects::mark(admin, made, &stamp.dataset, &stamp.identity, home))
    }

    /// Returns the error for an object that exists already, if pgdyno made it for another workload; otherwise the same error.
    fn taken(&mut self, data: &dyn DataSet, error: LoadError) -> LoadError {
        let LoadError::Sql { message, .. } = &error else { return error };
        if !is_there(message) {
            return error;
        }
        // Names are in quotes; routines have the types of their arguments inside.
        let quoted = message.message.split('"').skip(1).step_by(2);
        let names: Vec<_> = quoted.map(|name| name.split('(').next().unwrap_or(name)).collect();
        let home = self.home;
        // The transaction has failed.
        let rolled_back = self.control.execute(LoadPhase::Schema, None, "rollback");
        let found = rolled_back
            .and_then(|_| self.control.run(LoadPhase::Schema, None, |admin| taken::owners_of(admin, home, &names)));
        let (dataset, workload) = (data.meta().dataset.to_owned(), data.meta().id.to_owned());
        match found {
            Ok(owners) if owners.iter().any(|owner| owner.dataset != dataset) => {
                let schema = home.to_owned();
                LoadError::Taken(Box::new(Taken { dataset, workload, schema, owners, is_forcible: false }))
            }
            _ => error,
        }
    }

    fn commit(&mut self) -> Result<(), LoadError> {
        self.control.execute(LoadPhase::Schema, None, "commit").map(drop)
    }

    fn run(
        &mut self,
        file: &SqlFile,
        phase: LoadPhase,
        progress: &(dyn Fn(&LoadProgress<'_>) + Sync),
    ) -> Result<(), LoadError> {
        for (nth, statement) in file.statements.iter().enumerate() {
            let (role, verb) = role(statement);
            match role {
                Role::Skip => {}
                Role::Refuse => {
                    return Err(LoadError::Control { file: file.name.clone(), line: statement.line, verb });
                }
                Role::RunWithoutSavepoint => self.statement(phase, file, statement, false)?,
                Role::Run => self.statement(phase, file, statement, true)?,
            }
            progress(&LoadProgress::Step { phase, done: nth + 1, total: file.statements.len() });
        }
        Ok(())
    }

    fn statement(
        &mut self,
        phase: LoadPhase,
        file: &SqlFile,
        statement: &SqlStatement,
        savepoint: bool,
    ) -> Result<(), LoadError> {
        if savepoint {
            self.control.execute(phase, None, "savepoint pgdyno")?;
        }
        match self.attempt(phase, statement)? {
            Ok(()) if savepoint => self.control.execute(phase, None, "release savepoint pgdyno").map(drop),
            Ok(()) => Ok(()),
            Err(error) if savepoint && must_stand_alone(&error) => {
                self.control.execute(phase, None, "rollback to savepoint pgdyno")?;
                self.mark()?;
                self.commit()?;
                let alone = self.attempt(phase, statement)?;
                alone.map_err(|error| located(phase, file, statement, error))?;
                self.open()
            }
            Err(error) => Err(located(phase, file, statement, error)),
        }
    }

    /// Runs a statement; the inner error is the server's.
    fn attempt(&mut self, phase: LoadPhase, statement: &SqlStatement) -> Result<Result<(), AdminError>, LoadError> {
        let mut refused = None;
        let ran = self.control.run(phase, None, |admin| match admin.execute(&statement.sql) {
            Err(error @ AdminError::Server { .. }) => {
                refused = Some(error);
                Ok(())
            }
            other => other.map(drop),
        });
        match (ran, refused) {
            (Err(error), _) => Err(error),
            (Ok(()), Some(_)) if self.control.is_stopped() => Err(LoadError::Interrupted),
            (Ok(()), Some(error)) => Ok(Err(error)),
            (Ok(()), None) => Ok(Ok(())),
        }
    }

    /// Marks the objects, counts the rows of the tables, and commits.
    fn finish(mut self) -> Result<(Marked, Vec<Counted>), LoadError> {
        // The files may have switched to a role that may not write the stamp.
        self.control.execute(LoadPhase::Rows, None, "reset role")?;
        let marked = self.mark()?;
        let mut tables = Vec::new();
        for table in &marked.tables {
            let sql = format!("select count(*) from {}", table.sql);
            let rows = self.control.run(LoadPhase::Rows, Some(&table.name), |admin| admin.query_one(&sql))?;
            tables.push(Counted { name: table.name.clone(), rows: rows.parse().unwrap_or_default() });
        }
        if marked.count > 0 {
            self.commit()?;
        }
        Ok((marked, tables))
    }
}

/// Returns the server's message about a statement, with its place.
fn located(phase: LoadPhase, file: &SqlFile, statement: &SqlStatement, error: AdminError) -> LoadError {
    match error {
        error if error.is_disk_full() => LoadError::of(phase, None, error),
        AdminError::Server { message, .. } => {
            LoadError::Sql { file: file.name.clone(), line: statement.line, sql: statement.sql.clone(), message }
        }
        error => LoadError::of(phase, None, error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_transactions_is_skipped_or_refused() {
        for (sql, expected) in [
            ("begin", "skip"),
            ("BEGIN ISOLATION LEVEL SERIALIZABLE", "skip"),
            ("start transaction", "skip"),
            ("Commit work", "skip"),
            ("end", "skip"),
            ("commit prepared 'x'", "refuse"),
            ("rollback to a", "refuse"),
            ("savepoint a", "refuse"),
            ("prepare transaction 'x'", "refuse"),
            ("prepare p as select 1", "run"),
            ("(select 1)", "run"),
            ("vacuum", "run"),
            ("COPY t FROM '/x' WITH (FREEZE)", "plain"),
        ] {
            let found = match role(&SqlStatement { line: 1, sql: sql.to_owned() }).0 {
                Role::Run => "run",
                Role::RunWithoutSavepoint => "plain",
                Role::Skip => "skip",
                Role::Refuse => "refuse",
            };
            assert_eq!(found, expected, "{sql}");
        }
    }
}
