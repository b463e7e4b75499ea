//! The scripts of each group of clients.

use pgdyno_wire::QueryMode;
use pgdyno_workload::{ClientContext, Stage};

use super::WeightedScript;

/// Stages and groups of clients, each with its own scripts.
#[derive(Clone, Debug)]
pub struct Groups {
    /// The stages.
    pub stages: Vec<Stage>,
    /// Scripts of each group.
    pub scripts: Vec<GroupScripts>,
}

/// Scripts of the clients of one group.
#[derive(Clone, Debug)]
pub struct GroupScripts {
    /// The group's name.
    pub group: &'static str,
    /// Places of its scripts among those of the workload.
    pub scripts: Vec<usize>,
    /// Whether each client runs each of them once, in this order, and is finished.
    pub once: bool,
    /// Think time before each transaction.
    pub think_ns: u64,
}

impl Groups {
    /// Returns the number within its stage of the first client of a group.
    pub(super) fn first_client(&self, context: &ClientContext, given: u32) -> u32 {
        let stage = self.stages.iter().find(|stage| stage.name == context.stage);
        let before = stage.into_iter().flat_map(|stage| stage.groups.iter().take_while(|g| g.name != context.group));
        before.map(|group| group.clients.number(given)).sum()
    }

    /// Returns the places of scripts with the query mode in which clients send them, where a group without one has `mode`.
    pub(super) fn modes(&self, mode: QueryMode) -> impl Iterator<Item = (usize, QueryMode)> {
        let groups = self.stages.iter().flat_map(|stage| &stage.groups);
        groups.flat_map(move |group| {
            let of_group = self.scripts.iter().filter(|scripts| scripts.group == group.name);
            of_group.flat_map(|scripts| &scripts.scripts).map(move |script| (*script, group.mode.unwrap_or(mode)))
        })
    }
}

/// The mix of scripts that a client draws from.
pub(super) struct Mix {
    /// Its group; `None` if there are no groups.
    pub(super) group: Option<&'static str>,
    /// Places of the scripts.
    pub(super) scripts: Vec<usize>,
    /// Their weights, added up script by script.
    pub(super) weights: Vec<u64>,
    /// Whether each is run once, in this order.
    pub(super) once: bool,
    /// Think time before each transaction.
    pub(super) think_ns: u64,
}

impl Mix {
    /// Returns the mix of each group, or that of all scripts where there are no groups.
    pub(super) fn all(sources: &[WeightedScript], groups: Option<&Groups>) -> Vec<Self> {
        let weights = |scripts: &[usize]| {
            let weights = scripts.iter().map(|script| u64::from(sources[*script].weight));
            weights
                .scan(0, |sum, weight| {
                    *sum += weight;
                    Some(*sum)
                })
                .collect()
        };
        let of_group = |of: &GroupScripts| Self {
            group: Some(of.group),
            scripts: of.scripts.clone(),
            weights: weights(&of.scripts),
            once: of.once,
            think_ns: of.think_ns,
        };
        match groups {
            Some(groups) => groups.scripts.iter().map(of_group).collect(),
            None => {
                let scripts: Vec<usize> = (0..sources.len()).collect();
                vec![Self { group: None, weights: weights(&scripts), scripts, once: false, think_ns: 0 }]
            }
        }
    }
}
