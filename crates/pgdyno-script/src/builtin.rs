//! Built-in scripts: pgbench's, with its names.

use crate::ScriptText;

/// A built-in script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Builtin {
    /// Name for `-b`.
    pub name: &'static str,
    /// Name in reports.
    pub description: &'static str,
    /// The script.
    pub text: &'static str,
}

/// All scripts, in pgbench's order.
pub const ALL: [Builtin; 3] = [
    Builtin {
        name: "tpcb-like",
        description: "<builtin: TPC-B (sort of)>",
        text: "\
\\set aid random(1, 100000 * :scale)
\\set bid random(1, 1 * :scale)
\\set tid random(1, 10 * :scale)
\\set delta random(-5000, 5000)
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;
UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);
END;
",
    },
    Builtin {
        name: "simple-update",
        description: "<builtin: simple update>",
        text: "\
\\set aid random(1, 100000 * :scale)
\\set bid random(1, 1 * :scale)
\\set tid random(1, 10 * :scale)
\\set delta random(-5000, 5000)
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);
END;
",
    },
    Builtin {
        name: "select-only",
        description: "<builtin: select only>",
        text: "\
\\set aid random(1, 100000 * :scale)
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
",
    },
];

/// The error when a name is not that of one built-in script. Its text is what pgbench prints after `pgbench: error:
/// `; then follows [`list`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuiltinError {
    /// No name begins with it.
    #[error("no builtin script found for name \"{0}\"")]
    Unknown(String),
    /// Several names begin with it.
    #[error("ambiguous builtin name: {found} builtin scripts found for prefix \"{prefix}\"")]
    Ambiguous {
        /// How many.
        found: usize,
        /// The beginning.
        prefix: String,
    },
}

impl Builtin {
    /// Returns the source for [`parse`](crate::parse).
    #[must_use]
    pub fn source(&self) -> ScriptText<'static> {
        ScriptText { name: self.description, text: self.text.as_bytes() }
    }

    /// Returns the output of `--show-script`.
    #[must_use]
    pub fn show(&self) -> String {
        format!("-- {}: {}\n{}\n", self.name, self.description, self.text)
    }
}

/// Returns the script whose name begins with `prefix`.
///
/// # Errors
/// When no name begins with it, or several do.
pub fn find(prefix: &str) -> Result<&'static Builtin, BuiltinError> {
    let mut found = ALL.iter().filter(|b| b.name.starts_with(prefix));
    match (found.next(), found.count()) {
        (Some(one), 0) => Ok(one),
        (None, _) => Err(BuiltinError::Unknown(prefix.to_owned())),
        (Some(_), more) => Err(BuiltinError::Ambiguous { found: 1 + more, prefix: prefix.to_owned() }),
    }
}

/// Returns the output of `-b list`, with the empty line at its end.
#[must_use]
pub fn list() -> String {
    let lines: String = ALL.iter().map(|b| format!("  {:>13}: {}\n", b.name, b.description)).collect();
    format!("Available builtin scripts:\n{lines}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{VariableNames, parse};

    #[test]
    fn a_unique_beginning_is_enough() {
        assert_eq!(find("t").unwrap().name, "tpcb-like");
        assert_eq!(find("select-only").unwrap().name, "select-only");
        assert_eq!(find("foo").unwrap_err().to_string(), "no builtin script found for name \"foo\"");
        assert_eq!(
            find("s").unwrap_err().to_string(),
            "ambiguous builtin name: 2 builtin scripts found for prefix \"s\""
        );
        assert!(find("").unwrap_err().to_string().contains("3 builtin scripts"));
    }

    #[test]
    fn they_parse() {
        for (builtin, count) in ALL.iter().zip([11, 9, 2]) {
            let script = parse(&builtin.source(), &mut VariableNames::new()).unwrap();
            assert_eq!(script.commands.len(), count, "{}", script.name);
            assert!(script.check_extended().is_ok());
        }
    }
}
