//! The advisory lock of a data set: one load, drop or change of it at a time.

use pgdyno_net::quote;

/// Returns the two numbers of the advisory lock, as SQL. Advisory locks are per database, the data per schema.
pub(crate) fn lock_key(dataset: &str) -> String {
    format!("hashtext('pgdyno'), hashtext(current_schema() || '.' || {})", quote::literal(dataset))
}
