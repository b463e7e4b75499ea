//! The holder of the oldest snapshot or transaction in the window.

use std::collections::BTreeMap;

use pgdyno_samples::horizon;

use crate::facts::Facts;
use crate::sessions::Session;

/// Shorter than this, it is a transaction as others. Two looks are two seconds apart, more or less.
const SECONDS_MIN: f64 = 1.5;

/// A holder for less of the window than this had little effect on it.
const LEAST: f64 = 1.0 / 3.0;

/// Who kept dead rows from being removed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Holder {
    pub(crate) session: Session,
    /// For how long it was seen with the same snapshot or transaction within the window.
    pub(crate) seconds: f64,
    /// Transactions that began after it, as seen last.
    pub(crate) age: f64,
    /// The growth of that number while it was seen.
    pub(crate) newer: f64,
}

impl Holder {
    /// Returns who held the same snapshot or transaction for longest, if it was for a third of the window or more.
    pub(crate) fn longest(facts: &Facts<'_>) -> Option<Self> {
        let table = facts.samples.of(horizon::SOURCE);
        let mut holders: BTreeMap<[&str; 4], Vec<&(f64, Vec<String>)>> = BTreeMap::new();
        for look in table.rows().iter().take_while(|(at, _)| *at <= facts.until_s + 1.0) {
            let key = [horizon::HOLDER, horizon::PID, horizon::NAME, horizon::XMIN];
            // The process that reads a slot may be another one each time.
            let is_slot = table.cell(&look.1, horizon::HOLDER) == Some("replication slot");
            let cell = |column: pgdyno_samples::SampleColumn| {
                table.cell(&look.1, column).filter(|_| !(is_slot && column == horizon::PID)).unwrap_or_default()
            };
            holders.entry(key.map(cell)).or_default().push(look);
        }
        let holder = |([kind, pid, name, _], looks): ([&str; 4], Vec<&(f64, Vec<String>)>)| {
            let ((from_s, first), (until_s, last)) = (looks.first()?, looks.last()?);
            let seconds = until_s.min(facts.until_s) - from_s.max(facts.from_s);
            let number = |row: &[String], column| table.cell(row, column)?.parse::<f64>().ok();
            let cell = |column| table.cell(last, column).unwrap_or_default().to_owned();
            let age = number(last, horizon::AGE)?;
            let session = Session {
                kind: kind.to_owned(),
                name: name.to_owned(),
                pid: Some(pid.to_owned()).filter(|pid| !pid.is_empty()),
                state: cell(horizon::STATE),
                seconds: number(last, horizon::HELD_S),
                statement: cell(horizon::QUERY),
            };
            Some(Self { session, seconds, age, newer: age - number(first, horizon::AGE)? })
        };
        let held = holders.into_iter().filter_map(holder);
        let long = held.filter(|held| held.seconds >= SECONDS_MIN && held.seconds >= LEAST * facts.seconds());
        // Snapshots are as old as the oldest transaction that ran when they were made: that began earlier.
        let began = |held: &Self| held.session.seconds.unwrap_or(f64::INFINITY);
        long.max_by(|a, b| a.age.total_cmp(&b.age).then(began(a).total_cmp(&began(b))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    const COLUMNS: [&str; 8] = ["holder", "pid", "name", "xmin", "age", "state", "held_s", "query"];

    #[test]
    fn who_keeps_one_snapshot_for_long_is_found() {
        let session = |xmin, age| ["other session", "9", "psql", xmin, age, "idle in transaction", "5", "SELECT ?"];
        let client = |xmin| ["client backend", "3", "pgdyno", xmin, "5", "active", "0", "UPDATE t"];
        let rows =
            [session("700", "100"), client("800"), session("700", "4100"), client("900"), session("700", "8100")];
        let at = [4.0, 4.0, 6.0, 6.0, 10.0];
        let looks: Vec<_> = at.iter().zip(&rows).map(|(at, row)| (*at, &row[..])).collect();
        let found = Run::new().looks("horizon", &COLUMNS, &looks).ask(Holder::longest).unwrap();
        assert_eq!((found.session.name.as_str(), found.seconds, found.age, found.newer), ("psql", 6.0, 8100.0, 8000.0));
        // A new snapshot with each look is no old one, and neither is one that is soon gone.
        let moving = [session("700", "100"), session("4700", "100"), session("8700", "100")];
        let looks: Vec<_> = [4.0, 6.0, 8.0].iter().zip(&moving).map(|(at, row)| (*at, &row[..])).collect();
        assert_eq!(Run::new().looks("horizon", &COLUMNS, &looks).ask(Holder::longest), None);
        let short = [session("700", "100"), session("700", "900")];
        let looks: Vec<_> = [4.0, 6.0].iter().zip(&short).map(|(at, row)| (*at, &row[..])).collect();
        assert_eq!(Run::new().looks("horizon", &COLUMNS, &looks).ask(Holder::longest), None);
    }
}
