//! Objects that SQL can make.

/// A relation, a routine, or another object that SQL can make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Object {
    /// Its kind in `DROP`: `table`, `view`, `routine`.
    pub(crate) kind: &'static str,
    /// Its name; for a routine with the types of its arguments.
    pub(crate) name: String,
    /// Its name in SQL, with the schema if it has one.
    pub(crate) sql: String,
    /// The identity in its mark; `None` if it is not of the data set.
    pub(crate) identity: Option<String>,
    /// The other data set that its mark names.
    pub(crate) owner: Option<String>,
}

impl Object {
    /// Returns an object that SQL made, with the full name `sql`. The name is shown without schema `home`.
    pub(crate) fn made(kind: &'static str, sql: &str, home: &str, identity: &str) -> Self {
        let name = sql.strip_prefix(home).and_then(|rest| rest.strip_prefix('.')).unwrap_or(sql);
        Self { kind, name: name.to_owned(), sql: sql.to_owned(), identity: Some(identity.to_owned()), owner: None }
    }

    /// Returns true if pgdyno did not make it.
    pub(crate) fn is_foreign(&self) -> bool {
        self.identity.is_none() && self.owner.is_none()
    }

    pub(crate) fn title(&self) -> String {
        format!("{} {}", self.kind, self.name)
    }
}
