//! The server's processes, found by the session that somebody has on it.

use std::path::Path;

use pgdyno_net::{Admin, AdminError, ConnectOptions};

use super::kind::told;
use super::process::Process;
use crate::facts::ask::{ask, first};
use crate::process::is_postmaster_of;

/// A session on the server, which leads to the server's processes. It must last until they are found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerSession {
    /// The number of its process on the server's machine, as the server counts.
    pub(crate) pid: i32,
    user: String,
    database: String,
    /// The setting `cluster_name`, which every process has in its title.
    pub(crate) cluster_name: String,
    /// Where the server keeps its data, where the role may know.
    data_directory: Option<String>,
}

impl ServerSession {
    /// The session of `admin`; `None` where the server does not tell whose process it is.
    ///
    /// # Errors
    /// Only when the connection is lost.
    pub fn of(admin: &mut Admin) -> Result<Option<Self>, AdminError> {
        // User and database as the title has them.
        let sql = "SELECT pg_backend_pid(), session_user, current_database(), current_setting('cluster_name', true)";
        let row = ask(admin, sql)?.and_then(|rows| rows.rows.into_iter().next()).unwrap_or_default();
        let [pid, user, database, cluster_name] = <[Option<String>; 4]>::try_from(row).unwrap_or_default();
        let (pid, cluster_name) = (pid.and_then(|pid| pid.parse().ok()), cluster_name.unwrap_or_default());
        let data_directory = first(ask(admin, "SELECT current_setting('data_directory', true)")?);
        let (Some(pid), Some(user), Some(database)) = (pid, user, database) else { return Ok(None) };
        Ok(Some(Self { pid, user, database, cluster_name, data_directory }))
    }

    /// Whether a process with this title is the session's: a tunnel leads to another machine, and a container counts its
    /// processes by itself, so that the number alone says nothing.
    pub(crate) fn is(&self, title: &str) -> bool {
        told(title, &self.cluster_name)
            .is_some_and(|told| told.starts_with(&format!("{} {} ", self.user, self.database)))
    }

    /// The first process of the server's, where they are processes of this machine, and do not hide.
    pub(crate) fn postmaster_here(&self) -> Option<i32> {
        let title = std::fs::read(format!("/proc/{}/cmdline", self.pid)).ok()?;
        let postmaster = Process::look(self.pid)?.parent;
        // Not every role may know where the data is.
        let is_its = self.data_directory.as_ref().is_none_or(|data| is_postmaster_of(postmaster, Path::new(data)));
        (is_its && self.is(&title_of(&title))).then_some(postmaster)
    }
}

/// Whether the server that `admin` is connected to by `options` runs on this machine: its processes are seen here. A loopback
/// address or a socket alone says nothing, since it may be a tunnel's, or lead into a container.
///
/// # Errors
/// Only when the connection is lost.
pub fn is_here(admin: &mut Admin, options: &ConnectOptions) -> Result<bool, AdminError> {
    if !options.is_local() {
        return Ok(false);
    }
    // Other systems have no /proc to look at.
    Ok(cfg!(not(target_os = "linux"))
        || admin
            .promptly("where its processes are", ServerSession::of)?
            .is_some_and(|session| session.postmaster_here().is_some()))
}

/// A title, as `/proc/PID/cmdline` has it: one argument, and what may follow the NUL after it.
pub(crate) fn title_of(cmdline: &[u8]) -> String {
    let end = cmdline.iter().position(|byte| *byte == 0).unwrap_or(cmdline.len());
    String::from_utf8_lossy(&cmdline[..end]).into_owned()
}

#[cfg(test)]
impl ServerSession {
    /// A session for tests.
    pub(crate) fn sample(pid: i32) -> Self {
        let word = |text: &str| text.to_owned();
        Self { pid, user: word("me"), database: word("bench"), cluster_name: String::new(), data_directory: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_known_by_its_title() {
        let session = ServerSession { cluster_name: "15/main".to_owned(), ..ServerSession::sample(7) };
        assert!(session.is("postgres: 15/main: me bench [local] idle"));
        for title in ["postgres: me benchmark [local] idle", "postgres: walwriter", "me bench [local]", ""] {
            assert!(!session.is(title), "{title}");
        }
    }
}
