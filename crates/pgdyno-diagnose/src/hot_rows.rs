//! Rows with the longest queues in the window.

use std::collections::BTreeMap;

use pgdyno_samples::row_locks;
use pgdyno_text::brief::percent;
use pgdyno_text::units::ending;

use crate::facts::Facts;

/// A row with less than this share of the waits is not named.
const LEAST: f64 = 0.05;
/// Rows that are named.
const NAMED: usize = 3;

/// Rows that sessions waited for, by their share of all such waits.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HotRows {
    /// Table and key with the share, the most wanted one first.
    rows: Vec<(String, f64)>,
    /// Tables with the minimum share of the waits, also for rows without a name: a row that changes often is hard to name.
    tables: Vec<String>,
}

impl HotRows {
    /// Returns the rows that have names; `None` where none has the minimum share.
    pub(crate) fn of(facts: &Facts<'_>) -> Option<Self> {
        let table = facts.samples.of(row_locks::SOURCE);
        let mut of_rows: BTreeMap<String, f64> = BTreeMap::new();
        let mut of_tables: BTreeMap<String, f64> = BTreeMap::new();
        let (mut total, mut last_at) = (0.0, None);
        for (at, row) in facts.within(table) {
            let cell = |column| table.cell(row, column).unwrap_or_default();
            let number = |column| cell(column).parse::<f64>().unwrap_or_default();
            if last_at != Some(*at) {
                total += number(row_locks::WAITING_FOR_ANY);
                last_at = Some(*at);
            }
            let key = cell(row_locks::ROW_KEY);
            *of_tables.entry(cell(row_locks::RELATION).to_owned()).or_default() += number(row_locks::WAITING);
            if !key.is_empty() {
                *of_rows.entry(format!("{} {key}", cell(row_locks::RELATION))).or_default() +=
                    number(row_locks::WAITING);
            }
        }
        let shares = of_rows.into_iter().map(|(row, waiting)| (row, waiting / total));
        let mut rows: Vec<_> = shares.filter(|(_, share)| *share >= LEAST).collect();
        rows.sort_by(|a, b| b.1.total_cmp(&a.1));
        rows.truncate(NAMED);
        let tables =
            of_tables.into_iter().filter(|(_, waiting)| waiting / total >= LEAST).map(|(table, _)| table).collect();
        (!rows.is_empty()).then_some(Self { rows, tables })
    }

    /// Returns the tables on whose rows sessions waited.
    pub(crate) fn tables(&self) -> impl Iterator<Item = &str> {
        self.tables.iter().map(String::as_str)
    }

    /// Returns the rows as evidence.
    pub(crate) fn evidence(&self) -> String {
        let (first, others) = self.rows.split_first().map_or((None, &[][..]), |(first, others)| (Some(first), others));
        let first =
            first.map(|(row, share)| format!("{row} ({} of the sessions that waited for a row)", percent(*share)));
        let others = others.iter().map(|(row, share)| format!("{row} ({})", percent(*share)));
        let rows: Vec<_> = first.into_iter().chain(others).collect();
        format!("hottest row{}: {}", ending(rows.len() as u64), rows.join(", "))
    }

    /// Returns advice, if these rows have most of the waits.
    pub(crate) fn advice(&self) -> Option<String> {
        let share: f64 = self.rows.iter().map(|(_, share)| share).sum();
        let (first, _) = self.rows.first().filter(|_| share >= 0.5)?;
        let have = match self.rows.len() {
            1 => "has".to_owned(),
            more => format!("and {} more have", more - 1),
        };
        Some(format!(
            "use a less skewed distribution of the requests, fewer clients or shorter transactions; more rows alone do not \
             help: {first} {have} most of the waits"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    fn run(looks: &[(f64, &[&str])]) -> Run {
        Run::new().looks("row_locks", row_locks::SOURCE.names, looks)
    }

    #[test]
    fn rows_are_ranked_by_their_share_of_all_waits_in_the_window() {
        let run = run(&[
            (1.0, &["usertable", "ycsb_key = user9", "50", "50"]),
            (3.0, &["usertable", "ycsb_key = user1", "6", "10"]),
            (3.0, &["usertable", "", "4", "10"]),
            (4.0, &["usertable", "ycsb_key = user1", "3", "10"]),
            (4.0, &["usertable", "ycsb_key = user2", "6", "10"]),
            (4.0, &["usertable", "ycsb_key = user3", "0.5", "10"]),
        ]);
        let hot = run.ask(HotRows::of).unwrap();
        assert_eq!(
            hot.evidence(),
            "hottest rows: usertable ycsb_key = user1 (45 % of the sessions that waited for a row), usertable ycsb_key = \
             user2 (30 %)"
        );
        assert!(hot.advice().unwrap().ends_with(": usertable ycsb_key = user1 and 1 more have most of the waits"));
    }

    #[test]
    fn rows_without_a_name_or_with_short_queues_are_not_reported() {
        assert_eq!(Run::new().ask(HotRows::of), None);
        assert_eq!(run(&[(3.0, &["usertable", "", "4", "4"])]).ask(HotRows::of), None);
        let few = run(&[(3.0, &["usertable", "ycsb_key = user1", "1", "100"])]);
        assert_eq!(few.ask(HotRows::of), None);
        let some = run(&[(3.0, &["usertable", "ycsb_key = user1", "10", "100"])]).ask(HotRows::of).unwrap();
        assert_eq!(some.advice(), None);
        assert!(some.evidence().starts_with("hottest row: "));
    }
}
