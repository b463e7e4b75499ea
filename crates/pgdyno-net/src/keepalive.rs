//! TCP keepalive, as libpq's `keepalives` parameters set it.

use std::io;
use std::net::TcpStream;
use std::time::Duration;

use rustix::net::sockopt;

/// TCP's keepalive settings; `None` leaves a value to the system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Keepalive {
    pub(crate) enabled: bool,
    pub(crate) idle: Option<Duration>,
    pub(crate) interval: Option<Duration>,
    pub(crate) count: Option<u32>,
    pub(crate) user_timeout_ms: Option<u32>,
}

impl Keepalive {
    /// Applies the settings to a connection.
    pub(crate) fn apply(&self, stream: &TcpStream) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        if let Some(ms) = self.user_timeout_ms {
            sockopt::set_tcp_user_timeout(stream, ms)?;
        }
        if !self.enabled {
            return Ok(());
        }
        sockopt::set_socket_keepalive(stream, true)?;
        if let Some(idle) = self.idle {
            sockopt::set_tcp_keepidle(stream, idle)?;
        }
        if let Some(interval) = self.interval {
            sockopt::set_tcp_keepintvl(stream, interval)?;
        }
        if let Some(count) = self.count {
            sockopt::set_tcp_keepcnt(stream, count)?;
        }
        Ok(())
    }
}
