//! A team's store: what is in it, and what a command did there.

use serde::Serialize;

/// What is in a store, as `pgdyno store list --format json` prints it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StoreListForm {
    /// [`super::FORMAT_VERSION`].
    pub format_version: u32,
    /// The database, without a password.
    pub store: String,
    /// Runs, then experiments, searches and frontiers, each with the oldest first.
    pub stored: Vec<StoredForm>,
}

/// A run or a record of many runs in a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StoredForm {
    /// `run`, `experiment`, `search` or `frontier`.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// SHA-256 of a record of many runs; of a run the SHA-256 of what `sha256sum` prints of its files.
    pub digest: String,
    /// Begin, UTC, RFC 3339.
    pub started_at: String,
    /// Of a run `complete`, `interrupted`, `invalid` or `failed`; of others what they show, or how they ended.
    pub status: String,
    /// Its workload.
    pub workload: String,
    /// Length of its files.
    pub bytes: u64,
    /// When it was pushed, UTC, RFC 3339.
    pub pushed_at: String,
    /// The role that pushed it.
    pub pushed_by: String,
}

/// What was deleted, as `pgdyno store prune --format json` prints it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StorePruneForm {
    /// [`super::FORMAT_VERSION`].
    pub format_version: u32,
    /// The database, without a password.
    pub store: String,
    /// Whether it would only be deleted without `--dry-run`.
    pub dry_run: bool,
    /// What was deleted.
    pub deleted: Vec<StoredForm>,
}

/// What was pushed, as `pgdyno store push --format json` prints it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StorePushForm {
    /// [`super::FORMAT_VERSION`].
    pub format_version: u32,
    /// The database, without a password.
    pub store: String,
    /// What was pushed.
    pub pushed: Vec<PushedForm>,
    /// How many were there already, with the same files.
    pub already_there: usize,
    /// What was not pushed.
    pub refused: Vec<RefusedForm>,
}

/// Something that was pushed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PushedForm {
    /// `run`, `experiment`, `search` or `frontier`.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Length of its files.
    pub bytes: u64,
    /// Whether it replaced other files of the same name.
    pub replaced: bool,
    /// Files that stay in the results directory: a log of transactions is too large.
    pub left_out: Vec<LeftOutFileForm>,
}

/// A file that is not stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeftOutFileForm {
    /// Its path in the run directory.
    pub path: String,
    /// Its length.
    pub bytes: u64,
}

/// Something that was not pushed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RefusedForm {
    /// Its directory, or its file.
    pub path: String,
    /// Why.
    pub why: String,
}

/// What was pulled, as `pgdyno store pull --format json` prints it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StorePullForm {
    /// [`super::FORMAT_VERSION`].
    pub format_version: u32,
    /// The database, without a password.
    pub store: String,
    /// What was pulled.
    pub pulled: Vec<PulledForm>,
    /// How many were here already, with the same files.
    pub already_here: usize,
}

/// Something that was pulled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PulledForm {
    /// `run`, `experiment`, `search` or `frontier`.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Where it is now.
    pub path: String,
}

/// A store that is there, as `pgdyno store init --format json` prints it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StoreInitForm {
    /// [`super::FORMAT_VERSION`].
    pub format_version: u32,
    /// The database, without a password.
    pub store: String,
    /// Name of the schema.
    pub schema: String,
    /// Whether it was created now.
    pub created: bool,
}
