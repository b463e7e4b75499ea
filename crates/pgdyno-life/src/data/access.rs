//! Access to the server for work on the data.

use std::path::Path;

use pgdyno_net::{ConnectOptions, Stop};
use pgdyno_workload::Capabilities;

use crate::events::EventSink;

/// Access to the server for work on the data.
#[derive(Clone, Copy)]
pub struct DataAccess<'a> {
    /// How to connect to the server.
    pub options: &'a ConnectOptions,
    /// What it can do.
    pub caps: &'a Capabilities,
    /// Receives the progress.
    pub events: &'a dyn EventSink,
    /// Ends the work when it becomes true.
    pub stop: &'a Stop,
    /// The data directory of a private server.
    pub data_dir: Option<&'a Path>,
}
