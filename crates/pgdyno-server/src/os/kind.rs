//! Kinds of processes: those of the server by the titles that PostgreSQL gives its processes.

/// pgdyno itself, with all processes that it has started except a server.
pub const DRIVER: &str = "driver";
/// The kernel's own threads, and interrupts.
pub const KERNEL: &str = "kernel";
/// All other programs.
pub const OTHER: &str = "other";
/// The postmaster, the parent of the server's other processes.
pub const POSTMASTER: &str = "postmaster";
/// Other nodes of the server's cluster, all their processes.
pub const NODE: &str = "other node";
/// A process of the server that has no title yet.
pub const STARTING: &str = "starting";
/// Processes of the server that came and went between two looks.
pub const ENDED: &str = "ended";

/// The kind of processes that serve clients.
const CLIENT: &str = "client backend";

/// A background worker of an extension.
const WORKER: &str = "background worker";

/// Beginnings of titles, and the kind as in `pg_stat_activity.backend_type`. Longer ones come before their own
/// beginnings. Source: PostgreSQL 13 to 18, `init_ps_display` and its callers, `GetBackendTypeDesc`.
const TITLES: &[(&str, &str)] = &[
    ("archiver", "archiver"),
    ("autovacuum launcher", "autovacuum launcher"),
    ("autovacuum worker", "autovacuum worker"),
    ("background writer", "background writer"),
    ("checkpointer", "checkpointer"),
    ("io worker", "io worker"),
    ("logger", "logger"),
    ("logical replication launcher", "logical replication launcher"),
    ("logical replication", "logical replication worker"),
    ("parallel worker", "parallel worker"),
    ("slotsync worker", "slotsync worker"),
    ("startup", "startup"),
    ("stats collector", "stats collector"),
    ("walreceiver", "walreceiver"),
    ("walsender", "walsender"),
    ("walsummarizer", "walsummarizer"),
    ("walwriter", "walwriter"),
];

/// Beginning of the titles of a server's processes.
const PREFIX: &str = "postgres: ";

/// Returns the title without the part that all processes of a server share: `postgres: ` and the setting
/// `cluster_name`. Returns `None` if it is not the title of a server's process.
pub(crate) fn server_title<'a>(title: &'a str, cluster_name: &str) -> Option<&'a str> {
    let rest = title.strip_prefix(PREFIX)?.trim_start();
    let named = rest.strip_prefix(cluster_name).and_then(|rest| rest.strip_prefix(": "));
    Some(named.filter(|_| !cluster_name.is_empty()).unwrap_or(rest).trim_end())
}

/// Returns the kind of a child of the postmaster by its title; `None` while it has no title of its own.
pub(crate) fn kind_of(title: &str, cluster_name: &str) -> Option<&'static str> {
    let title = server_title(title, cluster_name)?;
    let begins = |with: &str| title.strip_prefix(with).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    if let Some((_, kind)) = TITLES.iter().find(|(title, _)| begins(title)) {
        return Some(kind);
    }
    // `user database [local] idle`, `user database 10.0.0.7(40112) SELECT`. User and database may contain spaces.
    let is_place = |word: &str| {
        let port = word.strip_suffix(')').and_then(|word| word.rsplit_once('('));
        word == "[local]" || port.is_some_and(|(_, port)| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()))
    };
    Some(if title.split(' ').skip(2).any(is_place) { CLIENT } else { WORKER })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_of_all_versions_show_the_kind() {
        for (title, kind) in [
            ("postgres: checkpointer ", "checkpointer"),
            ("postgres: background writer   ", "background writer"),
            ("postgres: walwriter", "walwriter"),
            ("postgres: stats collector ", "stats collector"),
            ("postgres: autovacuum launcher ", "autovacuum launcher"),
            ("postgres: autovacuum worker bench", "autovacuum worker"),
            ("postgres: parallel worker for PID 4711 ", "parallel worker"),
            ("postgres: io worker 2", "io worker"),
            ("postgres: logical replication launcher ", "logical replication launcher"),
            ("postgres: logical replication apply worker for subscription 16390 ", "logical replication worker"),
            ("postgres: walsender repl 10.0.0.8(51234) streaming 0/3000148", "walsender"),
            ("postgres: startup recovering 000000010000000000000003", "startup"),
            ("postgres: archiver last was 000000010000000000000001", "archiver"),
            ("postgres: pgdyno pgdyno [local] idle in transaction", "client backend"),
            ("postgres: my user my db 10.0.0.7(40112) SELECT waiting", "client backend"),
            ("postgres: u d fe80::1%eth0(5432) authentication", "client backend"),
            ("postgres: pg_cron launcher ", "background worker"),
            ("postgres: Citus Maintenance Daemon: 16384/10 ", "background worker"),
            ("postgres: archivers d [local] idle", "client backend"),
        ] {
            assert_eq!(kind_of(title, ""), Some(kind), "{title}");
        }
    }

    #[test]
    fn a_cluster_has_its_name_in_every_title() {
        assert_eq!(kind_of("postgres: 15/main: walwriter ", "15/main"), Some("walwriter"));
        assert_eq!(kind_of("postgres: 15/main: u d [local] idle", "15/main"), Some("client backend"));
        assert_eq!(kind_of("postgres: walwriter", "15/main"), Some("walwriter"));
        assert_eq!(server_title("postgres: 15/main: u d [local] idle ", "15/main"), Some("u d [local] idle"));
    }

    #[test]
    fn without_a_title_there_is_no_kind_yet() {
        for title in ["", "/usr/lib/postgresql/15/bin/postgres -D /data", "sleep 60"] {
            assert_eq!(kind_of(title, ""), None, "{title}");
        }
    }
}
