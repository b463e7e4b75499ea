//! `[[script]]`: a file of the directory, and its weight.

use pgdyno_untrusted::RelativePath;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScriptEntry {
    /// Its path in the directory.
    #[serde(deserialize_with = "path_inside")]
    pub(super) file: String,
    #[serde(default = "one")]
    pub(super) weight: u32,
    /// Whether it only reads, so that a reader can run it (`--reader`); by its text if absent.
    pub(super) read_only: Option<bool>,
}

/// Takes a path that leads to no other place than the directory.
fn path_inside<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let path = String::deserialize(deserializer)?;
    match RelativePath::parse(&path) {
        Ok(_) => Ok(path),
        Err(error) => Err(D::Error::custom(format!("{error}; a script is a file in the directory of the workload"))),
    }
}

fn one() -> u32 {
    1
}
