//! Heads of the queues for locks in the window.

use std::collections::BTreeMap;

use pgdyno_samples::blockers;

use crate::facts::Facts;
use crate::sessions::Session;

/// Sessions of one kind, in one state and with one statement, that were at the head of a queue.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Head {
    pub(crate) session: Session,
    /// Looks at which one of them was.
    pub(crate) seen: usize,
    /// Looks at which any session was.
    pub(crate) looks: usize,
}

impl Head {
    /// Returns the heads of the queues, those seen most often first.
    pub(crate) fn all(facts: &Facts<'_>) -> Vec<Self> {
        let table = facts.samples.of(blockers::SOURCE);
        let mut heads: BTreeMap<[String; 4], (Session, Vec<f64>)> = BTreeMap::new();
        let mut looks: Vec<f64> = Vec::new();
        for (at, row) in facts.within(table) {
            let cell = |column| table.cell(row, column).unwrap_or_default().to_owned();
            let session = Session {
                kind: cell(blockers::BACKEND_TYPE),
                name: cell(blockers::APPLICATION_NAME),
                pid: Some(cell(blockers::PID)).filter(|pid| pid != "0"),
                state: cell(blockers::STATE),
                seconds: cell(blockers::STATE_S).parse().ok(),
                statement: cell(blockers::QUERY),
            };
            let key = [&session.kind, &session.name, &session.state, &session.statement].map(Clone::clone);
            let (head, seen) = heads.entry(key).or_insert_with(|| (session.clone(), Vec::new()));
            head.pid = head.pid.take().filter(|pid| Some(pid) == session.pid.as_ref());
            let longest = head.seconds.into_iter().chain(session.seconds).reduce(f64::max);
            head.seconds = longest;
            seen.push(*at);
            looks.push(*at);
        }
        let count = |mut times: Vec<f64>| {
            times.dedup();
            times.len()
        };
        let looks = count(looks);
        let mut heads: Vec<_> =
            heads.into_values().map(|(session, seen)| Self { session, seen: count(seen), looks }).collect();
        heads.sort_by_key(|head| std::cmp::Reverse(head.seen));
        heads
    }

    /// Returns the head that was seen most often, as evidence.
    pub(crate) fn evidence(&self, facts: &Facts<'_>) -> String {
        let doing = self.session.doing();
        let doing = if doing.is_empty() { doing } else { format!(", {doing}") };
        format!(
            "at the head of the queue in {} of {} samples: {}{doing}",
            self.seen,
            self.looks,
            self.session.who(facts)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    #[test]
    fn heads_are_counted_by_look_and_the_most_frequent_one_is_first() {
        let columns = ["pid", "backend_type", "application_name", "state", "state_s", "query"];
        let client: &[&str] = &["7", "client backend", "pgdyno", "active", "0.1", "UPDATE t"];
        let second: &[&str] = &["8", "client backend", "pgdyno", "active", "0.3", "UPDATE t"];
        let other: &[&str] = &["9", "other session", "psql", "idle in transaction", "4", "LOCK TABLE t"];
        let looks = [(1.0, other), (3.0, client), (4.0, client), (4.0, second), (4.0, other), (5.0, second)];
        let run = Run::new().looks("blockers", &columns, &looks);
        run.ask(|facts| {
            let heads = Head::all(facts);
            let brief: Vec<_> = heads.iter().map(|head| (head.session.kind.as_str(), head.seen, head.looks)).collect();
            assert_eq!(brief, [("client backend", 3, 3), ("other session", 1, 3)]);
            assert_eq!((heads[0].session.pid.clone(), heads[0].session.seconds), (None, Some(0.3)));
            assert_eq!(
                heads[1].evidence(facts),
                "at the head of the queue in 1 of 3 samples: a session of another program (\"psql\", process 9), idle in \
                 transaction 4.0 s, last statement: LOCK TABLE t"
            );
        });
    }
}
