//! A connection whose notices and errors are printed as in pgbench.

use std::ops::Range;

use pgdyno_net::{Admin, AdminError, ConnectError, ConnectOptions, Connection, Halt};
use pgdyno_workload::CopyBuf;

use super::{Teller, sql};
use crate::connect::{Failed, refusal};
use crate::messages::{ExitReason, Said};
use pgdyno_wire::libpq;

/// Rows in one message, 170 kB of accounts.
const PIECE_ROWS: u64 = 10_000;
/// Since this version frozen rows are marked as all-visible, and pgbench freezes.
const FREEZE_SINCE: u32 = 140_000;

pub(super) struct Session {
    admin: Admin,
}

impl Session {
    pub(super) fn new(connection: Connection, options: &ConnectOptions, halt: &Halt<'_>) -> Self {
        halt.watch_always(connection.cancel_handle());
        let mut admin = Admin::from(connection).reported(options);
        // As pgbench: as long as the server needs. `halt` ends the wait.
        admin.wait_without_limit();
        admin.keep_notices();
        Self { admin }
    }

    /// Opens one of several connections.
    pub(super) fn open(options: &ConnectOptions, halt: &Halt<'_>) -> Result<Self, ExitReason> {
        let refused = |error: ConnectError| Failed(refusal(&error)).during("initialization");
        Connection::open(options).map(|connection| Self::new(connection, options, halt)).map_err(refused)
    }

    /// Lifts limits on idle sessions: this one waits while others copy.
    pub(super) fn lift_idle_limits(&mut self) {
        // If the connection is lost, the next statement reports it.
        let _ = self.admin.lift_idle_limits();
    }

    /// Executes a statement.
    pub(super) fn execute(&mut self, sql: &str, teller: &mut dyn Teller) -> Result<(), ExitReason> {
        let result = self.admin.execute(sql);
        self.print_notices(sql, teller);
        result.map(drop).map_err(|error| failed(&error, sql))
    }

    /// Executes a query with a Boolean result.
    pub(super) fn is_so(&mut self, sql: &str) -> Result<bool, ExitReason> {
        let answer = self.admin.query_one(sql).map_err(|error| failed(&error, sql))?;
        Ok(answer == "t")
    }

    /// Returns true if rows copied into `table` can be frozen, provided that it was truncated in the same transaction.
    pub(super) fn can_freeze(&mut self, table: &str) -> Result<bool, ExitReason> {
        if self.admin.parameters().server_version_num().unwrap_or(0) < FREEZE_SINCE {
            return Ok(false);
        }
        let found = self.admin.query_with(sql::RELKIND, &[table]).map_err(|error| failed(&error, sql::RELKIND))?;
        Ok(found.rows.first().and_then(|row| row.first()?.as_deref()) == Some("r"))
    }

    /// Copies rows into a table, in several messages; calls `sent` with the number of rows in each.
    pub(super) fn copy(
        &mut self,
        sql: &str,
        rows: Range<u64>,
        write: fn(Range<u64>, &mut CopyBuf),
        teller: &mut dyn Teller,
    ) -> Result<(), ExitReason> {
        let result = self.copy_rows(sql, rows, write, teller);
        self.print_notices(sql, teller);
        result
    }

    fn copy_rows(
        &mut self,
        sql: &str,
        rows: Range<u64>,
        write: fn(Range<u64>, &mut CopyBuf),
        teller: &mut dyn Teller,
    ) -> Result<(), ExitReason> {
        let mut copy = self
            .admin
            .copy_in(sql)
            .map_err(|error| ExitReason::error(format!("unexpected copy in result: {}", text(&error, sql))))?;
        let mut buffer = CopyBuf::new();
        let mut start = rows.start;
        while start < rows.end {
            let end = (start + PIECE_ROWS).min(rows.end);
            buffer.clear();
            write(start..end, &mut buffer);
            copy.write(buffer.bytes()).map_err(|error| match error {
                AdminError::Lost { .. } | AdminError::Interrupted { .. } => ExitReason::error("PQputline failed"),
                error => not_copied(&error, sql),
            })?;
            teller.sent(end - start);
            start = end;
        }
        teller.all_sent();
        copy.finish().map(drop).map_err(|error| not_copied(&error, sql))
    }

    pub(super) fn print_notices(&mut self, sql: &str, teller: &mut dyn Teller) {
        for notice in notices(&mut self.admin, sql) {
            teller.say(&notice);
        }
    }
}

/// Returns the new notices, as libpq formats them; `sql` is their statement.
pub(crate) fn notices<'a>(admin: &mut Admin, sql: &'a str) -> impl Iterator<Item = String> + use<'a> {
    admin.take_notices().into_iter().map(move |notice| libpq::notice(&notice, sql))
}

/// Returns the failure of a COPY, which starts with the server's error.
fn not_copied(error: &AdminError, sql: &str) -> ExitReason {
    ExitReason::raw(format!("{}\n", text(error, sql))).and(Said::Error("PQendcopy failed".to_owned()))
}

fn failed(error: &AdminError, sql: &str) -> ExitReason {
    ExitReason::error(format!("query failed: {}", text(error, sql))).and(Said::Detail(format!("Query was: {sql}")))
}

/// Returns an error as `PQerrorMessage` does.
pub(crate) fn text(error: &AdminError, sql: &str) -> String {
    match error {
        AdminError::Server { message, .. } => libpq::error(message, sql),
        AdminError::Lost { said: Some(said), .. } => {
            format!("{}\n{}", libpq::error(said, sql), libpq::LOST)
        }
        AdminError::Lost { .. } | AdminError::Silent { .. } | AdminError::Interrupted { .. } => libpq::LOST.to_owned(),
        AdminError::TooLarge { .. } | AdminError::Garbage { .. } | AdminError::Shape { .. } => error.to_string(),
    }
}
