//! The data of a run: found or loaded, and checked before and after.

mod access;
pub(crate) mod before_run;
mod check;
pub(crate) mod copies;
pub mod disk;
pub(crate) mod foreign;
pub mod keep;
mod load;
pub mod loaded;
pub mod loading;
mod provide;
pub mod reached;
mod repair;
pub(crate) mod rights;
mod size;
pub(crate) mod spared;

use pgdyno_net::Admin;

pub use access::DataAccess;
pub(crate) use check::{AFTER_RUN, broken};
pub use check::{check, holds};
pub use load::{created, load, way};
pub(crate) use provide::{Wanted, provide};
pub(crate) use repair::repair;
pub use size::admit_size;

/// Returns the only number of a query's result. The query may read a whole table.
pub(crate) fn number(admin: &mut Admin, sql: &str) -> Option<u64> {
    admin.patiently(|admin| admin.query_opt(sql)).ok().flatten()?.parse().ok()
}
