//! The nodes of a server that distributes tables. Found by its functions and catalogs, never by a name.

use pgdyno_net::{Admin, AdminError};
use pgdyno_workload::{Cluster, Node};

use crate::facts::ask::{ask, first};

/// Version of the extension that can distribute tables, in this database.
pub(crate) const EXTENSION: &str = "SELECT e.extversion FROM pg_proc p \
     JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e' \
     JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND e.oid = d.refobjid \
     WHERE p.proname = 'create_distributed_table' LIMIT 1";

/// A function of the library: if the server has not loaded it, its functions exist and cannot be called.
const VERSION: &str = "SELECT citus_version()";

/// The queries in words.
const ABOUT: &str = "whether it has Citus";

const NODES: &str = "SELECT nodeid, nodename, nodeport, groupid = 0, \
     groupid = (SELECT groupid FROM pg_dist_local_group), shouldhaveshards, hasmetadata, metadatasynced \
     FROM pg_dist_node WHERE noderole = 'primary' AND isactive ORDER BY groupid, nodeid";

/// Counts CPUs. Needs the rights of `pg_read_server_files`, and Linux.
const CPUS: &str = "SELECT count(*) FROM regexp_matches(pg_read_file('/proc/cpuinfo'), '(?n)^processor', 'g')";

/// Whether the library is loaded, and this database lacks its functions.
const UNUSED: &str = "SELECT current_database() WHERE current_setting('citus.shard_count', true) IS NOT NULL \
     AND NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')";

/// Returns the nodes, if the server can distribute tables: it has this version of the extension, by [`EXTENSION`].
///
/// # Errors
/// Only when the connection is lost.
pub(crate) fn cluster(admin: &mut Admin, extension: Option<String>) -> Result<Option<Cluster>, AdminError> {
    let Some(extension) = extension else { return Ok(None) };
    let Some(text) = first(admin.promptly(ABOUT, |admin| ask(admin, VERSION))?) else { return Ok(None) };
    let rows = admin.promptly("its nodes", |admin| ask(admin, NODES))?.map(|rows| rows.rows).unwrap_or_default();
    let mut nodes: Vec<_> = rows.iter().filter_map(|row| node(row)).collect();
    if nodes.is_empty() {
        // Before its first distributed table, a single server is no node yet.
        let port = first(ask(admin, "SELECT current_setting('port')")?).and_then(|port| port.parse().ok());
        let cpus = first(ask(admin, CPUS)?).and_then(|n| n.parse().ok());
        let alone = Node {
            host: "localhost".to_owned(),
            port: port.unwrap_or_default(),
            is_coordinator: true,
            is_here: true,
            should_have_shards: true,
            has_metadata: true,
            metadata_synced: true,
            cpus,
        };
        nodes.push((String::new(), alone));
    } else {
        // The other nodes may take long to answer.
        let cpus = format!("SELECT nodeid, result FROM run_command_on_all_nodes($pgdyno${CPUS}$pgdyno$) WHERE success");
        let reported = ask(admin, &cpus)?.map(|rows| rows.rows).unwrap_or_default();
        for row in reported {
            let [Some(id), Some(cpus)] = row.as_slice() else { continue };
            for (_, node) in nodes.iter_mut().filter(|(of, _)| of == id) {
                node.cpus = cpus.parse().ok().filter(|cpus| *cpus > 0);
            }
        }
    }
    let nodes = nodes.into_iter().map(|(_, node)| node).collect();
    Ok(Some(Cluster { version: version(&text).unwrap_or(extension), nodes }))
}

/// Returns a warning for users who have Citus and do not use it: it is loaded, and this database lacks the extension.
///
/// # Errors
/// Only when the connection is lost.
pub fn unused_cluster(admin: &mut Admin) -> Result<Option<String>, AdminError> {
    Ok(first(admin.promptly(ABOUT, |admin| ask(admin, UNUSED))?).map(|database| {
        format!(
            "Citus is loaded, but database {database} does not have it: all tables stay on this one node; to spread them, \
             CREATE EXTENSION citus in {database} on every node, and name the workers with citus_add_node()"
        )
    }))
}

/// A row of [`NODES`], with the number by which other results name it.
fn node(row: &[Option<String>]) -> Option<(String, Node)> {
    let [id, host, port, flags @ ..] = row else { return None };
    let is = |nth: usize| flags.get(nth).is_some_and(|flag| flag.as_deref() == Some("t"));
    let node = Node {
        host: host.clone()?,
        port: port.as_ref()?.parse().ok()?,
        is_coordinator: is(0),
        is_here: is(1),
        should_have_shards: is(2),
        has_metadata: is(3),
        metadata_synced: is(4),
        cpus: None,
    };
    Some((id.clone()?, node))
}

/// Returns `13.2.2` of `Citus 13.2.2 on x86_64-pc-linux-gnu, …`.
fn version(text: &str) -> Option<String> {
    let number = text.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
    Some(number.trim_end_matches(',').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(values: &[&str]) -> Vec<Option<String>> {
        values.iter().map(|value| (!value.is_empty()).then(|| (*value).to_owned())).collect()
    }

    #[test]
    fn a_node_is_read_from_its_row() {
        let (id, coordinator) = node(&row(&["1", "10.0.0.4", "5432", "t", "t", "f", "t", "t"])).unwrap();
        assert_eq!((id.as_str(), coordinator.name().as_str()), ("1", "10.0.0.4:5432"));
        assert!(coordinator.is_coordinator && coordinator.is_here && !coordinator.should_have_shards);
        assert!(coordinator.takes_statements());
        let (_, worker) = node(&row(&["7", "w1", "5433", "f", "f", "t", "t", "f"])).unwrap();
        assert!(!worker.is_coordinator && !worker.is_here && worker.should_have_shards);
        assert!(!worker.takes_statements(), "what it knows is out of date");
        assert_eq!(worker.cpus, None);
    }

    #[test]
    fn a_row_that_makes_no_sense_is_no_node() {
        for values in [&["1", "", "5432"][..], &["1", "host", "many"], &["1"], &[]] {
            assert!(node(&row(values)).is_none(), "{values:?}");
        }
    }

    #[test]
    fn the_version_is_the_number_in_the_text() {
        assert_eq!(version("Citus 13.2.2 on x86_64-pc-linux-gnu, compiled by gcc").as_deref(), Some("13.2.2"));
        assert_eq!(version("Citus 12.1devel, 64-bit").as_deref(), Some("12.1devel"));
        assert_eq!(version("something else"), None);
    }
}
