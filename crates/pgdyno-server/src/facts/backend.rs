//! The process of one session of a server on this machine.

use std::path::Path;
use std::time::Duration;

use crate::facts::reads::parent_of;
use crate::process::is_postmaster_of;

/// A backend with a visible process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocalBackend {
    pid: i32,
}

impl LocalBackend {
    /// Returns the backend with this process id of the server with this data directory; `None` if that runs on
    /// another machine, or in a container with process ids of its own.
    pub(crate) fn of(pid: i32, data: &str) -> Option<Self> {
        is_postmaster_of(parent_of(pid)?, Path::new(data)).then_some(Self { pid })
    }

    /// Returns the CPU time that it has used. Source: Linux, `/proc/PID/schedstat`, its first number.
    pub(crate) fn cpu(&self) -> Option<Duration> {
        let text = std::fs::read_to_string(format!("/proc/{}/schedstat", self.pid)).ok()?;
        text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
    }
}
