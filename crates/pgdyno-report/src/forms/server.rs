//! The kept private server.

use serde::Serialize;

/// Whether the kept server runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ServerState {
    /// It runs.
    Running,
    /// It is starting or stopping.
    Busy,
    /// It does not run, and its data is kept.
    Stopped,
    /// It does not run, and has no data.
    #[default]
    Absent,
}

/// The kept private server, as `pgdyno server start|stop|status --format json` prints it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ServerForm {
    /// [`super::FORMAT_VERSION`].
    pub format_version: u32,
    /// Whether it runs.
    pub state: ServerState,
    /// Its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Where its programs are from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// Process of its postmaster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<i32>,
    /// Seconds since its start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uptime_s: Option<f64>,
    /// Bytes of its data directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_bytes: Option<u64>,
    /// Whether it ended by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crashed: Option<bool>,
    /// The command that connects to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub psql: Option<String>,
    /// Its connection string by TCP, without the password.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcp_dsn: Option<String>,
    /// Its password by TCP, which `start` shows once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password: Option<String>,
    /// Settings that `start` gave it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<ServerSettingForm>,
}

/// A null server that is ready, as `pgdyno server null --format json` prints it once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NullServerForm {
    /// [`super::FORMAT_VERSION`].
    pub format_version: u32,
    /// Its connection string.
    pub target: String,
}

/// A setting of the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ServerSettingForm {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Why it has this value.
    pub why: String,
}
