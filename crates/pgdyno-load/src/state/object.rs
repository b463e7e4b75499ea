//! Whatever SQL can make.

/// A relation, a routine, or whatever else SQL can make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Object {
    /// What `DROP` calls it: `table`, `view`, `routine`.
    pub(crate) kind: &'static str,
    /// Its name; a routine's with the types of its arguments.
    pub(crate) name: String,
    /// The name as SQL has it, with its schema where it is in one.
    pub(crate) sql: String,
    /// The identity in its mark; `None` where it is not ours.
    pub(crate) identity: Option<String>,
}

impl Object {
    /// Something that SQL made, of which `sql` is the whole name; in schema `home` it is shown without it.
    pub(crate) fn made(kind: &'static str, sql: &str, home: &str, identity: &str) -> Self {
        let name = sql.strip_prefix(home).and_then(|rest| rest.strip_prefix('.')).unwrap_or(sql);
        Self { kind, name: name.to_owned(), sql: sql.to_owned(), identity: Some(identity.to_owned()) }
    }

    pub(crate) fn title(&self) -> String {
        format!("{} {}", self.kind, self.name)
    }
}
