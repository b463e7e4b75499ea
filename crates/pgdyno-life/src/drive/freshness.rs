//! How old the data was that queries saw, where they run on another server than the transactions.
//!
//! Each client of the transactions numbers its transactions and writes the number into its own row. A query reads all rows
//! first, with its snapshot. All times are those of the driver's clock.

use std::collections::BTreeMap;

/// Commits that were acknowledged, and what queries saw of them.
#[derive(Default)]
pub(crate) struct Commits {
    /// By stage and client, the markers in their order, with the seconds of their acknowledgement.
    written: BTreeMap<(usize, u32), Vec<(u64, f64)>>,
    /// The stage of each query, its start in seconds, and the markers that it read by client.
    seen: Vec<(usize, f64, Vec<u64>)>,
}

impl Commits {
    /// Adds a marker that was acknowledged `at_s`.
    pub(super) fn wrote(&mut self, stage: usize, client: u32, number: u64, at_s: f64) {
        self.written.entry((stage, client)).or_default().push((number, at_s));
    }

    /// Adds the markers that a query read, which began `at_s`.
    pub(super) fn saw(&mut self, stage: usize, markers: &[u64], at_s: f64) {
        self.seen.push((stage, at_s, markers.to_vec()));
    }

    /// Returns the ages of what the queries of a stage saw that began in this time.
    pub(crate) fn ages(&self, stage: usize, from_s: f64, until_s: f64) -> Vec<f64> {
        let in_time = self.seen.iter().filter(|(of, at_s, _)| *of == stage && (from_s..until_s).contains(at_s));
        in_time.map(|(_, at_s, markers)| self.age(stage, *at_s, markers)).collect()
    }

    /// Returns the time from the first acknowledgement that a query missed to its start, 0 if it missed none. A standby may
    /// show a later commit of one client and not an earlier one of another, so the maximum over all clients counts.
    fn age(&self, stage: usize, at_s: f64, markers: &[u64]) -> f64 {
        let missed = self.written.range((stage, 0)..(stage + 1, 0)).filter_map(|((_, client), written)| {
            let seen = markers.get(*client as usize).copied().unwrap_or_default();
            // Numbers and acknowledgements of a client grow together.
            let first = written.partition_point(|(number, _)| *number <= seen);
            written.get(first).map(|(_, acknowledged_s)| at_s - acknowledged_s)
        });
        missed.fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commits() -> Commits {
        let mut commits = Commits::default();
        // The second transaction of client 0 was rolled back, and its number is in no row.
        for (client, number, at_s) in [(0, 1, 1.0), (0, 3, 2.0), (1, 1, 1.5), (1, 2, 3.0)] {
            commits.wrote(0, client, number, at_s);
        }
        commits
    }

    #[test]
    fn the_age_is_that_of_the_first_commit_that_was_missed() {
        let mut commits = commits();
        commits.saw(0, &[3, 2], 4.0);
        commits.saw(0, &[1, 2], 4.0);
        commits.saw(0, &[3, 0], 4.0);
        assert_eq!(commits.ages(0, 0.0, 9.0), [0.0, 2.0, 2.5]);
        assert!(commits.ages(1, 0.0, 9.0).is_empty(), "of another stage");
        assert!(commits.ages(0, 4.5, 9.0).is_empty(), "of another time");
    }

    #[test]
    fn the_oldest_missed_commit_of_any_client_counts() {
        let mut commits = commits();
        // A later commit of client 1 is there, an earlier one of client 0 is not.
        commits.saw(0, &[1, 2], 5.0);
        assert_eq!(commits.ages(0, 0.0, 9.0), [3.0]);
    }

    #[test]
    fn what_was_acknowledged_after_the_start_makes_no_answer_old() {
        let mut commits = commits();
        commits.saw(0, &[1, 1], 1.8);
        assert_eq!(commits.ages(0, 0.0, 9.0), [0.0]);
    }

    #[test]
    fn a_marker_of_a_commit_that_was_not_yet_acknowledged_may_be_seen() {
        let mut commits = commits();
        commits.saw(0, &[9, 9], 1.2);
        assert_eq!(commits.ages(0, 0.0, 9.0), [0.0]);
    }
}
