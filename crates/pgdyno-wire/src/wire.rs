//! Form of statements on the wire.

use serde::{Deserialize, Serialize};

/// Messages of the extended protocol for a statement, and the format of its parameters. The simple protocol has only
/// one form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Wire {
    /// The cheapest form for server and driver: numbers in binary with declared types, and a Describe only if the
    /// names of a result's columns are read.
    #[default]
    Native,
    /// The form of libpq, and so of pgbench: parameters in text whose types the server infers, and a Describe for
    /// each statement.
    Libpq,
}

impl Wire {
    /// Returns its word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Libpq => "libpq",
        }
    }

    /// Returns true for the usual form.
    #[must_use]
    pub fn is_native(&self) -> bool {
        *self == Self::Native
    }
}

impl std::str::FromStr for Wire {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        match s {
            "native" => Ok(Self::Native),
            "libpq" => Ok(Self::Libpq),
            other => Err(format!("'{other}' is not a wire form; use native or libpq")),
        }
    }
}
