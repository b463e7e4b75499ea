//! Connections to the database, counted again and again.

use std::collections::BTreeMap;

use super::TakeError;
use super::session::{MARK, Session, number, text};
use crate::form::ApplicationConnections;

/// Applications that are kept apart: some put a number of their own into the name.
const APPLICATIONS_MAX: usize = 50;

/// The name under which further ones are counted together.
const OTHERS: &str = "(others)";

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    connections: f64,
    connections_max: u64,
    active: f64,
    active_max: u64,
    idle_in_transaction: f64,
}

/// Connections by application, over all samples.
#[derive(Clone, Debug, Default)]
pub(super) struct Connections {
    samples: f64,
    by_application: BTreeMap<String, Sums>,
}

impl Connections {
    /// Counts them once more. Returns how many execute a statement, and if `with_transactions` the transactions that the database has
    /// counted; 0 if it has no connections. Before PostgreSQL 15 these are expensive: the server writes the counters of all tables into
    /// a file for them.
    pub(super) fn sample(&mut self, session: &mut Session, with_transactions: bool) -> Result<(u64, f64), TakeError> {
        let transactions = match with_transactions {
            true => "(SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database())",
            false => "NULL",
        };
        let sql = format!(
            "SELECT {MARK} coalesce(application_name, ''), count(*), count(*) FILTER (WHERE state = 'active'), \
             count(*) FILTER (WHERE state LIKE 'idle in transaction%'), {transactions} FROM pg_stat_activity \
             WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend' GROUP BY 1"
        );
        let rows = session.ask("count the connections", &sql)?;
        self.add(&rows);
        let transactions = rows.first().map_or(0.0, |row| number(row.get(4)));
        Ok((rows.iter().map(|row| number(row.get(2)) as u64).sum(), transactions))
    }

    fn add(&mut self, rows: &[Vec<Option<String>>]) {
        self.samples += 1.0;
        for row in rows {
            let name = text(row.first());
            let is_known = self.by_application.len() < APPLICATIONS_MAX || self.by_application.contains_key(&name);
            let sums = self.by_application.entry(if is_known { name } else { OTHERS.to_owned() }).or_default();
            let (connections, active) = (number(row.get(1)), number(row.get(2)));
            sums.connections += connections;
            sums.connections_max = sums.connections_max.max(connections as u64);
            sums.active += active;
            sums.active_max = sums.active_max.max(active as u64);
            sums.idle_in_transaction += number(row.get(3));
        }
    }

    /// Returns the means, the most connections first.
    pub(super) fn means(self) -> Vec<ApplicationConnections> {
        let samples = self.samples.max(1.0);
        let mean = |(application, sums): (String, Sums)| ApplicationConnections {
            application,
            connections_mean: sums.connections / samples,
            connections_max: sums.connections_max,
            active_mean: sums.active / samples,
            active_max: sums.active_max,
            idle_in_transaction_mean: sums.idle_in_transaction / samples,
        };
        let mut means: Vec<_> = self.by_application.into_iter().map(mean).collect();
        means.sort_by(|a, b| b.connections_mean.total_cmp(&a.connections_mean));
        means
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_means_over_all_samples() {
        let row = |name: &str, all: u32, active: u32| {
            vec![Some(name.to_owned()), Some(all.to_string()), Some(active.to_string()), Some("1".to_owned())]
        };
        let mut connections = Connections::default();
        connections.add(&[row("web", 10, 4), row("cron", 1, 1)]);
        connections.add(&[row("web", 20, 0)]);
        let means = connections.clone().means();
        assert_eq!(
            (means[0].application.as_str(), means[0].connections_mean, means[0].connections_max),
            ("web", 15.0, 20)
        );
        assert_eq!((means[0].active_mean, means[0].active_max, means[0].idle_in_transaction_mean), (2.0, 4, 1.0));
        assert_eq!((means[1].application.as_str(), means[1].connections_mean), ("cron", 0.5));
        for number in 0..1000 {
            connections.add(&[row(&format!("job {number}"), 1, 0)]);
        }
        assert_eq!(connections.means().len(), APPLICATIONS_MAX + 1);
    }
}
