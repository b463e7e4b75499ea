//! Sessions of a coordinator wait for the nodes that have the rows.

use pgdyno_results::FindingRecord;
use pgdyno_text::brief::number;

use super::{cpu, waited};
use crate::facts::Facts;
use crate::waits::Class;

/// Above this ratio of the fullest node to the mean, the uneven placement of rows is evidence.
const SKEW: f64 = 1.1;

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    // Nodes on a full machine wait for its CPUs.
    if facts.shares_its_machine() && cpu::is_saturated(facts) == Some(true) {
        return None;
    }
    let cluster = facts.record.server.as_ref()?.cluster.as_ref()?;
    let mut found = waited(facts, "other-nodes", Class::Nodes, "waiting for other nodes")?;
    let mut advice = "look at the nodes: pg_stat_activity there, and --os-metrics on their machines".to_owned();
    if let Some(skew) = cluster.skew.filter(|skew| *skew > SKEW) {
        found.evidence.push(format!("the fullest node holds {} times the mean", number(skew)));
        advice += "; spread the rows evenly (more of them, or another --shard-count)";
    }
    if cluster.delegated == Some(false) {
        found.evidence.push("calls are not delegated: each statement goes to a node by itself".to_owned());
        advice += "; use --call procedure or function, which send a whole transaction to the node of its rows";
    }
    found.advice = Some(advice);
    Some(found)
}

#[cfg(test)]
mod tests {
    use pgdyno_results::ClusterRecord;

    use super::*;
    use crate::fixture::Run;

    fn run(cluster: ClusterRecord) -> Run {
        let mut run = Run::new().waits(&[("CPU", "CPU", 0.5), ("Client", "ClientRead", 6.0)]);
        run.record.server.as_mut().unwrap().cluster = Some(cluster);
        run
    }

    #[test]
    fn waits_for_nodes_are_reported_with_what_makes_them_longer() {
        let found = run(ClusterRecord::default()).finds(look);
        assert_eq!(found.text, "75 % of the clients' time went into waiting for other nodes");
        assert_eq!(found.evidence, ["6.0 sessions (92 % of active samples): Client:ClientRead 6.0"]);
        let uneven = ClusterRecord { skew: Some(1.5), delegated: Some(false), ..ClusterRecord::default() };
        let found = run(uneven).finds(look);
        assert_eq!(found.evidence[1], "the fullest node holds 1.5 times the mean");
        assert!(found.evidence[2].starts_with("calls are not delegated"), "{found:?}");
        let advice = found.advice.unwrap();
        assert!(advice.contains("spread the rows evenly") && advice.contains("--call procedure"), "{advice}");
    }

    #[test]
    fn nodes_on_a_full_machine_and_a_server_without_nodes_are_no_such_finding() {
        let machine = [("cpus", 2.0), ("busy_cpus", 2.0)];
        let kinds = [vec!["other node".to_owned(), "1.3".to_owned()]];
        let here = run(ClusterRecord::default()).gauges("machine", &machine);
        here.table("processes", &["kind", "cpus"], &kinds).finds_nothing(look);
        Run::new().waits(&[("Client", "ClientRead", 6.0)]).finds_nothing(look);
    }
}
