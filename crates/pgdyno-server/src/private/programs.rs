//! PostgreSQL's programs: installed on this machine, in a user's directory, or downloaded.

pub(crate) mod build;
pub(crate) mod find;
pub(crate) mod installation;
pub mod portable;
pub(crate) mod version;
pub(crate) mod want;
