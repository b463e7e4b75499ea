//! A private server that accepts connections: what it is and how to connect.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pgdyno_net::{ConnectOptions, Secret};
use serde::{Deserialize, Serialize};

use crate::private::instance;
use crate::private::programs::installation::Installation;
use crate::private::sizing::Setting;

/// The superuser of a private server; its owner connects as this role through the socket.
pub const SUPERUSER: &str = "postgres";

/// Why a server did not start with its new settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Refused {
    pub(crate) what: String,
    /// The end of its log at that time.
    pub(crate) log: Vec<String>,
}

/// A private server, as its supervisor describes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrivateServer {
    pub(crate) supervisor_pid: i32,
    pub(crate) postmaster_pid: i32,
    pub(crate) installation: Installation,
    pub(crate) settings: Vec<Setting>,
    pub(crate) dir: PathBuf,
    pub(crate) data_dir: PathBuf,
    pub(crate) socket_dir: PathBuf,
    pub(crate) port: u16,
    pub(crate) tcp: bool,
    pub(crate) started_unix_s: u64,
    /// Set if its last restart failed: it runs with the earlier settings.
    #[serde(default)]
    pub(crate) refused: Option<Box<Refused>>,
}

impl PrivateServer {
    /// Returns how to connect through its socket, which needs no password.
    #[must_use]
    pub fn connect_options(&self, dbname: &str) -> ConnectOptions {
        ConnectOptions::for_socket(&self.socket_dir, self.port, SUPERUSER, dbname)
    }

    /// Returns its programs, their version and how they were found.
    #[must_use]
    pub fn installation(&self) -> &Installation {
        &self.installation
    }

    /// Returns the settings that pgdyno chose or was given, each with its reason.
    #[must_use]
    pub fn settings(&self) -> &[Setting] {
        &self.settings
    }

    /// Returns the directory of its socket.
    #[must_use]
    pub fn socket_dir(&self) -> &Path {
        &self.socket_dir
    }

    /// Returns its port, which is also part of its socket's name.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns true if it also listens on 127.0.0.1.
    #[must_use]
    pub fn has_tcp(&self) -> bool {
        self.tcp
    }

    /// Returns its data directory. Only its account and root may enter.
    #[must_use]
    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// Returns the process id of its postmaster.
    #[must_use]
    pub fn postmaster_pid(&self) -> i32 {
        self.postmaster_pid
    }

    /// Returns the process id of its supervisor.
    #[must_use]
    pub fn supervisor_pid(&self) -> i32 {
        self.supervisor_pid
    }

    /// Returns how long it has been running.
    #[must_use]
    pub fn uptime(&self) -> Duration {
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .saturating_sub(Duration::from_secs(self.started_unix_s))
    }

    /// Returns the size of its data directory in bytes, WAL included.
    #[must_use]
    pub fn data_bytes(&self) -> u64 {
        instance::size_of_tree(&self.data_dir)
    }

    /// Returns the last lines of its log.
    #[must_use]
    pub fn log_tail(&self) -> Vec<String> {
        instance::log_tail(&self.dir.join("server.log"))
    }

    /// Returns a shell command that connects to it.
    #[must_use]
    pub fn psql_command(&self) -> String {
        let dir = self.socket_dir.display().to_string();
        let dir = pgdyno_untrusted::ShellWord(&dir);
        format!("psql -h {dir} -p {} -U {SUPERUSER}", self.port)
    }

    /// Returns the connection string for its TCP port, without the password; `None` without TCP.
    #[must_use]
    pub fn tcp_dsn(&self, dbname: &str) -> Option<String> {
        self.tcp.then(|| {
            let dbname = pgdyno_net::pair("dbname", dbname);
            format!("host=127.0.0.1 port={} user={SUPERUSER} sslmode=disable {dbname}", self.port)
        })
    }

    /// Sets a random password of the superuser, for TCP, and returns it. It is stored nowhere else, and the server
    /// receives only its SCRAM verifier.
    pub(crate) fn set_password(&self) -> Result<Secret, PasswordError> {
        use std::io::Read;
        let (mut random, mut salt) = ([0; 16], [0; 16]);
        std::fs::File::open("/dev/urandom")
            .and_then(|mut source| source.read_exact(&mut random).and_then(|()| source.read_exact(&mut salt)))
            .map_err(PasswordError::Random)?;
        let password = pgdyno_text::hex(&random);
        let verifier = pgdyno_net::scram_verifier(&password, salt);
        let mut admin = pgdyno_net::Admin::connect(&self.connect_options("postgres"))?;
        admin.execute(&format!("ALTER ROLE {SUPERUSER} PASSWORD '{verifier}'"))?;
        Ok(Secret::new(password))
    }
}

/// The error when the superuser of a private server got no password.
#[derive(Debug, thiserror::Error)]
pub enum PasswordError {
    /// There is no random number.
    #[error("cannot read /dev/urandom for the password of the private server")]
    Random(#[source] std::io::Error),
    /// The connection failed.
    #[error("cannot connect to the private server to set its password")]
    Connect(#[from] pgdyno_net::ConnectError),
    /// The server refused.
    #[error("cannot set the password of the private server")]
    Refused(#[from] pgdyno_net::AdminError),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::private::programs::installation::InstallationOrigin;
    use crate::private::programs::version::PgVersion;

    fn server(socket_dir: &str) -> PrivateServer {
        PrivateServer {
            supervisor_pid: 2,
            postmaster_pid: 3,
            installation: Installation {
                bindir: "/bin".into(),
                version: PgVersion::parse("18.6").unwrap(),
                origin: InstallationOrigin::Path,
            },
            settings: Vec::new(),
            dir: "/x".into(),
            data_dir: "/x/data".into(),
            socket_dir: socket_dir.into(),
            port: 5433,
            tcp: true,
            started_unix_s: 0,
            refused: None,
        }
    }

    #[test]
    fn the_command_survives_a_shell() {
        assert_eq!(server("/home/x/run").psql_command(), "psql -h /home/x/run -p 5433 -U postgres");
        assert_eq!(server("/home/it's me").psql_command(), r"psql -h '/home/it'\''s me' -p 5433 -U postgres");
    }

    #[test]
    fn a_connection_string_has_its_database_quoted() {
        assert_eq!(
            server("/x").tcp_dsn("a'b").unwrap(),
            r"host=127.0.0.1 port=5433 user=postgres sslmode=disable dbname='a\'b'"
        );
    }
}
