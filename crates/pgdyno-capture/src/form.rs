//! What a capture holds.

use std::ops::RangeInclusive;

use pgdyno_workload::IsolationLevel;
use serde::{Deserialize, Serialize};

/// Version of the form.
pub(crate) const FORMAT_VERSION: u32 = 1;

/// How many times the mean the busiest minute has, if it is worth a word.
const NOTABLE_PEAK: f64 = 1.15;

/// The most steps of a transaction.
pub(crate) const STEPS_MAX: usize = 200;

/// The most parameters of a transaction that have the value of an earlier one.
pub(crate) const FLOWS_MAX: usize = 512;

/// Executions of a parameter that are counted: with fewer a profile says nothing, and more are left out.
pub(crate) const PROFILE_DRAWS: RangeInclusive<u64> = 200..=32_768;

/// The most profiles.
pub(crate) const PROFILES_MAX: usize = 10_000;

/// What a server executed within a window, and what explains it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CaptureRecord {
    /// Everything but the statements and the relations.
    #[serde(flatten)]
    pub head: CaptureHead,
    /// Statements of clients by the time that they took, the most first.
    pub statements: Vec<CapturedStatement>,
    /// Tables, materialized views and foreign tables of the database.
    pub relations: Vec<CapturedRelation>,
    /// Transactions that the server's log sampled; absent without a log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transactions: Option<CapturedTransactions>,
}

/// When and where a capture was taken, and what explains its statements.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CaptureHead {
    /// Version of this form.
    pub format_version: u32,
    /// Version of pgdyno.
    pub pgdyno: String,
    /// The server.
    pub server: CapturedServer,
    /// When, and for how long.
    pub window: Window,
    /// What the capture itself cost.
    pub cost: CaptureCost,
    /// What the database counted within the window.
    pub database: DatabaseActivity,
    /// Connections to the database by application, the most connections first.
    pub connections: Vec<ApplicationConnections>,
    /// Transactions of each whole minute of the window, those of the capture included; none if there are fewer than two.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transactions_by_minute: Vec<f64>,
    /// What a reader must know before using it.
    pub warnings: Vec<String>,
    /// Settings that are numbers, switches or choices and not the defaults; and `search_path`.
    pub settings: Vec<CapturedSetting>,
}

impl CaptureHead {
    /// Returns how many times the mean the busiest minute had, if it had notably more.
    pub(crate) fn peak(&self) -> Option<f64> {
        let minutes = &self.transactions_by_minute;
        let mean = minutes.iter().sum::<f64>() / minutes.len().max(1) as f64;
        let peak = minutes.iter().copied().fold(0.0, f64::max) / mean;
        (mean > 0.0 && peak > NOTABLE_PEAK).then_some(peak)
    }
}

/// The server of a capture.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CapturedServer {
    /// `server_version`.
    pub version: String,
    /// `server_version_num`.
    pub version_num: u32,
    /// The database.
    pub database: String,
    /// The identifier that `initdb` gave the cluster, which its standbys share; absent if the role may not read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_identifier: Option<String>,
    /// When it was started, in UTC.
    pub started_at: String,
    /// Whether it is a standby.
    pub standby: bool,
    /// Version of the extension `pg_stat_statements`.
    pub extension_version: String,
    /// `pg_stat_statements.track`.
    pub track: String,
}

/// When a capture was taken.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Window {
    /// Its begin by the server's clock, in UTC.
    pub began_at: String,
    /// Its length.
    pub seconds: f64,
}

/// What a capture cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CaptureCost {
    /// Queries over its connection.
    pub queries: u64,
    /// The time that it waited for their answers, in all.
    pub waited_s: f64,
    /// The longest of these waits.
    pub waited_max_s: f64,
}

/// What `pg_stat_database` counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DatabaseActivity {
    /// Transactions that committed.
    pub committed: f64,
    /// Transactions that were rolled back.
    pub rolled_back: f64,
    /// Bytes of temporary files.
    pub temp_bytes: f64,
    /// Deadlocks.
    pub deadlocks: f64,
    /// The size of the database at the end; absent if the role may not read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<f64>,
}

/// Connections of an application.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ApplicationConnections {
    /// Its `application_name`.
    pub application: String,
    /// Connections, on average over the samples.
    pub connections_mean: f64,
    /// Most connections in a sample.
    pub connections_max: u64,
    /// Connections that executed a statement, on average.
    pub active_mean: f64,
    /// Most of these in a sample.
    pub active_max: u64,
    /// Connections within a transaction that waited for the client, on average.
    pub idle_in_transaction_mean: f64,
}

/// A setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CapturedSetting {
    /// Its name.
    pub name: String,
    /// Its value, as `SHOW` prints it.
    pub value: String,
}

/// What a statement does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum StatementKind {
    /// It only reads.
    Read,
    /// It writes rows.
    Write,
    /// It begins or ends a transaction.
    Transaction,
    /// It reads catalogs and statistics of the server alone, as monitoring does.
    Monitoring,
    /// Anything else: DDL, COPY, SET, cursors.
    Utility,
}

impl StatementKind {
    /// Returns true if shares of time and calls include it. Monitoring and the commands that begin or end transactions are left out.
    pub(crate) fn is_load(self) -> bool {
        !matches!(self, Self::Transaction | Self::Monitoring)
    }
}

/// A statement of clients. Its counters are those of the window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CapturedStatement {
    /// Its text, with `$1` for each constant and parameter, without comments; of utility statements only the first words.
    pub text: String,
    /// Hashes that the server has for this text: a client that binds parameters of another type has another one.
    pub queryids: Vec<String>,
    /// What it does.
    pub kind: StatementKind,
    /// Why it cannot be part of a benchmark; absent if it can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// Executions.
    pub calls: f64,
    /// Rows returned or changed.
    pub rows: f64,
    /// Execution time, in milliseconds.
    pub exec_time_ms: f64,
    /// Planning time, in milliseconds; 0 unless `pg_stat_statements.track_planning` is on.
    pub plan_time_ms: f64,
    /// Blocks found in shared buffers.
    pub shared_blks_hit: f64,
    /// Blocks read into shared buffers.
    pub shared_blks_read: f64,
    /// Blocks that it was the first to change.
    pub shared_blks_dirtied: f64,
    /// Blocks of temporary files read.
    pub temp_blks_read: f64,
    /// Blocks of temporary files written.
    pub temp_blks_written: f64,
    /// WAL generated.
    pub wal_bytes: f64,
}

impl CapturedStatement {
    /// Returns a counter for each call.
    #[must_use]
    pub fn per_call(&self, counter: f64) -> f64 {
        if self.calls > 0.0 { counter / self.calls } else { 0.0 }
    }

    /// Returns the blocks that it accessed: found in shared buffers or read.
    #[must_use]
    pub fn blocks(&self) -> f64 {
        self.shared_blks_hit + self.shared_blks_read
    }
}

/// A table, materialized view or foreign table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CapturedRelation {
    /// Its schema.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// `pg_class.relkind`.
    pub kind: String,
    /// Rows, as the planner estimates them; -1 if it was never vacuumed or analysed.
    pub rows: f64,
    /// The size of its main fork by the last VACUUM or ANALYZE.
    pub bytes: f64,
    /// Its columns, in order.
    pub columns: Vec<CapturedColumn>,
    /// Definitions of its indexes.
    pub indexes: Vec<String>,
    /// Definitions of its constraints.
    pub constraints: Vec<String>,
    /// Its triggers.
    pub triggers: u64,
    /// What was counted within the window; absent if nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub activity: Option<RelationActivity>,
}

/// A column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CapturedColumn {
    /// Its name.
    pub name: String,
    /// Its type, with modifiers.
    pub data_type: String,
    /// Whether it must not be null.
    pub not_null: bool,
    /// Whether the server gives it a value: a default, an identity or a generation expression.
    pub has_default: bool,
}

/// What `pg_stat_user_tables` counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RelationActivity {
    /// Sequential scans.
    pub seq_scans: f64,
    /// Rows that they read.
    pub seq_rows_read: f64,
    /// Index scans.
    pub index_scans: f64,
    /// Rows inserted.
    pub rows_inserted: f64,
    /// Rows updated.
    pub rows_updated: f64,
    /// Rows updated without a new entry in any index.
    pub rows_hot_updated: f64,
    /// Rows deleted.
    pub rows_deleted: f64,
}

/// Transactions that the log of the server sampled within the window. No value of a parameter is kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CapturedTransactions {
    /// Transactions with statements that committed.
    pub committed: u64,
    /// Transactions that were rolled back.
    pub rolled_back: u64,
    /// Transactions whose begin or end is not in the log, or that have too many statements.
    pub incomplete: u64,
    /// Statements of the log that are not among the captured ones: they are left out of their transactions.
    pub unknown_statements: u64,
    /// The kinds of committed transactions by their number, the most first. Only so many kinds are kept.
    pub kinds: Vec<CapturedTransaction>,
    /// How often the values of parameters are repeated, without the values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub profiles: Vec<ValueProfile>,
}

/// How often the values of a parameter are repeated in the log. It has no value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ValueProfile {
    /// The place of the statement in `statements`, from 0.
    pub statement: usize,
    /// The number of the parameter in the statement: 1 for `$1`.
    pub parameter: u32,
    /// Executions whose value was counted. Executions of a transaction in a row with one value count once.
    pub draws: u64,
    /// Different values.
    pub distinct: u64,
    /// How many of the draws the most frequent 1, 2, 4, 8, … values have.
    pub most_frequent: Vec<u64>,
}

impl ValueProfile {
    /// Returns the number of values, and how many draws the most frequent 1, 2, 4, 8, … of them have, by how often each was drawn.
    pub(crate) fn of_counts(mut counts: Vec<u64>) -> (u64, Vec<u64>) {
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let (mut sum, mut most_frequent) = (0, Vec::new());
        for (place, count) in (1_u64..).zip(&counts) {
            sum += count;
            if place.is_power_of_two() {
                most_frequent.push(sum);
            }
        }
        (counts.len() as u64, most_frequent)
    }
}

/// A kind of transaction: the same statements in the same order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CapturedTransaction {
    /// How many of these the log has.
    pub count: u64,
    /// The isolation level that they name; absent if they name none, or READ COMMITTED.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isolation: Option<IsolationLevel>,
    /// Its statements in their order.
    pub steps: Vec<TransactionStep>,
    /// Parameters that have the value of an earlier parameter of the same transaction.
    pub flows: Vec<ParameterFlow>,
}

/// A statement of a transaction, executed once or several times in a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TransactionStep {
    /// Its place in `statements`, from 0.
    pub statement: usize,
    /// Executions in a row, on average: 1, or at least 2.
    pub calls_mean: f64,
}

/// A parameter that has the value of an earlier one in nearly all transactions of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ParameterFlow {
    /// The step of the parameter, from 0.
    pub step: usize,
    /// Its number in the statement: 1 for `$1`.
    pub parameter: u32,
    /// The step of the earlier parameter. The same step if all executions in a row have the value of the first.
    pub from_step: usize,
    /// The number of the earlier parameter.
    pub from_parameter: u32,
}
