//! Rows straight to the nodes that hold them: a node that knows where all shards are takes any COPY, and the coordinator
//! is spared the work of dealing out.

use std::collections::HashMap;
use std::time::Duration;

use pgdyno_net::{Admin, AdminError, ConnectOptions};
use pgdyno_workload::{Cluster, Node};

/// Nodes in a network of their own never answer; rows can go through the coordinator all the same.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// Who a node is: names and ports as the nodes know each other may mean another server from here.
const IDENTITY: &str = "select system_identifier || '/' || groupid from pg_control_system(), pg_dist_local_group";

/// Connections for rows.
#[derive(Default)]
pub(crate) struct Ways {
    /// One for each loader; where there is none, rows go through the coordinator.
    pub(crate) rows: Vec<Option<Admin>>,
    /// What the user should know.
    pub(crate) notes: Vec<String>,
}

/// Opens them, in turn to every node that holds shards, knows where all are, and can be reached as the coordinator is.
///
/// # Errors
/// When the coordinator does not tell who its nodes are.
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
            Err(why) => ways.notes.push(format!("no loader sent rows to node {} itself: {why}", node.name())),
        }
    }
    for nth in 0..loaders {
        let way = match nth.checked_rem(reached.len()) {
            None => None,
            // The first connection to each is there; a node that has no room for more has had its share.
            Some(at) => reached[at].1.take().or_else(|| reach(options, reached[at].0, &known).ok()),
        };
        ways.rows.push(way);
    }
    if reached.is_empty() {
        ways.notes.push("all rows went through the coordinator".to_owned());
    }
    Ok(ways)
}

/// What every node says of itself to the coordinator, by name and port.
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

/// A connection to a node, if it is the one that the coordinator means; else why not.
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
