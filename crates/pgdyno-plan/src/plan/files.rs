//! The files of a workload of the user's.

use serde::{Deserialize, Serialize};
use sha2::Digest as _;

/// A script of the user's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScriptPlan {
    /// The file as the user named it.
    pub file: String,
    /// Its share of the mix, relative to the sum of all.
    pub weight: u32,
    /// The SHA-256 of its text, in hexadecimal digits.
    pub sha256: String,
}

/// Maximum size of a file whose text is stored in the plan, if it is UTF-8.
pub const INLINE_BYTES: usize = 64 << 10;

/// A file of a workload of the user's, with its content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InputFile {
    /// Its name within the directory of the workload; for a script, as the user named it.
    pub file: String,
    /// The SHA-256 of its bytes, in hexadecimal digits.
    pub sha256: String,
    /// Its text; absent if it is larger than [`INLINE_BYTES`] or not UTF-8. Then it is the file `inputs/SHA256` of the
    /// run directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl InputFile {
    /// Returns the file with these bytes.
    #[must_use]
    pub fn new(file: &str, bytes: &[u8]) -> Self {
        let text = std::str::from_utf8(bytes).ok().filter(|text| text.len() <= INLINE_BYTES);
        Self { file: file.to_owned(), sha256: sha256(bytes), text: text.map(str::to_owned) }
    }
}

/// Returns the SHA-256 of these bytes in hexadecimal digits.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    pgdyno_text::hex(&sha2::Sha256::digest(bytes))
}
