//! The nodes of a server that distributes tables.

use serde::{Deserialize, Serialize};

/// A server and the nodes that hold its distributed tables (Citus).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cluster {
    /// Version of the extension that distributes the tables: 13.2.2.
    pub version: String,
    /// Every node, the coordinator first; at least one.
    pub nodes: Vec<Node>,
}

/// One node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Node {
    /// Its name, as the other nodes reach it.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Whether it is the node on which tables are created.
    pub is_coordinator: bool,
    /// Whether it is the node that this program is connected to.
    pub is_here: bool,
    /// Whether it holds shards.
    pub should_have_shards: bool,
    /// Whether it has the metadata of all shards, so that clients may send it any statement.
    pub has_metadata: bool,
    /// Whether its metadata is up to date.
    pub metadata_synced: bool,
    /// CPUs of its machine; `None` if unknown.
    pub cpus: Option<u32>,
}

impl Node {
    /// Returns `host:port`.
    #[must_use]
    pub fn name(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }

    /// Returns true if clients may send it any statement on rows.
    #[must_use]
    pub fn takes_statements(&self) -> bool {
        self.has_metadata && self.metadata_synced
    }
}

impl Cluster {
    /// Returns the nodes that hold shards.
    pub fn holders(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter().filter(|node| node.should_have_shards)
    }

    /// Returns the number of nodes that hold shards, at least one: without other nodes, it is the coordinator.
    #[must_use]
    pub fn holder_count(&self) -> u32 {
        u32::try_from(self.holders().count()).unwrap_or(u32::MAX).max(1)
    }

    /// Returns the node on which tables are created, if this program is connected to another one.
    #[must_use]
    pub fn coordinator_elsewhere(&self) -> Option<&Node> {
        self.nodes.iter().find(|node| node.is_coordinator && !node.is_here)
    }

    /// Returns the size in one word: `c4+2w8` is a coordinator of 4 CPUs and two workers of 8. `?` stands for unknown
    /// CPUs, workers of several sizes follow each other (`c4+1w8+2w16`), and a coordinator alone is `c4`.
    #[must_use]
    pub fn label(&self) -> String {
        let cpus = |cpus: Option<u32>| cpus.map_or_else(|| "?".to_owned(), |n| n.to_string());
        let coordinator = self.nodes.iter().find(|node| node.is_coordinator);
        let mut label = format!("c{}", cpus(coordinator.and_then(|node| node.cpus)));
        let mut sizes: Vec<_> = self.nodes.iter().filter(|node| !node.is_coordinator).map(|node| node.cpus).collect();
        // Unknown ones come last.
        sizes.sort_by_key(|size| size.unwrap_or(u32::MAX));
        for alike in sizes.chunk_by(|a, b| a == b) {
            label.push_str(&format!("+{}w{}", alike.len(), cpus(alike[0])));
        }
        label
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cluster(coordinator: Option<u32>, workers: &[Option<u32>]) -> Cluster {
        let node = |is_coordinator, cpus| Node { is_coordinator, cpus, ..Node::default() };
        let nodes = std::iter::once(node(true, coordinator)).chain(workers.iter().map(|cpus| node(false, *cpus)));
        Cluster { version: "13.2.2".to_owned(), nodes: nodes.collect() }
    }

    #[test]
    fn a_label_shows_the_cpus_of_all_nodes() {
        for (coordinator, workers, label) in [
            (Some(4), vec![Some(8), Some(8)], "c4+2w8"),
            (Some(4), vec![None, None], "c4+2w?"),
            (None, vec![Some(16)], "c?+1w16"),
            (Some(4), vec![Some(16), None, Some(8), Some(16)], "c4+1w8+2w16+1w?"),
            (Some(64), vec![], "c64"),
        ] {
            assert_eq!(cluster(coordinator, &workers).label(), label);
        }
    }

    #[test]
    fn shards_are_always_somewhere() {
        let mut alone = cluster(Some(2), &[]);
        assert_eq!(alone.holder_count(), 1);
        alone.nodes[0].should_have_shards = true;
        assert_eq!(alone.holder_count(), 1);
        let mut three = cluster(Some(2), &[Some(2), Some(2)]);
        three.nodes[1].should_have_shards = true;
        three.nodes[2].should_have_shards = true;
        assert_eq!(three.holder_count(), 2);
        assert!(three.coordinator_elsewhere().is_some());
        three.nodes[0].is_here = true;
        assert!(three.coordinator_elsewhere().is_none());
        assert_eq!(Node { host: "::1".to_owned(), port: 5432, ..Node::default() }.name(), "[::1]:5432");
    }
}
