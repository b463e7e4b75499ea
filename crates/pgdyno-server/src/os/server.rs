//! Finds the server's processes by one of its sessions.

use std::path::Path;

use pgdyno_net::{Admin, AdminError, ConnectOptions};

use super::kind::server_title;
use super::process::Process;
use crate::facts::ask::{ask, first};
use crate::process::may_be_postmaster_of;

/// A session on the server, by which its processes are found. It must last until then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerSession {
    /// Process id of its backend on the server's machine.
    pub(crate) pid: i32,
    user: String,
    database: String,
    /// The setting `cluster_name`, which is part of every title.
    pub(crate) cluster_name: String,
    /// The server's data directory, if the role may know it.
    data_directory: Option<String>,
    /// Process id of the postmaster and data directory of each node of its cluster, where the role may know them.
    nodes: Vec<(i32, String)>,
}

/// What a node says of itself, as `4711 /data`. Needs the rights of `pg_read_server_files` and `pg_read_all_settings`.
const NODE: &str =
    "SELECT split_part(pg_read_file('postmaster.pid'), chr(10), 1) || ' ' || current_setting('data_directory')";

impl ServerSession {
    /// Returns the session of `admin`; `None` if the server does not return its process id.
    ///
    /// # Errors
    /// Only when the connection is lost.
    pub fn of(admin: &mut Admin) -> Result<Option<Self>, AdminError> {
        // User and database as in the title.
        let sql = "SELECT pg_backend_pid(), session_user, current_database(), current_setting('cluster_name', true)";
        let row = ask(admin, sql)?.and_then(|rows| rows.rows.into_iter().next()).unwrap_or_default();
        let [pid, user, database, cluster_name] = <[Option<String>; 4]>::try_from(row).unwrap_or_default();
        let (pid, cluster_name) = (pid.and_then(|pid| pid.parse().ok()), cluster_name.unwrap_or_default());
        let data_directory = first(ask(admin, "SELECT current_setting('data_directory', true)")?);
        let (Some(pid), Some(user), Some(database)) = (pid, user, database) else { return Ok(None) };
        Ok(Some(Self { pid, user, database, cluster_name, data_directory, nodes: Vec::new() }))
    }

    /// Returns it with the nodes of the server's cluster, if it spreads tables over nodes.
    ///
    /// # Errors
    /// Only when the connection is lost.
    pub fn with_nodes(self, admin: &mut Admin) -> Result<Self, AdminError> {
        if first(ask(admin, "SELECT to_regproc('run_command_on_all_nodes')")?).is_none() {
            return Ok(self);
        }
        let all = format!("SELECT result FROM run_command_on_all_nodes($pgdyno${NODE}$pgdyno$) WHERE success");
        let reported = admin.promptly("its nodes' processes", |admin| ask(admin, &all))?;
        let rows = reported.map(|reported| reported.rows).unwrap_or_default().into_iter();
        let nodes = rows.filter_map(|row| node(row.first()?.as_deref()?)).collect();
        Ok(Self { nodes, ..self })
    }

    /// Returns true if a process has the session's title: a tunnel leads to another machine, and a container has
    /// process ids of its own, so that the number alone proves nothing.
    pub(crate) fn is(&self, title: &str) -> bool {
        server_title(title, &self.cluster_name)
            .is_some_and(|title| title.starts_with(&format!("{} {} ", self.user, self.database)))
    }

    /// Returns the postmasters of the cluster's nodes that run on this machine.
    pub(crate) fn nodes_here(&self) -> Vec<i32> {
        let here = self.nodes.iter().filter(|(postmaster, data)| may_be_postmaster_of(*postmaster, Path::new(data)));
        here.map(|(postmaster, _)| *postmaster).collect()
    }

    /// Returns the postmaster, if the server's processes are visible on this machine.
    pub(crate) fn postmaster_here(&self) -> Option<i32> {
        let title = std::fs::read(format!("/proc/{}/cmdline", self.pid)).ok()?;
        let postmaster = Process::look(self.pid)?.parent;
        // Not every role may know the data directory.
        let is_its = self.data_directory.as_ref().is_none_or(|data| may_be_postmaster_of(postmaster, Path::new(data)));
        (is_its && self.is(&title_of(&title))).then_some(postmaster)
    }
}

/// Reads what [`NODE`] says.
fn node(reported: &str) -> Option<(i32, String)> {
    let (postmaster, data) = reported.split_once(' ')?;
    Some((postmaster.parse().ok()?, data.to_owned()))
}

/// Returns true if the server that `admin` is connected to by `options` runs on this machine: its processes are
/// visible. A loopback address or a socket alone proves nothing: it may belong to a tunnel, or lead into a container.
///
/// # Errors
/// Only when the connection is lost.
pub fn is_here(admin: &mut Admin, options: &ConnectOptions) -> Result<bool, AdminError> {
    if !options.is_local() {
        return Ok(false);
    }
    // Other systems lack /proc.
    Ok(cfg!(not(target_os = "linux"))
        || admin
            .promptly("where its processes are", ServerSession::of)?
            .is_some_and(|session| session.postmaster_here().is_some()))
}

/// Returns a title from `/proc/PID/cmdline`: one argument, which a NUL may end.
pub(crate) fn title_of(cmdline: &[u8]) -> String {
    let end = cmdline.iter().position(|byte| *byte == 0).unwrap_or(cmdline.len());
    String::from_utf8_lossy(&cmdline[..end]).into_owned()
}

#[cfg(test)]
impl ServerSession {
    /// Returns a session for tests.
    pub(crate) fn sample(pid: i32) -> Self {
        let word = |text: &str| text.to_owned();
        let (cluster_name, data_directory, nodes) = (String::new(), None, Vec::new());
        Self { pid, user: word("me"), database: word("bench"), cluster_name, data_directory, nodes }
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

    #[test]
    fn a_node_is_here_if_its_postmaster_is() {
        assert_eq!(node("4711 /srv/pg data"), Some((4711, "/srv/pg data".to_owned())));
        assert_eq!((node("/data"), node("x /data")), (None, None));
        let us = (std::process::id() as i32, "/".to_owned());
        assert!(ServerSession { nodes: vec![us], ..ServerSession::sample(7) }.nodes_here().is_empty());
    }
}
