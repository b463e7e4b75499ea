//! Data that SQL makes, instead of rows.

/// The SQL files that make a data set, in the order in which they run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SqlData {
    /// The files; the first one creates the schema.
    pub files: Vec<SqlFile>,
}

/// One file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SqlFile {
    /// Its name, for messages.
    pub name: String,
    /// Its text as it was read; part of the identity of the data.
    pub text: String,
    /// Its statements.
    pub statements: Vec<SqlStatement>,
}

/// One statement, with the values of variables filled in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SqlStatement {
    /// Line of its file in which it begins, from 1.
    pub line: usize,
    /// Its text, without the semicolon.
    pub sql: String,
}
