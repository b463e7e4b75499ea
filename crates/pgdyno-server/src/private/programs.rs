//! The programs of PostgreSQL: those of this machine, those in a directory that the user names, and those that are fetched.

pub(crate) mod build;
pub(crate) mod find;
pub mod portable;
pub(crate) mod version;
pub(crate) mod want;
