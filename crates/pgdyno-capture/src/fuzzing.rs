//! Private readers of texts, for the fuzz targets. Not part of the interface.

use std::io;

use crate::take;
use crate::{CapturedStatement, CapturedTransactions};

/// Returns the transactions of these statements that a log of a database has, whose lines have this prefix if it has stderr's form.
///
/// # Errors
/// When the log is in no known form.
pub fn transactions(
    log: &[u8],
    database: &str,
    prefix: &str,
    statements: &[CapturedStatement],
) -> io::Result<Option<CapturedTransactions>> {
    take::log_of_any_time(log, database, prefix, statements)
}
