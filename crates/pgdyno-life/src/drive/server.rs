//! The server that the clients drive, as the drive needs it.

use pgdyno_net::ConnectOptions;
use pgdyno_server::ServerIdentity;
use pgdyno_server::os::Machines;
use pgdyno_workload::Capabilities;

use crate::kept_session::KeptSession;
use crate::target::TargetServer;
use crate::target::readers::Reader;

/// The server that the clients drive.
pub(crate) struct DrivenServer<'a> {
    pub(crate) caps: &'a Capabilities,
    /// How to connect to it; `None` without a server.
    pub(crate) options: Option<&'a ConnectOptions>,
    /// How groups of queries connect, if that is another way.
    pub(crate) of_queries: Option<&'a ConnectOptions>,
    /// The servers that run what only reads.
    pub(crate) readers: &'a [Reader],
    /// A connection for statistics, if the server keeps statistics that cover all of it.
    pub(crate) sampler: Option<KeptSession>,
    /// Whether it has statistics to watch.
    pub(crate) is_watched: bool,
    /// Whether it is a private server.
    pub(crate) is_private: bool,
    /// How its machine is read.
    pub(crate) machines: Machines,
    /// The server itself, for faults.
    pub(crate) held: Option<&'a mut TargetServer>,
    /// The server of pgdyno's own sessions, if it says which one it is.
    pub(crate) identity: Option<ServerIdentity>,
}

impl<'a> DrivenServer<'a> {
    /// Returns a server without data and statistics: a null server, or none at all.
    pub(crate) fn without_statistics(options: Option<&'a ConnectOptions>, caps: &'a Capabilities) -> Self {
        Self {
            caps,
            options,
            of_queries: None,
            readers: &[],
            sampler: None,
            is_watched: false,
            is_private: true,
            machines: Machines::default(),
            held: None,
            identity: None,
        }
    }
}
