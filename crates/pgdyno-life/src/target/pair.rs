//! A private primary with a standby that streams from it. Clients connect to the one of them that may be written to.

use std::time::{Duration, Instant};

use pgdyno_net::{Admin, ConnectOptions, Env};
use pgdyno_server::{HeldServer, PrivateServerOptions, SUPERUSER};

use crate::exit_code::Code;
use crate::failure::{CommandError, OrFail, Result};

/// How long the standby may take to begin streaming.
const STREAMING: Duration = Duration::from_secs(60);
/// How often it is asked.
const POLL: Duration = Duration::from_millis(20);

/// Two servers that end with this value.
pub(super) struct HeldPair {
    primary: HeldServer,
    standby: HeldServer,
    database: &'static str,
    /// Whether the standby has become the primary.
    is_promoted: bool,
}

impl HeldPair {
    /// Starts a standby of a server, and waits until it streams. Clients use this database.
    ///
    /// # Errors
    /// When the standby does not start, or does not stream.
    pub(super) fn of(
        mut primary: HeldServer,
        options: &PrivateServerOptions,
        database: &'static str,
        is_synchronous: bool,
    ) -> Result<Self> {
        let standby = primary.start_standby(options).or_fail(Code::Server)?;
        let pair = Self { primary, standby, database, is_promoted: false };
        pair.await_streaming()?;
        if is_synchronous {
            let mut admin = pair.admin(&pair.primary)?;
            admin.execute("ALTER SYSTEM SET synchronous_standby_names = '*'").or_fail(Code::Server)?;
            admin.query("SELECT pg_reload_conf()").or_fail(Code::Server)?;
        }
        Ok(pair)
    }

    /// Returns the server that may be written to.
    pub(super) fn current(&self) -> &HeldServer {
        if self.is_promoted { &self.standby } else { &self.primary }
    }

    /// Returns the same, to change it.
    pub(super) fn current_mut(&mut self) -> &mut HeldServer {
        if self.is_promoted { &mut self.standby } else { &mut self.primary }
    }

    /// Returns how to connect to the one that may be written to.
    ///
    /// # Errors
    /// When an address cannot be a part of a connection string.
    pub(super) fn reach(&self) -> Result<ConnectOptions> {
        let [primary, standby] = [&self.primary, &self.standby].map(|held| held.server());
        let ports = format!("{},{}", primary.port(), standby.port());
        let hosts = match primary.has_tcp() {
            true => "127.0.0.1,127.0.0.1".to_owned(),
            false => format!("{},{}", primary.socket_dir().display(), standby.socket_dir().display()),
        };
        let dsn = format!(
            "host='{hosts}' port={ports} user={SUPERUSER} dbname={} target_session_attrs=read-write",
            self.database
        );
        let password = self.primary.password().map(|password| password.reveal().to_owned());
        let env = Env::new(password.iter().map(|password| ("PGPASSWORD", password.as_str())), None, None);
        ConnectOptions::resolve(&dsn, &env).or_fail(Code::Server)
    }

    /// Returns how to connect to the standby alone.
    ///
    /// # Errors
    /// When its address cannot be a part of a connection string.
    pub(super) fn reach_standby(&self) -> Result<ConnectOptions> {
        let server = self.standby.server();
        match (server.tcp_dsn(self.database), self.primary.password()) {
            // The standby has the roles of its primary.
            (Some(dsn), Some(password)) => {
                let env = Env::new([("PGPASSWORD", password.reveal().as_str())], None, None);
                ConnectOptions::resolve(&dsn, &env).or_fail(Code::Server)
            }
            _ => Ok(server.connect_options(self.database)),
        }
    }

    /// Kills the primary, which stays down, and promotes the standby.
    ///
    /// # Errors
    /// When the standby cannot be promoted.
    pub(super) fn promote(&mut self) -> Result<()> {
        if self.is_promoted {
            return Err(CommandError::new(Code::Server, "the standby was promoted before"));
        }
        self.primary.kill();
        let promoted = self.admin(&self.standby)?.query_one("SELECT pg_promote()").or_fail(Code::Server)?;
        if promoted != "t" {
            return Err(CommandError::new(Code::Server, "the standby was not promoted within a minute"));
        }
        self.is_promoted = true;
        Ok(())
    }

    fn admin(&self, held: &HeldServer) -> Result<Admin> {
        Admin::connect(&held.server().connect_options(self.database)).or_fail(Code::Server)
    }

    fn await_streaming(&self) -> Result<()> {
        let mut admin = self.admin(&self.primary)?;
        let deadline = Instant::now() + STREAMING;
        let streaming = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'";
        while admin.query_one(streaming).or_fail(Code::Server)? == "0" {
            if Instant::now() > deadline {
                let log = self.standby.log_tail().join("; ");
                let error = format!("the standby does not stream from its primary; the end of its log: {log}");
                return Err(CommandError::new(Code::Server, error));
            }
            std::thread::sleep(POLL);
        }
        Ok(())
    }
}
