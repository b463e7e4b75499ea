//! Connections for rows to the nodes that hold them. A node with the metadata of all shards accepts any COPY, and the
//! coordinator does not need to distribute the rows.

use std::collections::HashMap;
use std::time::Duration;

use pgdyno_net::{Admin, AdminError, ConnectOptions};
use pgdyno_workload::{Cluster, Node};

/// Nodes in a private network never answer; rows can go through the coordinator then.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// Query for the identity of a node: from here, the nodes' names and ports may mean other servers.
const IDENTITY: &str = "select system_identifier || '/' || groupid from pg_control_system(), pg_dist_local_group";

/// Connections for rows.
#[derive(Default)]
pub(crate) struct Ways {
    /// One for each loader; without any, rows go through the coordinator.
    pub(crate) rows: Vec<Option<Admin>>,
    /// Warnings for the user.
    pub(crate) notes: Vec<String>,
}

/// Opens them, in turn to every node that holds shards, has the metadata of all shards, and can be reached as the
/// coordinator is.
///
/// # Errors
/// When the coordinator does not return its nodes.
pub(crate) fn dial(
    options: &ConnectOptions,
    coordinator: &mut Admin,
    cluster: &Cluster,
    loaders: usize,
) -> Result<Ways, AdminError> {
    let wanted: Vec<_> = cluster.holders().filter(|node| !node.is_here).collect();
    if wanted.is_empty() {
        return Ok(Ways { rows: (0..loaders).map(|_| None).collect(), notes: Vec::new() });
    }
    let known = identities(coordinator)?;
    let mut ways = Ways::default();
    let mut reached = Vec::new();
    for node in wanted {
        match reach(options, node, &known) {
            Ok(admin) => reached.push((node, Some(admin))),
            Err(why) => {
                ways.notes.push(format!("the rows of node {} went through the coordinator: {why}", node.name()))
            }
        }
    }
    for nth in 0..loaders {
        let way = match nth.checked_rem(reached.len()) {
            None => None,
            // The first connection to each node is open; a node without room for more has its share.
            Some(at) => reached[at].1.take().or_else(|| reach(options, reached[at].0, &known).ok()),
        };
        ways.rows.push(way);
    }
    if reached.is_empty() {
        ways.notes.push("all rows went through the coordinator".to_owned());
    }
    Ok(ways)
}

/// Returns each node's identity according to the coordinator, by name and port.
fn identities(coordinator: &mut Admin) -> Result<HashMap<String, String>, AdminError> {
    let rows = coordinator.query(&identities_sql())?.rows;
    let pair = |row: Vec<Option<String>>| {
        let mut row = row.into_iter();
        Some((row.next()??, row.next()??))
    };
    Ok(rows.into_iter().filter_map(pair).collect())
}

fn identities_sql() -> String {
    format!(
        "select nodename || ':' || nodeport, result from run_command_on_all_nodes($pgdyno${IDENTITY}$pgdyno$) \
         join pg_dist_node using (nodeid) where success"
    )
}

/// Connects to a node, and checks that it is the one that the coordinator means. Returns the reason if it is not.
fn reach(options: &ConnectOptions, node: &Node, known: &HashMap<String, String>) -> Result<Admin, String> {
    if !node.takes_statements() {
        return Err("it does not know where all shards are (its metadata is not synced)".to_owned());
    }
    let there = options.with_server(&node.host, node.port, CONNECT_TIMEOUT);
    let mut admin = Admin::connect(&there).map_err(|error| error.to_string())?;
    let identity = admin.query_opt(IDENTITY).ok().flatten();
    let expected = known.get(&format!("{}:{}", node.host, node.port));
    if identity.is_some() && identity.as_ref() == expected {
        Ok(admin)
    } else {
        Err("from here that address leads to another server".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nodes_are_asked_who_they_are() {
        assert_eq!(
            identities_sql(),
            "select nodename || ':' || nodeport, result from run_command_on_all_nodes(\
             $pgdyno$select system_identifier || '/' || groupid from pg_control_system(), pg_dist_local_group$pgdyno$) \
             join pg_dist_node using (nodeid) where success"
        );
    }
}
