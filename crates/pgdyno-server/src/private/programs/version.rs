//! Versions of PostgreSQL, as its programs print them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A version of PostgreSQL, ordered from old to new.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PgVersion {
    /// The major version: 15, 18.
    pub major: u32,
    /// The minor version; `None` for an unreleased one, which is older than any minor one.
    pub minor: Option<u32>,
    /// The text: `15.14`, `19devel`.
    pub text: String,
}

impl PgVersion {
    /// Parses the output of `postgres --version`, such as `postgres (PostgreSQL) 15.14 (Debian …)`.
    #[must_use]
    pub fn from_output(output: &str) -> Option<Self> {
        let (_, rest) = output.split_once("(PostgreSQL) ")?;
        Self::parse(rest.split_whitespace().next()?)
    }

    /// Parses `15.14`, `18.6.0` (whose last number is the packager's), `18beta1` or `19devel`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits = |s: &str| s.len() - s.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (major, rest) = text.split_at(digits(text));
        let minor = rest.strip_prefix('.').and_then(|rest| rest[..digits(rest)].parse().ok());
        Some(Self { major: major.parse().ok()?, minor, text: text.to_owned() })
    }
}

impl fmt::Display for PgVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> PgVersion {
        PgVersion::parse(text).unwrap()
    }

    #[test]
    fn what_postgres_prints_is_read() {
        for (output, major, minor, text) in [
            ("postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)\n", 15, Some(14), "15.14"),
            ("postgres (PostgreSQL) 18.6\n", 18, Some(6), "18.6"),
            ("postgres (PostgreSQL) 19devel\n", 19, None, "19devel"),
            ("postgres (PostgreSQL) 18beta1\n", 18, None, "18beta1"),
        ] {
            let version = PgVersion::from_output(output).unwrap();
            assert_eq!((version.major, version.minor, version.text.as_str()), (major, minor, text));
        }
        assert_eq!(PgVersion::from_output("postgres: command not found"), None);
    }

    #[test]
    fn newer_is_greater() {
        assert!(version("9.6") < version("15.2"));
        assert!(version("15.9") < version("15.14"));
        assert!(version("18beta1") < version("18.0"));
        assert!(version("18.6.0") < version("19devel"));
    }

    #[test]
    fn nonsense_is_refused() {
        assert_eq!(PgVersion::parse(""), None);
        assert_eq!(PgVersion::parse("devel"), None);
        assert_eq!(PgVersion::parse("99999999999"), None);
    }
}
