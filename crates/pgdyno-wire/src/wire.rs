//! In what form statements are sent.

use serde::{Deserialize, Serialize};

/// The messages of the extended protocol around a statement, and the form of its parameters. The simple protocol has one
/// form only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wire {
    /// As costs server and driver least: numbers in binary with their types declared, and a Describe only where the names
    /// of a result's columns are read.
    #[default]
    Native,
    /// As libpq sends them, and pgbench with it: parameters in text of types that the server finds out, a Describe for
    /// each statement.
    Libpq,
}

impl Wire {
    /// The word for it.
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
            other => Err(format!("'{other}' is no form of statements; known are native, libpq")),
        }
    }
}
